/// What rules of several families share.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/CountedRows.h"
#include "frontend/Leaves.h"

#include <sinter/Complex.h>
#include <sinter/Error.h>

#include <algorithm>

namespace sinter::torch {

//===- Dtypes -------------------------------------------------------------===//

static int categoryOf(DType dtype) {
  if (dtype == DType::c64 || dtype == DType::c128)
    return 3;
  return isFloat(dtype) ? 2 : dtype == DType::boolean ? 0 : 1;
}

static bool isComplex(DType dtype) { return categoryOf(dtype) == 3; }

static DType promotedPair(DType a, DType b) {
  if (!isComplex(a) && !isComplex(b))
    return promote(a, b);
  auto isWide = [](DType each) {
    return each == DType::c128 || each == DType::f64;
  };
  return isWide(a) || isWide(b) ? DType::c128 : DType::c64;
}

/// Of a plain number.
static DType dtypeOf(const Value &value) {
  switch (value.kind) {
  case Value::Kind::boolean:
    return DType::boolean;
  case Value::Kind::integer:
    return DType::i64;
  case Value::Kind::complex:
    return DType::c64;
  default:
    return DType::f32;
  }
}

static std::optional<DType> joined(std::optional<DType> a, DType b) {
  return a ? promotedPair(*a, b) : b;
}

/// The lower one counts where its category is higher.
static std::optional<DType> combined(std::optional<DType> higher,
                                     std::optional<DType> lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (categoryOf(*lower) <= categoryOf(*higher))
    return higher;
  return promotedPair(*higher, *lower);
}

DType promoted(std::initializer_list<const Value *> values) {
  std::optional<DType> withAxes, without, numbers;
  for (const Value *value : values) {
    if (!value->isTensor()) {
      if (value->isNumber())
        numbers = joined(numbers, dtypeOf(*value));
      continue;
    }
    const Tensor &tensor = value->stored->read();
    std::optional<DType> &group = tensor.rank() > 0 ? withAxes : without;
    group = joined(group, tensor.dtype());
  }
  return combined(withAxes, combined(without, numbers)).value_or(DType::f32);
}

//===- Operands -----------------------------------------------------------===//

Tensor sizeTensor(Dim size, DeviceId device) {
  if (detail::isCounted(size))
    return detail::sizeTensor(size, device);
  return detail::sizeScalar(size, device, SourceLine::current());
}

Number numberOf(const Call &call, const Value &value) {
  if (value.isInteger())
    return fixed(value.integer);
  if (value.kind == Value::Kind::real)
    return value.real;
  if (value.kind != Value::Kind::boolean)
    call.invalid("an operand is " + nameOf(value.kind) + ", not a number");
  if (value.isOpen)
    throw NeedsNumbers();
  return int64_t(value.isTrue);
}

Operand operand(const Call &call, const Value &value, DType dtype) {
  if (value.isTensor())
    return Operand(value.stored->read().to(dtype));
  bool isPlain = isComputable(dtype) && dtype != DType::boolean &&
                 value.isNumber() &&
                 (!value.isInteger() || value.integer.isConstant()) &&
                 value.kind != Value::Kind::complex;
  if (!isPlain)
    return Operand(asTensor(call, value, dtype));
  Number number = numberOf(call, value);
  if (isFloat(dtype))
    return Operand(Number(number.asReal()));
  return Operand(number.isReal ? Number(int64_t(number.real)) : number);
}

Tensor asTensor(const Call &call, const Value &value, DType dtype) {
  if (value.isTensor())
    return value.stored->read().to(dtype);
  if (value.kind == Value::Kind::complex) {
    Options options{dtype == DType::c128 ? DType::f64 : DType::f32,
                    call.device()};
    return complex(full({}, value.real, options),
                   full({}, value.imaginary, options));
  }
  if (value.isInteger() && !value.integer.isConstant())
    return sizeTensor(value.integer, call.device()).to(dtype);
  Number number = numberOf(call, value);
  DType made = number.isReal ? DType::f64 : DType::i64;
  if (isComputable(dtype) && dtype != DType::boolean && !number.isReal)
    made = dtype;
  else if (isFloat(dtype) && isComputable(dtype))
    made = dtype;
  Tensor scalar = number.isReal
                      ? full({}, number.real, {made, call.device()})
                      : full({}, number.integer, {made, call.device()});
  return scalar.to(dtype);
}

Tensor widened(const Tensor &x) {
  bool isNarrow = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
  return isNarrow ? x.to(DType::f32) : x;
}

//===- Limits -------------------------------------------------------------===//

void requireFew(const Call &call, int64_t count, const char *what,
                int64_t most) {
  if (count < 0)
    call.invalid(std::to_string(count) + " " + what);
  if (count > most)
    call.unsupported(std::to_string(count) + " " + what + ", more than " +
                     std::to_string(most));
}

std::vector<Tensor> tensorList(const Call &call, std::string_view name) {
  std::vector<Tensor> tensors = call.tensors(name);
  requireFew(call, int64_t(tensors.size()), "tensors of a list", mostOfList);
  for (const Tensor &each : tensors)
    if (!each.defined())
      call.invalid("a list of tensors has None in it");
  return tensors;
}

void requireParts(const Call &call, int64_t count) {
  requireFew(call, count, "parts", mostOfList);
  const std::vector<ArgumentRecord> &outputs = call.node().outputs;
  bool isList =
      outputs.size() == 1 && outputs[0].kind == ArgumentRecord::Kind::list;
  if (isList && int64_t(outputs[0].elements.size()) != count)
    call.invalid(std::to_string(count) + " parts, of which the file lists " +
                 std::to_string(outputs[0].elements.size()));
}

//===- Shapes -------------------------------------------------------------===//

static void requireAxis(int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    throw Error(makeError(ErrorKind::invalid_argument,
                          "axis " + std::to_string(axis) +
                              " of a tensor of rank " + std::to_string(rank)));
}

namespace {
/// What `slice` takes of every axis.
struct Bounds {
  std::vector<int64_t> starts, steps;
  Dims limits;
};
} // namespace

static Bounds boundsOf(const Tensor &x, int64_t axis, Dim start, Dim limit,
                       int64_t step) {
  requireAxis(axis, x.rank());
  Bounds bounds;
  size_t rank = size_t(x.rank());
  bounds.starts.resize(rank, 0);
  bounds.steps.resize(rank, 1);
  bounds.limits = x.shape();
  bounds.starts[size_t(axis)] = fixed(start);
  bounds.limits[size_t(axis)] = limit;
  bounds.steps[size_t(axis)] = step;
  return bounds;
}

Tensor sliceAxis(const Tensor &x, int64_t axis, Dim start, Dim limit,
                 int64_t step) {
  requireAxis(axis, x.rank());
  Dim size = x.dim(axis);
  bool isAll = step == 1 && start.isConstant() && start.value == 0 &&
               limit.expr == size.expr && limit.value == size.value;
  if (isAll)
    return x;
  Bounds bounds = boundsOf(x, axis, start, limit, step);
  return slice(x, bounds.starts, bounds.limits, bounds.steps);
}

Tensor putSlice(const Tensor &x, const Tensor &part, int64_t axis, Dim start,
                Dim limit, int64_t step) {
  Bounds bounds = boundsOf(x, axis, start, limit, step);
  Tensor wanted = slice(x, bounds.starts, bounds.limits, bounds.steps);
  return slice_assign(x, expand(part.to(x.dtype()), wanted.shape()),
                      bounds.starts, bounds.limits, bounds.steps);
}

Tensor alongAxis(const Tensor &vector, int64_t axis, int64_t rank) {
  requireAxis(axis, rank);
  requireAxis(0, vector.rank());
  Dims dims(size_t(rank), Dim(1));
  dims[size_t(axis)] = vector.dim(0);
  return reshape(vector, dims);
}

View reshapedView(Dims shape) {
  return {[shape](const Tensor &base) { return reshape(base, shape); },
          [](const Tensor &base, const Tensor &part) {
            return reshape(part, base.shape());
          }};
}

} // namespace sinter::torch

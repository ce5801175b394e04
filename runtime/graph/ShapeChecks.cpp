/// What all shape rules share: equal dims, errors, dtype sets, axes.
#include "runtime/graph/ShapeChecks.h"

#include "runtime/graph/RecordOp.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Node.h"

#include <algorithm>
#include <utility>

namespace sinter::graph {

namespace {
struct GuardState {
  GuardSink *sink = nullptr;
  bool guarded = false;
};
} // namespace

static SINTER_THREAD_LOCAL GuardState guardState;

GuardScope::GuardScope(GuardSink &sink)
    : outer(std::exchange(guardState.sink, &sink)) {}

GuardScope::~GuardScope() { guardState.sink = outer; }

bool takeGuarded() { return std::exchange(guardState.guarded, false); }

static GuardSink *sinkOf(const ShapeContext &context) {
  return context.guards ? context.guards : guardState.sink;
}

static bool areValuesKnown(const ShapeContext &context) {
  GuardSink *sink = sinkOf(context);
  return !sink || !sink->valuesUnknown;
}

static void addGuard(const ShapeContext &context, Dim a, Dim b) {
  guardState.guarded = true;
  if (GuardSink *sink = sinkOf(context))
    sink->equalities.emplace_back(a, b);
}

std::string typeString(const TensorType &type) {
  std::string text(name(type.dtype));
  text += '[';
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i)
      text += ',';
    text += std::to_string(type.dims[i].value);
  }
  return text + ']';
}

ErrorInfo shapeError(const ShapeContext &context, std::string what) {
  ErrorInfo error;
  error.kind = ErrorKind::invalid_argument;
  error.op = info(context.op).name;
  error.message = error.op + ": " + std::move(what);
  error.site = recordScope().site;
  for (const TensorType &operand : context.operands) {
    error.message += error.shapes.empty() ? ": " : " x ";
    error.shapes.push_back(typeString(operand));
    error.message += error.shapes.back();
  }
  return error;
}

bool sameDim(const ShapeContext &context, Dim a, Dim b) {
  if (a.expr == b.expr && (a.expr != 0 || a.value == b.value))
    return true;
  bool mayDiffer =
      !areValuesKnown(context) && (!a.isConstant() || !b.isConstant());
  if (a.value != b.value && !mayDiffer)
    return false;
  addGuard(context, a, b);
  return true;
}

bool isKnown(const ShapeContext &context, Dim dim) {
  return dim.isConstant() || areValuesKnown(context);
}

bool atLeast(const ShapeContext &context, Dim dim, Dim bound) {
  Dim difference = dim - bound;
  if (!isKnown(context, difference) || difference.value >= 0) {
    if (!difference.isConstant())
      addGuard(context, floorDiv(difference, Dim(int64_t(1) << 31)), Dim(0));
    return true;
  }
  return false;
}

bool isOneWhereSome(const ShapeContext &context, Dim dim,
                    std::span<const Dim> others) {
  if (dim.isConstant() || (isKnown(context, dim) && dim.value < 1))
    return false;
  Dim count = 1;
  for (Dim other : others)
    count = count * other;
  if (count.isConstant())
    return false;
  addGuard(context, count * floorDiv(dim - 1, Dim(int64_t(1) << 31)), Dim(0));
  return true;
}

/// `f64, f32 or f16`
static std::string listDTypes(DTypeSet set) {
  std::string text;
  for (unsigned i = 0; i < numDTypes; ++i) {
    if (!(set >> i & 1))
      continue;
    bool isLast = (set >> i) == 1;
    if (!text.empty())
      text += isLast ? " or " : ", ";
    text += name(static_cast<DType>(i));
  }
  return text;
}

static ErrorInfo cannotCompute(const ShapeContext &context, DType dtype) {
  ErrorInfo error =
      shapeError(context, "cannot compute with " + std::string(name(dtype)));
  error.kind = ErrorKind::unsupported;
  return error;
}

Status checkDType(const ShapeContext &context, unsigned index,
                  DTypeSet allowed) {
  DType dtype = context.operands[index].dtype;
  if (dtypeBit(dtype) & allowed) [[likely]]
    return {};
  if (!isComputable(dtype))
    return cannotCompute(context, dtype);
  const OpInfo &op = info(context.op);
  std::string operand = index < op.operandNames.size()
                            ? std::string(op.operandNames[index])
                            : std::to_string(index);
  return shapeError(context,
                    "operand " + operand + " must be " + listDTypes(allowed));
}

Status checkComputable(const ShapeContext &context, DType dtype) {
  if (isComputable(dtype)) [[likely]]
    return {};
  return cannotCompute(context, dtype);
}

Status checkStorable(const ShapeContext &context, DType dtype) {
  if (isStorable(dtype)) [[likely]]
    return {};
  return cannotCompute(context, dtype);
}

Status checkSize(const ShapeContext &context, std::span<const Dim> dims) {
  if (dims.size() > maxRank)
    return shapeError(context, "the rank is " + std::to_string(dims.size()) +
                                   ", more than " + std::to_string(maxRank));
  int64_t elements = 1;
  bool overflows = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!isKnown(context, dims[i]))
      continue;
    int64_t value = dims[i].value;
    if (value < 0 || value > maxDim) [[unlikely]]
      return shapeError(context, "dimension " + std::to_string(i) + " is " +
                                     std::to_string(value) +
                                     ", outside [0, 2147483647]");
    // Of a tensor without elements, too: nobody's product of dims overflows.
    overflows |= __builtin_mul_overflow(elements, std::max<int64_t>(value, 1),
                                        &elements);
  }
  if (overflows || elements > maxElements) [[unlikely]]
    return shapeError(context,
                      "the result would have more than 2^58 elements: " +
                          typeString({DType::f32, dims}).substr(3));
  return {};
}

static bool isAxis(int64_t axis, size_t rank) {
  auto count = static_cast<int64_t>(rank);
  return axis >= -count && axis < count;
}

static int64_t fromFront(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

[[gnu::cold]] static ErrorInfo axisError(const ShapeContext &context,
                                         int64_t axis, size_t rank) {
  return shapeError(context, "axis " + std::to_string(axis) +
                                 " is out of range for rank " +
                                 std::to_string(rank));
}

Result<int64_t> normalizeAxis(const ShapeContext &context, int64_t axis,
                              size_t rank) {
  if (!isAxis(axis, rank)) [[unlikely]]
    return axisError(context, axis, rank);
  return fromFront(axis, rank);
}

Result<SmallVector<int64_t, 8>>
normalizePermutation(const ShapeContext &context, std::span<const int64_t> axes,
                     size_t rank) {
  SmallVector<int64_t, 8> result;
  for (int64_t axis : axes) {
    if (!isAxis(axis, rank)) [[unlikely]]
      return axisError(context, axis, rank);
    result.push_back(fromFront(axis, rank));
  }
  return result;
}

Result<SmallVector<int64_t, 8>> normalizeAxes(const ShapeContext &context,
                                              std::span<const int64_t> axes,
                                              size_t rank) {
  SmallVector<int64_t, 8> result;
  for (int64_t axis : axes) {
    // A number has no axis to be reduced, turned or squeezed away.
    if (rank == 0 && isAxisOfNumber(axis)) [[unlikely]]
      continue;
    if (!isAxis(axis, rank)) [[unlikely]]
      return axisError(context, axis, rank);
    // Most lists are short and in order.
    int64_t normal = fromFront(axis, rank);
    result.push_back(normal);
    size_t i = result.size() - 1;
    for (; i > 0 && result[i - 1] > normal; --i)
      result[i] = result[i - 1];
    result[i] = normal;
    if (i > 0 && result[i - 1] == normal) [[unlikely]]
      return shapeError(context,
                        "axis " + std::to_string(normal) + " is named twice");
  }
  return result;
}

} // namespace sinter::graph

/// Computes nodes of known elements on the host.
#include "frontend/import/onnx/Fold.h"

#include "frontend/import/onnx/FoldShapes.h"

#include "runtime/support/HalfFloat.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

namespace sinter::onnx {

//===- Elementwise --------------------------------------------------------===//

/// A number as its dtype holds it.
static double rounded(DType dtype, double real) {
  switch (dtype) {
  case DType::f32:
    return double(float(real));
  case DType::f16:
    return double(fromHalf(toHalf(float(real))));
  case DType::bf16:
    return double(fromBfloat16(toBfloat16(float(real))));
  default:
    return real;
  }
}

static Dim wrapped(DType dtype, Dim integer) {
  if (!integer.isConstant())
    return integer;
  switch (dtype) {
  case DType::i8:
    return int8_t(integer.value);
  case DType::i16:
    return int16_t(integer.value);
  case DType::i32:
    return int32_t(integer.value);
  case DType::u8:
    return uint8_t(integer.value);
  case DType::u16:
    return uint16_t(integer.value);
  case DType::u32:
    return uint32_t(integer.value);
  case DType::boolean:
    return int64_t(integer.value != 0);
  default:
    return integer;
  }
}

/// Whether all integers are known as they are; else the device computes them.
static KnownRef knowable(Known known) {
  for (Dim integer : known.integers)
    if (integer.isConstant() && !isKnowable(known.dtype, integer.value))
      return nullptr;
  return std::make_shared<Known>(std::move(known));
}

/// The dims that all broadcast to; false where they do not fit.
static bool broadcastDims(const std::vector<KnownRef> &inputs,
                          std::vector<int64_t> &dims) {
  for (const KnownRef &input : inputs) {
    const std::vector<int64_t> &own = input->dims;
    if (own.size() > dims.size())
      dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t &dim = dims[dims.size() - own.size() + i];
      if (own[i] != dim && own[i] != 1 && dim != 1)
        return false;
      dim = dim == 1 ? own[i] : dim;
    }
  }
  int64_t count = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count) || count > Known::most)
      return false;
  return true;
}

/// Where element `index` of `dims` is taken from in what is broadcast to them.
static size_t sourceOf(size_t index, const std::vector<int64_t> &dims,
                       const std::vector<int64_t> &own) {
  size_t place = 0, scale = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t axis = dims.size() - 1 - i;
    size_t at = index % size_t(dims[axis]);
    index /= size_t(dims[axis]);
    if (i >= own.size())
      continue;
    int64_t extent = own[own.size() - 1 - i];
    place += (extent == 1 ? 0 : at) * scale;
    scale *= size_t(extent);
  }
  return place;
}

using Integers = std::vector<Dim>;
using Reals = std::vector<double>;

namespace {
/// What an elementwise operator makes of numbers. A null one is left to the
/// device.
struct Pointwise {
  Dim (*integer)(const Integers &) = nullptr;
  double (*real)(const Reals &) = nullptr;
  bool isPredicate = false; ///< the result is bool, of real operands too
};
} // namespace

static int64_t number(Dim dim) { return fixed(dim); }

/// Constants wrap, as on devices.
template <typename F> static Dim arithmetic(const Integers &x, F &&function) {
  if (x[0].isConstant() && x[1].isConstant())
    return int64_t(function(uint64_t(x[0].value), uint64_t(x[1].value)));
  return function(x[0], x[1]);
}
static Dim addDims(const Integers &x) { return arithmetic(x, std::plus<>()); }
static Dim subDims(const Integers &x) { return arithmetic(x, std::minus<>()); }
static Dim mulDims(const Integers &x) {
  return arithmetic(x, std::multiplies<>());
}
static Dim negDims(const Integers &x) { return subDims({Dim(0), x[0]}); }
static Dim absDims(const Integers &x) {
  return number(x[0]) < 0 ? negDims(x) : x[0];
}
static Dim divDims(const Integers &x) {
  int64_t divisor = number(x[1]);
  if (divisor == 0 || divisor == -1)
    return divisor == 0 ? Dim(-1) : negDims(x);
  if (x[0].value >= 0 && divisor > 0)
    return floorDiv(x[0], Dim(divisor));
  return number(x[0]) / divisor;
}
static Dim modDims(const Integers &x) {
  int64_t divisor = number(x[1]);
  if (divisor == 0 || divisor == -1)
    return divisor == 0 ? x[0] : Dim(0);
  if (divisor > 0 && x[0].value >= 0)
    return mod(x[0], Dim(divisor));
  int64_t rest = number(x[0]) % divisor;
  return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}
static bool same(Dim a, Dim b) {
  return a.value == b.value && a.expr == b.expr;
}
static Dim maxDims(const Integers &x) {
  return same(x[0], x[1]) ? x[0] : Dim(std::max(number(x[0]), number(x[1])));
}
static Dim minDims(const Integers &x) {
  return same(x[0], x[1]) ? x[0] : Dim(std::min(number(x[0]), number(x[1])));
}
/// Not a number where an operand is none.
static double maxReals(const Reals &x) {
  return x[0] > x[1] || std::isnan(x[0]) ? x[0] : x[1];
}
static double minReals(const Reals &x) {
  return x[0] < x[1] || std::isnan(x[0]) ? x[0] : x[1];
}
/// Sizes are not negative, nor are sums, products and quotients of them.
static bool isSize(Dim dim) {
  if (dim.isConstant())
    return dim.value >= 0;
  Expr expr = dim_exprs::get(dim.expr);
  if (expr.op == ExprOp::constant || expr.op == ExprOp::symbol)
    return expr.op == ExprOp::symbol || expr.value >= 0;
  return isSize(Dim(0, expr.lhs)) && isSize(Dim(0, expr.rhs));
}
static bool isNegative(Dim dim) { return dim.isConstant() && dim.value < 0; }

template <typename F> static Dim compared(const Integers &x, F &&holds) {
  if (same(x[0], x[1]))
    return int64_t(holds(0, 0));
  if (isNegative(x[1]) && isSize(x[0]))
    return int64_t(holds(0, -1));
  if (isNegative(x[0]) && isSize(x[1]))
    return int64_t(holds(-1, 0));
  return int64_t(holds(number(x[0]), number(x[1])));
}

static const std::map<std::string_view, Pointwise> &pointwise() {
  static const auto &table = *new std::map<std::string_view, Pointwise>{
      {"Add", {addDims, [](const Reals &x) { return x[0] + x[1]; }}},
      {"Sub", {subDims, [](const Reals &x) { return x[0] - x[1]; }}},
      {"Mul", {mulDims, [](const Reals &x) { return x[0] * x[1]; }}},
      {"Div", {divDims, [](const Reals &x) { return x[0] / x[1]; }}},
      {"Mod", {modDims, nullptr}},
      {"Max", {maxDims, maxReals}},
      {"Min", {minDims, minReals}},
      {"Neg", {negDims, [](const Reals &x) { return -x[0]; }}},
      {"Abs", {absDims, [](const Reals &x) { return std::fabs(x[0]); }}},
      {"Relu",
       {[](const Integers &x) {
          return Dim(std::max<int64_t>(number(x[0]), 0));
        },
        [](const Reals &x) { return x[0] < 0 ? 0 : x[0]; }}},
      {"Floor", {nullptr, [](const Reals &x) { return std::floor(x[0]); }}},
      {"Ceil", {nullptr, [](const Reals &x) { return std::ceil(x[0]); }}},
      {"Sqrt", {nullptr, [](const Reals &x) { return std::sqrt(x[0]); }}},
      {"Reciprocal", {nullptr, [](const Reals &x) { return 1 / x[0]; }}},
      {"Not",
       {[](const Integers &x) { return Dim(int64_t(number(x[0]) == 0)); },
        nullptr, true}},
      {"And",
       {[](const Integers &x) {
          return Dim(int64_t(number(x[0]) != 0 && number(x[1]) != 0));
        },
        nullptr, true}},
      {"Or",
       {[](const Integers &x) {
          return Dim(int64_t(number(x[0]) != 0 || number(x[1]) != 0));
        },
        nullptr, true}},
      {"Equal",
       {[](const Integers &x) { return compared(x, std::equal_to<>()); },
        [](const Reals &x) { return double(x[0] == x[1]); }, true}},
      {"Less",
       {[](const Integers &x) { return compared(x, std::less<>()); },
        [](const Reals &x) { return double(x[0] < x[1]); }, true}},
      {"Greater",
       {[](const Integers &x) { return compared(x, std::greater<>()); },
        [](const Reals &x) { return double(x[0] > x[1]); }, true}},
      {"LessOrEqual",
       {[](const Integers &x) { return compared(x, std::less_equal<>()); },
        [](const Reals &x) { return double(x[0] <= x[1]); }, true}},
      {"GreaterOrEqual",
       {[](const Integers &x) { return compared(x, std::greater_equal<>()); },
        [](const Reals &x) { return double(x[0] >= x[1]); }, true}},
      {"Identity",
       {[](const Integers &x) { return x[0]; },
        [](const Reals &x) { return x[0]; }}},
  };
  return table;
}

static size_t arityOf(std::string_view op) {
  constexpr std::string_view unary[] = {"Neg",        "Abs",  "Relu",
                                        "Floor",      "Ceil", "Sqrt",
                                        "Reciprocal", "Not",  "Identity"};
  return std::ranges::find(unary, op) != std::end(unary) ? 1 : 2;
}

static KnownRef foldPointwise(std::string_view op, const Pointwise &rule,
                              const std::vector<KnownRef> &inputs) {
  if (inputs.size() != arityOf(op))
    return nullptr;
  Known result;
  bool isReal = inputs[0]->isReal();
  for (const KnownRef &input : inputs) {
    if (input->dtype != inputs[0]->dtype || !isComputable(input->dtype))
      return nullptr;
    result.varies |= input->varies;
  }
  if ((isReal && !rule.real) || (!isReal && !rule.integer) ||
      !broadcastDims(inputs, result.dims))
    return nullptr;
  result.dtype = rule.isPredicate ? DType::boolean : inputs[0]->dtype;
  int64_t count = 1;
  for (int64_t dim : result.dims)
    count *= dim;
  for (size_t i = 0; i < size_t(count); ++i) {
    Integers integers;
    Reals reals;
    for (const KnownRef &input : inputs) {
      size_t at = sourceOf(i, result.dims, input->dims);
      if (isReal)
        reals.push_back(input->reals[at]);
      else
        integers.push_back(input->integers[at]);
    }
    if (isReal && rule.isPredicate)
      result.integers.emplace_back(int64_t(rule.real(reals)));
    else if (isReal)
      result.reals.push_back(rounded(result.dtype, rule.real(reals)));
    else
      result.integers.push_back(wrapped(result.dtype, rule.integer(integers)));
  }
  return knowable(std::move(result));
}

//===- Where and Cast -----------------------------------------------------===//

static KnownRef foldWhere(const std::vector<KnownRef> &inputs) {
  if (inputs.size() != 3 || inputs[0]->isReal() ||
      inputs[1]->dtype != inputs[2]->dtype)
    return nullptr;
  Known result;
  result.dtype = inputs[1]->dtype;
  for (const KnownRef &input : inputs)
    result.varies |= input->varies;
  if (!broadcastDims(inputs, result.dims))
    return nullptr;
  int64_t count = 1;
  for (int64_t dim : result.dims)
    count *= dim;
  for (size_t i = 0; i < size_t(count); ++i) {
    size_t condition = sourceOf(i, result.dims, inputs[0]->dims);
    bool holds = number(inputs[0]->integers[condition]) != 0;
    const Known &chosen = *inputs[holds ? 1 : 2];
    size_t at = sourceOf(i, result.dims, chosen.dims);
    if (chosen.isReal())
      result.reals.push_back(chosen.reals[at]);
    else
      result.integers.push_back(chosen.integers[at]);
  }
  return std::make_shared<Known>(std::move(result));
}

/// Null where a real is out of the integers' range.
static KnownRef foldCast(const NodeRecord &node,
                         const std::vector<KnownRef> &inputs) {
  std::optional<DType> dtype;
  for (const AttributeRecord &attribute : node.attributes)
    if (attribute.name == "to")
      dtype = computedAs(ElementType(attribute.integer));
  if (!dtype || inputs.size() != 1 || !isComputable(*dtype))
    return nullptr;
  Known result;
  result.dtype = *dtype;
  result.dims = inputs[0]->dims;
  result.varies = inputs[0]->varies;
  for (Dim integer : inputs[0]->integers) {
    if (result.isReal())
      result.reals.push_back(rounded(*dtype, double(number(integer))));
    else
      result.integers.push_back(wrapped(*dtype, integer));
  }
  for (double real : inputs[0]->reals) {
    if (result.isReal())
      result.reals.push_back(rounded(*dtype, real));
    else if (*dtype == DType::boolean)
      result.integers.emplace_back(int64_t(real != 0));
    else if (std::fabs(real) < 2e9 &&
             wrapped(*dtype, int64_t(real)).value == int64_t(real))
      result.integers.emplace_back(int64_t(real));
    else
      return nullptr;
  }
  return knowable(std::move(result));
}

//===- All ----------------------------------------------------------------===//

bool isFoldable(const NodeRecord &node) {
  return node.outputs.size() == 1 && !node.outputs[0].empty() &&
         !node.inputs.empty() &&
         (pointwise().contains(node.op) || node.op == "Where" ||
          node.op == "Cast" || findShapeFold(node.op) != nullptr);
}

KnownRef fold(const NodeRecord &node, int64_t opset,
              const std::vector<KnownRef> &inputs) {
  if (ShapeFold rule = findShapeFold(node.op))
    return foldShape(rule, {node, opset, inputs});
  for (const KnownRef &input : inputs)
    if (!input)
      return nullptr;
  if (node.op == "Where")
    return foldWhere(inputs);
  if (node.op == "Cast")
    return foldCast(node, inputs);
  // Before opset 7 operands were brought together by attributes.
  if (opset < 7 && inputs.size() == 2 && inputs[0]->dims != inputs[1]->dims)
    return nullptr;
  // C's remainder is left to the device.
  for (const AttributeRecord &attribute : node.attributes)
    if (attribute.name == "fmod" && attribute.integer != 0)
      return nullptr;
  return foldPointwise(node.op, pointwise().at(node.op), inputs);
}

} // namespace sinter::onnx

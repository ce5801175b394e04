/// Products, sums, and what networks are made of.
#include "frontend/export/onnx/rows/Rows.h"

namespace sinter::onnx {

static void matmulRule(OpCall &call) {
  call.give("MatMul", {call.in(0), call.in(1)});
}

/// Axes are an operand of ReduceSum, and of the others from opset 18 on.
static void reduced(OpCall &call, const char *op, const std::string &x) {
  std::vector<int64_t> axes = call.ints();
  int64_t keeps = call.attrs().boolean();
  if (axes.empty())
    return call.give("Identity", {x});
  bool isOperand = call.opset() >= 18 || std::string_view(op) == "ReduceSum";
  if (isOperand)
    return call.give(op, {x, call.integers(axes)}, {{"keepdims", keeps}});
  call.give(op, {x}, {{"keepdims", keeps}, {"axes", axes}});
}

/// x as the result's dtype, in which it is summed.
static std::string asResult(OpCall &call) {
  std::string x = call.in(0);
  return call.operandType(0) == call.dtype() ? x : call.cast(x, call.dtype());
}

static void sumRule(OpCall &call) {
  reduced(call, "ReduceSum", asResult(call));
}
static void prodRule(OpCall &call) {
  reduced(call, "ReduceProd", asResult(call));
}
static void amaxRule(OpCall &call) { reduced(call, "ReduceMax", call.in(0)); }
static void aminRule(OpCall &call) { reduced(call, "ReduceMin", call.in(0)); }

static void meanRule(OpCall &call) {
  if (call.operandType(0) != call.dtype())
    return call.giveParts();
  reduced(call, "ReduceMean", call.in(0));
}

static void searched(OpCall &call, const char *op) {
  int64_t axis = call.attrs().integer(), keeps = call.attrs().boolean();
  call.give(op, {call.in(0)}, {{"axis", axis}, {"keepdims", keeps}});
}
static void argmaxRule(OpCall &call) { searched(call, "ArgMax"); }
static void argminRule(OpCall &call) { searched(call, "ArgMin"); }

static void cumsumRule(OpCall &call) {
  int64_t axis = call.attrs().integer(), isReverse = call.attrs().boolean();
  call.give("CumSum", {asResult(call), call.number(DType::i64, Number(axis))},
            {{"reverse", isReverse}});
}

static void softmaxRule(OpCall &call) {
  call.give("Softmax", {call.in(0)}, {{"axis", call.attrs().integer()}});
}
static void logSoftmaxRule(OpCall &call) {
  call.give("LogSoftmax", {call.in(0)}, {{"axis", call.attrs().integer()}});
}

/// Of the last axis, with a weight and a bias along it.
static void layerNormRule(OpCall &call) {
  bool isVector =
      call.operand(1).dims.size() == 1 && call.operand(2).dims.size() == 1;
  if (!isVector)
    return call.giveParts();
  call.give("LayerNormalization", {call.in(0), call.in(1), call.in(2)},
            {{"axis", int64_t(-1)}, {"epsilon", call.attrs().real()}});
}

static constexpr WrittenOp rows[] = {
    {"matmul", matmulRule},
    {"sum", sumRule},
    {"prod", prodRule},
    {"amax", amaxRule},
    {"amin", aminRule},
    {"mean", meanRule},
    {"argmax", argmaxRule},
    {"argmin", argminRule},
    {"cumsum", cumsumRule},
    {"softmax", softmaxRule},
    {"log_softmax", logSoftmaxRule},
    {"layer_norm", layerNormRule},
};

std::span<const WrittenOp> writtenNetworks() { return rows; }

} // namespace sinter::onnx

/// The inverse of ImportGraph: a module back to the numbered graph.
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/runtime/OpTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sinter::compiler {

namespace {

/// Reads one function.
class GraphReader {
public:
  explicit GraphReader(func::FuncOp function) : function(function) {}

  FailureOr<graph::Graph> run();

private:
  SmallVector<Value> order();
  uint32_t indexOf(AffineExpr expr);
  void addValue(graph::Value value, Value of);
  graph::Value valueOfType(Type type);
  void readInput(BlockArgument argument);
  LogicalResult readOp(Operation &op);
  FailureOr<std::vector<uint64_t>> readAttrs(Operation &op, graph::OpId id);
  void readGuards();

  func::FuncOp function;
  graph::Graph graph;
  llvm::DenseMap<AffineExpr, uint32_t> exprs;
  llvm::DenseMap<Value, uint32_t> numbers;
};

} // namespace

uint32_t GraphReader::indexOf(AffineExpr expr) {
  if (auto known = exprs.find(expr); known != exprs.end())
    return known->second;
  Expr own;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    own.value = constant.getValue();
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    own.op = ExprOp::symbol;
    own.value = symbol.getPosition();
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    own.lhs = indexOf(binary.getLHS());
    own.rhs = indexOf(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      own.op = ExprOp::add;
      break;
    case AffineExprKind::Mul:
      own.op = ExprOp::mul;
      break;
    case AffineExprKind::FloorDiv:
      own.op = ExprOp::floorDiv;
      break;
    case AffineExprKind::CeilDiv:
      own.op = ExprOp::ceilDiv;
      break;
    default:
      own.op = ExprOp::mod;
      break;
    }
  }
  uint32_t index = graph.exprs.size();
  graph.exprs.push_back(own);
  exprs[expr] = index;
  return index;
}

graph::Value GraphReader::valueOfType(Type type) {
  graph::Value value;
  value.dtype = *dtypeOf(cast<RankedTensorType>(type).getElementType());
  for (AffineExpr dim : dimsOf(type))
    value.dims.push_back(indexOf(dim));
  return value;
}

void GraphReader::addValue(graph::Value value, Value of) {
  numbers[of] = graph.values.size();
  graph.values.push_back(std::move(value));
}

void GraphReader::readInput(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  graph::Input &input = graph.inputs[index];
  input.value = graph.values.size();
  auto kind =
      function.getArgAttrOfType<StringAttr>(index, port_attrs::kind).getValue();
  for (graph::InputKind each :
       {graph::InputKind::parameter, graph::InputKind::scalar})
    if (kind == StringRef(toString(each)))
      input.kind = each;
  if (auto name =
          function.getArgAttrOfType<StringAttr>(index, port_attrs::name))
    input.name = name.str();
  addValue(valueOfType(argument.getType()), argument);
}

// The words as a graph has them: dims are indices of its expressions.
FailureOr<std::vector<uint64_t>> GraphReader::readAttrs(Operation &op,
                                                        graph::OpId id) {
  FailureOr<SmallVector<uint64_t>> words = ir::encodeAttrs(&op);
  if (failed(words))
    return failure();
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(id).attrs) {
    bool isDims = spec.kind == graph::AttrKind::dims;
    size_t count = 1;
    if (graph::isList(spec.kind))
      count = (*words)[at++];
    if (!isDims && spec.kind != graph::AttrKind::dim) {
      at += spec.kind == graph::AttrKind::number ? 2 : count;
      continue;
    }
    auto map = op.getAttrOfType<AffineMapAttr>(StringRef(spec.name));
    for (size_t i = 0; i < count; ++i, at += 2) {
      (*words)[at] = 0;
      (*words)[at + 1] = indexOf(map.getValue().getResult(i));
    }
  }
  return std::vector<uint64_t>(words->begin(), words->end());
}

LogicalResult GraphReader::readOp(Operation &op) {
  graph::OpId id = graph::findOp(op.getName().stripDialect());
  if (op.getName().getDialectNamespace() != "sinter" || id == graph::noOp)
    return op.emitError() << "not an op that can be recorded";
  graph::Value value = valueOfType(op.getResult(0).getType());
  value.op = id;
  for (Value operand : op.getOperands())
    value.operands.push_back(numbers.lookup(operand));
  FailureOr<std::vector<uint64_t>> attrs = readAttrs(op, id);
  if (failed(attrs))
    return failure();
  value.attrs = std::move(*attrs);
  addValue(std::move(value), op.getResult(0));
  return success();
}

void GraphReader::readGuards() {
  if (auto guards = function->getAttrOfType<ArrayAttr>(port_attrs::guards))
    for (auto map : guards.getAsValueRange<AffineMapAttr>())
      graph.guards.push_back(
          {indexOf(map.getResult(0)), indexOf(map.getResult(1))});
}

// The values by the numbers that the text gives them, unless an input would
// come after what reads it.
SmallVector<Value> GraphReader::order() {
  Block &block = function.getBody().front();
  SmallVector<Value> values(block.getArguments());
  for (Operation &op : block.without_terminator())
    llvm::append_range(values, op.getResults());
  auto numberOf = [](Value value) { return nodesOf(value.getLoc()).front(); };
  for (Value value : values)
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        if (numberOf(operand) > numberOf(value))
          return values;
  llvm::stable_sort(
      values, [&](Value a, Value b) { return numberOf(a) < numberOf(b); });
  return values;
}

FailureOr<graph::Graph> GraphReader::run() {
  Block &block = function.getBody().front();
  graph.inputs.resize(block.getNumArguments());
  for (Value value : order())
    if (Operation *op = value.getDefiningOp(); !op)
      readInput(cast<BlockArgument>(value));
    else if (failed(readOp(*op)))
      return failure();
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    graph.outputs.push_back(numbers.lookup(result.get()));
    auto name = function.getResultAttrOfType<StringAttr>(
        result.getOperandNumber(), port_attrs::name);
    graph.outputNames.push_back(name ? name.str() : std::string());
  }
  readGuards();
  if (auto symbols =
          function->getAttrOfType<IntegerAttr>(port_attrs::numSymbols))
    graph.numSymbols = symbols.getInt();
  return std::move(graph);
}

FailureOr<graph::Graph> toGraph(ModuleOp module) {
  return GraphReader(module.lookupSymbol<func::FuncOp>("main")).run();
}

} // namespace sinter::compiler

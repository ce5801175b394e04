/// Records a composite's decomposition over leaves of its operands' types and
/// turns the recorded nodes into ops.
#include "dialects/sinter/ExpandComposites.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/ShapeChecks.h"
#include "sinter/generated/classes/Nn.h"

#include "mlir/IR/Builders.h"

#include <vector>

using namespace mlir;

namespace sinter::ir {

using llvm::SmallVector; // not the runtime's

namespace {

/// One composite op being replaced.
class Expansion {
public:
  explicit Expansion(Operation *op)
      : op(op), builder(op), numSymbols(numSymbolsOf(op)) {}
  LogicalResult run();

private:
  graph::NodeRef leafFor(Value operand);
  /// The value of a recorded node; ops are made on the way.
  Value valueOf(const graph::NodeRef &node);
  Value makeOp(const graph::Node &node);

  Operation *op;
  OpBuilder builder;
  unsigned numSymbols;
  llvm::DenseMap<const graph::Node *, Value> values;
};

} // namespace

graph::NodeRef Expansion::leafFor(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<Dim> dims = llvm::map_to_vector(dimsOf(type), dimOf);
  graph::NodeRef leaf = graph::NodeFactory::lazyLeaf(
      *dtypeOf(type.getElementType()), {dims.data(), dims.size()}, DeviceId(),
      /*requiresGrad=*/false);
  values[leaf.get()] = operand;
  return leaf;
}

Value Expansion::makeOp(const graph::Node &node) {
  MLIRContext *context = op->getContext();
  std::string_view mnemonic = graph::info(node.op()).name;
  OperationState state(op->getLoc(), ("sinter." + StringRef(mnemonic)).str());
  for (const graph::NodeRef &operand : node.operands())
    state.addOperands(values.lookup(operand.get()));
  state.addAttributes(
      decodeAttrs(context, node.op(), node.attrs(), numSymbols));
  SmallVector<AffineExpr> dims;
  for (Dim dim : node.dims())
    dims.push_back(affineOf(context, dim));
  state.addTypes(
      tensorType(elementType(context, node.dtype()), dims, numSymbols));
  return builder.create(state)->getResult(0);
}

Value Expansion::valueOf(const graph::NodeRef &root) {
  // Post-order without recursion: a node is made when seen a second time.
  std::vector<const graph::Node *> stack{root.get()};
  while (!stack.empty()) {
    const graph::Node *node = stack.back();
    if (values.contains(node)) {
      stack.pop_back();
      continue;
    }
    size_t waiting = stack.size();
    for (const graph::NodeRef &operand : llvm::reverse(node->operands()))
      if (!values.contains(operand.get()))
        stack.push_back(operand.get());
    if (stack.size() == waiting) {
      values[node] = makeOp(*node);
      stack.pop_back();
    }
  }
  return values.lookup(root.get());
}

LogicalResult Expansion::run() {
  FailureOr<SmallVector<uint64_t>> words = encodeAttrs(op);
  if (failed(words))
    return failure();
  // Leaves have samples for symbolic dims, which need not fit together.
  graph::GuardSink guards{.valuesUnknown = true, .equalities = {}};
  graph::GuardScope scope(guards);
  std::vector<graph::NodeRef> leaves;
  for (Value operand : op->getOperands())
    leaves.push_back(leafFor(operand));
  Result<graph::NodeRef> expanded =
      graph::decompose(cast<SinterOpInterface>(op).getOpId(), leaves,
                       {words->data(), words->size()});
  if (!expanded)
    return op->emitError(expanded.error().message);
  op->getResult(0).replaceAllUsesWith(valueOf(*expanded));
  op->erase();
  return success();
}

LogicalResult expandComposites(Operation *root, bool keepImages) {
  // A decomposition may hold composites: repeat until none is left.
  while (true) {
    SmallVector<Operation *> composites;
    root->walk([&](SinterOpInterface op) {
      bool isKept = isa<AfterOp>(op.getOperation()) ||
                    (keepImages && isa<ImageOpInterface>(op.getOperation()));
      if (op.getPatternKind() == graph::PatternKind::composite && !isKept)
        composites.push_back(op);
    });
    if (composites.empty())
      return success();
    for (Operation *composite : composites)
      if (failed(Expansion(composite).run()))
        return failure();
  }
}

} // namespace sinter::ir

/// Sizes and dim expressions.
#include "compiler/import/Types.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace sinter::compiler {

SmallVector<AffineExpr> dimsOf(Type type) {
  return ir::dimsOf(cast<RankedTensorType>(type));
}

AffineMapAttr shapeAttr(MLIRContext *context, ArrayRef<AffineExpr> dims,
                        unsigned numSymbols) {
  return AffineMapAttr::get(AffineMap::get(0, numSymbols, dims, context));
}

AffineMapAttr shapeAttr(Type type) {
  return shapeAttr(type.getContext(), dimsOf(type), numSymbolsOf(type));
}

AffineExpr elementCount(Type type) {
  AffineExpr count = getAffineConstantExpr(1, type.getContext());
  for (AffineExpr dim : dimsOf(type))
    count = count * dim;
  return count;
}

AffineExpr byteCount(Type type) {
  DType dtype = *dtypeOf(cast<RankedTensorType>(type).getElementType());
  return elementCount(type) * int64_t(byteWidth(dtype));
}

static AffineExpr affineOf(MLIRContext *context, const Expr &expr,
                           ArrayRef<AffineExpr> done) {
  return ir::affineOf(context, expr,
                      [&](uint32_t operand) { return done[operand]; });
}

// Of the expressions that guards make equal, a constant stands for all, else
// the one that comes first.
static SmallVector<uint32_t> representatives(const graph::Graph &graph) {
  llvm::EquivalenceClasses<uint32_t> equal;
  for (const graph::Guard &guard : graph.guards)
    equal.unionSets(guard.lhs, guard.rhs);
  SmallVector<uint32_t> standsFor;
  for (uint32_t index = 0; index < graph.exprs.size(); ++index)
    standsFor.push_back(index);
  auto rank = [&](uint32_t index) {
    return std::pair(graph.exprs[index].op != ExprOp::constant, index);
  };
  for (const auto &entry : equal) {
    if (!entry->isLeader())
      continue;
    uint32_t best = entry->getData();
    for (uint32_t member : equal.members(*entry))
      if (rank(member) < rank(best))
        best = member;
    for (uint32_t member : equal.members(*entry))
      standsFor[member] = best;
  }
  return standsFor;
}

GraphDims::GraphDims(MLIRContext *context, const graph::Graph &graph)
    : context(context) {
  unifyGuarded(graph);
  renumber(graph);
}

void GraphDims::unifyGuarded(const graph::Graph &graph) {
  SmallVector<uint32_t> standsFor = representatives(graph);
  // Each expression over the representatives of its operands.
  SmallVector<AffineExpr> own;
  for (uint32_t index = 0; index < graph.exprs.size(); ++index) {
    own.push_back(affineOf(context, graph.exprs[index], exprs));
    uint32_t other = standsFor[index];
    exprs.push_back(other < index ? exprs[other]
                    : other == index
                        ? own[index]
                        : affineOf(context, graph.exprs[other], {}));
  }
  // A symbol that is replaced needs no guard: the dims that had it are checked
  // against what replaces it.
  auto isReplaced = [&](uint32_t index) {
    return graph.exprs[index].op == ExprOp::symbol && standsFor[index] != index;
  };
  for (const graph::Guard &guard : graph.guards)
    if (own[guard.lhs] != own[guard.rhs] && !isReplaced(guard.lhs) &&
        !isReplaced(guard.rhs))
      guardMaps.push_back(AffineMap::get(
          0, graph.numSymbols, {own[guard.lhs], own[guard.rhs]}, context));
}

void GraphDims::renumber(const graph::Graph &graph) {
  SmallVector<AffineExpr> numbers(graph.numSymbols);
  for (const graph::Input &input : graph.inputs)
    for (uint32_t dim : graph.values[input.value].dims)
      exprs[dim].walk([&](AffineExpr part) {
        auto symbol = dyn_cast<AffineSymbolExpr>(part);
        if (symbol && !numbers[symbol.getPosition()])
          numbers[symbol.getPosition()] =
              getAffineSymbolExpr(symbols++, context);
      });
  for (AffineExpr &number : numbers)
    if (!number)
      number = getAffineConstantExpr(0, context);
  for (AffineExpr &expr : exprs)
    expr = expr.replaceSymbols(numbers);
  for (AffineMap &map : guardMaps)
    map = map.replaceDimsAndSymbols({}, numbers, 0, symbols);
}

} // namespace sinter::compiler

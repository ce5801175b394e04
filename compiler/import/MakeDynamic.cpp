/// Constants become symbols, and every op's shape is inferred again.
#include "compiler/import/MakeDynamic.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/InferShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace sinter::compiler {

using llvm::SmallVector; // not the runtime's

namespace {

/// Rewrites one module.
class DimRewriter {
public:
  explicit DimRewriter(ModuleOp module)
      : module(module), context(module.getContext()),
        function(module.lookupSymbol<func::FuncOp>("main")),
        symbols(programSymbols(module)) {}

  LogicalResult run(const std::vector<std::string> &axes);

private:
  LogicalResult read(StringRef axis);
  LogicalResult checkOtherAxes();
  std::optional<unsigned> findInput(StringRef name);
  AffineExpr replaced(AffineExpr dim) const;
  AffineMap replaced(AffineMap map) const;
  Type replaced(Type type) const;
  void rewrite();
  LogicalResult inferAgain(Operation *op);

  ModuleOp module;
  MLIRContext *context;
  func::FuncOp function;
  unsigned symbols;
  std::map<std::string, unsigned> names;              ///< of the new symbols
  llvm::MapVector<int64_t, unsigned> symbolOf;        ///< by extent
  llvm::DenseSet<std::pair<unsigned, int64_t>> named; ///< input, axis
};

} // namespace

std::optional<unsigned> DimRewriter::findInput(StringRef name) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto own = function.getArgAttrOfType<StringAttr>(index, port_attrs::name);
    if ((own && own.getValue() == name) || std::to_string(index) == name)
      return index;
  }
  return std::nullopt;
}

LogicalResult DimRewriter::read(StringRef text) {
  auto [place, symbol] = text.split('=');
  auto [inputName, axisText] = place.rsplit(':');
  int64_t axis = 0;
  if (symbol.empty() || axisText.getAsInteger(10, axis))
    return module.emitError("dynamic: expected INPUT:AXIS=SYMBOL, got '")
           << text << "'";
  std::optional<unsigned> input = findInput(inputName);
  if (!input)
    return module.emitError("dynamic: no input is named '") << inputName << "'";
  auto type = cast<RankedTensorType>(function.getArgument(*input).getType());
  if (axis < 0 || axis >= type.getRank())
    return module.emitError("dynamic: input '")
           << inputName << "' has no axis " << axis << ": " << type;
  if (type.isDynamicDim(axis))
    return module.emitError("dynamic: axis ")
           << axis << " of input '" << inputName << "' is dynamic already";
  auto [known, isNew] = names.try_emplace(symbol.str(), symbols);
  symbols += isNew;
  auto [entry, first] = symbolOf.insert({type.getDimSize(axis), known->second});
  if (!first && entry->second != known->second)
    return module.emitError("dynamic: two symbols for the extent ")
           << type.getDimSize(axis);
  named.insert({*input, axis});
  return success();
}

// An extent at two axes of which one is named: nothing says which of the two an
// attribute means.
LogicalResult DimRewriter::checkOtherAxes() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (symbolOf.count(type.getDimSize(axis)) &&
          !named.contains({unsigned(index), axis}))
        return module.emitError("dynamic: the extent ")
               << type.getDimSize(axis) << " also stands at axis " << axis
               << " of input " << index
               << "; name that axis, too, or write the model with another "
                  "extent";
  }
  return success();
}

AffineExpr DimRewriter::replaced(AffineExpr dim) const {
  auto constant = dyn_cast<AffineConstantExpr>(dim);
  auto found = constant ? symbolOf.find(constant.getValue()) : symbolOf.end();
  return found == symbolOf.end() ? dim
                                 : getAffineSymbolExpr(found->second, context);
}

AffineMap DimRewriter::replaced(AffineMap map) const {
  SmallVector<AffineExpr> dims;
  for (AffineExpr dim : map.getResults())
    dims.push_back(replaced(dim));
  return AffineMap::get(0, symbols, dims, context);
}

Type DimRewriter::replaced(Type type) const {
  SmallVector<AffineExpr> dims;
  for (AffineExpr dim : dimsOf(type))
    dims.push_back(replaced(dim));
  return tensorType(cast<RankedTensorType>(type).getElementType(), dims,
                    symbols);
}

void DimRewriter::rewrite() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    argument.setType(replaced(argument.getType()));
  for (Operation &op : block.without_terminator()) {
    for (OpResult result : op.getResults())
      result.setType(replaced(result.getType()));
    for (NamedAttribute attr : op.getAttrs())
      if (auto map = dyn_cast<AffineMapAttr>(attr.getValue()))
        op.setAttr(attr.getName(),
                   AffineMapAttr::get(replaced(map.getValue())));
  }
  function.setFunctionType(
      FunctionType::get(context, block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  Builder builder(context);
  function->setAttr(port_attrs::numSymbols, builder.getI64IntegerAttr(symbols));
  if (auto guards = function->getAttrOfType<ArrayAttr>(port_attrs::guards)) {
    SmallVector<AffineMap> maps;
    for (auto guard : guards.getAsRange<AffineMapAttr>())
      maps.push_back(
          AffineMap::get(0, symbols, guard.getValue().getResults(), context));
    function->setAttr(port_attrs::guards, builder.getAffineMapArrayAttr(maps));
  }
}

// The shape rule must give exactly the rewritten type, and rely on no equality
// of different expressions.
LogicalResult DimRewriter::inferAgain(Operation *op) {
  FailureOr<ir::InferredShape> inferred = ir::inferShape(op);
  if (failed(inferred))
    return failure();
  SmallVector<AffineExpr> expected;
  for (Dim dim : inferred->type.dims)
    expected.push_back(ir::affineOf(context, dim));
  if (expected == dimsOf(op->getResult(0).getType()) &&
      inferred->equalities.empty())
    return success();
  return op->emitOpError("dynamic: the shape does not follow from the "
                         "operands any more: ")
         << op->getResult(0).getType();
}

LogicalResult DimRewriter::run(const std::vector<std::string> &axes) {
  for (const std::string &axis : axes)
    if (failed(read(axis)))
      return failure();
  if (failed(checkOtherAxes()))
    return failure();
  rewrite();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(inferAgain(&op)))
      return failure();
  return success();
}

LogicalResult makeDynamic(ModuleOp module,
                          const std::vector<std::string> &axes) {
  return axes.empty() ? success() : DimRewriter(module).run(axes);
}

} // namespace sinter::compiler

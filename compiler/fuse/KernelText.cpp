/// Symbols, text and names of kernels.
#include "compiler/fuse/KernelText.h"
#include "compiler/import/Types.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <xxhash.h>

using namespace mlir;

namespace sinter::compiler {

void KernelSymbols::collect(AffineMap map) {
  context = map.getContext();
  map.walkExprs([&](AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      order.try_emplace(symbol.getPosition(), order.size());
  });
}

static AffineMapAttr encodingOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<AffineMapAttr>(tensor.getEncoding())
                : AffineMapAttr();
}

void KernelSymbols::collect(Type type) {
  context = type.getContext();
  if (AffineMapAttr map = encodingOf(type))
    collect(map.getValue());
}

void KernelSymbols::collect(Operation *op) {
  for (NamedAttribute attr : op->getAttrs())
    if (auto map = dyn_cast<AffineMapAttr>(attr.getValue()))
      collect(map.getValue());
  for (Type type : op->getResultTypes())
    collect(type);
}

AffineMap KernelSymbols::renamed(AffineMap map) const {
  SmallVector<AffineExpr> replacements(total);
  for (unsigned symbol = 0; symbol < total; ++symbol)
    replacements[symbol] = getAffineConstantExpr(0, context);
  for (auto [symbol, own] : order)
    replacements[symbol] = getAffineSymbolExpr(own, context);
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(expr.replaceSymbols(replacements));
  return AffineMap::get(0, order.size(), results, context);
}

Type KernelSymbols::renamed(Type type) const {
  AffineMapAttr map = encodingOf(type);
  if (!map)
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return tensorType(tensor.getElementType(),
                    renamed(map.getValue()).getResults(), order.size());
}

void KernelSymbols::rename(Operation *op) const {
  for (NamedAttribute attr : op->getAttrs())
    if (auto map = dyn_cast<AffineMapAttr>(attr.getValue()))
      op->setAttr(attr.getName(), AffineMapAttr::get(renamed(map.getValue())));
  for (OpResult result : op->getResults())
    result.setType(renamed(result.getType()));
}

AffineMap KernelSymbols::launchDims() const {
  SmallVector<AffineExpr> results;
  for (auto [symbol, own] : order)
    results.push_back(getAffineSymbolExpr(symbol, context));
  return AffineMap::get(0, total, results, context);
}

std::string canonicalText(program::KernelOp kernel) {
  // The name is not part of the text that it is made from, nor is what plan
  // says of it.
  StringAttr name = kernel.getSymNameAttr();
  AffineMapAttr workspaces = kernel.getWorkspacesAttr();
  DenseI64ArrayAttr prepared = kernel.getPreparedAttr();
  kernel.removeWorkspacesAttr();
  kernel.removePreparedAttr();
  kernel.setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  kernel.setSymName(name);
  if (workspaces)
    kernel.setWorkspacesAttr(workspaces);
  if (prepared)
    kernel.setPreparedAttr(prepared);
  return text;
}

std::string kernelName(program::KernelOp kernel) {
  // How it is computed has no part in it, but for what makes it another kernel.
  program::ScheduleAttr schedule = kernel.getScheduleAttr();
  if (schedule && schedule.getKeptInputs())
    kernel.setScheduleAttr(
        program::ScheduleAttr::keeping(schedule.getKeptInputs()));
  else
    kernel.removeScheduleAttr();
  std::string text = canonicalText(kernel);
  if (schedule)
    kernel.setScheduleAttr(schedule);
  uint64_t hash = XXH3_64bits(text.data(), text.size());
  return llvm::formatv("{0}_{1:x-16}", kernel.getKind(), hash);
}

} // namespace sinter::compiler

/// NoteSizes: affine expressions in postfix order.
#include "compiler/target/vulkan/NoteSizes.h"

#include "runtime/device/vulkan/IndexLimit.h"

using namespace mlir;

namespace sinter::compiler {

static void appendPostfix(AffineExpr expr, std::string &text) {
  auto append = [&](const llvm::Twine &word) { text += (word + " ").str(); };
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return append(llvm::Twine(number.getValue()));
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return append("d" + llvm::Twine(symbol.getPosition()));
  auto both = cast<AffineBinaryOpExpr>(expr);
  appendPostfix(both.getLHS(), text);
  appendPostfix(both.getRHS(), text);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return append("+");
  case AffineExprKind::Mul:
    return append("*");
  case AffineExprKind::Mod:
    return append("%");
  case AffineExprKind::FloorDiv:
    return append("/");
  case AffineExprKind::CeilDiv:
    return append("^");
  default:
    llvm_unreachable("it has no operands");
  }
}

std::string sizesText(AffineMap sizes) {
  std::string text(runtime::sizesKeyword);
  for (AffineExpr size : sizes.getResults()) {
    appendPostfix(size, text);
    text += "; ";
  }
  if (sizes.getNumResults() > 0)
    text.pop_back();
  return text;
}

} // namespace sinter::compiler

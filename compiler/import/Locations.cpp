/// Post-order numbers as MLIR locations.
#include "compiler/import/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr llvm::StringLiteral nodeFile = "node";

Location nodeLocation(MLIRContext *context, uint32_t number) {
  return FileLineColLoc::get(context, nodeFile, number, 0);
}

Location mergeLocations(Location a, Location b) {
  return a == b ? a : FusedLoc::get(a.getContext(), {a, b});
}

llvm::SmallVector<uint32_t> nodesOf(Location location) {
  llvm::SmallVector<uint32_t> numbers;
  location->walk([&](Location part) {
    auto node = dyn_cast<FileLineColLoc>(LocationAttr(part));
    if (node && node.getFilename() == nodeFile)
      numbers.push_back(node.getLine());
    return WalkResult::advance();
  });
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

} // namespace sinter::compiler

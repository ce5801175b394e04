/// The `tile` of kernels' schedules.
#include "compiler/fuse/ScheduleTiles.h"
#include "compiler/lower/kernel/Schedule.h"

using namespace mlir;

namespace sinter::compiler {

void setTile(program::KernelOp kernel, StringRef tile) {
  kernel.setScheduleAttr(withChoice(kernel, tile));
}

Status scheduleTiles(ModuleOp module, const std::vector<TileChoice> &choices) {
  for (const TileChoice &choice : choices) {
    auto kernel = module.lookupSymbol<program::KernelOp>(choice.kernel);
    if (!kernel)
      return makeError(ErrorKind::invalid_argument,
                       "tile '" + choice.tile +
                           "': the program has no kernel '" + choice.kernel +
                           "'");
    setTile(kernel, choice.tile);
  }
  return {};
}

} // namespace sinter::compiler

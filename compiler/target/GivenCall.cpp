/// Reads a call from its op.
#include "compiler/target/GivenCall.h"

#include "compiler/import/Types.h"
#include "compiler/target/Target.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

SmallVector<std::pair<std::string, int64_t>> GivenTensor::sizes() const {
  SmallVector<std::pair<std::string, int64_t>> all;
  all.emplace_back(name + "_RANK", int64_t(extents.size()));
  int64_t size = 1;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    all.emplace_back(name + "_DIM" + std::to_string(axis), extent);
    size *= extent;
  }
  all.emplace_back(name + "_SIZE", size);
  return all;
}

SmallVector<GivenTensor> tensorsOf(ir::OpaqueOpInterface given) {
  SmallVector<GivenTensor> tensors;
  auto add = [&](std::string name, Type type, ArrayRef<int64_t> extents) {
    tensors.push_back(
        {std::move(name), *dtypeOf(getElementTypeOrSelf(type)), extents});
  };
  ArrayRef<int64_t> extents = given.getExtents();
  for (auto [number, operand] : llvm::enumerate(given->getOperands())) {
    size_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    add("IN" + std::to_string(number), operand.getType(),
        extents.take_front(rank));
    extents = extents.drop_front(rank);
  }
  auto result = cast<RankedTensorType>(given->getResult(0).getType());
  add("OUT", result, result.getShape());
  return tensors;
}

runtime::GivenLaunch launchOf(ir::OpaqueOpInterface given,
                              ArrayRef<unsigned> buffers) {
  runtime::GivenLaunch launch;
  llvm::copy(given.getGrid(), launch.grid.begin());
  llvm::copy(given.getBlock(), launch.block.begin());
  launch.sharedBytes = uint32_t(given.getSharedBytes());
  launch.buffers.assign(buffers.begin(), buffers.end());
  return launch;
}

FailureOr<TargetCode> Target::compileGiven(Operation *op, StringRef,
                                           ArrayRef<unsigned>, bool) const {
  return op->emitOpError("is a kernel for GPUs, which target '")
         << StringRef(name()) << "' does not run";
}

} // namespace sinter::compiler

/// StateArrays: states of a combiner in workspaces of a kernel.
#include "compiler/lower/fiber/StateArrays.h"

#include "compiler/lower/element/ElementSource.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

StateArrays::StateArrays(KernelWriter &writer, const Combiner &combiner,
                         AffineExpr elements)
    : types(combiner.types()) {
  for (Type type : types)
    buffers.push_back(writer.addWorkspace(elements, type));
}

Emission::Values StateArrays::load(Emission &emission, const Coord &place,
                                   const Lanes &lanes) const {
  Values states;
  for (auto [type, buffer] : llvm::zip(types, buffers))
    states.push_back(fromMemory(
        emission,
        loadLanes(emission, emission.entry.buffers[buffer], place, lanes),
        type));
  return states;
}

void StateArrays::store(Emission &emission, const Values &states,
                        const Coord &place, const Lanes &lanes) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  for (auto [state, type, buffer] : llvm::zip(states, types, buffers)) {
    Value memory = emission.entry.buffers[buffer];
    Value value = toMemory(emission, state, type);
    if (lanes.count == 1)
      memref::StoreOp::create(builder, loc, value, memory, place.base);
    else if (lanes.mask)
      vector::MaskedStoreOp::create(builder, loc, memory, place.base,
                                    lanes.mask, value);
    else
      vector::StoreOp::create(builder, loc, value, memory, place.base);
  }
}

} // namespace sinter::compiler

/// Subgroup: shuffles, votes and barriers as SPIR-V has them.
#include "compiler/target/vulkan/Subgroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

using namespace mlir;

namespace sinter::compiler {

Value Subgroup::number(OpBuilder &builder, Location loc) const {
  Value lane = gpu::LaneIdOp::create(builder, loc, IntegerAttr());
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), lane);
}

Value Subgroup::from(OpBuilder &builder, Location loc, Value value,
                     Value thread) const {
  return spirv::GroupNonUniformShuffleOp::create(
      builder, loc, spirv::Scope::Subgroup, value, thread);
}

Value Subgroup::any(OpBuilder &builder, Location loc, Value flag) const {
  return spirv::GroupNonUniformAnyOp::create(builder, loc, builder.getI1Type(),
                                             spirv::Scope::Subgroup, flag);
}

void Subgroup::wait(OpBuilder &builder, Location loc) const {
  spirv::ControlBarrierOp::create(builder, loc, spirv::Scope::Subgroup,
                                  spirv::Scope::Subgroup,
                                  spirv::MemorySemantics::AcquireRelease |
                                      spirv::MemorySemantics::UniformMemory |
                                      spirv::MemorySemantics::WorkgroupMemory);
}

} // namespace sinter::compiler

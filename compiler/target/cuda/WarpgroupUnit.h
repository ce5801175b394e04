/// WarpgroupUnit: Hopper's tensor cores as a block's unit.
#pragma once

#include "compiler/target/Target.h"

namespace sinter::compiler {

/// Tiles of products of bf16 or f16, summed by warpgroups of 128 threads from
/// shared memory, into which tensor maps copy parts of both operands (compute
/// capability 9.0, sm_90a). Takes operands of which every row starts at a
/// multiple of 16 bytes.
std::unique_ptr<const BlockUnit> makeWarpgroupUnit(const Machines &machines);

/// Of products of f32, likewise, each element in pieces of bf16: copies of
/// operands in pieces, which pays for large ones. Three pieces lose nothing,
/// and take six products for each; two take three, where products are
/// approximate.
std::unique_ptr<const BlockUnit>
makeWarpgroupUnitOfPieces(unsigned pieces, const Machines &machines);

} // namespace sinter::compiler

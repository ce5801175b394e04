/// Op codes, without their names.
#pragma once

#include <cstdint>

namespace sinter::graph {

/// An op's code. The enumerators stand in runtime/graph/OpIds.h, which changes
/// with each new op: who names an op includes it, and nobody else.
enum class OpId : uint16_t;

/// What a leaf has for a code: a buffer or a dynamic scalar; see Leaf in
/// Node.h.
inline constexpr OpId leafOp{0};
/// The code of no op.
inline constexpr OpId noOp{0xffff};

} // namespace sinter::graph

/// The names of op codes. Included by what names an op.
#pragma once

#include "sinter/runtime/OpId.h"

namespace sinter::graph {

/// The numeric order is the records' order; names, not numbers, stand in files.
/// Leaves come first.
enum class OpId : uint16_t {
  leaf = 0,
#define SINTER_OP(name) name,
#include "sinter/generated/OpIds.inc"
#undef SINTER_OP
  count
};

static_assert(OpId::leaf == leafOp);

} // namespace sinter::graph

/// SymbolicResults: evaluated values that are the data of later programs, as
/// the cache of keys that a loop makes longer is.
#pragma once

#include "sinter/runtime/Node.h"

namespace sinter::detail {

/// Notes the dims of a value that has just been evaluated and still has its
/// operands. Where an axis varies at its line, or is an expression over
/// symbols, ops that read the value from now on take it as a leaf with a symbol
/// there. Values through which gradients flow stay as they are.
void noteResult(const graph::NodeRef &result);

/// A ready node's value without its history, symbolic in the same way.
graph::NodeRef detachedResult(const graph::NodeRef &result);

} // namespace sinter::detail

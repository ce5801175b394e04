/// RecordNumber: the order in which a thread recorded its ops.
#pragma once

#include "sinter/runtime/Node.h"

#include <cstdint>

namespace sinter::graph {

/// The place of an op among all that its thread recorded.
struct RecordNumber {
  uint64_t bits = 0; ///< the thread's number, then a count

  static constexpr unsigned countBits = 48;
  uint64_t thread() const { return bits >> countBits; }
  uint64_t count() const { return bits & ((uint64_t(1) << countBits) - 1); }
};

/// Of an op, no leaf: it stands where a scalar leaf has its payload.
inline RecordNumber recordNumberOf(const Node &op) { return {op.scalarBits()}; }

/// That of the op that this thread recorded last; a count of 0 before.
RecordNumber lastRecordNumber();

} // namespace sinter::graph

/// MissReasons: why a program was not found.
#pragma once

#include "runtime/graph/Slice.h"

#include <string>

namespace sinter::detail {

/// What differs from the program before: what there is to do about it depends
/// on that.
enum class MissKind : uint8_t {
  first, ///< there was none
  ops,   ///< other ops, or more, or fewer
  dtype,
  inputShape,
  shape, ///< of an op's result
  attributes,
  fixedDim, ///< an op needed a symbolic dim to be a number
  outputs,
  other, ///< guards, target, options
};

struct MissReason {
  MissKind kind = MissKind::first;
  std::string what;
  SiteId site = 0; ///< the line that made the difference, if it is known
  uint64_t recordedBy = 0; ///< a hash of the lines that recorded the slice
  /// It does not go on: a dim became symbolic, or a number an input, or other
  /// parameters were met.
  bool isOnce = false;
};

/// Compares the slice that missed with the last one that the flush's line
/// evaluated, of those that the same lines recorded if there is one, and
/// remembers it.
MissReason explainMiss(const graph::Slice &slice, SiteId flushSite);

/// A program was compiled for what a line asked for. From the third on of what
/// the same lines recorded, if this can go on, the line is warned about, once.
void noteCompile(const MissReason &reason, SiteId flushSite);

} // namespace sinter::detail

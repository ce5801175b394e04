/// The reference: every primitive as a plain loop in f64 or i64.
#pragma once

#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::reference {

/// A dense row-major tensor in host memory, as a device would hold it.
struct HostTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  int64_t elements() const;
};

/// Evaluates `graph` on one tensor per input, in order; gives one per output.
/// Each op's result is rounded to its dtype; docs/semantics.md says the rest.
/// Composites are expanded. Fails on inputs that do not fit the graph or its
/// guards, and on a position out of range (kind invalid_argument, with the
/// op's name and line).
Result<std::vector<HostTensor>> evaluate(const graph::Graph &graph,
                                         std::span<const HostTensor> inputs);

} // namespace sinter::reference

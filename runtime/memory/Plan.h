/// Plan: places buffers with known sizes and live intervals in one arena.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

/// A temporary: live from step `first` to step `last`, both included.
struct PlanRequest {
  int64_t bytes = 0; ///< not negative
  uint32_t first = 0;
  uint32_t last = 0; ///< >= first
};

/// Offsets in request order, multiples of `planAlignment`, and the arena size.
/// Requests that are live in one step never overlap. An empty request has
/// offset 0.
struct MemoryPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

inline constexpr int64_t planAlignment = 256;

/// Deterministic; under 50 microseconds for 1,000 requests. At most 2^20
/// requests, which together take less than 2^50 bytes.
MemoryPlan planMemory(std::span<const PlanRequest> requests);

} // namespace sinter::runtime

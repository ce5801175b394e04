/// VulkanProfile: what a Vulkan device offers to shaders.
#pragma once

#include "runtime/device/vulkan/VulkanArguments.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// Vulkan 1.3, and what of it is left to devices. Types of 8, 16 and 64 bits
/// are those that a device computes with and keeps in buffers.
struct VulkanProfile {
  static constexpr unsigned groupThreads = runtime::unknownSubgroup;
  /// Threads of a subgroup; where that is not known, of the groups in a
  /// workgroup that take its place and exchange in its memory.
  unsigned subgroup = groupThreads;
  bool knowsSubgroup = false;
  unsigned sharedBytes = 0;   ///< of a workgroup's memory
  unsigned mostThreads = 128; ///< of a workgroup
  bool hasInt8 = false, hasInt16 = false, hasInt64 = false;
  bool hasFloat64 = false;
  bool hasAtomic64 = false; ///< minimum of 64 bits in buffers
  bool keepsNan = false; ///< NaN, infinities and signed zeros of f32 by order
  bool keepsDenormals = false; ///< those of f32
  bool hasFma = false;         ///< Fma of f32 and f64 rounds once
  bool ordersZeros = false;    ///< FMax and FMin of numbers that are no NaN do
  bool hasPowerOfTwo = false;  ///< Exp2 of f32 is within 2^-22.5
  /// Cooperative matrices of 16 x 16 of f16 and bf16, with sums in f32, and
  /// Vulkan's memory model with them.
  bool hasMatrices = false;
  /// Loops in their place, for tests: they ask nothing of a device.
  bool emulatesMatrices = false;
  /// All of it, as devices name it: sorted, comma separated.
  std::string list;
};

/// `NAME` is a profile that stands in for a kind of device (`lavapipe`, `h200`,
/// `minimal13` for the least that Vulkan 1.3 promises, empty for what most
/// have), or features with a plus between them:
/// `subgroup8`, `shared32` (KiB), `threads256`, `i8`, `i16`, `i64`, `f64`,
/// `atomic64`, `nan32`, `denormal32`, `fma32`, `max32`, `power32`, `coopmat16`.
/// `atomic64` and matrices need `i64`, these also a subgroup. Nothing where it
/// is neither.
std::optional<VulkanProfile> parseVulkanProfile(std::string_view name);

} // namespace sinter::compiler

/// ProgramBuilder: writes small programs over the kernels in Kernels.c.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/Program.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::test {

/// The image made from Kernels.c.
std::vector<std::byte> kernelImage();

/// Fills an fb::ProgramT step by step; indices are returned in file order.
class ProgramBuilder {
public:
  ProgramBuilder();

  uint32_t constant(int64_t value);
  uint32_t symbol(uint32_t number);
  uint32_t expr(ExprOp op, uint32_t lhs, uint32_t rhs);
  uint32_t times(uint32_t lhs, uint32_t rhs) {
    return expr(ExprOp::mul, lhs, rhs);
  }
  void guard(uint32_t lhs, uint32_t rhs);

  /// Each returns the plan buffer.
  uint32_t input(const std::string &name, std::vector<uint32_t> dims,
                 graph::InputKind kind = graph::InputKind::data,
                 DType dtype = DType::f32);
  uint32_t output(std::vector<uint32_t> dims, DType dtype = DType::f32);
  uint32_t temp(uint32_t bytes, uint32_t first, uint32_t last);
  /// A buffer that the loop at a step moves.
  uint32_t moving(uint32_t bytes, uint32_t loop);
  uint32_t constantData(uint64_t offset, uint64_t bytes);

  /// `phases` are symbols of Kernels.c; the first kernel symbol is the
  /// element count (the last one for gather), 256 elements a chunk. A kernel
  /// with another phase touches none of its inputs' and outputs' bytes.
  uint32_t kernel(const std::string &name, uint32_t inputs, uint32_t outputs,
                  uint32_t symbols, std::vector<std::string> phases);
  /// Returns the step.
  uint32_t launch(uint32_t kernel, std::vector<uint32_t> buffers,
                  std::vector<uint32_t> dims, int32_t errorNode = -1);
  uint32_t copy(uint32_t from, uint32_t to, uint32_t bytes);
  uint32_t loop(uint32_t count, uint32_t steps,
                std::vector<fb::LoopCarry> carries,
                std::vector<fb::LoopSlice> slices);
  void mayAlias(uint32_t input, uint32_t output);

  std::vector<std::byte> file() const;

  /// For GPUs, with this text instead of Kernels.c.
  void targetCuda(std::string_view ptx);
  /// The same for vulkan: one SPIR-V module.
  void targetVulkan(std::string_view spirv);

  fb::ProgramT program;
  std::vector<std::byte> image = kernelImage();
  std::vector<std::byte> constants;
  std::vector<std::string> sites;
};

/// Bytes of each buffer that a phase of Kernels.c touches; empty for others.
std::vector<int64_t> touchedBytes(std::string_view phase,
                                  std::span<const int64_t> dims);

/// A buffer on `device` with these elements.
template <typename T>
BufferRef bufferOf(Device &device, const std::vector<T> &values) {
  auto buffer = device.allocate(values.size() * sizeof(T));
  if (!buffer || !device.copyIn(**buffer, 0, std::as_bytes(std::span(values))))
    std::abort();
  return *buffer;
}

template <typename T> std::vector<T> valuesOf(const Buffer &buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  auto bytes = std::as_writable_bytes(std::span(values));
  if (!buffer.device().copyOut(bytes, buffer, 0))
    std::abort();
  return values;
}

Binding bind(BufferRef buffer, std::vector<int64_t> dims, bool donate = false);
Binding bindScalar(float value);

/// out[n] = x[n] * scale, symbolic n: input x, scalar input scale.
ProgramBuilder scaleProgram();

/// A program with every kind of part: two launches, a copy, a temporary, a
/// constant, an alias, a guard, a decision.
ProgramBuilder fullProgram();

/// sum = init + x[0] + ... + x[t - 1], and every partial sum: a loop of a
/// launch and a copy.
ProgramBuilder loopProgram();

/// sum = init + x, as often as a flag holds, `most` times at most: it is `flag`
/// first and `follows` then. The carries are the sum and the flag.
ProgramBuilder conditionalProgram(int32_t condition = 2, int64_t most = 3);

/// The last of x[t], and all of them: a loop of copies, for the null device.
ProgramBuilder copyProgram();

/// out[n] = x[indices[n]] + sum(x), through a workspace.
ProgramBuilder gatherProgram();

} // namespace sinter::runtime::test

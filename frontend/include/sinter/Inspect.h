/// Inspect: look at what a value would compile to, without running it.
#pragma once

#include <sinter/Tensor.h>

#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// The IR of these tensors after a stage (import, simplify, fuse, plan, lower,
/// target, package) or as llvm or asm. Runs and flushes nothing.
std::string
inspect(std::span<const Tensor> tensors, std::string_view stage,
        std::source_location where = std::source_location::current());
inline std::string
inspect(std::initializer_list<Tensor> tensors, std::string_view stage,
        std::source_location where = std::source_location::current()) {
  return inspect(std::span<const Tensor>(tensors.begin(), tensors.size()),
                 stage, where);
}

/// Writes the recorded graph of `outputs` as `sinter`-dialect text: exactly
/// what a flush hands to the compiler, parameters as inputs.
void export_graph(std::span<const Tensor> outputs, const std::string &path,
                  std::source_location where = std::source_location::current());
inline void
export_graph(std::initializer_list<Tensor> outputs, const std::string &path,
             std::source_location where = std::source_location::current()) {
  export_graph(std::span<const Tensor>(outputs.begin(), outputs.size()), path,
               where);
}

/// Throws unless evaluating `b` computes `a`, which it depends on, in the same
/// launch.
void expect_fused(const Tensor &a, const Tensor &b,
                  std::source_location where = std::source_location::current());
/// Throws when evaluating `tensors` as one program takes more launches.
void max_kernels(std::span<const Tensor> tensors, size_t most,
                 std::source_location where = std::source_location::current());
inline void
max_kernels(std::initializer_list<Tensor> tensors, size_t most,
            std::source_location where = std::source_location::current()) {
  max_kernels(std::span<const Tensor>(tensors.begin(), tensors.size()), most,
              where);
}

/// The memory that evaluating tensors takes, known before anything runs.
struct PeakMemory {
  size_t bytes = 0; ///< inputs, outputs and temporaries
  size_t input_bytes = 0;
  size_t output_bytes = 0;
  size_t temporary_bytes = 0;
  /// A value that has memory when most is in use.
  struct Use {
    size_t bytes = 0;
    std::string role; ///< `input`, `output` or `temporary`
    std::string what; ///< `matmul f32[64,10]`
    std::string site; ///< `file:line`
  };
  std::vector<Use> live; ///< the largest first
};
/// A report of it, one line a value.
std::string to_string(const PeakMemory &peak);

/// What evaluating `tensors` as one program takes at its peak, if nothing is
/// updated in place. Compiles; runs and flushes nothing.
PeakMemory
inspect_memory(std::span<const Tensor> tensors,
               std::source_location where = std::source_location::current());
inline PeakMemory
inspect_memory(std::initializer_list<Tensor> tensors,
               std::source_location where = std::source_location::current()) {
  return inspect_memory(
      std::span<const Tensor>(tensors.begin(), tensors.size()), where);
}

/// What fusion considered for these tensors, one line a decision.
std::string
explain(std::span<const Tensor> tensors,
        std::source_location where = std::source_location::current());
inline std::string
explain(std::initializer_list<Tensor> tensors,
        std::source_location where = std::source_location::current()) {
  return explain(std::span<const Tensor>(tensors.begin(), tensors.size()),
                 where);
}

} // namespace sinter

/// Inspect: look at what a value would compile to, without running it.
#pragma once

#include <sinter/Tensor.h>

#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

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

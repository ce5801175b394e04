/// Bind: finds the symbols' values from the dims of the inputs.
#pragma once

#include "runtime/program/ProgramData.h"
#include "runtime/support/Result.h"

#include <span>
#include <vector>

namespace sinter::runtime {

/// How each symbol is found; made once per program.
class DimBinder {
public:
  /// An `io` error when a symbol cannot be found from the inputs.
  static Result<DimBinder> make(const ProgramData &program);

  /// Fills `symbols`. Only ranks and the dims that define symbols are checked.
  Status bind(const ProgramData &program, std::span<const Binding> inputs,
              std::vector<int64_t> &symbols) const;

private:
  /// Symbol `symbol` is the only unknown of the dim at (input, axis).
  struct Definition {
    uint32_t symbol, input, axis;
  };
  std::vector<Definition> definitions; ///< in the order they can be solved
};

/// The error of a binding whose dims do not fit: `input 'x': expected
/// f32[s0,64], got f32[3,5]`.
ErrorInfo bindError(const ProgramData &program, size_t input,
                    std::span<const int64_t> dims);

} // namespace sinter::runtime

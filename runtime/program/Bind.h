/// Bind: finds the symbols' values from the dims of the inputs.
#pragma once

#include "runtime/program/ProgramData.h"
#include "sinter/runtime/Result.h"

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
  class Maker;

  /// Symbol `symbol` is the only unknown of the dim at (input, axis). It is
  /// found by evaluating what is needed and then undoing the dim's ops, the
  /// outermost first: [first, last) of the lists below.
  struct Definition {
    uint32_t symbol, input, axis;
    uint32_t firstNeed = 0, lastNeed = 0, firstUndo = 0, lastUndo = 0;
  };
  /// An op one of whose operands is known.
  struct Undo {
    ExprOp op;
    uint32_t operand;
  };
  std::vector<Definition> definitions; ///< in the order they can be solved
  std::vector<uint32_t> needed;        ///< exprs, operands before users
  std::vector<Undo> undone;
};

/// The error of a binding whose dims do not fit: `input 'x': expected
/// f32[s0,64], got f32[3,5]`.
ErrorInfo bindError(const ProgramData &program, size_t input,
                    std::span<const int64_t> dims);

} // namespace sinter::runtime

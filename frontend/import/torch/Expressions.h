/// Expressions of sizes, as torch.export writes them: `2*s0 + 1`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::torch {

/// The expression as people write it, of what SymPy's `srepr` gives, which
/// newer files have: `Mul(Integer(2), Symbol('s0', integer=True))` is `2*s0`.
/// Anything else is as it was.
std::string readable(const std::string &expression);

/// The value of an expression of integers, symbols, `+ - * // % ** ( )` and
/// the functions FloorDiv, CeilDiv, Mod, PythonMod, Max and Min. Empty where a
/// symbol is not among `symbols`, where something else is in it, and where a
/// number does not fit 64 bits.
std::optional<int64_t>
evaluate(std::string_view expression,
         const std::map<std::string, int64_t, std::less<>> &symbols);

/// Whether it is one symbol.
bool isSymbol(std::string_view expression);
/// The symbols of an expression, in order, functions' names left out.
std::vector<std::string> symbolsOf(std::string_view expression);

} // namespace sinter::torch

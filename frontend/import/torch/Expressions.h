/// Expressions of sizes, as torch.export writes them: `2*s0 + 1`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::torch {

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

/// Symbols: where the symbols of dims come from.
#pragma once

#include <cstdint>
#include <optional>

namespace sinter::dim_exprs {

/// Added to the axis of a symbol that recording made by itself, because data of
/// a line had shown several extents there.
inline constexpr uint32_t noticedAxis = 256;

/// What a symbol was made of (`dim_exprs::symbol`).
struct SymbolOrigin {
  uint32_t site = 0;
  uint32_t axis = 0;
  int64_t value = 0;
  bool operator==(const SymbolOrigin &) const = default;

  bool isNoticed() const { return axis >= noticedAxis; }
};
/// Of an expression that is a plain symbol; nothing for another one.
std::optional<SymbolOrigin> originOf(uint32_t id);

} // namespace sinter::dim_exprs

/// Limits: what emitters take at most, for passes that make it.
#pragma once

#include <cstdint>

namespace sinter::compiler {

/// Elements of a row of query, key or value, at most: panels of so many rows
/// stand in a function's frame.
inline constexpr int64_t longestAttentionRow = 512;

} // namespace sinter::compiler

/// DrawWindows: operands and attributes of the ops over windows.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace sinter::property {

/// Whether a shape rule is one of those.
bool isWindowRule(std::string_view rule);

/// Operand shapes for the rule, from a shape of rank 3 or 4 for an image.
std::vector<std::vector<int64_t>> windowShapes(std::string_view rule,
                                               std::vector<int64_t> image,
                                               std::mt19937_64 &random);
/// Encoded attributes that fit the operands; nothing when there are none.
std::optional<std::vector<uint64_t>>
drawWindowAttrs(std::string_view rule,
                const std::vector<std::vector<int64_t>> &operands,
                std::mt19937_64 &random);

} // namespace sinter::property

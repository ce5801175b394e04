/// Bytes in texts.
#include "runtime/support/Base64.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace sinter {

static constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t noLetter = 64;

static constexpr std::array<uint8_t, 256> numbers = [] {
  std::array<uint8_t, 256> table = {};
  table.fill(noLetter);
  for (size_t i = 0; i < letters.size(); ++i)
    table[static_cast<unsigned char>(letters[i])] = uint8_t(i);
  return table;
}();

std::string toBase64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = bits << 8 |
             (i < count ? std::to_integer<uint32_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i)
      text += i <= count ? letters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

static ErrorInfo noBase64(std::string message) {
  return makeError(ErrorKind::invalid_argument, std::move(message));
}

Result<std::vector<std::byte>> fromBase64(std::string_view text) {
  if (text.size() % 4)
    return noBase64(fmt::format("{} characters are no base64", text.size()));
  size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  size_t end = text.size() - padding;
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t bits = 0;
    for (size_t i = at; i < at + 4; ++i) {
      uint8_t number =
          i < end ? numbers[static_cast<unsigned char>(text[i])] : uint8_t(0);
      if (number == noLetter)
        return noBase64(fmt::format("character {} is no base64", i));
      bits = bits << 6 | number;
    }
    size_t count = at + 4 == text.size() ? 3 - padding : 3;
    for (size_t i = 0; i < 3; ++i) {
      auto byte = std::byte(bits >> (16 - 8 * i) & 0xff);
      if (i < count)
        bytes.push_back(byte);
      else if (byte != std::byte(0)) // bits that stand for nothing
        return noBase64("the last character of base64 has bits too many");
    }
  }
  return bytes;
}

} // namespace sinter

/// Decodes the texts of pickles.
#include "runtime/params/weights/torch/PickleTexts.h"

#include <charconv>
#include <cstdint>

namespace sinter::runtime::pickle {

namespace {

/// The number that exactly `count` hexadecimal digits stand for.
std::optional<uint32_t> hexadecimal(std::string_view text, size_t at,
                                    size_t count) {
  std::string_view digits = text.substr(std::min(at, text.size()), count);
  uint32_t number = 0;
  const char *last = digits.data() + digits.size();
  auto [end, error] = std::from_chars(digits.data(), last, number, 16);
  if (digits.size() != count || error != std::errc() || end != last)
    return std::nullopt;
  return number;
}

void appendUtf8(std::string &out, uint32_t code) {
  auto put = [&](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code < 0x80)
    return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

} // namespace

std::optional<std::string> unquoted(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() ||
      (line.front() != '\'' && line.front() != '"'))
    return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string out;
  constexpr std::string_view letters = "\\'\"abfnrtv";
  constexpr std::string_view meanings = "\\'\"\a\b\f\n\r\t\v";
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      out += line[at];
      continue;
    }
    if (++at == line.size())
      return std::nullopt;
    size_t which = letters.find(line[at]);
    if (which != letters.npos) {
      out += meanings[which];
      continue;
    }
    std::optional<uint32_t> code;
    if (line[at] == 'x')
      code = hexadecimal(line, at + 1, 2);
    if (!code)
      return std::nullopt;
    out += static_cast<char>(*code);
    at += 2;
  }
  return out;
}

std::optional<std::string> unescapedUnicode(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size(); ++at) {
    char kind = at + 1 < line.size() ? line[at + 1] : '\0';
    if (line[at] != '\\' || (kind != 'u' && kind != 'U')) {
      appendUtf8(out, static_cast<unsigned char>(line[at]));
      continue;
    }
    size_t digits = kind == 'u' ? 4 : 8;
    std::optional<uint32_t> code = hexadecimal(line, at + 2, digits);
    if (!code || *code > 0x10FFFF)
      return std::nullopt;
    appendUtf8(out, *code);
    at += 1 + digits;
  }
  return out;
}

std::optional<std::vector<std::byte>> latin1Bytes(std::string_view utf8) {
  std::vector<std::byte> out;
  out.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size(); ++at) {
    auto lead = static_cast<unsigned char>(utf8[at]);
    if (lead < 0x80) {
      out.push_back(std::byte(lead));
      continue;
    }
    bool isPair = (lead == 0xC2 || lead == 0xC3) && at + 1 < utf8.size();
    if (!isPair)
      return std::nullopt;
    auto low = static_cast<unsigned char>(utf8[++at]);
    if ((low & 0xC0) != 0x80)
      return std::nullopt;
    out.push_back(
        std::byte(static_cast<unsigned char>(lead << 6 | (low & 63))));
  }
  return out;
}

} // namespace sinter::runtime::pickle

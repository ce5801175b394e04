/// The instructions for numbers and texts.
#include "runtime/params/weights/torch/PickleMachine.h"
#include "runtime/params/weights/torch/PickleTexts.h"

#include <bit>
#include <charconv>

namespace sinter::runtime::pickle {

Result<std::string_view> Machine::takeLine() {
  size_t end = text.find('\n', at);
  if (end == text.npos)
    return fail("it is cut off");
  std::string_view line = text.substr(at, end - at);
  at = end + 1;
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

Status Machine::stepNumber(uint8_t code) {
  switch (code) {
  case 'N':
    return push(plain(Kind::none));
  case 0x88:
  case 0x89:
    return push(plain(Kind::boolean, code == 0x88));
  case 'J': {
    SINTER_TRY_ASSIGN(int32_t number, takeNumber<int32_t>());
    return push(plain(Kind::integer, number));
  }
  case 'K': {
    SINTER_TRY_ASSIGN(uint8_t number, takeNumber<uint8_t>());
    return push(plain(Kind::integer, number));
  }
  case 'M': {
    SINTER_TRY_ASSIGN(uint16_t number, takeNumber<uint16_t>());
    return push(plain(Kind::integer, number));
  }
  case 'G': {
    SINTER_TRY_ASSIGN(uint64_t bits, takeNumber<uint64_t>());
    return push(realOf(std::bit_cast<double>(__builtin_bswap64(bits))));
  }
  case 0x8a: {
    SINTER_TRY_ASSIGN(std::string_view bytes, takeCounted<uint8_t>());
    return push(longOf(bytes));
  }
  case 0x8b: {
    SINTER_TRY_ASSIGN(std::string_view bytes, takeCounted<int32_t>());
    return push(longOf(bytes));
  }
  default:
    return stepLine(code);
  }
}

/// Numbers and texts of protocol 0, which end with their line.
Status Machine::stepLine(uint8_t code) {
  SINTER_TRY_ASSIGN(std::string_view line, takeLine());
  if (code == 'I' && (line == "00" || line == "01"))
    return push(plain(Kind::boolean, line == "01"));
  if (code == 'S') {
    std::optional<std::string> decoded = unquoted(line);
    if (!decoded)
      return fail("a string that cannot be read");
    SINTER_TRY_ASSIGN(Value value, ownedText(std::move(*decoded)));
    return push(value);
  }
  if (code == 'V') {
    std::optional<std::string> decoded = unescapedUnicode(line);
    if (!decoded)
      return fail("a string that cannot be read");
    SINTER_TRY_ASSIGN(Value value, ownedText(std::move(*decoded)));
    return push(value);
  }
  if (code == 'L' && line.ends_with('L'))
    line.remove_suffix(1);
  const char *first = line.data(), *last = first + line.size();
  if (code == 'F') {
    double number = 0;
    auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc() && end == last && !line.empty())
      return push(realOf(number));
    return fail("a number that cannot be read");
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(first, last, number);
  if (end != last || line.empty() || error == std::errc::invalid_argument)
    return fail("a number that cannot be read");
  if (error == std::errc::result_out_of_range)
    return push(textOf(line, Kind::big));
  return push(plain(Kind::integer, number));
}

Status Machine::stepText(uint8_t code) {
  switch (code) {
  case 'U':
  case 0x8c:
    return pushText<uint8_t>(Kind::text);
  case 'T':
    return pushText<int32_t>(Kind::text);
  case 'X':
    return pushText<uint32_t>(Kind::text);
  case 0x8d:
    return pushText<uint64_t>(Kind::text);
  case 'C':
    return pushText<uint8_t>(Kind::bytes);
  case 'B':
    return pushText<uint32_t>(Kind::bytes);
  default:
    return pushText<uint64_t>(Kind::bytes);
  }
}

} // namespace sinter::runtime::pickle

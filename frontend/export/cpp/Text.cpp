/// Literals, lists and lines.
#include "frontend/export/cpp/Text.h"

#include "frontend/Raise.h"
#include "runtime/support/Printable.h"
#include "runtime/support/SmallFloat.h"

#include <sinter/Error.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace sinter::cpp {

std::string real(double number) {
  if (std::isnan(number))
    return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(number))
    return fmt::format("{}std::numeric_limits<double>::infinity()",
                       number < 0 ? "-" : "");
  std::string text = fmt::format("{}", number);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

static std::string integer(int64_t number) {
  return number == std::numeric_limits<int64_t>::min()
             ? "std::numeric_limits<int64_t>::min()"
             : fmt::format("{}", number);
}

/// What a real number is as an integer.
static int64_t wholeOf(double number) {
  constexpr double end = 0x1p63;
  if (!(number >= -end && number < end))
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("{} as an integer", number)));
  return int64_t(number);
}

std::string literal(DType dtype, Number number) {
  if (dtype == DType::boolean)
    return number.asReal() != 0 ? "true" : "false";
  if (dtype == DType::u64 && !number.isReal && number.integer < 0)
    return fmt::format("{}u", uint64_t(number.integer));
  if (!isFloat(dtype))
    return integer(number.isReal ? wholeOf(number.real) : number.integer);
  double value = number.asReal();
  auto narrow = float(value);
  if (dtype == DType::f64 || double(narrow) != value || !std::isfinite(value))
    return real(value);
  std::string text = fmt::format("{}", narrow);
  // It is read as a double, and that is rounded to an f32: twice rounded the
  // shortest text may be another f32.
  double again = 0;
  std::from_chars(text.data(), text.data() + text.size(), again);
  if (float(again) != narrow)
    return real(value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string literalOfBits(DType dtype, uint64_t bits) {
  switch (dtype) {
  case DType::f64:
    return literal(dtype, std::bit_cast<double>(bits));
  case DType::f32:
    return literal(dtype, std::bit_cast<float>(uint32_t(bits)));
  case DType::f16:
    return literal(dtype, float(std::bit_cast<_Float16>(uint16_t(bits))));
  case DType::bf16:
    return literal(dtype, std::bit_cast<float>(uint32_t(bits) << 16));
  default:
    if (isFloat(dtype))
      return literal(dtype, fromSmallFloat(dtype, uint8_t(bits)));
    break;
  }
  unsigned unused = 64 - 8 * unsigned(byteWidth(dtype));
  bits <<= unused;
  bool isNegative = isSigned(dtype);
  return literal(dtype, isNegative ? int64_t(bits) >> unused
                                   : int64_t(bits >> unused));
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char each : printableName(text)) {
    if (each == '"' || each == '\\')
      result += '\\';
    result += each;
  }
  return result + '"';
}

std::string dtypeName(DType dtype) {
  return fmt::format("sn::DType::{}",
                     dtype == DType::boolean ? "boolean" : name(dtype));
}

std::string list(std::span<const int64_t> numbers, bool isShort) {
  if (isShort && !numbers.empty() &&
      std::ranges::count(numbers, numbers[0]) == std::ptrdiff_t(numbers.size()))
    return integer(numbers[0]);
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + integer(number);
  return "{" + text + "}";
}

//===- Lines --------------------------------------------------------------===//

/// The best place before `width` after which a line may break: behind a comma
/// or an operator, the last of those within the fewest brackets, but for those
/// within none; 0 for none.
static size_t breakOf(std::string_view text, size_t width) {
  size_t found = 0;
  int depth = 0, least = 0;
  bool isQuoted = false;
  for (size_t i = 1; i + 1 < text.size() && i < width; ++i) {
    char before = text[i - 1];
    if (before == '"' && (i == 1 || text[i - 2] != '\\'))
      isQuoted = !isQuoted;
    if (isQuoted)
      continue;
    depth +=
        (before == '{' || before == '(') - (before == '}' || before == ')');
    std::string_view breaking = depth == 0 ? ",+-*/=" : ",+-*/";
    bool isBreak = text[i] == ' ' && breaking.find(before) != breaking.npos;
    bool isBetter = least == 0 || (depth > 0 && depth <= least);
    if (isBreak && isBetter) {
      found = i;
      least = depth;
    }
  }
  return found;
}

std::string lines(std::string_view text, size_t indent) {
  constexpr size_t columns = 80, more = 4;
  std::string result;
  for (size_t own = indent;; own = indent + more) {
    result.append(own, ' ');
    size_t at =
        own + text.size() > columns ? breakOf(text, columns - own + 1) : 0;
    if (at == 0)
      break;
    result.append(text.substr(0, at)).append("\n");
    text.remove_prefix(at + 1);
  }
  return result.append(text).append("\n");
}

std::string comment(std::string_view text, size_t indent) {
  std::string line = std::string(indent, ' ') + "// " + printableName(text);
  // A line that ends so would go on.
  while (line.ends_with('\\') || line.ends_with(' '))
    line.pop_back();
  return line + "\n";
}

} // namespace sinter::cpp

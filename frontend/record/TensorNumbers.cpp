/// Elements as numbers of a text.
#include "frontend/record/TensorNumbers.h"

#include "runtime/params/FloatCasts.h"
#include "runtime/params/IntegerCasts.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>

namespace sinter::record {

bool isNumeric(DType dtype) {
  if (isFloat(dtype))
    return byteWidth(dtype) > 1;
  return dtype == DType::boolean ||
         (runtime::isPlainInteger(dtype) && dtype != DType::u64);
}

static std::span<const std::byte> elementOf(const RecordTensor &tensor,
                                            size_t index) {
  size_t width = byteWidth(tensor.dtype);
  return tensor.data.subspan(index * width, width);
}

/// Exact: of f64 itself, and of what is narrower by way of f32.
static double realOf(std::span<const std::byte> element, DType dtype) {
  double real = 0;
  if (dtype == DType::f64) {
    std::memcpy(&real, element.data(), sizeof(real));
    return real;
  }
  float single = 0;
  runtime::castFloats(element, dtype,
                      std::as_writable_bytes(std::span(&single, 1)),
                      DType::f32);
  return single;
}

static int64_t integerOf(std::span<const std::byte> element, DType dtype) {
  if (dtype == DType::boolean)
    return std::to_integer<int64_t>(element[0]);
  int64_t integer = 0;
  runtime::castIntegers(element, dtype,
                        std::as_writable_bytes(std::span(&integer, 1)),
                        DType::i64);
  return integer;
}

bool isExactAsNumbers(const RecordTensor &tensor) {
  if (!isNumeric(tensor.dtype))
    return false;
  size_t count = tensor.data.size() / byteWidth(tensor.dtype);
  for (size_t i = 0; isFloat(tensor.dtype) && i < count; ++i)
    if (!std::isfinite(realOf(elementOf(tensor, i), tensor.dtype)))
      return false;
  return true;
}

void appendReal(std::string &text, double number) {
  size_t begin = text.size();
  fmt::format_to(std::back_inserter(text), "{}", number);
  if (text.find_first_of(".e", begin) == text.npos)
    text += ".0";
}

void appendElement(std::string &text, const RecordTensor &tensor,
                   size_t index) {
  std::span<const std::byte> element = elementOf(tensor, index);
  auto to = std::back_inserter(text);
  if (!isFloat(tensor.dtype))
    fmt::format_to(to, "{}", integerOf(element, tensor.dtype));
  else if (tensor.dtype == DType::f64)
    fmt::format_to(to, "{}", realOf(element, tensor.dtype));
  else // the shortest that is this f32
    fmt::format_to(to, "{}", float(realOf(element, tensor.dtype)));
}

/// What the text is as a T, rounded once.
template <typename T> static std::optional<T> parsed(std::string_view number) {
  T value = 0;
  auto end =
      std::from_chars(number.data(), number.data() + number.size(), value);
  if (end.ec != std::errc() || end.ptr != number.data() + number.size())
    return std::nullopt;
  return value;
}

bool setElement(std::span<std::byte> to, DType dtype, std::string_view number) {
  if (dtype == DType::f64) {
    auto value = parsed<double>(number);
    if (value)
      std::memcpy(to.data(), &*value, sizeof(*value));
    return value.has_value();
  }
  auto value = parsed<float>(number);
  if (!value)
    return false;
  runtime::castFloats(std::as_bytes(std::span(&*value, 1)), DType::f32, to,
                      dtype);
  return std::isfinite(realOf(to, dtype));
}

bool setElement(std::span<std::byte> to, DType dtype, int64_t number) {
  if (dtype == DType::boolean) {
    to[0] = std::byte(number);
    return number == 0 || number == 1;
  }
  return !runtime::castIntegers(std::as_bytes(std::span(&number, 1)),
                                DType::i64, to, dtype);
}

} // namespace sinter::record

/// Reading and writing of `.npy` files.
#include "tools/sinter/Npy.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace sinter::cli {

namespace {

struct TypeName {
  DType dtype;
  std::string_view name;
};

constexpr TypeName typeNames[] = {
    {DType::f64, "<f8"},     {DType::f32, "<f4"}, {DType::f16, "<f2"},
    {DType::bf16, "<V2"},    {DType::i8, "|i1"},  {DType::i16, "<i2"},
    {DType::i32, "<i4"},     {DType::i64, "<i8"}, {DType::u8, "|u1"},
    {DType::boolean, "|b1"},
};

constexpr std::string_view magic("\x93NUMPY", 6);

ErrorInfo broken(const std::string &what) {
  return makeError(ErrorKind::io, "npy: " + what);
}

/// The text after `'key':` in the header, up to the end.
std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos)
    return {};
  at = header.find(':', at);
  return at == std::string_view::npos ? "" : header.substr(at + 1);
}

std::string_view quoted(std::string_view text) {
  size_t open = text.find('\'');
  size_t close =
      open == std::string_view::npos ? open : text.find('\'', open + 1);
  return close == std::string_view::npos
             ? std::string_view()
             : text.substr(open + 1, close - open - 1);
}

/// `(2, 3)`, `(2,)` or `()`.
std::optional<std::vector<int64_t>> parseShape(std::string_view text) {
  size_t open = text.find('('), close = text.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open)
    return std::nullopt;
  std::vector<int64_t> dims;
  const char *at = text.data() + open + 1, *end = text.data() + close;
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t dim = 0;
    auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 0)
      return std::nullopt;
    dims.push_back(dim);
    at = next;
  }
  return dims;
}

} // namespace

Result<Array> parseNpy(std::span<const std::byte> file) {
  std::string_view text(reinterpret_cast<const char *>(file.data()),
                        file.size());
  if (!text.starts_with(magic) || text.size() < 12)
    return broken("not a .npy file");
  unsigned major = uint8_t(text[6]);
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    return broken(fmt::format("version {} is unknown", major));
  size_t length = 0;
  for (size_t byte = 0; byte < lengthBytes; ++byte)
    length |= size_t(uint8_t(text[8 + byte])) << (8 * byte);
  size_t start = 8 + lengthBytes;
  if (length > text.size() - start)
    return broken("the header is cut off");
  std::string_view header = text.substr(start, length);
  Array array;
  std::string_view type = quoted(valueOf(header, "descr"));
  const TypeName *known = nullptr;
  for (const TypeName &each : typeNames)
    if (each.name.substr(1) == type.substr(std::min<size_t>(1, type.size())) &&
        !type.starts_with('>'))
      known = &each;
  if (!known)
    return broken(fmt::format("element type '{}' is not supported", type));
  array.dtype = known->dtype;
  std::string_view order = valueOf(header, "fortran_order");
  if (order.substr(0, order.find(',')).find("True") != std::string_view::npos)
    return broken("column-major arrays are not supported");
  auto dims = parseShape(valueOf(header, "shape"));
  if (!dims)
    return broken("the shape cannot be read");
  array.dims = std::move(*dims);
  size_t bytes = byteWidth(array.dtype);
  for (int64_t dim : array.dims)
    if (__builtin_mul_overflow(bytes, size_t(dim), &bytes))
      return broken("the shape is too large");
  std::string_view data = text.substr(start + length);
  if (data.size() < bytes)
    return broken(fmt::format("{} bytes of data, the shape needs {}",
                              data.size(), bytes));
  array.bytes.resize(bytes);
  if (bytes > 0)
    std::memcpy(array.bytes.data(), data.data(), bytes);
  return array;
}

std::vector<std::byte> formatNpy(const Array &array) {
  std::string_view type;
  for (const TypeName &each : typeNames)
    if (each.dtype == array.dtype)
      type = each.name;
  std::string shape;
  for (int64_t dim : array.dims)
    shape += fmt::format("{}, ", dim);
  if (array.dims.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                  type, shape);
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - 11, ' ');
  header += '\n';
  std::string text(magic);
  text += {'\1', '\0', char(header.size() & 255), char(header.size() >> 8)};
  text += header;
  std::vector<std::byte> file(text.size() + array.bytes.size());
  std::memcpy(file.data(), text.data(), text.size());
  if (!array.bytes.empty())
    std::memcpy(file.data() + text.size(), array.bytes.data(),
                array.bytes.size());
  return file;
}

} // namespace sinter::cli

/// Reading and writing of `.npy` files.
#include "runtime/params/Npy.h"

#include "runtime/files/FileKind.h"
#include "runtime/files/MappedFile.h"
#include "runtime/files/ReplaceFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace sinter::runtime {

static_assert(std::endian::native == std::endian::little,
              "arrays in memory are little-endian");

namespace {

/// How NumPy calls a dtype, after the sign of its byte order.
struct TypeName {
  DType dtype;
  std::string_view name;
  size_t word; ///< bytes that a byte order is about
};

constexpr TypeName typeNames[] = {
    {DType::f64, "f8", 8},     {DType::f32, "f4", 4}, {DType::f16, "f2", 2},
    {DType::bf16, "V2", 2},    {DType::i8, "i1", 1},  {DType::i16, "i2", 2},
    {DType::i32, "i4", 4},     {DType::i64, "i8", 8}, {DType::u8, "u1", 1},
    {DType::boolean, "b1", 1}, {DType::u16, "u2", 2}, {DType::u32, "u4", 4},
    {DType::u64, "u8", 8},     {DType::c64, "c8", 4}, {DType::c128, "c16", 8},
};

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t maxHeaderBytes = 1 << 16;
constexpr size_t maxRank = 64; ///< NumPy's own

ErrorInfo broken(const std::string &what, ErrorKind kind = ErrorKind::io) {
  return makeError(kind, "npy: " + what);
}

struct Header {
  const TypeName *type = nullptr;
  bool swapped = false; ///< the bytes of each word are in reverse
  bool columnMajor = false;
  std::vector<int64_t> dims;
};

/// Reads the header, a Python dictionary of three entries.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : text(text) {}

  Result<Header> read() {
    if (!take('{'))
      return broken("the header is no dictionary");
    while (!take('}')) {
      SINTER_TRY(readEntry());
      if (!take(',') && peek() != '}')
        return broken("the header is no dictionary");
    }
    skipBlanks();
    if (!text.empty())
      return broken("something follows the header's dictionary");
    if (seen.size() != 3)
      return broken("the header lacks descr, fortran_order or shape");
    return std::move(header);
  }

private:
  std::string_view text;
  std::vector<std::string_view> seen;
  Header header;

  void skipBlanks() {
    size_t first = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(std::min(first, text.size()));
  }
  char peek() {
    skipBlanks();
    return text.empty() ? '\0' : text.front();
  }
  bool take(char wanted) {
    bool there = peek() == wanted;
    if (there)
      text.remove_prefix(1);
    return there;
  }
  bool takeWord(std::string_view word) {
    skipBlanks();
    bool there = text.starts_with(word);
    if (there)
      text.remove_prefix(word.size());
    return there;
  }

  /// A string without escapes.
  std::optional<std::string_view> takeString() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = text.find(quote, 1);
    if (end == text.npos)
      return std::nullopt;
    std::string_view content = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return content;
  }

  Status readEntry() {
    std::optional<std::string_view> key = takeString();
    if (!key || !take(':'))
      return broken("the header is no dictionary");
    if (std::ranges::find(seen, *key) != seen.end())
      return broken(fmt::format("the header has '{}' twice", *key));
    seen.push_back(*key);
    if (*key == "descr")
      return readType();
    if (*key == "fortran_order")
      return readOrder();
    if (*key == "shape")
      return readShape();
    return broken(fmt::format("the header has the unknown key '{}'", *key));
  }

  Status readType() {
    if (peek() == '[')
      return broken("records of several fields are not supported",
                    ErrorKind::unsupported);
    std::optional<std::string_view> type = takeString();
    if (!type)
      return broken("the element type cannot be read");
    bool hasOrder = !type->empty() &&
                    std::string_view("<>=|").find(type->front()) != type->npos;
    char order = hasOrder ? type->front() : '=';
    std::string_view plain = type->substr(hasOrder ? 1 : 0);
    auto found = std::ranges::find(typeNames, plain, &TypeName::name);
    // Bytes without a meaning have no order.
    bool orderless = plain == "V2" && order == '>';
    if (found == std::end(typeNames) || orderless)
      return broken(fmt::format("element type '{}' is not supported", *type),
                    ErrorKind::unsupported);
    header.type = found;
    header.swapped = order == '>' && found->word > 1;
    return {};
  }

  Status readOrder() {
    header.columnMajor = takeWord("True");
    if (!header.columnMajor && !takeWord("False"))
      return broken("fortran_order is neither True nor False");
    return {};
  }

  /// `(2, 3)`, `(2,)` or `()`; of Python 2 also `(2L,)`.
  Status readShape() {
    if (!take('('))
      return broken("the shape cannot be read");
    while (!take(')')) {
      skipBlanks();
      int64_t dim = 0;
      auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), dim);
      if (error != std::errc() || dim < 0 || header.dims.size() == maxRank)
        return broken("the shape cannot be read");
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      if (!text.empty() && text.front() == 'L')
        text.remove_prefix(1);
      header.dims.push_back(dim);
      if (!take(',') && peek() != ')')
        return broken("the shape cannot be read");
    }
    return {};
  }
};

/// The header's text, and the data after it.
struct Parts {
  std::string_view header;
  std::span<const std::byte> data;
};

Result<Parts> cutFile(std::span<const std::byte> file) {
  std::string_view text(reinterpret_cast<const char *>(file.data()),
                        file.size());
  if (!text.starts_with(magic) || text.size() < 10)
    return broken(otherFile("not a .npy file", file));
  unsigned major = static_cast<uint8_t>(text[6]);
  if (major < 1 || major > 3)
    return broken(fmt::format("version {} is unknown", major));
  size_t lengthBytes = major == 1 ? 2 : 4, start = 8 + lengthBytes, length = 0;
  if (text.size() < start)
    return broken("the header is cut off");
  for (size_t byte = 0; byte < lengthBytes; ++byte)
    length |= size_t(static_cast<uint8_t>(text[8 + byte])) << (8 * byte);
  if (length > maxHeaderBytes)
    return broken(
        fmt::format("a header of {} bytes exceeds {}", length, maxHeaderBytes));
  if (length > text.size() - start)
    return broken("the header is cut off");
  return Parts{text.substr(start, length), file.subspan(start + length)};
}

/// Bytes of a dense array; also of one without elements no product of dims
/// overflows.
Result<size_t> denseBytes(size_t width, std::span<const int64_t> dims) {
  size_t bytes = width, nonzero = width;
  bool overflow = false;
  for (int64_t dim : dims) {
    bytes *= static_cast<size_t>(dim);
    overflow |= __builtin_mul_overflow(
        nonzero, static_cast<size_t>(std::max<int64_t>(dim, 1)), &nonzero);
  }
  if (overflow || nonzero > INT64_MAX)
    return broken(
        fmt::format("the shape ({}) is too large", fmt::join(dims, ", ")));
  return bytes;
}

void reverseWords(std::span<std::byte> bytes, size_t word) {
  for (size_t at = 0; at < bytes.size(); at += word)
    std::ranges::reverse(bytes.subspan(at, word));
}

/// Column-major elements of `width` bytes in row-major order.
void copyTurned(std::span<const std::byte> from, std::span<std::byte> to,
                std::span<const int64_t> dims, size_t width) {
  std::vector<size_t> strides(dims.size()), index(dims.size());
  size_t stride = width;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<size_t>(dims[axis]);
  }
  size_t source = 0;
  for (size_t at = 0; at < to.size(); at += width) {
    std::memcpy(&to[at], &from[source], width);
    for (size_t axis = dims.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < static_cast<size_t>(dims[axis]))
        break;
      source -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

} // namespace

Result<NpyLayout> readNpyLayout(std::span<const std::byte> front,
                                uint64_t size) {
  SINTER_TRY_ASSIGN(Parts parts, cutFile(front));
  SINTER_TRY_ASSIGN(Header header, HeaderReader(parts.header).read());
  NpyLayout layout;
  layout.dtype = header.type->dtype;
  layout.word = header.type->word;
  layout.swapped = header.swapped;
  layout.columnMajor = header.columnMajor;
  SINTER_TRY_ASSIGN(layout.bytes,
                    denseBytes(byteWidth(layout.dtype), header.dims));
  layout.dataAt = static_cast<size_t>(parts.data.data() - front.data());
  if (size - layout.dataAt != layout.bytes)
    return broken(fmt::format("{} bytes of data, the shape ({}) needs {}",
                              size - layout.dataAt,
                              fmt::join(header.dims, ", "), layout.bytes));
  layout.dims = std::move(header.dims);
  return layout;
}

Result<HostArray> parseNpy(std::span<const std::byte> file) {
  SINTER_TRY_ASSIGN(NpyLayout layout, readNpyLayout(file, file.size()));
  std::span<const std::byte> data = file.subspan(layout.dataAt);
  HostArray array{layout.dtype, std::move(layout.dims), {}};
  auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
  if (array.dtype == DType::boolean && !std::ranges::all_of(data, isBit))
    return broken("a bool byte is neither 0 nor 1");
  array.bytes.resize(data.size());
  if (layout.columnMajor)
    copyTurned(data, array.bytes, array.dims, byteWidth(array.dtype));
  else
    std::ranges::copy(data, array.bytes.begin());
  if (layout.swapped)
    reverseWords(array.bytes, layout.word);
  return array;
}

Result<std::vector<std::byte>> takeNpyElements(std::vector<std::byte> file) {
  SINTER_TRY_ASSIGN(NpyLayout layout, readNpyLayout(file, file.size()));
  if (layout.columnMajor || layout.dtype == DType::boolean) {
    SINTER_TRY_ASSIGN(HostArray array, parseNpy(file));
    return std::move(array.bytes);
  }
  file.erase(file.begin(),
             file.begin() + static_cast<ptrdiff_t>(layout.dataAt));
  if (layout.swapped)
    reverseWords(file, layout.word);
  return file;
}

Result<HostArray> readNpy(const std::string &path) {
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  Result<HostArray> array = parseNpy(file.bytes());
  if (!array)
    return inFile(path, array.takeError());
  return array;
}

Result<std::string> npyHeader(DType dtype, std::span<const int64_t> dims) {
  auto found = std::ranges::find(typeNames, dtype, &TypeName::dtype);
  if (found == std::end(typeNames) || dims.size() > maxRank)
    return broken(fmt::format("NumPy has no arrays of {} with {} axes",
                              name(dtype), dims.size()),
                  ErrorKind::unsupported);
  std::string shape = fmt::format("{}", fmt::join(dims, ", "));
  if (dims.size() == 1)
    shape += ',';
  std::string header = fmt::format(
      "{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
      found->word > 1 ? '<' : '|', found->name, shape);
  constexpr size_t before = magic.size() + 4, alignment = 64;
  size_t total = (before + header.size() + 1 + alignment - 1) / alignment;
  header.resize(total * alignment - before - 1, ' ');
  header += '\n';
  std::string text(magic);
  text += {'\1', '\0', static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  return text + header;
}

Status writeNpy(const std::string &path, const NamedTensor &tensor) {
  Result<std::string> header = npyHeader(tensor.dtype, tensor.shape);
  if (!header)
    return inFile(path, header.takeError());
  std::span<const std::byte> parts[] = {std::as_bytes(std::span(*header)),
                                        tensor.data};
  return replaceFile(path, parts);
}

NamedTensor viewOf(const HostArray &array, std::string name) {
  return {std::move(name), array.dtype, array.dims, array.bytes};
}

ErrorInfo inFile(const std::string &path, ErrorInfo error) {
  error.message = path + ": " + error.message;
  return error;
}

} // namespace sinter::runtime

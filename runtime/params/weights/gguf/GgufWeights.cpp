/// GGUF, the files of llama.cpp: version 1 to 3, little-endian.
#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/gguf/Blocks.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace sinter::runtime {

namespace gguf {

namespace {

constexpr uint32_t newestVersion = 3;
constexpr size_t magicBytes = 4;
constexpr size_t maxRank = 8;
constexpr int mostNested = 4;
constexpr uint64_t mostShown = 16; ///< elements of an array
constexpr std::string_view alignmentKey = "general.alignment";
constexpr std::string_view splitKey = "split.count";

/// Tensors of plain numbers.
struct NumberFormat {
  uint32_t code;
  std::string_view name;
  DType dtype;
};
constexpr NumberFormat numberFormats[] = {
    {0, "F32", DType::f32},  {1, "F16", DType::f16},   {24, "I8", DType::i8},
    {25, "I16", DType::i16}, {26, "I32", DType::i32},  {27, "I64", DType::i64},
    {28, "F64", DType::f64}, {30, "BF16", DType::bf16}};

/// Types of metadata.
enum class ValueType : uint32_t {
  u8 = 0,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64,
};

/// Bytes of a number; 0 for what has to be looked at one by one.
constexpr size_t widthOf(ValueType type) {
  switch (type) {
  case ValueType::u8:
  case ValueType::i8:
    return 1;
  case ValueType::u16:
  case ValueType::i16:
    return 2;
  case ValueType::u32:
  case ValueType::i32:
  case ValueType::f32:
    return 4;
  case ValueType::u64:
  case ValueType::i64:
  case ValueType::f64:
    return 8;
  default:
    return 0;
  }
}

/// The bytes of the header, one after the other.
class Header {
public:
  explicit Header(std::span<const std::byte> bytes) : bytes(bytes) {}

  size_t position() const { return at; }
  /// Counts and lengths have 32 bits in version 1.
  void setNarrow() { isNarrow = true; }

  template <typename T> Result<T> number() {
    if (sizeof(T) > bytes.size() - at)
      return cutOff();
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  Result<uint64_t> count() {
    if (!isNarrow)
      return number<uint64_t>();
    SINTER_TRY_ASSIGN(uint32_t narrow, number<uint32_t>());
    return uint64_t(narrow);
  }
  Result<std::string> text() {
    SINTER_TRY_ASSIGN(uint64_t length, count());
    if (length > bytes.size() - at)
      return cutOff();
    std::string text(reinterpret_cast<const char *>(bytes.data()) + at, length);
    at += length;
    return text;
  }
  /// A value of metadata as text.
  Result<std::string> value(ValueType type, int depth = 0);

private:
  std::span<const std::byte> bytes;
  size_t at = magicBytes;
  bool isNarrow = false;

  ErrorInfo cutOff() const {
    return makeError(ErrorKind::io, "the header is cut off");
  }
  Result<std::string> array(int depth);
  Status skip(uint64_t count, size_t width) {
    if (count > (bytes.size() - at) / width)
      return cutOff();
    at += count * width;
    return {};
  }
  template <typename T> Result<std::string> numberText() {
    SINTER_TRY_ASSIGN(T value, number<T>());
    return fmt::to_string(value);
  }
};

Result<std::string> Header::value(ValueType type, int depth) {
  switch (type) {
  case ValueType::u8:
    return numberText<uint8_t>();
  case ValueType::i8: {
    SINTER_TRY_ASSIGN(int8_t small, number<int8_t>());
    return std::to_string(small);
  }
  case ValueType::u16:
    return numberText<uint16_t>();
  case ValueType::i16:
    return numberText<int16_t>();
  case ValueType::u32:
    return numberText<uint32_t>();
  case ValueType::i32:
    return numberText<int32_t>();
  case ValueType::f32:
    return numberText<float>();
  case ValueType::boolean: {
    SINTER_TRY_ASSIGN(uint8_t bit, number<uint8_t>());
    if (bit > 1)
      return makeError(ErrorKind::io, "a bool is neither 0 nor 1");
    return std::string(bit ? "true" : "false");
  }
  case ValueType::text:
    return text();
  case ValueType::array:
    return array(depth);
  case ValueType::u64:
    return numberText<uint64_t>();
  case ValueType::i64:
    return numberText<int64_t>();
  case ValueType::f64:
    return numberText<double>();
  }
  return makeError(ErrorKind::io,
                   fmt::format("unknown type {} of metadata", uint32_t(type)));
}

/// The first elements, and how many there are: `[a, b, ...] of 100`.
Result<std::string> Header::array(int depth) {
  if (depth == mostNested)
    return makeError(ErrorKind::io, "arrays are nested too deep");
  SINTER_TRY_ASSIGN(uint32_t type, number<uint32_t>());
  SINTER_TRY_ASSIGN(uint64_t length, count());
  std::string shown = "[";
  auto elements = static_cast<ValueType>(type);
  size_t width = widthOf(elements);
  for (uint64_t i = 0; i < length; ++i) {
    if (i == mostShown && width > 0) {
      SINTER_TRY(skip(length - i, width));
      break;
    }
    SINTER_TRY_ASSIGN(std::string element, value(elements, depth + 1));
    if (i < mostShown)
      shown += (i ? ", " : "") + element;
  }
  bool isWhole = length <= mostShown;
  return shown + (isWhole ? "]" : fmt::format(", ...] of {}", length));
}

class GgufWeights final : public WeightFile {
public:
  GgufWeights(const std::string &path, MappedFile mapped)
      : WeightFile(path, "GGUF"), file(std::move(mapped)) {}

  Status readFile();
  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override;
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  MappedFile file;
  std::vector<uint64_t> offsets; ///< of the tensors, in the data
  std::vector<uint64_t> sizes;   ///< in bytes
  uint64_t alignment = 32;

  ErrorInfo fail(const std::string &what,
                 ErrorKind kind = ErrorKind::io) const {
    return weights::fileError(path(), what, kind);
  }
  /// The same error, with the path.
  ErrorInfo fail(ErrorInfo error) const {
    return fail(error.message, error.kind);
  }
  Status readVersion(Header &header);
  Status readMetadata(Header &header, uint64_t count);
  Status readTensor(Header &header);
  Result<uint64_t> readType(WeightTensor &tensor, uint32_t code);
  Status place(std::span<const std::byte> data);
};

Status GgufWeights::readVersion(Header &header) {
  auto version = header.number<uint32_t>();
  if (!version)
    return fail(version.takeError());
  if (*version != 0 && (*version & 0xffff) == 0)
    return fail("big-endian GGUF files are not supported",
                ErrorKind::unsupported);
  if (*version < 1 || *version > newestVersion)
    return fail(fmt::format("version {} of GGUF is not supported", *version),
                ErrorKind::unsupported);
  if (*version == 1)
    header.setNarrow();
  kind = fmt::format("GGUF v{}", *version);
  return {};
}

Status GgufWeights::readMetadata(Header &header, uint64_t count) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) {
    auto key = header.text();
    if (!key)
      return fail(key.takeError());
    auto inKey = [&](ErrorInfo error) {
      return fail(fmt::format("'{}': {}", printableName(*key), error.message),
                  error.kind);
    };
    auto type = header.number<uint32_t>();
    if (!type)
      return inKey(type.takeError());
    auto value = header.value(static_cast<ValueType>(*type));
    if (!value)
      return inKey(value.takeError());
    if (*key == alignmentKey) {
      bool isNumber = static_cast<ValueType>(*type) == ValueType::u32;
      alignment = isNumber ? std::stoull(*value) : 0;
      if (!std::has_single_bit(alignment))
        return fail(fmt::format("an alignment of {} is no power of two",
                                printableName(*value)));
    }
    if (*key == splitKey && *value != "1" && *value != "0")
      remarks.push_back(fmt::format("one of {} files of a model", *value));
    strings.emplace_back(*key, std::move(*value));
    keys.push_back(std::move(*key));
  }
  std::ranges::sort(keys);
  auto twice = std::ranges::adjacent_find(keys);
  if (twice != keys.end())
    return fail(
        fmt::format("the key '{}' is there twice", printableName(*twice)));
  return {};
}

/// Sets type and dtype; bytes of the tensor.
Result<uint64_t> GgufWeights::readType(WeightTensor &tensor, uint32_t code) {
  uint64_t count = 1;
  bool overflow = false;
  for (int64_t dim : tensor.dims)
    overflow |= dim < 0 || __builtin_mul_overflow(
                               count, static_cast<uint64_t>(dim), &count);
  auto tooLarge = [&] {
    return makeError(ErrorKind::io, fmt::format("the shape [{}] is too large",
                                                fmt::join(tensor.dims, ",")));
  };
  if (overflow || count > INT64_MAX / 8)
    return tooLarge();
  auto plain = std::ranges::find(numberFormats, code, &NumberFormat::code);
  if (plain != std::end(numberFormats)) {
    tensor.type = plain->name;
    tensor.dtype = plain->dtype;
    return count * byteWidth(plain->dtype);
  }
  const BlockFormat *blocks = findBlockFormat(code);
  if (!blocks)
    return makeError(ErrorKind::unsupported,
                     fmt::format("type {} of GGML is not supported", code));
  tensor.type = blocks->name;
  tensor.dtype = DType::f32;
  tensor.isBlocks = true;
  uint64_t row = tensor.dims.empty() ? 1 : uint64_t(tensor.dims.back());
  if (row % blocks->elements)
    return makeError(ErrorKind::io,
                     fmt::format("rows of {} elements are no blocks of {}", row,
                                 blocks->elements));
  return count / blocks->elements * blocks->bytes;
}

Status GgufWeights::readTensor(Header &header) {
  WeightTensor tensor;
  auto name = header.text();
  if (!name)
    return fail(name.takeError());
  tensor.name = std::move(*name);
  auto refuse = [&](const ErrorInfo &error) {
    return weights::tensorError(path(), tensor.name, error.message, error.kind);
  };
  auto rank = header.number<uint32_t>();
  if (!rank)
    return refuse(rank.takeError());
  if (*rank > maxRank)
    return refuse(
        makeError(ErrorKind::io, fmt::format("{} dims are too many", *rank)));
  for (uint32_t axis = 0; axis < *rank; ++axis) {
    auto dim = header.count();
    if (!dim)
      return refuse(dim.takeError());
    tensor.dims.push_back(static_cast<int64_t>(*dim));
  }
  // GGML names the fastest dim first.
  std::ranges::reverse(tensor.dims);
  auto code = header.number<uint32_t>();
  if (!code)
    return refuse(code.takeError());
  auto offset = header.number<uint64_t>();
  if (!offset)
    return refuse(offset.takeError());
  auto bytes = readType(tensor, *code);
  if (!bytes)
    return refuse(bytes.takeError());
  entries.push_back(std::move(tensor));
  offsets.push_back(*offset);
  sizes.push_back(*bytes);
  return {};
}

/// Tensors lie in the data, aligned, none in another.
Status GgufWeights::place(std::span<const std::byte> data) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](size_t i) { return std::pair(offsets[i], sizes[i]); });
  uint64_t end = 0;
  for (size_t i : order) {
    auto refuse = [&](std::string_view what) {
      return weights::tensorError(
          path(), entries[i].name,
          fmt::format("{} bytes from {} on {}", sizes[i], offsets[i], what));
    };
    if (offsets[i] > data.size() || sizes[i] > data.size() - offsets[i])
      return refuse(
          fmt::format("reach beyond the {} bytes of data", data.size()));
    if (offsets[i] % alignment)
      return refuse(fmt::format("are not aligned to {}", alignment));
    if (offsets[i] < end)
      return refuse("lie in another tensor");
    entries[i].data = data.subspan(offsets[i], sizes[i]);
    end = offsets[i] + sizes[i];
  }
  return {};
}

Status GgufWeights::readFile() {
  Header header(file.bytes());
  SINTER_TRY(readVersion(header));
  auto tensorCount = header.count();
  if (!tensorCount)
    return fail(tensorCount.takeError());
  auto keyCount = header.count();
  if (!keyCount)
    return fail(keyCount.takeError());
  SINTER_TRY(readMetadata(header, *keyCount));
  for (uint64_t i = 0; i < *tensorCount; ++i)
    SINTER_TRY(readTensor(header));
  uint64_t size = file.bytes().size(), at = header.position();
  at += (alignment - at % alignment) % alignment;
  // A file without tensors may end with its header.
  SINTER_TRY(place(file.bytes().subspan(std::min(at, size))));
  return finish();
}

Result<std::vector<std::byte>>
GgufWeights::read(const WeightTensor &tensor) const {
  if (!tensor.isBlocks)
    return std::vector<std::byte>(tensor.data.begin(), tensor.data.end());
  const BlockFormat &format = *findBlockFormat(tensor.type);
  size_t count = tensor.data.size() / format.bytes * format.elements;
  std::vector<std::byte> numbers(count * sizeof(float));
  Status done = dequantize(format, tensor.data,
                           {reinterpret_cast<float *>(numbers.data()), count});
  if (!done)
    return weights::tensorError(path(), tensor.name, done.error().message,
                                done.error().kind);
  return numbers;
}

} // namespace

} // namespace gguf

Result<WeightFileRef> weights::openGguf(const std::string &path,
                                        MappedFile file) {
  auto result = std::make_shared<gguf::GgufWeights>(path, std::move(file));
  SINTER_TRY(result->readFile());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime

/// The safetensors file format: checking and reading.
#include "runtime/params/Safetensors.h"
#include "runtime/params/Json.h"
#include "runtime/params/SafetensorsFormat.h"
#include "runtime/support/FileKind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace sinter::runtime {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian");

namespace {

using json::Kind;

/// The half-open range of the data section that a tensor takes.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

ErrorInfo fileError(const std::string &path, std::string_view what,
                    ErrorKind kind = ErrorKind::io) {
  return makeError(kind, fmt::format("{}: {}", path, what));
}

ErrorInfo tensorError(const std::string &path, const std::string &tensor,
                      std::string_view what, ErrorKind kind = ErrorKind::io) {
  return makeError(kind,
                   fmt::format("{}: tensor '{}': {}", path, tensor, what));
}

/// The header's text, after its length was checked against the file.
Result<std::string_view> checkedHeader(const std::string &path,
                                       std::span<const std::byte> bytes) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    return fileError(path, fmt::format("{} bytes are too few for safetensors",
                                       bytes.size()));
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > safetensors::maxHeaderBytes)
    return fileError(path, fmt::format("header of {} bytes exceeds {}", length,
                                       safetensors::maxHeaderBytes));
  if (length > bytes.size() - sizeof(length))
    return fileError(path, fmt::format("header of {} bytes reaches beyond the "
                                       "file of {} bytes",
                                       length, bytes.size()));
  auto *text = reinterpret_cast<const char *>(bytes.data() + sizeof(length));
  if (length == 0 || text[0] != '{')
    return fileError(path, "header does not begin with '{'");
  return std::string_view(text, length);
}

/// The same; of a file that is something else, the error says what.
Result<std::string_view> headerText(const std::string &path,
                                    std::span<const std::byte> bytes) {
  auto text = checkedHeader(path, bytes);
  if (text)
    return text;
  ErrorInfo error = text.takeError();
  error.message = otherFile(std::move(error.message), bytes);
  return error;
}

Result<DType> readDType(const std::string &path, const std::string &tensor,
                        const json::Value &entry) {
  const json::Value *text = entry.find("dtype");
  if (!text || !text->is(Kind::string))
    return tensorError(path, tensor, "dtype is missing or no string");
  for (auto [name, type] : safetensors::dtypeNames)
    if (text->string == name)
      return type;
  return tensorError(path, tensor,
                     fmt::format("unknown dtype {}", json::quote(text->string)),
                     ErrorKind::unsupported);
}

Result<std::vector<uint64_t>> readIntegers(const std::string &path,
                                           const std::string &tensor,
                                           const json::Value &entry,
                                           std::string_view key) {
  const json::Value *list = entry.find(key);
  if (!list || !list->is(Kind::array))
    return tensorError(path, tensor,
                       fmt::format("{} is missing or no list", key));
  std::vector<uint64_t> integers;
  for (const json::Value &element : list->elements) {
    if (!element.is(Kind::unsignedInteger))
      return tensorError(path, tensor,
                         fmt::format("{} holds something other than a "
                                     "non-negative integer",
                                     key));
    integers.push_back(element.integer);
  }
  return integers;
}

/// Bytes of a dense tensor, or an error when a product overflows.
Result<uint64_t> denseBytes(const std::string &path, const std::string &tensor,
                            DType dtype, std::span<const uint64_t> shape) {
  uint64_t bytes = byteWidth(dtype);
  bool overflow = false;
  for (uint64_t dim : shape) {
    overflow |= dim > INT64_MAX;
    overflow |= __builtin_mul_overflow(bytes, dim, &bytes);
  }
  if (overflow || bytes > INT64_MAX)
    return tensorError(
        path, tensor,
        fmt::format("shape [{}] overflows", fmt::join(shape, ",")));
  return bytes;
}

Result<Range> readRange(const std::string &path, const std::string &tensor,
                        const json::Value &entry, uint64_t dataBytes) {
  SINTER_TRY_ASSIGN(auto offsets,
                    readIntegers(path, tensor, entry, "data_offsets"));
  if (offsets.size() != 2)
    return tensorError(
        path, tensor,
        fmt::format("data_offsets has {} entries, not 2", offsets.size()));
  if (offsets[0] > offsets[1] || offsets[1] > dataBytes)
    return tensorError(path, tensor,
                       fmt::format("data_offsets [{},{}] do not lie in the {} "
                                   "data bytes",
                                   offsets[0], offsets[1], dataBytes));
  return Range{offsets[0], offsets[1]};
}

Status checkKeys(const std::string &path, const std::string &tensor,
                 const json::Value &entry) {
  if (!entry.is(Kind::object))
    return tensorError(path, tensor, "entry is no object");
  for (const std::string &key : entry.keys)
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return tensorError(path, tensor,
                         fmt::format("unknown key {}", json::quote(key)));
  return {};
}

/// Reads one entry; `data` is the file's data section.
Result<std::pair<NamedTensor, Range>>
readEntry(const std::string &path, const std::string &tensor,
          const json::Value &entry, std::span<const std::byte> data) {
  SINTER_TRY(checkKeys(path, tensor, entry));
  SINTER_TRY_ASSIGN(DType dtype, readDType(path, tensor, entry));
  SINTER_TRY_ASSIGN(auto shape, readIntegers(path, tensor, entry, "shape"));
  SINTER_TRY_ASSIGN(uint64_t bytes, denseBytes(path, tensor, dtype, shape));
  SINTER_TRY_ASSIGN(Range range, readRange(path, tensor, entry, data.size()));
  if (range.end - range.begin != bytes)
    return tensorError(path, tensor,
                       fmt::format("{}[{}] takes {} bytes, data_offsets give "
                                   "{}",
                                   name(dtype), fmt::join(shape, ","), bytes,
                                   range.end - range.begin));
  NamedTensor result;
  result.name = tensor;
  result.dtype = dtype;
  result.shape.assign(shape.begin(), shape.end());
  result.data = data.subspan(range.begin, bytes);
  auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
  if (dtype == DType::boolean && !std::ranges::all_of(result.data, isBit))
    return tensorError(path, tensor, "a bool byte is neither 0 nor 1");
  return std::pair(std::move(result), range);
}

/// The ranges must cover the data section exactly once.
Status checkCover(const std::string &path,
                  std::vector<std::pair<Range, std::string_view>> ranges,
                  uint64_t dataBytes) {
  std::ranges::sort(ranges, {}, [](const auto &entry) {
    return std::pair(entry.first.begin, entry.first.end);
  });
  uint64_t at = 0;
  for (const auto &[range, tensor] : ranges) {
    if (range.begin != at)
      return tensorError(path, std::string(tensor),
                         fmt::format("data begins at {}, {} {}", range.begin,
                                     range.begin < at
                                         ? "inside another tensor that ends at"
                                         : "behind a hole that begins at",
                                     at));
    at = range.end;
  }
  if (at != dataBytes)
    return fileError(
        path, fmt::format("{} data bytes belong to no tensor", dataBytes - at));
  return {};
}

Status readMetadata(const std::string &path, const json::Value &value,
                    Metadata &out) {
  if (!value.is(Kind::object))
    return fileError(path, "__metadata__ is no object");
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string &key = value.keys[i];
    const json::Value &text = value.elements[i];
    if (!text.is(Kind::string))
      return fileError(
          path, fmt::format("__metadata__ {} is no string", json::quote(key)));
    out.emplace_back(key, text.string);
  }
  return {};
}

} // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SINTER_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  SafetensorsFile result(path, std::move(mapped));
  std::span<const std::byte> bytes = result.file.bytes();
  SINTER_TRY_ASSIGN(std::string_view text, headerText(path, bytes));
  Result<json::Value> header = json::parse(text);
  if (!header)
    return fileError(path, header.error().message);
  auto data = bytes.subspan(sizeof(uint64_t) + text.size());

  std::vector<std::pair<Range, std::string_view>> ranges;
  for (size_t i = 0; i < header->keys.size(); ++i) {
    const std::string &tensor = header->keys[i];
    const json::Value &entry = header->elements[i];
    if (tensor == safetensors::metadataKey) {
      SINTER_TRY(readMetadata(path, entry, result.strings));
      continue;
    }
    SINTER_TRY_ASSIGN(auto read, readEntry(path, tensor, entry, data));
    ranges.emplace_back(read.second, tensor);
    result.entries.push_back(std::move(read.first));
  }
  SINTER_TRY(checkCover(path, std::move(ranges), data.size()));
  std::ranges::sort(result.entries, {}, &NamedTensor::name);
  return result;
}

const NamedTensor *SafetensorsFile::find(std::string_view tensor) const {
  auto found =
      std::ranges::lower_bound(entries, tensor, {}, &NamedTensor::name);
  bool there = found != entries.end() && found->name == tensor;
  return there ? &*found : nullptr;
}

} // namespace sinter::runtime

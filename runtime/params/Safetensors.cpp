/// The safetensors file format: checking and reading.
#include "runtime/params/Safetensors.h"
#include "runtime/files/FileKind.h"
#include "runtime/params/Json.h"
#include "runtime/params/SafetensorsFormat.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

namespace sinter::runtime {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian");

namespace {

using json::Kind;

/// As NumPy's arrays.
constexpr size_t maxRank = 64;

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
  return makeError(kind, fmt::format("{}: tensor '{}': {}", path,
                                     printableName(tensor), what));
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
Result<NamedTensor> readEntry(const std::string &path,
                              const std::string &tensor,
                              const json::Value &entry,
                              std::span<const std::byte> data) {
  SINTER_TRY(checkKeys(path, tensor, entry));
  SINTER_TRY_ASSIGN(DType dtype, readDType(path, tensor, entry));
  SINTER_TRY_ASSIGN(auto shape, readIntegers(path, tensor, entry, "shape"));
  if (shape.size() > maxRank)
    return tensorError(path, tensor,
                       fmt::format("the shape has {} dims, more than {}",
                                   shape.size(), maxRank),
                       ErrorKind::unsupported);
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
  return result;
}

/// The tensors must cover the data section exactly once.
Status checkCover(const std::string &path, std::span<const NamedTensor> tensors,
                  std::span<const std::byte> data) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  auto beginOf = [&](const NamedTensor &tensor) {
    return uint64_t(tensor.data.data() - data.data());
  };
  std::ranges::sort(order, {}, [&](uint32_t number) {
    const NamedTensor &tensor = tensors[number];
    return std::pair(beginOf(tensor), tensor.data.size());
  });
  uint64_t at = 0;
  for (uint32_t number : order) {
    const NamedTensor &tensor = tensors[number];
    uint64_t begin = beginOf(tensor);
    if (begin != at)
      return tensorError(path, tensor.name,
                         fmt::format("data begins at {}, {} {}", begin,
                                     begin < at
                                         ? "inside another tensor that ends at"
                                         : "behind a hole that begins at",
                                     at));
    at = begin + tensor.data.size();
  }
  if (at != data.size())
    return fileError(path, fmt::format("{} data bytes belong to no tensor",
                                       data.size() - at));
  return {};
}

/// Names are those of keys, which must differ. In order.
Status checkNames(const std::string &path,
                  std::span<const NamedTensor> tensors) {
  auto again = std::ranges::adjacent_find(tensors, {}, &NamedTensor::name);
  if (again == tensors.end())
    return {};
  return fileError(
      path, fmt::format("json: duplicate key {}", json::quote(again->name)));
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
  return check(path, std::move(mapped));
}

Result<SafetensorsFile> SafetensorsFile::check(const std::string &path,
                                               MappedFile mapped) {
  SafetensorsFile result(path, std::move(mapped));
  std::span<const std::byte> bytes = result.file.bytes();
  SINTER_TRY_ASSIGN(std::string_view text, headerText(path, bytes));
  auto data = bytes.subspan(sizeof(uint64_t) + text.size());
  bool hasMetadata = false;
  // An error of an entry names the file, one of the text does not.
  std::optional<ErrorInfo> refused;
  auto addEntry = [&](const std::string &key,
                      const json::Value &entry) -> Status {
    if (key != safetensors::metadataKey) {
      SINTER_TRY_ASSIGN(NamedTensor read, readEntry(path, key, entry, data));
      result.entries.push_back(std::move(read));
      return {};
    }
    if (std::exchange(hasMetadata, true))
      return fileError(path, fmt::format("json: duplicate key \"{}\"", key));
    return readMetadata(path, entry, result.strings);
  };
  Status parsed =
      json::parseMembers(text, [&](std::string key, json::Value entry) {
        Status added = addEntry(key, entry);
        if (!added)
          refused = added.error();
        return added;
      });
  if (!parsed)
    return refused ? *refused : fileError(path, parsed.error().message);
  std::ranges::sort(result.entries, {}, &NamedTensor::name);
  SINTER_TRY(checkNames(path, result.entries));
  SINTER_TRY(checkCover(path, result.entries, data));
  return result;
}

const NamedTensor *SafetensorsFile::find(std::string_view tensor) const {
  auto found =
      std::ranges::lower_bound(entries, tensor, {}, &NamedTensor::name);
  bool there = found != entries.end() && found->name == tensor;
  return there ? &*found : nullptr;
}

} // namespace sinter::runtime

/// What flax.serialization writes: maps in MessagePack, arrays as extensions.
#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/packed/Items.h"
#include "runtime/params/weights/torch/TorchTypes.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace sinter::runtime {

namespace packed {

namespace {

constexpr int8_t arrayType = 1, complexType = 2, scalarType = 3;
constexpr int mostNested = 64;
constexpr size_t maxRank = 64;
constexpr size_t mostMetadata = size_t(1) << 16, mostNotes = 32;
/// The first key of an array that is too large for one item.
constexpr std::string_view chunkedKey = "__msgpack_chunked_array__";

class FlaxWeights final : public WeightFile {
public:
  FlaxWeights(const std::string &path, MappedFile mapped)
      : WeightFile(path, "Flax msgpack"), file(std::move(mapped)),
        nameBudget((size_t(64) << 20) + 16 * file.bytes().size()) {}

  Status readFile();
  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override;
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  using Chunks = std::vector<std::span<const std::byte>>;

  MappedFile file;
  std::vector<Chunks> chunks; ///< one a tensor, empty where it is whole
  size_t nameBudget;

  Status readValue(MsgpackReader &reader, const Item &item,
                   const std::string &name, int depth);
  Status readMap(MsgpackReader &reader, const Item &map,
                 const std::string &name, int depth);
  Status readChunked(MsgpackReader &reader, uint64_t entries,
                     const std::string &name);
  Result<WeightTensor> readArray(const Item &item);
  Status add(WeightTensor entry, Chunks parts);
  Result<std::string> join(const std::string &parent, std::string_view key);
  void addText(const std::string &name, std::string text);
};

Result<std::string> FlaxWeights::join(const std::string &parent,
                                      std::string_view key) {
  std::string name = parent.empty() ? "" : parent + ".";
  name += key;
  if (name.size() > nameBudget)
    return makeError(ErrorKind::io, "names are longer than the file");
  nameBudget -= name.size();
  return name;
}

void FlaxWeights::addText(const std::string &name, std::string text) {
  if (strings.size() < mostMetadata)
    strings.emplace_back(name, std::move(text));
}

/// `(shape, dtype, bytes)`, packed again.
Result<WeightTensor> FlaxWeights::readArray(const Item &item) {
  MsgpackReader reader(item.bytes());
  WeightTensor entry;
  SINTER_TRY_ASSIGN(Item parts, reader.expect(Kind::list, "an array"));
  if (parts.count != 3)
    return reader.fail("an array that cannot be read");
  SINTER_TRY_ASSIGN(Item shape, reader.expect(Kind::list, "a shape"));
  uint64_t count = 1;
  bool overflow = shape.count > maxRank;
  for (uint64_t axis = 0; axis < shape.count; ++axis) {
    SINTER_TRY_ASSIGN(Item dim, reader.expect(Kind::integer, "a dim"));
    overflow |= dim.integer < 0 ||
                __builtin_mul_overflow(count, uint64_t(dim.integer), &count);
    entry.dims.push_back(dim.integer);
  }
  SINTER_TRY_ASSIGN(Item type, reader.next());
  std::optional<DType> dtype = torch::scalarType(type.text);
  if (!dtype)
    return makeError(ErrorKind::unsupported,
                     fmt::format("elements of type '{}' are not supported",
                                 printableName(type.text)));
  entry.type = type.text;
  entry.dtype = *dtype;
  SINTER_TRY_ASSIGN(Item data, reader.expect(Kind::bytes, "bytes"));
  uint64_t bytes = 0;
  overflow |= __builtin_mul_overflow(count, byteWidth(*dtype), &bytes);
  if (overflow || bytes != data.text.size())
    return reader.fail(fmt::format("{} bytes for the shape [{}]",
                                   data.text.size(),
                                   fmt::join(entry.dims, ",")));
  entry.data = data.bytes();
  return entry;
}

Status FlaxWeights::add(WeightTensor entry, Chunks parts) {
  auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
  bool isBool = entry.dtype == DType::boolean;
  bool isGood = !isBool || std::ranges::all_of(entry.data, isBit);
  for (const auto &part : parts)
    isGood &= !isBool || std::ranges::all_of(part, isBit);
  if (!isGood)
    return makeError(ErrorKind::io,
                     fmt::format("tensor '{}': a bool byte is neither 0 nor 1",
                                 printableName(entry.name)));
  entries.push_back(std::move(entry));
  chunks.push_back(std::move(parts));
  return {};
}

/// The rest of a map that began with `chunkedKey`: a shape and flat arrays,
/// both as maps of their numbers.
Status FlaxWeights::readChunked(MsgpackReader &reader, uint64_t rest,
                                const std::string &name) {
  WeightTensor whole;
  Chunks parts;
  SINTER_TRY_ASSIGN(Item marker, reader.next());
  SINTER_TRY(reader.skip(marker));
  for (uint64_t i = 0; i < rest; ++i) {
    SINTER_TRY_ASSIGN(Item key, reader.expect(Kind::text, "a key"));
    SINTER_TRY_ASSIGN(Item map, reader.expect(Kind::map, "a map"));
    for (uint64_t at = 0; at < map.count; ++at) {
      SINTER_TRY_ASSIGN(Item number, reader.expect(Kind::text, "a key"));
      SINTER_TRY_ASSIGN(Item value, reader.next());
      if (number.text != std::to_string(at))
        return reader.fail("parts that are out of order");
      if (key.text == "shape" && value.is(Kind::integer)) {
        whole.dims.push_back(value.integer);
        continue;
      }
      if (!value.is(Kind::extension) || value.type != arrayType)
        return reader.fail("a part that is no array");
      SINTER_TRY_ASSIGN(WeightTensor part, readArray(value));
      if (!parts.empty() && part.dtype != whole.dtype)
        return reader.fail("parts of different types");
      whole.dtype = part.dtype;
      whole.type = part.type;
      parts.push_back(part.data);
    }
  }
  uint64_t bytes = byteWidth(whole.dtype), have = 0;
  bool overflow = whole.dims.size() > maxRank;
  for (int64_t dim : whole.dims)
    overflow |= dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes);
  for (const auto &part : parts)
    have += part.size();
  if (overflow || parts.empty() || bytes != have)
    return reader.fail("parts that are no whole array");
  whole.name = name;
  return add(std::move(whole), std::move(parts));
}

Status FlaxWeights::readMap(MsgpackReader &reader, const Item &map,
                            const std::string &name, int depth) {
  if (depth >= mostNested)
    return reader.fail("maps are nested too deep");
  for (uint64_t i = 0; i < map.count; ++i) {
    SINTER_TRY_ASSIGN(Item key, reader.expect(Kind::text, "a key"));
    if (i == 0 && key.text == chunkedKey)
      return readChunked(reader, map.count - 1, name);
    SINTER_TRY_ASSIGN(std::string inner, join(name, key.text));
    SINTER_TRY_ASSIGN(Item value, reader.next());
    SINTER_TRY(readValue(reader, value, inner, depth));
  }
  return {};
}

Status FlaxWeights::readValue(MsgpackReader &reader, const Item &item,
                              const std::string &name, int depth) {
  switch (item.kind) {
  case Kind::map:
    return readMap(reader, item, name, depth + 1);
  case Kind::list:
    if (depth >= mostNested)
      return reader.fail("lists are nested too deep");
    for (uint64_t i = 0; i < item.count; ++i) {
      SINTER_TRY_ASSIGN(std::string inner, join(name, std::to_string(i)));
      SINTER_TRY_ASSIGN(Item value, reader.next());
      SINTER_TRY(readValue(reader, value, inner, depth + 1));
    }
    return {};
  case Kind::extension: {
    if (item.type != arrayType && item.type != scalarType) {
      bool isComplex = item.type == complexType;
      if (remarks.size() < mostNotes)
        remarks.push_back(
            fmt::format("'{}' is {} and left out", printableName(name),
                        isComplex ? "a complex number" : "of an unknown kind"));
      return {};
    }
    auto entry = readArray(item);
    if (!entry)
      return makeError(entry.error().kind,
                       fmt::format("tensor '{}': {}", printableName(name),
                                   entry.error().message));
    entry->name = name;
    return add(std::move(*entry), {});
  }
  case Kind::boolean:
    addText(name, item.boolean ? "true" : "false");
    return {};
  case Kind::integer:
    addText(name, std::to_string(item.integer));
    return {};
  case Kind::real:
    addText(name, fmt::to_string(item.real));
    return {};
  case Kind::text:
    addText(name, std::string(item.text));
    return {};
  default:
    return {};
  }
}

Status FlaxWeights::readFile() {
  MsgpackReader reader(file.bytes());
  auto read = [&]() -> Status {
    SINTER_TRY_ASSIGN(Item map, reader.expect(Kind::map, "a map"));
    SINTER_TRY(readMap(reader, map, "", 0));
    return reader.atEnd() ? Status() : reader.fail("something follows the map");
  };
  Status done = read();
  if (!done)
    return weights::fileError(path(), "msgpack: " + done.error().message,
                              done.error().kind);
  return finish();
}

Result<std::vector<std::byte>>
FlaxWeights::read(const WeightTensor &tensor) const {
  std::vector<std::byte> dense(tensor.data.begin(), tensor.data.end());
  for (const auto &part : chunks[numberOf(tensor)])
    dense.insert(dense.end(), part.begin(), part.end());
  return dense;
}

} // namespace

} // namespace packed

Result<WeightFileRef> weights::openFlax(const std::string &path,
                                        MappedFile file) {
  auto result = std::make_shared<packed::FlaxWeights>(path, std::move(file));
  SINTER_TRY(result->readFile());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime

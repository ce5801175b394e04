/// Burnpack, the files of Burn: a header, a map in CBOR, the data.
#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/packed/Items.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace sinter::runtime {

namespace packed {

namespace {

constexpr size_t headerBytes = 10; ///< magic, version of 2 and size of 4 bytes
constexpr uint16_t newestVersion = 1;
constexpr uint64_t dataAlignment = 256;
constexpr size_t maxRank = 64;

constexpr std::pair<std::string_view, DType> typeNames[] = {
    {"F64", DType::f64}, {"F32", DType::f32},     {"Flex32", DType::f32},
    {"F16", DType::f16}, {"BF16", DType::bf16},   {"I64", DType::i64},
    {"I32", DType::i32}, {"I16", DType::i16},     {"I8", DType::i8},
    {"U64", DType::u64}, {"U32", DType::u32},     {"U16", DType::u16},
    {"U8", DType::u8},   {"Bool", DType::boolean}};

/// Calls `visit` for each key of a map, which reads or skips its value.
template <typename Visit>
Status forEachKey(ItemReader &reader, const Item &map, const Visit &visit) {
  for (uint64_t i = 0; i < map.count; ++i) {
    SINTER_TRY_ASSIGN(Item key, reader.next());
    if (key.is(Kind::end) && map.count == unknownCount)
      return {};
    if (!key.is(Kind::text))
      return reader.fail("a key that is no text");
    SINTER_TRY(visit(key.text));
  }
  return {};
}

class BurnpackWeights final : public WeightFile {
public:
  BurnpackWeights(const std::string &path, MappedFile mapped)
      : WeightFile(path, "burnpack"), file(std::move(mapped)) {}

  Status readFile();
  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override {
    return std::vector<std::byte>(tensor.data.begin(), tensor.data.end());
  }
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  MappedFile file;
  std::vector<Range> ranges; ///< of the tensors, in the data

  Status readMap(CborReader &reader);
  Status readTensor(CborReader &reader, std::string_view tensor);
  Status readType(CborReader &reader, WeightTensor &entry);
  Result<std::vector<uint64_t>> readIntegers(CborReader &reader);
  Status checkOverlaps() const;
  Status place(uint64_t end);
};

Result<std::vector<uint64_t>>
BurnpackWeights::readIntegers(CborReader &reader) {
  SINTER_TRY_ASSIGN(Item list, reader.expect(Kind::list, "a list"));
  std::vector<uint64_t> integers;
  for (uint64_t i = 0; i < list.count; ++i) {
    SINTER_TRY_ASSIGN(Item item, reader.next());
    if (item.is(Kind::end) && list.count == unknownCount)
      break;
    if (!item.is(Kind::integer) || item.integer < 0)
      return reader.fail("expected an integer that is not negative");
    integers.push_back(static_cast<uint64_t>(item.integer));
  }
  return integers;
}

/// A name, or a map of it to what it stands with: `{"Bool": "Native"}`.
Status BurnpackWeights::readType(CborReader &reader, WeightTensor &entry) {
  SINTER_TRY_ASSIGN(Item item, reader.next());
  std::string_view type = item.text, form;
  if (item.is(Kind::map)) {
    SINTER_TRY(forEachKey(reader, item, [&](std::string_view key) -> Status {
      type = key;
      SINTER_TRY_ASSIGN(Item value, reader.next());
      form = value.is(Kind::text) ? value.text : "?";
      return reader.skip(value);
    }));
  }
  auto found = std::ranges::find(typeNames, type,
                                 &std::pair<std::string_view, DType>::first);
  bool isWhole = form.empty() || form == "Native" || form == "U8";
  if (found == std::end(typeNames) || !isWhole)
    return makeError(ErrorKind::unsupported,
                     fmt::format("elements of type '{}' are not supported",
                                 printableName(type)));
  entry.type = found->first;
  entry.dtype = found->second;
  return {};
}

Status BurnpackWeights::readTensor(CborReader &reader,
                                   std::string_view tensor) {
  WeightTensor entry;
  entry.name = tensor;
  bool hasType = false, hasShape = false;
  Range range{1, 0};
  SINTER_TRY_ASSIGN(Item map, reader.expect(Kind::map, "a map"));
  SINTER_TRY(forEachKey(reader, map, [&](std::string_view key) -> Status {
    if (key == "dtype") {
      hasType = true;
      return readType(reader, entry);
    }
    if (key == "shape") {
      hasShape = true;
      SINTER_TRY_ASSIGN(auto dims, readIntegers(reader));
      entry.dims.assign(dims.begin(), dims.end());
      return {};
    }
    if (key == "data_offsets") {
      SINTER_TRY_ASSIGN(auto ends, readIntegers(reader));
      if (ends.size() == 2)
        range = {ends[0], ends[1]};
      return {};
    }
    SINTER_TRY_ASSIGN(Item other, reader.next());
    return reader.skip(other);
  }));
  if (!hasType || !hasShape || range.begin > range.end)
    return reader.fail("dtype, shape or data_offsets is missing");
  uint64_t bytes = byteWidth(entry.dtype);
  bool overflow = entry.dims.size() > maxRank;
  for (int64_t dim : entry.dims)
    overflow |= __builtin_mul_overflow(bytes, uint64_t(dim), &bytes);
  if (overflow || bytes != range.end - range.begin)
    return reader.fail(
        fmt::format("a shape [{}] does not take the {} bytes that are given",
                    fmt::join(entry.dims, ","), range.end - range.begin));
  entries.push_back(std::move(entry));
  ranges.push_back(range);
  return {};
}

Status BurnpackWeights::readMap(CborReader &reader) {
  SINTER_TRY_ASSIGN(Item map, reader.expect(Kind::map, "a map"));
  return forEachKey(reader, map, [&](std::string_view key) -> Status {
    SINTER_TRY_ASSIGN(Item value, reader.next());
    if (!value.is(Kind::map))
      return reader.skip(value);
    if (key == "tensors")
      return forEachKey(reader, value, [&](std::string_view tensor) -> Status {
        Status read = readTensor(reader, tensor);
        if (read)
          return read;
        return makeError(read.error().kind,
                         fmt::format("tensor '{}': {}", printableName(tensor),
                                     read.error().message));
      });
    return forEachKey(reader, value, [&](std::string_view name) -> Status {
      SINTER_TRY_ASSIGN(Item text, reader.next());
      if (text.is(Kind::text))
        strings.emplace_back(name, text.text);
      return reader.skip(text);
    });
  });
}

/// No tensor lies in another.
Status BurnpackWeights::checkOverlaps() const {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::pair(ranges[i].begin, ranges[i].end);
  });
  uint64_t end = 0;
  for (size_t i : order) {
    if (ranges[i].begin < end && ranges[i].begin != ranges[i].end)
      return weights::tensorError(path(), entries[i].name,
                                  fmt::format("bytes {} to {} lie in another "
                                              "tensor",
                                              ranges[i].begin, ranges[i].end));
    end = std::max(end, ranges[i].end);
  }
  return {};
}

/// Finds the data: its beginning is aligned but in the files of older writers,
/// which have the same version; nothing follows the last tensor.
Status BurnpackWeights::place(uint64_t end) {
  auto all = file.bytes();
  uint64_t length = 0;
  for (const Range &range : ranges)
    length = std::max(length, range.end);
  uint64_t aligned = (end + dataAlignment - 1) / dataAlignment * dataAlignment;
  bool isOld = all.size() >= end && length == all.size() - end;
  uint64_t start = isOld ? end : std::min<uint64_t>(aligned, all.size());
  auto data = all.subspan(start);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (ranges[i].end > data.size())
      return weights::tensorError(path(), entries[i].name,
                                  fmt::format("bytes to {} reach beyond the {} "
                                              "of data",
                                              ranges[i].end, data.size()));
    entries[i].data =
        data.subspan(ranges[i].begin, ranges[i].end - ranges[i].begin);
    auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
    if (entries[i].dtype == DType::boolean &&
        !std::ranges::all_of(entries[i].data, isBit))
      return weights::tensorError(path(), entries[i].name,
                                  "a bool byte is neither 0 nor 1");
  }
  return {};
}

Status BurnpackWeights::readFile() {
  auto all = file.bytes();
  uint16_t version = 0;
  uint32_t size = 0;
  if (all.size() < headerBytes)
    return weights::fileError(path(), "the header is cut off");
  std::memcpy(&version, all.data() + 4, sizeof(version));
  std::memcpy(&size, all.data() + 6, sizeof(size));
  if (version > newestVersion)
    return weights::fileError(
        path(), fmt::format("version {} of burnpack is not supported", version),
        ErrorKind::unsupported);
  if (size > all.size() - headerBytes)
    return weights::fileError(path(), "the metadata is cut off");
  CborReader reader(all.subspan(headerBytes, size));
  Status read = readMap(reader);
  if (read && !reader.atEnd())
    read = reader.fail("something follows the metadata");
  if (!read)
    return weights::fileError(path(), "burnpack: " + read.error().message,
                              read.error().kind);
  SINTER_TRY(checkOverlaps());
  SINTER_TRY(place(headerBytes + size));
  return finish();
}

} // namespace

} // namespace packed

Result<WeightFileRef> weights::openBurnpack(const std::string &path,
                                            MappedFile file) {
  auto result =
      std::make_shared<packed::BurnpackWeights>(path, std::move(file));
  SINTER_TRY(result->readFile());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime

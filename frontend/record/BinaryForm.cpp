/// The binary form: a head, the tree, the elements of its tensors, a checksum.
///
///     8 bytes  SNREC\r\n\x1a
///     u64      layout version
///     u64      bytes of the tree
///     u64      bytes of the file
///     tree     each value a byte of its kind, then what it is
///     data     each tensor from a multiple of 64 on, zeros between
///     u64      XXH3 of all bytes before
///
/// Numbers are little-endian.
#include "frontend/record/RecordForms.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <unordered_set>

namespace sinter::record {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they are");

constexpr std::string_view magic = "SNREC\r\n\x1a"sv;
constexpr size_t headBytes = 32, alignment = 64;

bool isBinary(ByteSpan bytes) {
  return bytes.size() >= magic.size() &&
         std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

static uint64_t aligned(uint64_t at) {
  return (at + alignment - 1) / alignment * alignment;
}

//===- Writing ------------------------------------------------------------===//

namespace {

class BinaryWriter {
public:
  Pieces run(const Record &record) {
    value(record);
    Pieces pieces;
    uint64_t data = aligned(headBytes + tree.size()), end = data;
    for (const RecordTensor *tensor : tensors)
      end = aligned(end + tensor->data.size());
    std::string head(magic);
    for (uint64_t number : {uint64_t(layoutVersion), uint64_t(tree.size()),
                            end + sizeof(uint64_t)})
      append(head, number);
    pieces.add(head);
    pieces.add(tree);
    pad(pieces);
    for (const RecordTensor *tensor : tensors) {
      pieces.refer(tensor->data);
      pad(pieces);
    }
    Checksum sum;
    sum.add(pieces.parts());
    std::string last;
    append(last, sum.value());
    pieces.add(last);
    return pieces;
  }

private:
  static void append(std::string &to, uint64_t number) {
    to.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void text(std::string_view text) {
    append(tree, text.size());
    tree += text;
  }
  static void pad(Pieces &pieces) {
    pieces.add(std::string(aligned(pieces.size()) - pieces.size(), '\0'));
  }
  void value(const Record &record);
  void value(std::monostate) {}
  void value(bool on) { tree += char(on); }
  void value(int64_t number) { append(tree, uint64_t(number)); }
  void value(double number) { append(tree, std::bit_cast<uint64_t>(number)); }
  void value(const std::string &own) { text(own); }
  void value(const Record::Bytes &bytes) {
    text({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  void value(const RecordTensor &tensor) {
    text(name(tensor.dtype));
    append(tree, tensor.id);
    append(tree, tensor.dims.size());
    for (int64_t dim : tensor.dims)
      append(tree, uint64_t(dim));
    append(tree, tensor.data.size());
    tensors.push_back(&tensor);
  }
  void value(const Record::List &list) {
    append(tree, list.size());
    for (const Record &element : list)
      value(element);
  }
  void value(const Record::Map &map) {
    append(tree, map.size());
    for (const auto &[name, entry] : map) {
      text(name);
      value(entry);
    }
  }

  std::string tree;
  std::vector<const RecordTensor *> tensors;
};

} // namespace

void BinaryWriter::value(const Record &record) {
  tree += char(record.kind());
  std::visit([&](const auto &own) { value(own); }, record.held());
}

Result<Pieces> writeBinary(const Record &record) {
  return BinaryWriter().run(record);
}

//===- Reading ------------------------------------------------------------===//

namespace {

class BinaryReader {
public:
  explicit BinaryReader(const Source &source)
      : source(source), budget(source.bytes.size()) {}

  Result<Record> run();

private:
  Result<uint64_t> number();
  Result<ByteSpan> take(uint64_t count);
  Result<std::string> text();
  Result<Record> value(int level);
  Result<Record> plain(Record::Kind kind);
  Result<RecordTensor> tensor();
  Result<Record> list(int level);
  Result<Record> map(int level);
  ErrorInfo fail(std::string_view what) const {
    return makeError(ErrorKind::io, fmt::format("{} at byte {}", what, at));
  }

  const Source &source;
  ValueBudget budget;
  size_t at = 0, end = 0; ///< of the tree
  size_t data = 0, last = 0;
};

} // namespace

Result<uint64_t> BinaryReader::number() {
  SINTER_TRY_ASSIGN(ByteSpan bytes, take(sizeof(uint64_t)));
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

Result<ByteSpan> BinaryReader::take(uint64_t count) {
  if (count > end - at)
    return fail("the tree ends within a value");
  ByteSpan bytes = source.bytes.subspan(at, count);
  at += count;
  return bytes;
}

Result<std::string> BinaryReader::text() {
  SINTER_TRY_ASSIGN(uint64_t length, number());
  SINTER_TRY_ASSIGN(ByteSpan bytes, take(length));
  std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!isUtf8(text))
    return fail("a text is no UTF-8");
  return text;
}

Result<RecordTensor> BinaryReader::tensor() {
  RecordTensor tensor;
  SINTER_TRY_ASSIGN(std::string dtype, text());
  SINTER_TRY_ASSIGN(tensor.dtype, dtypeNamed(dtype));
  SINTER_TRY_ASSIGN(tensor.id, number());
  SINTER_TRY_ASSIGN(uint64_t rank, number());
  for (uint64_t i = 0; i < rank; ++i) {
    SINTER_TRY_ASSIGN(uint64_t dim, number());
    tensor.dims.push_back(int64_t(dim));
  }
  SINTER_TRY_ASSIGN(uint64_t bytes, number());
  if (bytes > last - data)
    return fail("a tensor lies behind the end of the file");
  tensor.data = source.bytes.subspan(data, bytes);
  tensor.owner = source.owner;
  data = aligned(data + bytes);
  if (data > last)
    return fail("a tensor lies behind the end of the file");
  SINTER_TRY(checkTensor(tensor));
  return tensor;
}

Result<Record> BinaryReader::list(int level) {
  SINTER_TRY_ASSIGN(uint64_t count, number());
  if (count > end - at)
    return fail("a list is longer than the tree");
  Record::List list;
  for (uint64_t i = 0; i < count; ++i) {
    SINTER_TRY_ASSIGN(Record element, value(level + 1));
    list.push_back(std::move(element));
  }
  return Record(Record::Value(std::move(list)));
}

Result<Record> BinaryReader::map(int level) {
  SINTER_TRY_ASSIGN(uint64_t count, number());
  if (count > end - at)
    return fail("a map is longer than the tree");
  Record::Map map;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    SINTER_TRY_ASSIGN(std::string name, text());
    if (!names.insert(name).second)
      return fail("a name is there twice");
    SINTER_TRY_ASSIGN(Record entry, value(level + 1));
    map.push_back({std::move(name), std::move(entry)});
  }
  return Record(Record::Value(std::move(map)));
}

Result<Record> BinaryReader::plain(Record::Kind kind) {
  using enum Record::Kind;
  switch (kind) {
  case none:
    return Record(Record::Value());
  case boolean: {
    SINTER_TRY_ASSIGN(ByteSpan byte, take(1));
    if (std::to_integer<int>(byte[0]) > 1)
      return fail("a bool is neither 0 nor 1");
    return Record(Record::Value(byte[0] == std::byte(1)));
  }
  case integer: {
    SINTER_TRY_ASSIGN(uint64_t bits, number());
    return Record(Record::Value(int64_t(bits)));
  }
  case real: {
    SINTER_TRY_ASSIGN(uint64_t bits, number());
    return Record(Record::Value(std::bit_cast<double>(bits)));
  }
  case bytes: {
    SINTER_TRY_ASSIGN(uint64_t length, number());
    SINTER_TRY_ASSIGN(ByteSpan bytes, take(length));
    return Record(Record::Value(Record::Bytes(bytes.begin(), bytes.end())));
  }
  default: {
    SINTER_TRY_ASSIGN(std::string own, this->text());
    return Record(Record::Value(std::move(own)));
  }
  }
}

Result<Record> BinaryReader::value(int level) {
  SINTER_TRY(budget.take());
  SINTER_TRY_ASSIGN(ByteSpan kind, take(1));
  if (level > mostLevels)
    return fail("too many levels");
  switch (Record::Kind(kind[0])) {
  case Record::Kind::tensor: {
    SINTER_TRY_ASSIGN(RecordTensor own, tensor());
    return Record(Record::Value(std::move(own)));
  }
  case Record::Kind::list:
    return list(level);
  case Record::Kind::map:
    return map(level);
  default:
    if (Record::Kind(kind[0]) > Record::Kind::map)
      return fail("an unknown kind of value");
    return plain(Record::Kind(kind[0]));
  }
}

Result<Record> BinaryReader::run() {
  ByteSpan file = source.bytes;
  end = file.size();
  at = magic.size();
  SINTER_TRY_ASSIGN(uint64_t version, number());
  SINTER_TRY(checkVersion(version));
  SINTER_TRY_ASSIGN(uint64_t treeBytes, number());
  SINTER_TRY_ASSIGN(uint64_t fileBytes, number());
  if (fileBytes != file.size())
    return fail(
        fmt::format("it has {} bytes, and says {}:", file.size(), fileBytes));
  if (file.size() < headBytes + sizeof(uint64_t))
    return fail("it is cut short");
  last = file.size() - sizeof(uint64_t);
  uint64_t sum = 0;
  std::memcpy(&sum, file.data() + last, sizeof(sum));
  if (source.check && sum != Checksum::of(file.first(last)))
    return makeError(ErrorKind::io, std::string(damagedText));
  if (treeBytes > last - headBytes)
    return fail("the tree is longer than the file");
  end = headBytes + treeBytes;
  data = aligned(end);
  if (data > last)
    return fail("it is cut short");
  SINTER_TRY_ASSIGN(Record record, value(0));
  if (at != end || data != last)
    return fail("something follows the last value");
  return record;
}

Result<Record> readBinary(const Source &source) {
  return BinaryReader(source).run();
}

} // namespace sinter::record

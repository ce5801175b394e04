/// MessagePack: a map of the layout version, the record and the checksum of all
/// bytes before it, which are the file but its last eight.
///
/// A tensor is the map {"$tensor": DTYPE, "shape": [...], "data": bin}, perhaps
/// with "id": sixteen hex digits, between. Names of entries that begin with $
/// have one more.
#include "frontend/record/RecordForms.h"

#include "runtime/params/weights/packed/Items.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <unordered_set>

namespace sinter::record {

using namespace std::string_view_literals;
using runtime::packed::Item;
using Packed = runtime::packed::Kind;

constexpr size_t sumBytes = sizeof(uint64_t);
/// The map of three, and its first name.
constexpr std::string_view beginning = "\x83\xadsinter_record"sv;
/// What stands before the checksum: its name, and that eight bytes follow.
constexpr std::string_view ending = "\xa8"
                                    "checksum\xc4\x08"sv;

bool isMessagePack(ByteSpan bytes) {
  return bytes.size() >= beginning.size() &&
         std::memcmp(bytes.data(), beginning.data(), beginning.size()) == 0;
}

//===- Writing ------------------------------------------------------------===//

namespace {

class PackWriter {
public:
  Result<Pieces> run(const Record &record) {
    pieces.add(beginning);
    value(layoutVersion);
    text("record");
    value(record);
    pieces.add(ending);
    Checksum sum;
    sum.add(pieces.parts());
    number(sum.value(), sumBytes);
    if (tooLarge > 0)
      return makeError(ErrorKind::unsupported,
                       fmt::format("{} bytes at once are too many for "
                                   "MessagePack; the formats safetensors and "
                                   "bin have no limit",
                                   tooLarge));
    return std::move(pieces);
  }

private:
  /// The highest byte first.
  void number(uint64_t bits, size_t bytes) {
    std::string text;
    for (size_t i = bytes; i-- > 0;)
      text += char(bits >> (8 * i));
    pieces.add(text);
  }
  void code(int code) { pieces.add(std::string(1, char(code))); }
  /// Codes of lengths of 8 (none: 0), 16 and 32 bits.
  void length(uint64_t count, int byte, int two, int four) {
    if (byte && count <= 0xff) {
      code(byte);
      number(count, 1);
    } else if (count <= 0xffff) {
      code(two);
      number(count, 2);
    } else {
      code(four);
      number(count, 4);
      if (count > std::numeric_limits<uint32_t>::max())
        tooLarge = count;
    }
  }
  void text(std::string_view text) {
    if (text.size() < 32)
      code(0xa0 | int(text.size()));
    else
      length(text.size(), 0xd9, 0xda, 0xdb);
    pieces.add(text);
  }
  void bytes(ByteSpan bytes) {
    length(bytes.size(), 0xc4, 0xc5, 0xc6);
    pieces.refer(bytes);
  }
  void list(uint64_t count) {
    count < 16 ? code(0x90 | int(count)) : length(count, 0, 0xdc, 0xdd);
  }
  void map(uint64_t count) {
    count < 16 ? code(0x80 | int(count)) : length(count, 0, 0xde, 0xdf);
  }
  void value(const Record &record) {
    std::visit([&](const auto &own) { value(own); }, record.held());
  }
  void value(std::monostate) { code(0xc0); }
  void value(bool on) { code(on ? 0xc3 : 0xc2); }
  void value(int64_t integer) {
    if (integer >= 0 && integer < 128) {
      code(int(integer));
    } else {
      code(0xd3);
      number(uint64_t(integer), sizeof(integer));
    }
  }
  void value(double real) {
    code(0xcb);
    number(std::bit_cast<uint64_t>(real), sizeof(real));
  }
  void value(const std::string &own) { text(own); }
  void value(const Record::Bytes &own) { bytes(own); }
  void value(const RecordTensor &tensor) {
    map(tensor.id ? 4 : 3);
    text("$tensor");
    text(name(tensor.dtype));
    if (tensor.id) {
      text("id");
      text(hexText(tensor.id));
    }
    text("shape");
    list(tensor.dims.size());
    for (int64_t dim : tensor.dims)
      value(dim);
    text("data");
    bytes(tensor.data);
  }
  void value(const Record::List &own) {
    list(own.size());
    for (const Record &element : own)
      value(element);
  }
  void value(const Record::Map &own) {
    map(own.size());
    for (const auto &[name, entry] : own) {
      text(name.starts_with('$') ? "$" + name : name);
      value(entry);
    }
  }

  Pieces pieces;
  uint64_t tooLarge = 0;
};

} // namespace

Result<Pieces> writeMessagePack(const Record &record) {
  return PackWriter().run(record);
}

//===- Reading ------------------------------------------------------------===//

namespace {

class PackReader {
public:
  PackReader(const Source &source, ByteSpan bytes)
      : source(source), reader(bytes), budget(bytes.size()) {}

  Result<Record> run();

private:
  Result<std::string> text();
  Status expectText(std::string_view wanted);
  Result<Record> value(int level);
  Result<Record> list(uint64_t count, int level);
  Result<Record> map(uint64_t count, int level);
  Result<Record> tensor(uint64_t count);

  const Source &source;
  runtime::packed::MsgpackReader reader;
  ValueBudget budget;
};

} // namespace

Result<std::string> PackReader::text() {
  SINTER_TRY_ASSIGN(Item item, reader.expect(Packed::text, "a text"));
  if (!isUtf8(item.text))
    return reader.fail("a text is no UTF-8");
  return std::string(item.text);
}

Status PackReader::expectText(std::string_view wanted) {
  SINTER_TRY_ASSIGN(std::string found, text());
  if (found != wanted)
    return reader.fail(fmt::format("'{}' is missing", wanted));
  return {};
}

/// After its first name.
Result<Record> PackReader::tensor(uint64_t count) {
  RecordTensor tensor;
  SINTER_TRY_ASSIGN(std::string dtype, text());
  SINTER_TRY_ASSIGN(tensor.dtype, dtypeNamed(dtype));
  if (count == 4) {
    SINTER_TRY(expectText("id"));
    SINTER_TRY_ASSIGN(std::string id, text());
    if (!readHex(id, tensor.id))
      return reader.fail("a tensor's id is no number");
  } else if (count != 3) {
    return reader.fail("a tensor has other entries");
  }
  SINTER_TRY(expectText("shape"));
  SINTER_TRY_ASSIGN(Item axes, reader.expect(Packed::list, "a shape"));
  for (uint64_t i = 0; i < axes.count; ++i) {
    SINTER_TRY_ASSIGN(Item dim, reader.expect(Packed::integer, "an axis"));
    tensor.dims.push_back(dim.integer);
  }
  SINTER_TRY(expectText("data"));
  SINTER_TRY_ASSIGN(Item data, reader.expect(Packed::bytes, "elements"));
  tensor.data = data.bytes();
  tensor.owner = source.owner;
  SINTER_TRY(checkTensor(tensor));
  return Record(Record::Value(std::move(tensor)));
}

Result<Record> PackReader::list(uint64_t count, int level) {
  Record::List list;
  for (uint64_t i = 0; i < count; ++i) {
    SINTER_TRY_ASSIGN(Record element, value(level + 1));
    list.push_back(std::move(element));
  }
  return Record(Record::Value(std::move(list)));
}

Result<Record> PackReader::map(uint64_t count, int level) {
  Record::Map map;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    SINTER_TRY_ASSIGN(std::string name, text());
    if (i == 0 && name == "$tensor")
      return tensor(count);
    if (name.starts_with('$')) {
      if (!name.starts_with("$$"))
        return reader.fail("an unknown kind of value");
      name.erase(0, 1);
    }
    if (!names.insert(name).second)
      return reader.fail("a name is there twice");
    SINTER_TRY_ASSIGN(Record entry, value(level + 1));
    map.push_back({std::move(name), std::move(entry)});
  }
  return Record(Record::Value(std::move(map)));
}

Result<Record> PackReader::value(int level) {
  SINTER_TRY(budget.take());
  if (level > mostLevels)
    return reader.fail("too many levels");
  SINTER_TRY_ASSIGN(Item item, reader.next());
  switch (item.kind) {
  case Packed::null:
    return Record(Record::Value());
  case Packed::boolean:
    return Record(Record::Value(item.boolean));
  case Packed::integer:
    return Record(Record::Value(item.integer));
  case Packed::real:
    return Record(Record::Value(item.real));
  case Packed::text:
    if (!isUtf8(item.text))
      return reader.fail("a text is no UTF-8");
    return Record(Record::Value(std::string(item.text)));
  case Packed::bytes:
    return Record(
        Record::Value(Record::Bytes(item.bytes().begin(), item.bytes().end())));
  case Packed::list:
    return list(item.count, level);
  case Packed::map:
    return map(item.count, level);
  default:
    return reader.fail("an unknown kind of value");
  }
}

Result<Record> PackReader::run() {
  SINTER_TRY(reader.expect(Packed::map, "a record"));
  SINTER_TRY(expectText("sinter_record"));
  SINTER_TRY_ASSIGN(Item version, reader.expect(Packed::integer, "a version"));
  SINTER_TRY(checkVersion(uint64_t(version.integer)));
  SINTER_TRY(expectText("record"));
  SINTER_TRY_ASSIGN(Record record, value(0));
  if (!reader.atEnd())
    return reader.fail("something follows the record");
  return record;
}

Result<Record> readMessagePack(const Source &source) {
  ByteSpan file = source.bytes;
  size_t tail = ending.size() + sumBytes;
  if (file.size() < beginning.size() + tail)
    return makeError(ErrorKind::io, "it is cut short");
  ByteSpan before = file.first(file.size() - sumBytes);
  ByteSpan body = before.first(before.size() - ending.size());
  uint64_t sum = 0;
  for (std::byte byte : file.last(sumBytes))
    sum = sum << 8 | std::to_integer<uint64_t>(byte);
  bool isEnd =
      std::memcmp(body.data() + body.size(), ending.data(), ending.size()) == 0;
  if (!isEnd || (source.check && sum != Checksum::of(before)))
    return makeError(
        ErrorKind::io,
        std::string(isEnd ? damagedText : "it is damaged, or cut short"));
  return PackReader(source, body).run();
}

} // namespace sinter::record

/// JSON as records.
#include "frontend/record/JsonMarks.h"
#include "frontend/record/RecordForms.h"
#include "frontend/record/TensorNumbers.h"

#include "runtime/params/Json.h"
#include "runtime/support/Base64.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <iterator>
#include <unordered_set>

namespace sinter::record {

using Words = runtime::json::Kind;

static std::string_view textOf(ByteSpan bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

bool isJson(ByteSpan bytes) {
  std::string_view text = textOf(bytes);
  return text.starts_with(compactHead) || text.starts_with(prettyHead);
}

namespace {

class JsonReader : public runtime::json::Reader {
public:
  JsonReader(std::string_view text, const TensorFinder *find)
      : Reader(text), find(find), budget(text.size()) {}

  Result<Record> value(int level);
  Result<Record> file();

private:
  Result<Record> number();
  Result<Record> list(int level);
  Result<Record> map(int level);
  Result<std::vector<std::byte>> bytes();
  Status member(const std::string &key, Record &made, int level);
  /// One member of an object of that kind.
  Status tensorMember(const std::string &key, RecordTensor &tensor,
                      std::string &name);
  Status elements(RecordTensor &tensor);
  static void own(RecordTensor &tensor, std::vector<std::byte> bytes) {
    auto kept = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    tensor.data = *kept;
    tensor.owner = std::move(kept);
  }

  const TensorFinder *find; ///< null where elements stand in the text
  ValueBudget budget;
};

} // namespace

/// A text of base64, without a copy of it.
Result<std::vector<std::byte>> JsonReader::bytes() {
  SINTER_TRY_ASSIGN(Words kind, next());
  size_t end = text.find('"', at + 1);
  if (kind != Words::string || end == text.npos)
    return fail("expected base64");
  auto made = fromBase64(text.substr(at + 1, end - at - 1));
  if (!made)
    return fail("invalid base64");
  at = end + 1;
  return std::move(*made);
}

Result<Record> JsonReader::number() {
  size_t end = text.find_first_not_of("-+0123456789", at);
  bool isReal = end != text.npos && std::strchr(".eE", text[end]) != nullptr;
  if (isReal) {
    SINTER_TRY_ASSIGN(double own, real());
    return Record(Record::Value(own));
  }
  SINTER_TRY_ASSIGN(int64_t own, integer());
  return Record(Record::Value(own));
}

Result<Record> JsonReader::list(int level) {
  Record::List list;
  SINTER_TRY(array([&]() -> Status {
    SINTER_TRY_ASSIGN(Record element, value(level + 1));
    list.push_back(std::move(element));
    return {};
  }));
  return Record(Record::Value(std::move(list)));
}

/// The shape stands before them, and the dtype before all.
Status JsonReader::elements(RecordTensor &tensor) {
  size_t width = byteWidth(tensor.dtype);
  std::vector<std::byte> bytes;
  SINTER_TRY(array([&]() -> Status {
    SINTER_TRY_ASSIGN(Words kind, next());
    if (kind != Words::number)
      return fail("expected a number");
    bytes.resize(bytes.size() + width);
    std::span<std::byte> to = std::span(bytes).last(width);
    if (isFloat(tensor.dtype)) {
      size_t begin = at;
      SINTER_TRY(real());
      std::string_view number = text.substr(begin, at - begin);
      if (!setElement(to, tensor.dtype, number))
        return fail(fmt::format("{} is no {}", number, name(tensor.dtype)));
      return {};
    }
    SINTER_TRY_ASSIGN(int64_t own, integer());
    if (!setElement(to, tensor.dtype, own))
      return fail(fmt::format("{} is no {}", own, name(tensor.dtype)));
    return {};
  }));
  own(tensor, std::move(bytes));
  return {};
}

Status JsonReader::tensorMember(const std::string &key, RecordTensor &tensor,
                                std::string &name) {
  if (key == "$tensor") {
    SINTER_TRY_ASSIGN(std::string dtype, string());
    SINTER_TRY_ASSIGN(tensor.dtype, dtypeNamed(dtype));
  } else if (key == "id") {
    SINTER_TRY_ASSIGN(std::string id, string());
    if (!readHex(id, tensor.id))
      return fail("a tensor's id is no number");
  } else if (key == "shape") {
    tensor.dims.clear();
    return array([&]() -> Status {
      SINTER_TRY_ASSIGN(int64_t dim, integer());
      tensor.dims.push_back(dim);
      return {};
    });
  } else if (key == "name" && find) {
    SINTER_TRY_ASSIGN(name, string());
  } else if (key == "data" && !find) {
    SINTER_TRY_ASSIGN(std::vector<std::byte> made, bytes());
    own(tensor, std::move(made));
  } else if (key == "values" && !find && isNumeric(tensor.dtype)) {
    return elements(tensor);
  } else {
    return fail("a tensor has other entries");
  }
  return {};
}

Result<Record> JsonReader::map(int level) {
  Record::Map map;
  std::unordered_set<std::string> names;
  std::string tag, tensorName;
  RecordTensor tensor;
  Record special;
  SINTER_TRY(object([&](const std::string &key) -> Status {
    bool isFirst = map.empty() && tag.empty();
    if (isFirst && (key == "$tensor" || key == "$bytes" || key == "$real"))
      tag = key;
    else if (!tag.empty() && tag != "$tensor")
      return fail("an unknown kind of value");
    if (!names.insert(key).second)
      return fail("a name is there twice");
    if (tag == "$tensor")
      return tensorMember(key, tensor, tensorName);
    if (tag == "$bytes") {
      SINTER_TRY_ASSIGN(Record::Bytes made, bytes());
      special = Record(Record::Value(std::move(made)));
      return {};
    }
    if (tag == "$real") {
      SINTER_TRY_ASSIGN(std::string digits, string());
      uint64_t bits = 0;
      if (!readHex(digits, bits))
        return fail("expected hexadecimal digits");
      special = Record(Record::Value(std::bit_cast<double>(bits)));
      return {};
    }
    if (key.starts_with('$') && !key.starts_with("$$"))
      return fail("an unknown kind of value");
    SINTER_TRY_ASSIGN(Record own, value(level + 1));
    map.push_back({key.starts_with('$') ? key.substr(1) : key, std::move(own)});
    return {};
  }));
  if (tag.empty())
    return Record(Record::Value(std::move(map)));
  if (tag != "$tensor")
    return special;
  if (find) {
    SINTER_TRY_ASSIGN(RecordTensor found, (*find)(tensorName));
    if (found.dtype != tensor.dtype)
      return fail("a tensor has another dtype");
    found.id = tensor.id;
    tensor = std::move(found);
  }
  SINTER_TRY(checkTensor(tensor));
  return Record(Record::Value(std::move(tensor)));
}

Result<Record> JsonReader::value(int level) {
  SINTER_TRY(budget.take());
  if (level > mostLevels)
    return fail("too many levels");
  SINTER_TRY_ASSIGN(Words kind, next());
  switch (kind) {
  case Words::null:
    SINTER_TRY(skip());
    return Record(Record::Value());
  case Words::boolean: {
    SINTER_TRY_ASSIGN(bool on, boolean());
    return Record(Record::Value(on));
  }
  case Words::string: {
    SINTER_TRY_ASSIGN(std::string own, string());
    return Record(Record::Value(std::move(own)));
  }
  case Words::array:
    return list(level);
  case Words::object:
    return map(level);
  default:
    return number();
  }
}

Result<Record> JsonReader::file() {
  Record record;
  constexpr std::string_view wanted[] = {"sinter_record", "record", "checksum"};
  size_t count = 0;
  SINTER_TRY(object([&](const std::string &key) -> Status {
    if (count == std::size(wanted) || key != wanted[count++])
      return fail("an unknown entry of the file");
    if (key == "sinter_record") {
      SINTER_TRY_ASSIGN(int64_t version, integer());
      return checkVersion(uint64_t(version));
    }
    if (key == "checksum")
      return skip();
    SINTER_TRY_ASSIGN(record, value(0));
    return {};
  }));
  SINTER_TRY(end());
  if (count < 2)
    return fail("the record is missing");
  return record;
}

Result<Record> readJson(const Source &source) {
  std::string_view text = textOf(source.bytes);
  bool isPretty = text.starts_with(prettyHead);
  std::string_view before = isPretty ? prettySum : compactSum;
  std::string_view after = isPretty ? prettyEnd : compactEnd;
  size_t tail = before.size() + hexDigits + after.size();
  if (source.check) {
    bool isWhole = text.size() > tail && text.ends_with(after) &&
                   text.substr(text.size() - tail).starts_with(before);
    if (!isWhole)
      return makeError(ErrorKind::io,
                       "it is damaged, or cut short: it does not end with a "
                       "checksum");
    size_t digits = text.size() - after.size() - hexDigits;
    if (hexText(Checksum::of(source.bytes.first(digits))) !=
        text.substr(digits, hexDigits))
      return makeError(
          ErrorKind::io,
          fmt::format("{}; one that was edited is read with .check = false",
                      damagedText));
  }
  return JsonReader(text, nullptr).file();
}

Result<Record> readFields(std::string_view text, const TensorFinder &find) {
  JsonReader reader(text, &find);
  SINTER_TRY_ASSIGN(Record record, reader.value(0));
  SINTER_TRY(reader.end());
  return record;
}

} // namespace sinter::record

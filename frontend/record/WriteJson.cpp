/// Records as JSON.
#include "frontend/record/JsonMarks.h"
#include "frontend/record/RecordForms.h"
#include "frontend/record/TensorNumbers.h"

#include "runtime/params/Json.h"
#include "runtime/support/Base64.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <unordered_set>

namespace sinter::record {

namespace {

enum class Elements : uint8_t { base64, numbers, elsewhere };

class JsonWriter {
public:
  JsonWriter(JsonStyle style, Elements elements, TensorNames *names = nullptr)
      : isPretty(style == JsonStyle::pretty), elements(elements), names(names) {
  }

  void value(const Record &record) {
    std::visit([&](const auto &own) { value(own); }, record.held());
  }
  /// Values stand in a map that is this far in.
  void begin(int levels) { level = levels; }

  std::string text;

private:
  void value(std::monostate) { text += "null"; }
  void value(bool on) { text += on ? "true" : "false"; }
  void value(int64_t number) {
    fmt::format_to(std::back_inserter(text), "{}", number);
  }
  void value(double number) {
    if (std::isfinite(number))
      appendReal(text, number);
    else
      tagged("$real", hexText(std::bit_cast<uint64_t>(number)));
  }
  void value(const std::string &own) { text += runtime::json::quote(own); }
  void value(const Record::Bytes &bytes) { tagged("$bytes", toBase64(bytes)); }
  void value(const RecordTensor &tensor);
  void value(const Record::List &list);
  void value(const Record::Map &map);

  void tagged(std::string_view tag, std::string_view own) {
    text.append("{\"").append(tag).append(isPretty ? "\": \"" : "\":\"");
    text.append(own).append("\"}");
  }
  void line() {
    if (isPretty)
      text.append("\n").append(2 * size_t(level), ' ');
  }
  void open(char bracket) {
    text += bracket;
    ++level;
  }
  void close(char bracket) {
    --level;
    line();
    text += bracket;
  }
  void entry(std::string_view name, bool isFirst) {
    if (!isFirst)
      text += ',';
    line();
    text += runtime::json::quote(name);
    text += isPretty ? ": " : ":";
  }
  void numbers(const RecordTensor &tensor);

  bool isPretty;
  Elements elements;
  TensorNames *names;
  std::vector<std::string_view> path;
  std::unordered_set<std::string> taken;
  int level = 0;

  std::string freeName();
};

} // namespace

/// The path, or where another tensor's is spelled the same, with a number.
std::string JsonWriter::freeName() {
  std::string name;
  for (std::string_view part : path)
    name.append(name.empty() ? "" : ".").append(part);
  if (name.empty() || name == "__metadata__")
    name += "#tensor";
  std::string own = name;
  for (size_t number = 2; !taken.insert(own).second; ++number)
    own = fmt::format("{}#{}", name, number);
  return own;
}

/// A line for each row, of at most 16 numbers.
void JsonWriter::numbers(const RecordTensor &tensor) {
  constexpr int64_t mostInLine = 16;
  int64_t row = tensor.dims.empty() ? 1 : tensor.dims.back();
  auto perLine = size_t(std::clamp<int64_t>(row, 1, mostInLine));
  size_t count = tensor.data.size() / byteWidth(tensor.dtype);
  open('[');
  for (size_t i = 0; i < count; ++i) {
    if (i > 0)
      text += ',';
    if (i % perLine == 0)
      line();
    else
      text += ' ';
    appendElement(text, tensor, i);
  }
  close(']');
}

void JsonWriter::value(const RecordTensor &tensor) {
  open('{');
  entry("$tensor", true);
  text += runtime::json::quote(name(tensor.dtype));
  if (tensor.id) {
    entry("id", false);
    text += runtime::json::quote(hexText(tensor.id));
  }
  if (elements == Elements::elsewhere) {
    names->emplace_back(freeName(), &tensor);
    entry("name", false);
    text += runtime::json::quote(names->back().first);
  } else {
    entry("shape", false);
    text += fmt::format("[{}]", fmt::join(tensor.dims, isPretty ? ", " : ","));
    if (elements == Elements::numbers && isExactAsNumbers(tensor)) {
      entry("values", false);
      numbers(tensor);
    } else {
      entry("data", false);
      text.append("\"").append(toBase64(tensor.data)).append("\"");
    }
  }
  close('}');
}

void JsonWriter::value(const Record::List &list) {
  if (list.empty()) {
    text += "[]";
    return;
  }
  open('[');
  size_t index = 0;
  for (const Record &element : list) {
    if (index > 0)
      text += ',';
    line();
    std::string number = std::to_string(index++);
    path.push_back(number);
    value(element);
    path.pop_back();
  }
  close(']');
}

void JsonWriter::value(const Record::Map &map) {
  if (map.empty()) {
    text += "{}";
    return;
  }
  open('{');
  for (const auto &[name, own] : map) {
    entry(name.starts_with('$') ? "$" + name : name, &name == &map[0].name);
    path.push_back(name);
    value(own);
    path.pop_back();
  }
  close('}');
}

Result<Pieces> writeJson(const Record &record, JsonStyle style) {
  bool isPretty = style == JsonStyle::pretty;
  JsonWriter writer(style, isPretty ? Elements::numbers : Elements::base64);
  writer.begin(1);
  writer.text =
      fmt::format("{}{}{}", isPretty ? prettyHead : compactHead, layoutVersion,
                  isPretty ? ",\n  \"record\": " : ",\"record\":");
  writer.value(record);
  writer.text += isPretty ? prettySum : compactSum;
  writer.text += hexText(Checksum::of(std::as_bytes(std::span(writer.text))));
  writer.text += isPretty ? prettyEnd : compactEnd;
  Pieces pieces;
  pieces.add(std::move(writer.text));
  return pieces;
}

std::string fieldsText(const Record &record, TensorNames &names) {
  JsonWriter writer(JsonStyle::compact, Elements::elsewhere, &names);
  writer.value(record);
  return std::move(writer.text);
}

} // namespace sinter::record

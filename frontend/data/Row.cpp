/// Records of files, and the errors of reading them as something else.
#include <sinter/data/Row.h>

#include "frontend/Raise.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace sinter::data {

Cell Cell::untyped(std::string text) {
  Cell cell(std::move(text));
  cell.isUntyped = true;
  return cell;
}

const Cell *Cell::find(std::string_view name) const {
  if (const auto *members = get_if<std::vector<Member>>())
    for (const Member &member : *members)
      if (member.name == name)
        return &member.value;
  return nullptr;
}

bool Cell::operator==(const Cell &other) const { return value == other.value; }

std::string RowPlace::text() const {
  std::string name = file ? printableName(*file) : "row";
  return is_line ? fmt::format("{}:{}", name, number)
                 : fmt::format("{}: row {}", name, number);
}

const Cell *Row::find(std::string_view name) const {
  const auto &all = names();
  for (size_t i = 0; i < all.size() && i < values.size(); ++i)
    if (all[i] == name)
      return &values[i];
  return nullptr;
}

} // namespace sinter::data

namespace sinter::detail {

namespace {

using data::Cell;
using data::CellKind;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  size_t first = text.find_first_not_of(blanks);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <typename T> std::optional<T> parsed(const std::string &text) {
  std::string_view digits = trimmed(text);
  T value{};
  const char *begin = digits.data(), *end = begin + digits.size();
  auto [stop, error] = std::from_chars(begin, end, value);
  if (digits.empty() || error != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

/// `column 'labels', element 3, member 'name'`
std::string pathText(const CellPath &path) {
  std::vector<const CellPath *> steps;
  for (const CellPath *step = &path; step; step = step->outer)
    steps.push_back(step);
  std::string text;
  for (size_t i = steps.size(); i-- > 0;) {
    const CellPath &step = *steps[i];
    if (step.name.empty())
      text += fmt::format("element {}", step.index);
    else
      text += fmt::format("{} '{}'", text.empty() ? "column" : "member",
                          printableName(step.name));
    if (i > 0)
      text += ", ";
  }
  return text;
}

std::string placeText(const CellPath &path) {
  std::string place = path.place && (path.place->file || path.place->number)
                          ? path.place->text() + ": "
                          : "";
  return place + pathText(path);
}

std::string valueText(const Cell &cell) {
  switch (cell.kind()) {
  case CellKind::null:
    return "null";
  case CellKind::boolean:
    return *cell.get_if<bool>() ? "true" : "false";
  case CellKind::integer:
    return fmt::format("{}", *cell.get_if<int64_t>());
  case CellKind::number:
    return fmt::format("{}", *cell.get_if<double>());
  case CellKind::text:
    return fmt::format("'{}'", printableName(*cell.get_if<std::string>()));
  case CellKind::bytes:
    return fmt::format("{} bytes", cell.get_if<data::Bytes>()->size());
  case CellKind::list:
    return "a list";
  case CellKind::object:
    return "an object";
  }
  return "nothing";
}

[[noreturn]] void throwIs(const Cell &cell, const CellPath &path,
                          const std::string &expected) {
  raise(makeError(ErrorKind::io,
                  fmt::format("{} is {}, expected {}", placeText(path),
                              valueText(cell), expected)),
        {});
}

const std::string *untypedText(const Cell &cell) {
  return cell.is_untyped() ? cell.get_if<std::string>() : nullptr;
}

std::optional<bool> boolOf(const std::string &text) {
  std::string_view word = trimmed(text);
  for (std::string_view yes : {"true", "True", "TRUE", "1"})
    if (word == yes)
      return true;
  for (std::string_view no : {"false", "False", "FALSE", "0"})
    if (word == no)
      return false;
  return std::nullopt;
}

} // namespace

bool cellAsBool(const Cell &cell, const CellPath &path) {
  std::optional<bool> value;
  if (const bool *flag = cell.get_if<bool>())
    value = *flag;
  // SQLite knows no other truth values.
  else if (const auto *number = cell.get_if<int64_t>();
           number && (*number == 0 || *number == 1))
    value = *number == 1;
  else if (const std::string *text = untypedText(cell))
    value = boolOf(*text);
  if (!value)
    throwIs(cell, path, "true or false");
  return *value;
}

int64_t cellAsInteger(const Cell &cell, const CellPath &path, int64_t least,
                      int64_t most) {
  std::optional<int64_t> value;
  if (const auto *number = cell.get_if<int64_t>())
    value = *number;
  else if (const std::string *text = untypedText(cell))
    value = parsed<int64_t>(*text);
  if (!value)
    throwIs(cell, path, "a whole number");
  if (*value < least || *value > most)
    throwIs(cell, path, fmt::format("one of {} to {}", least, most));
  return *value;
}

double cellAsNumber(const Cell &cell, const CellPath &path) {
  std::optional<double> value;
  if (const auto *number = cell.get_if<double>())
    value = *number;
  else if (const auto *integer = cell.get_if<int64_t>())
    value = static_cast<double>(*integer);
  else if (const std::string *text = untypedText(cell))
    value = parsed<double>(*text);
  if (!value)
    throwIs(cell, path, "a number");
  return *value;
}

const std::string &cellAsText(const Cell &cell, const CellPath &path) {
  if (const auto *text = cell.get_if<std::string>())
    return *text;
  throwIs(cell, path, "text");
}

const data::Bytes &cellAsBytes(const Cell &cell, const CellPath &path) {
  if (const auto *bytes = cell.get_if<data::Bytes>())
    return *bytes;
  throwIs(cell, path, "bytes");
}

const std::vector<Cell> &cellAsList(const Cell &cell, const CellPath &path) {
  if (const auto *list = cell.get_if<std::vector<Cell>>())
    return *list;
  throwIs(cell, path, "a list");
}

const std::vector<data::Member> &cellAsObject(const Cell &cell,
                                              const CellPath &path) {
  if (const auto *object = cell.get_if<std::vector<data::Member>>())
    return *object;
  throwIs(cell, path, "an object");
}

bool isAbsent(const Cell &cell) {
  const std::string *text = untypedText(cell);
  return cell.is_null() || (text && text->empty());
}

void throwNoCell(const CellPath &path) {
  raise(makeError(ErrorKind::io, placeText(path) + " is missing"), {});
}

} // namespace sinter::detail

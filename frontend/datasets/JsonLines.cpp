/// Rows of JSON files.
#include <sinter/data/JsonLines.h>

#include "frontend/Raise.h"
#include "frontend/datasets/JsonCell.h"
#include "frontend/datasets/OpenRows.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::data {

namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

ErrorInfo brokenAt(const std::string &path, int64_t line,
                   const std::string &what) {
  return makeError(ErrorKind::io, fmt::format("{}:{}: {}", printableName(path),
                                              line, printable(what)));
}

/// Where an object stands.
struct Place {
  size_t begin, length;
  int64_t line;
};

/// Finds the elements of a list without reading what is in them.
class ListCutter {
public:
  ListCutter(std::string_view text, const std::string &path)
      : text(text), path(path) {}

  Result<std::vector<Place>> cut(size_t open) {
    at = open + 1;
    // Before the list there are blanks alone.
    for (size_t i = 0; i < open; ++i)
      line += text[i] == '\n';
    skipBlanks();
    while (!take(']')) {
      SINTER_TRY(element());
      skipBlanks();
      if (at >= text.size())
        return brokenAt(path, line, "the list is never closed");
      if (text[at] == ']')
        continue;
      if (!take(','))
        return brokenAt(path, line, "a comma is missing between objects");
      skipBlanks();
      if (at < text.size() && text[at] == ']')
        return brokenAt(path, line, "no object follows the comma");
    }
    skipBlanks();
    if (at < text.size())
      return brokenAt(path, line, "more text follows the list");
    return std::move(places);
  }

private:
  std::string_view text;
  const std::string &path;
  std::vector<Place> places;
  size_t at = 0;
  int64_t line = 1;

  bool take(char wanted) {
    bool is = at < text.size() && text[at] == wanted;
    at += is ? 1 : 0;
    return is;
  }

  void skipBlanks() {
    for (; at < text.size() && isBlank(text[at]); ++at)
      line += text[at] == '\n';
  }

  void passText() {
    for (++at; at < text.size() && text[at] != '"'; ++at)
      at += text[at] == '\\' ? 1 : 0;
    at = std::min(at + 1, text.size());
  }

  Status element() {
    if (at >= text.size())
      return brokenAt(path, line, "the list is never closed");
    if (text[at] != '{')
      return brokenAt(path, line, "an element of the list is no object");
    size_t begin = at, depth = 0;
    int64_t first = line;
    do {
      char c = text[at];
      if (c == '"') {
        passText();
        continue;
      }
      depth += c == '{' || c == '[' ? 1 : 0;
      depth -= c == '}' || c == ']' ? 1 : 0;
      line += c == '\n';
      ++at;
    } while (depth > 0 && at < text.size());
    if (depth > 0)
      return brokenAt(path, first, "the object is never closed");
    places.push_back({begin, at - begin, first});
    return {};
  }
};

std::vector<Place> cutLines(std::string_view text, size_t begin) {
  std::vector<Place> places;
  int64_t line = 1;
  while (begin < text.size()) {
    size_t end = std::min(text.find('\n', begin), text.size());
    size_t first = begin;
    while (first < end && isBlank(text[first]))
      ++first;
    if (first < end)
      places.push_back({first, end - first, line});
    begin = end + 1;
    ++line;
  }
  return places;
}

} // namespace

struct JsonLines::File {
  explicit File(runtime::MappedFile mapped) : mapped(std::move(mapped)) {}

  std::string_view text() const {
    auto bytes = mapped.bytes();
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }

  runtime::MappedFile mapped;
  std::shared_ptr<const std::string> path;
  std::vector<Place> places;
};

Result<std::shared_ptr<const JsonLines::File>>
openJsonLines(runtime::MappedFile mapped, const std::string &path) {
  auto file = std::make_shared<JsonLines::File>(std::move(mapped));
  file->path = std::make_shared<const std::string>(path);
  std::string_view text = file->text();
  constexpr std::string_view mark = "\xef\xbb\xbf";
  size_t begin = text.starts_with(mark) ? mark.size() : 0;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return brokenAt(path, 1, "the text is UTF-16; it must be UTF-8");
  size_t first = begin;
  while (first < text.size() && isBlank(text[first]))
    ++first;
  if (first < text.size() && text[first] == '[') {
    SINTER_TRY_ASSIGN(file->places, ListCutter(text, path).cut(first));
  } else
    file->places = cutLines(text, begin);
  return std::shared_ptr<const JsonLines::File>(std::move(file));
}

namespace {

Result<Row> jsonRow(std::string_view text, RowPlace place) {
  auto cell = parseJson(text);
  if (!cell)
    return brokenAt(*place.file, place.number, cell.error().message);
  const auto *members = cell->get_if<std::vector<Member>>();
  if (!members)
    return brokenAt(*place.file, place.number, "it is no object");
  auto names = std::make_shared<std::vector<std::string>>();
  std::vector<Cell> cells;
  names->reserve(members->size());
  cells.reserve(members->size());
  for (const Member &member : *members) {
    names->push_back(member.name);
    cells.push_back(member.value);
  }
  return Row(std::move(names), std::move(cells), std::move(place));
}

} // namespace

JsonLines::JsonLines(const std::string &path, std::source_location where) try
    : file(detail::unwrap(
          openJsonLines(detail::unwrap(runtime::MappedFile::open(path), where),
                        path),
          where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t JsonLines::size() const {
  return static_cast<int64_t>(detail::held(file, "size").places.size());
}

Row JsonLines::get(int64_t index) const try {
  detail::checkItem(index, size());
  auto [begin, length, line] = file->places[static_cast<size_t>(index)];
  return detail::unwrap(
      jsonRow(file->text().substr(begin, length), {file->path, line, true}),
      {});
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data

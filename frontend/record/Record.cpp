/// The tree that a record is.
#include <sinter/record/RecordTree.h>

#include "frontend/Raise.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sinter {

using Kind = Record::Kind;

static std::string_view kindName(Kind kind) {
  static constexpr std::array<std::string_view, 9> names = {
      "nothing", "a bool",   "an integer", "a real number", "a text",
      "bytes",   "a tensor", "a list",     "a map"};
  return names[size_t(kind)];
}

//===- Errors -------------------------------------------------------------===//

/// The innermost name of this thread's calls.
static thread_local const detail::RecordPath *innermost = nullptr;

detail::RecordPath::RecordPath(std::string_view name)
    : outer(innermost), name(name) {
  innermost = this;
}
detail::RecordPath::~RecordPath() { innermost = outer; }

std::string detail::RecordPath::text() try {
  std::string path;
  for (const RecordPath *at = innermost; at; at = at->outer)
    path = path.empty() ? std::string(at->name)
                        : fmt::format("{}.{}", at->name, path);
  return path;
} catch (...) {
  detail::raiseExhausted({});
}

void detail::throwRecord(const std::string &what, std::source_location where) {
  std::string path = RecordPath::text();
  std::string text =
      path.empty() ? "record: " + what
                   : fmt::format("record: '{}' {}", printableName(path), what);
  raise(makeError(ErrorKind::invalid_argument, std::move(text), "record"),
        where);
}

//===- The tree -----------------------------------------------------------===//

bool RecordTensor::operator==(const RecordTensor &other) const {
  return dtype == other.dtype && dims == other.dims && id == other.id &&
         std::ranges::equal(data, other.data);
}

Record::Record() : value(Map()) {}
Record::Record(Value value) : value(std::move(value)) {}
Record::Record(const Record &) = default;
Record::Record(Record &&) noexcept = default;
Record &Record::operator=(const Record &) = default;
Record &Record::operator=(Record &&) noexcept = default;
Record::~Record() = default;

size_t Record::size() const {
  if (const Map *map = std::get_if<Map>(&value))
    return map->size();
  const List *list = std::get_if<List>(&value);
  return list ? list->size() : 0;
}

bool Record::operator==(const Record &other) const {
  return value == other.value;
}

const Record *Record::find(std::string_view name) const {
  const Map *map = std::get_if<Map>(&value);
  if (!map)
    return nullptr;
  auto found = std::ranges::find(*map, name, &Entry::name);
  return found == map->end() ? nullptr : &found->value;
}

const Record &Record::at(std::string_view name, Where where) const try {
  if (const Record *found = find(name))
    return *found;
  constexpr size_t most = 10;
  std::string names;
  for (const Entry &entry : as_map(where)) {
    if (&entry - as_map(where).data() == most) {
      names += ", ...";
      break;
    }
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ",
                         printableName(entry.name));
  }
  detail::throwRecord(fmt::format("has no entry '{}'; it has {}",
                                  printableName(name),
                                  names.empty() ? "none" : names),
                      where);
} catch (...) {
  detail::raiseExhausted(where);
}

void Record::set(std::string name, Record entry, Where where) try {
  as_map(where);
  Map &map = *std::get_if<Map>(&value);
  auto found = std::ranges::find(map, name, &Entry::name);
  if (found == map.end())
    map.push_back({std::move(name), std::move(entry)});
  else
    found->value = std::move(entry);
} catch (...) {
  detail::raiseExhausted(where);
}

bool Record::erase(std::string_view name) try {
  Map *map = std::get_if<Map>(&value);
  return map && std::erase_if(*map, [&](const Entry &entry) {
                  return entry.name == name;
                }) > 0;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Values -------------------------------------------------------------===//

template <typename T> const T &Record::as(Kind wanted, Where where) const {
  if (const T *found = std::get_if<T>(&value))
    return *found;
  detail::throwRecord(
      fmt::format("is {}, not {}", kindName(kind()), kindName(wanted)), where);
}

bool Record::as_bool(Where where) const {
  return as<bool>(Kind::boolean, where);
}
int64_t Record::as_integer(Where where) const {
  return as<int64_t>(Kind::integer, where);
}
double Record::as_real(Where where) const {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  return as<double>(Kind::real, where);
}
const std::string &Record::as_text(Where where) const {
  return as<std::string>(Kind::text, where);
}
const Record::Bytes &Record::as_bytes(Where where) const {
  return as<Bytes>(Kind::bytes, where);
}
const RecordTensor &Record::as_tensor(Where where) const {
  return as<RecordTensor>(Kind::tensor, where);
}
const Record::List &Record::as_list(Where where) const {
  return as<List>(Kind::list, where);
}
const Record::Map &Record::as_map(Where where) const {
  return as<Map>(Kind::map, where);
}

} // namespace sinter

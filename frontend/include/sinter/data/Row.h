/// Row: the named cells of a record that a file holds, and structs made of it.
#pragma once

#include <sinter/ForEach.h>
#include <sinter/data/Dataset.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Says which fields of a struct are columns of a file, by their names:
///
///     struct Review {
///       std::string text;
///       int64_t stars = 0;
///       std::optional<std::string> title;
///       SINTER_ROW(text, stars, title)
///     };
///     auto reviews =
///     sn::data::rows_as<Review>(sn::data::JsonLines("a.jsonl"));
///
/// Fields are bool, whole numbers, floating ones, std::string, `Bytes`, vectors
/// of these, other structs of this kind, Cell, and optionals, which are empty
/// where a file has nothing. Columns without a field are left.
#define SINTER_ROW(...)                                                        \
  template <typename SinterSelf, typename SinterVisitor>                       \
  static void sinter_row(SinterSelf &sinter_self,                              \
                         SinterVisitor &&sinter_visitor) {                     \
    SINTER_FOR_EACH(SINTER_ROW_FIELD, __VA_ARGS__)                             \
  }
#define SINTER_ROW_FIELD(field)                                                \
  sinter_visitor(::std::string_view(#field), sinter_self.field);

namespace sinter::data {

using Bytes = std::vector<std::byte>;

class Cell;
/// A cell that has a name: a member of an object.
struct Member;

enum class CellKind : uint8_t {
  null,
  boolean,
  integer, ///< a whole number that fits 64 bits with a sign
  number,  ///< any other number
  text,
  bytes,
  list,
  object,
};

/// One value of a record.
class Cell {
public:
  Cell();
  Cell(bool value);
  Cell(int64_t value);
  Cell(double value);
  Cell(std::string value);
  Cell(Bytes value);
  Cell(std::vector<Cell> list);
  Cell(std::vector<Member> object);
  Cell(const Cell &);
  Cell(Cell &&) noexcept;
  Cell &operator=(const Cell &);
  Cell &operator=(Cell &&) noexcept;
  ~Cell();
  /// The text of a file in which all is text, as CSV is: it can be read as a
  /// number or a truth value, and as nothing where it is empty.
  static Cell untyped(std::string text);

  CellKind kind() const { return static_cast<CellKind>(value.index()); }
  bool is_untyped() const { return isUntyped; }
  bool is_null() const { return kind() == CellKind::null; }
  /// Null where it is of another kind.
  template <typename T> const T *get_if() const {
    return std::get_if<T>(&value);
  }
  /// The member of an object; null where there is none, or no object.
  const Cell *find(std::string_view name) const;

  bool operator==(const Cell &other) const;

private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Bytes,
               std::vector<Cell>, std::vector<Member>>
      value;
  bool isUntyped = false;
};

struct Member {
  std::string name;
  Cell value;
  bool operator==(const Member &) const = default;
};

// These need a member to be complete.
inline Cell::Cell() = default;
inline Cell::Cell(bool value) : value(value) {}
inline Cell::Cell(int64_t value) : value(value) {}
inline Cell::Cell(double value) : value(value) {}
inline Cell::Cell(std::string value) : value(std::move(value)) {}
inline Cell::Cell(Bytes value) : value(std::move(value)) {}
inline Cell::Cell(std::vector<Cell> list) : value(std::move(list)) {}
inline Cell::Cell(std::vector<Member> object) : value(std::move(object)) {}
inline Cell::Cell(const Cell &) = default;
inline Cell::Cell(Cell &&) noexcept = default;
inline Cell &Cell::operator=(const Cell &) = default;
inline Cell &Cell::operator=(Cell &&) noexcept = default;
inline Cell::~Cell() = default;

/// Where a record stands, for messages: `FILE:LINE`, or `FILE: row N`.
struct RowPlace {
  std::shared_ptr<const std::string> file;
  int64_t number = 0;
  bool is_line = true;

  std::string text() const;
};

} // namespace sinter::data

namespace sinter::detail {

/// The way to a cell: names and numbers, from the innermost outward.
struct CellPath {
  const data::RowPlace *place;
  const CellPath *outer;
  std::string_view name; ///< empty in a list
  size_t index;
};

/// Each throws an `io` Error that says where the cell is and what it is, where
/// it is not what is asked for.
bool cellAsBool(const data::Cell &cell, const CellPath &path);
int64_t cellAsInteger(const data::Cell &cell, const CellPath &path,
                      int64_t least, int64_t most);
double cellAsNumber(const data::Cell &cell, const CellPath &path);
const std::string &cellAsText(const data::Cell &cell, const CellPath &path);
const data::Bytes &cellAsBytes(const data::Cell &cell, const CellPath &path);
const std::vector<data::Cell> &cellAsList(const data::Cell &cell,
                                          const CellPath &path);
const std::vector<data::Member> &cellAsObject(const data::Cell &cell,
                                              const CellPath &path);
/// Whether an optional of it is empty.
bool isAbsent(const data::Cell &cell);
[[noreturn]] void throwNoCell(const CellPath &path);

template <typename T> constexpr bool isOptional = false;
template <typename T> constexpr bool isOptional<std::optional<T>> = true;
template <typename T> constexpr bool isList = false;
template <typename T> constexpr bool isList<std::vector<T>> = true;

struct IgnoredField {
  template <typename T> void operator()(std::string_view, T &) const {}
};

} // namespace sinter::detail

namespace sinter::data {

/// A struct with SINTER_ROW.
template <typename T>
concept RowStruct = std::default_initializable<T> && requires(T &value) {
  T::sinter_row(value, detail::IgnoredField());
};

} // namespace sinter::data

namespace sinter::detail {

template <typename T>
void readStruct(T &to, const std::vector<std::string> *names,
                const std::vector<data::Cell> *cells,
                const std::vector<data::Member> *members, const CellPath &path);

/// The cell as a value of the type.
template <typename T>
void readCell(T &to, const data::Cell &cell, const CellPath &path) {
  if constexpr (std::is_same_v<T, data::Cell>)
    to = cell;
  else if constexpr (std::is_same_v<T, bool>)
    to = cellAsBool(cell, path);
  else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr int64_t most =
        sizeof(T) == 8 ? INT64_MAX : int64_t(Limits::max());
    to =
        static_cast<T>(cellAsInteger(cell, path, int64_t(Limits::min()), most));
  } else if constexpr (std::is_floating_point_v<T>)
    to = static_cast<T>(cellAsNumber(cell, path));
  else if constexpr (std::is_same_v<T, std::string>)
    to = cellAsText(cell, path);
  else if constexpr (std::is_same_v<T, data::Bytes>)
    to = cellAsBytes(cell, path);
  else if constexpr (isOptional<T>) {
    to.reset();
    if (!isAbsent(cell))
      readCell(to.emplace(), cell, path);
  } else if constexpr (isList<T>) {
    const auto &list = cellAsList(cell, path);
    to.clear();
    to.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      typename T::value_type element{};
      readCell(element, list[i], {path.place, &path, {}, i});
      to.push_back(std::move(element));
    }
  } else {
    static_assert(data::RowStruct<T>, "no cell can be read as this type");
    readStruct(to, nullptr, nullptr, &cellAsObject(cell, path), path);
  }
}

/// The value as a cell, which reads as the same value.
template <typename T> data::Cell cellOf(const T &value) {
  if constexpr (std::is_same_v<T, bool>)
    return data::Cell(value);
  else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>)
      if (value > uint64_t(INT64_MAX))
        throwNoCell({nullptr, nullptr, "a number beyond 2^63 - 1", 0});
    return data::Cell(static_cast<int64_t>(value));
  } else if constexpr (std::is_floating_point_v<T>)
    return data::Cell(static_cast<double>(value));
  else if constexpr (isOptional<T>)
    return value ? cellOf(*value) : data::Cell();
  else if constexpr (isList<T> && !std::is_same_v<T, data::Bytes>) {
    std::vector<data::Cell> list;
    list.reserve(value.size());
    for (const auto &element : value)
      list.push_back(cellOf<typename T::value_type>(element));
    return data::Cell(std::move(list));
  } else if constexpr (data::RowStruct<T>) {
    std::vector<data::Member> members;
    T::sinter_row(value, [&](std::string_view name, const auto &field) {
      members.push_back({std::string(name), cellOf(field)});
    });
    return data::Cell(std::move(members));
  } else
    return data::Cell(value);
}

} // namespace sinter::detail

namespace sinter::data {

/// One record. Copies share the columns' names.
class Row {
public:
  using Names = std::shared_ptr<const std::vector<std::string>>;

  Row() : Row(std::make_shared<const std::vector<std::string>>(), {}) {}
  /// As many cells as names.
  Row(Names names, std::vector<Cell> cells, RowPlace place = {})
      : columns(std::move(names)), values(std::move(cells)),
        where(std::move(place)) {}

  const std::vector<std::string> &names() const {
    return detail::held(columns, "names");
  }
  const std::vector<Cell> &cells() const & { return values; }
  /// By value, so that `for (auto &cell : rows.get(0).cells())` is right.
  std::vector<Cell> cells() && { return std::move(values); }
  const RowPlace &place() const { return where; }
  /// The cell of a column, or null.
  const Cell *find(std::string_view name) const;

  /// The cell of a column as a value; see SINTER_ROW for the types. A column
  /// that is missing or is something else is an `io` Error with the record's
  /// place and the column's name.
  template <typename T> T get(std::string_view name) const {
    T value{};
    detail::CellPath path{&where, nullptr, name, 0};
    const Cell *cell = find(name);
    if (!cell)
      detail::throwNoCell(path);
    detail::readCell(value, *cell, path);
    return value;
  }
  /// The record as a struct with SINTER_ROW.
  template <RowStruct T> T as() const {
    T value{};
    detail::readStruct(value, columns.get(), &values, nullptr,
                       {&where, nullptr, {}, 0});
    return value;
  }

private:
  Names columns;
  std::vector<Cell> values;
  RowPlace where;
};

/// The record that a struct with SINTER_ROW is; `as` gives the struct back.
template <RowStruct T> Row row_of(const T &value) {
  auto names = std::make_shared<std::vector<std::string>>();
  std::vector<Cell> cells;
  T::sinter_row(value, [&](std::string_view name, const auto &field) {
    names->emplace_back(name);
    cells.push_back(detail::cellOf(field));
  });
  return {std::move(names), std::move(cells)};
}
inline Row row_of(Row row) { return row; }

/// A data set of rows.
template <typename D>
concept RowDataset = Dataset<D> && std::same_as<ItemOf<D>, Row>;

/// A data set of structs with SINTER_ROW, made of one of rows when they are
/// asked for.
template <RowStruct T, RowDataset D> auto rows_as(D rows) {
  return map(std::move(rows),
             [](const Row &row) { return row.template as<T>(); });
}

} // namespace sinter::data

namespace sinter::detail {

template <typename T>
void readStruct(T &to, const std::vector<std::string> *names,
                const std::vector<data::Cell> *cells,
                const std::vector<data::Member> *members,
                const CellPath &path) {
  auto find = [&](std::string_view name) -> const data::Cell * {
    if (members) {
      for (const data::Member &member : *members)
        if (member.name == name)
          return &member.value;
      return nullptr;
    }
    for (size_t i = 0; i < names->size(); ++i)
      if ((*names)[i] == name)
        return &(*cells)[i];
    return nullptr;
  };
  const CellPath *outer = path.name.empty() && !path.outer ? nullptr : &path;
  T::sinter_row(to, [&](std::string_view name, auto &field) {
    CellPath own{path.place, outer, name, 0};
    const data::Cell *cell = find(name);
    if (cell)
      readCell(field, *cell, own);
    else if (!isOptional<std::remove_cvref_t<decltype(field)>>)
      throwNoCell(own);
  });
}

} // namespace sinter::detail

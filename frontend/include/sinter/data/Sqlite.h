/// Rows of SQLite files, and writing a data set into one.
#pragma once

#include <sinter/data/Row.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sinter::data {

struct SqliteOptions {
  /// Empty takes the only table of the file.
  std::string table = {};
};

/// A table of an SQLite file. Items are its rows in the order of their row ids,
/// each found by that; `rows_as` makes structs of them. The file is mapped, and
/// opened for reading alone, once for each thread that reads at the same time.
/// It must not be changed while it is open.
///
/// NULL, integers, reals, text and blobs are the cells of those kinds. A column
/// declared JSON, or written by `write_sqlite` from lists, objects or truth
/// values, is these again.
///
/// `io` Errors name the file, and the row where there is one: what is no SQLite
/// file, is damaged, or has changes in a journal beside it that are not in it
/// yet. A table without row ids is `unsupported`; a table that is not there, or
/// several where none is named, `invalid_argument`.
class Sqlite {
public:
  explicit Sqlite(const std::string &path, const SqliteOptions &options = {},
                  std::source_location where = std::source_location::current());

  int64_t size() const;
  Row get(int64_t index) const;
  const std::vector<std::string> &columns() const;
  /// SQLite's number of the item.
  int64_t row_id(int64_t index) const;
  /// How often the file was opened for `get`: at most as often as threads read
  /// at the same time.
  int64_t connections() const;

  struct File;

private:
  std::shared_ptr<const File> file;
};

struct WriteSqliteOptions {
  std::string table = "items";
};

} // namespace sinter::data

namespace sinter::detail {

/// What is written: rows, one after the other, which are made on the way.
struct SqliteContents {
  int64_t size = 0;
  std::function<data::Row(int64_t)> row;
  /// Where there are no rows.
  std::vector<std::string> columns;
};
void writeSqlite(const std::string &path, const SqliteContents &contents,
                 const data::WriteSqliteOptions &options,
                 const std::source_location &where);

template <typename T> constexpr bool isTuple = false;
template <typename... T> constexpr bool isTuple<std::tuple<T...>> = true;
template <typename A, typename B>
constexpr bool isTuple<std::pair<A, B>> = true;

template <typename T> data::Row itemRow(const T &item) {
  if constexpr (data::RowStruct<T> || std::is_same_v<T, data::Row>)
    return data::row_of(item);
  else {
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<data::Cell> cells;
    if constexpr (isTuple<T>)
      std::apply(
          [&](const auto &...element) {
            ((names->push_back(std::to_string(cells.size())),
              cells.push_back(cellOf(element))),
             ...);
          },
          item);
    else {
      names->emplace_back("value");
      cells.push_back(cellOf(item));
    }
    return {std::move(names), std::move(cells)};
  }
}

} // namespace sinter::detail

namespace sinter::data {

/// Writes all items into one table of a new file, row ids from 1 on. Items are
/// Rows, structs with SINTER_ROW, pairs and tuples, whose columns are "0", "1"
/// and so on, or anything else that a cell can be, in column "value". Rows may
/// lack columns, which are NULL there. A file of that name is replaced when all
/// is written, and stays as it was on every error.
///
/// A column that has lists or objects in one row, and other things in another,
/// or truth values and numbers, is an `unsupported` Error, and so are names of
/// columns that differ in their case alone.
template <Dataset D>
void write_sqlite(
    const D &dataset, const std::string &path,
    const WriteSqliteOptions &options = {},
    std::source_location where = std::source_location::current()) {
  using Item = ItemOf<D>;
  detail::SqliteContents contents;
  contents.size = dataset.size();
  contents.row = [&](int64_t index) {
    return detail::itemRow<Item>(dataset.get(index));
  };
  if constexpr (std::default_initializable<Item>)
    contents.columns = detail::itemRow(Item{}).names();
  detail::writeSqlite(path, contents, options, where);
}

} // namespace sinter::data

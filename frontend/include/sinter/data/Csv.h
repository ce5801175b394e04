/// Reading CSV files: tables of numbers, and rows of any text.
#pragma once

#include <sinter/Held.h>
#include <sinter/data/Row.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::data {

/// A dense table of numbers, row by row.
struct Table {
  std::vector<std::string> columns; ///< from the header line; may be empty
  int64_t rows = 0;
  int64_t width = 0; ///< numbers in a row
  std::vector<double> values;

  std::span<const double> row(int64_t index) const {
    return {values.data() + index * width, static_cast<size_t>(width)};
  }
};

struct CsvOptions {
  bool header = true; ///< the first line names the columns
  char delimiter = ',';
  /// Around fields that hold delimiters, line ends or quotes, which stand twice
  /// there (RFC 4180). 0 for none.
  char quote = '"';
};

/// Reads a file in which every field is a number and every row has as many
/// fields as the first. Blanks around a field and empty lines are skipped.
/// Anything else throws an `io` Error that names the file, line and field.
Table read_csv(const std::string &path, const CsvOptions &options = {},
               std::source_location where = std::source_location::current());

/// The same of text in memory, which messages call `text`.
Table parse_csv(std::string_view text, const CsvOptions &options = {},
                std::source_location where = std::source_location::current());

/// The rows of a file as a data set; copies share them.
class CsvDataset {
public:
  explicit CsvDataset(
      const std::string &path, const CsvOptions &options = {},
      std::source_location where = std::source_location::current());
  explicit CsvDataset(Table table);

  int64_t size() const { return detail::held(table, "size").rows; }
  /// The row's numbers, valid as long as a copy of the data set lives.
  std::span<const double> get(int64_t index) const;
  const std::vector<std::string> &columns() const {
    return detail::held(table, "columns").columns;
  }

private:
  std::shared_ptr<const Table> table;
};

/// The rows of a CSV file as they are, whatever is in them: the cells of a Row
/// are text, which `get<double>` and fields of a struct read as numbers. Blanks
/// stay; a byte order mark and empty lines are skipped; rows end with LF or
/// CRLF. The file is mapped; where rows begin is found when it is opened, and
/// what is wrong with quotes and numbers of fields is an `io` Error there, with
/// line and column. Cells are made by `get`.
///
/// Without a header the columns are named "0", "1" and so on.
class CsvRows {
public:
  explicit CsvRows(
      const std::string &path, const CsvOptions &options = {},
      std::source_location where = std::source_location::current());

  int64_t size() const;
  Row get(int64_t index) const;
  const std::vector<std::string> &columns() const;

  struct File;
  /// Of a file that the library opened.
  explicit CsvRows(std::shared_ptr<const File> file) : file(std::move(file)) {}

private:
  std::shared_ptr<const File> file;
};

} // namespace sinter::data

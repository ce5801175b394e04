/// Reading tables of numbers from CSV files.
#pragma once

#include <sinter/Held.h>

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

} // namespace sinter::data

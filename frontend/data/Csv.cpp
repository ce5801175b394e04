/// Reading tables of numbers from CSV files.
#include <sinter/data/Csv.h>

#include <sinter/data/Dataset.h>

#include "frontend/Raise.h"
#include "runtime/params/MappedFile.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <charconv>

namespace sinter::data {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  size_t first = text.find_first_not_of(blanks);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Cuts the text before the next `end` off `rest`.
std::string_view cut(std::string_view &rest, char end) {
  size_t at = rest.find(end);
  std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
  return piece;
}

/// Reads one text; knows where it is, for messages.
class Reader {
public:
  Reader(std::string_view path, const CsvOptions &options)
      : path(path), options(options) {}

  Result<Table> read(std::string_view text) {
    bool header = options.header;
    while (!text.empty()) {
      ++line;
      std::string_view row = trimmed(cut(text, '\n'));
      if (row.empty())
        continue;
      if (header)
        readHeader(row);
      else
        SINTER_TRY(readRow(row));
      header = false;
    }
    return std::move(table);
  }

private:
  std::string_view path;
  const CsvOptions &options;
  Table table;
  int64_t line = 0;

  void readHeader(std::string_view row) {
    while (!row.empty())
      table.columns.emplace_back(trimmed(cut(row, options.delimiter)));
    table.width = table.columns.size();
  }

  Status readRow(std::string_view row) {
    int64_t fields = 0;
    bool more = true;
    while (more) {
      more = row.find(options.delimiter) != row.npos;
      ++fields;
      SINTER_TRY(readNumber(trimmed(cut(row, options.delimiter)), fields));
    }
    if (table.width == 0)
      table.width = fields;
    if (fields != table.width)
      return makeError(ErrorKind::io,
                       fmt::format("{}:{}: {} fields, expected {}", path, line,
                                   fields, table.width));
    ++table.rows;
    return {};
  }

  Status readNumber(std::string_view text, int64_t field) {
    double value = 0;
    const char *begin = text.data(), *end = begin + text.size();
    auto [stop, error] = std::from_chars(begin, end, value);
    if (text.empty() || error != std::errc() || stop != end)
      return makeError(ErrorKind::io,
                       fmt::format("{}:{}: field {} is no number: '{}'", path,
                                   line, field, printableName(text)));
    table.values.push_back(value);
    return {};
  }
};

Result<Table> readFile(const std::string &path, const CsvOptions &options) {
  SINTER_TRY_ASSIGN(auto file, runtime::MappedFile::open(path));
  auto bytes = file.bytes();
  return Reader(path, options)
      .read({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

} // namespace

Table parse_csv(std::string_view text, const CsvOptions &options,
                std::source_location where) try {
  return detail::unwrap(Reader("text", options).read(text), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Table read_csv(const std::string &path, const CsvOptions &options,
               std::source_location where) try {
  return detail::unwrap(readFile(path, options), where);
} catch (...) {
  detail::raiseExhausted(where);
}

CsvDataset::CsvDataset(const std::string &path, const CsvOptions &options,
                       std::source_location where)
    : CsvDataset(read_csv(path, options, where)) {}

CsvDataset::CsvDataset(Table table)
    : table(std::make_shared<const Table>(std::move(table))) {}

std::span<const double> CsvDataset::get(int64_t index) const try {
  detail::checkItem(index, size());
  return table->row(index);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data

/// Reading CSV files: tables of numbers, and rows of any text.
#include <sinter/data/Csv.h>

#include <sinter/data/Dataset.h>

#include "frontend/Raise.h"
#include "frontend/data/CsvText.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_set>

namespace sinter::data {

namespace {

ErrorInfo wrongCount(std::string_view path, int64_t line, int64_t count,
                     int64_t expected) {
  return makeError(ErrorKind::io, fmt::format("{}:{}: {} fields, expected {}",
                                              path, line, count, expected));
}

std::string_view textOf(const runtime::MappedFile &file) {
  auto bytes = file.bytes();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  size_t first = text.find_first_not_of(blanks);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool isBlank(const std::vector<CsvField> &fields) {
  return fields.size() == 1 && !fields[0].isQuoted &&
         trimmed(fields[0].text).empty();
}

/// Reads one text of numbers; knows where it is, for messages.
class Reader {
public:
  Reader(std::string_view path, const CsvOptions &options)
      : path(path), options(options) {}

  Result<Table> read(std::string_view text) {
    CsvText rows(text, path, options);
    SINTER_TRY(rows.check());
    bool header = options.header;
    while (true) {
      SINTER_TRY_ASSIGN(bool more, rows.next(fields));
      if (!more)
        return std::move(table);
      line = rows.rowLine();
      if (isBlank(fields))
        continue;
      if (header)
        readHeader();
      else
        SINTER_TRY(readRow());
      header = false;
    }
  }

private:
  std::string_view path;
  const CsvOptions &options;
  Table table;
  std::vector<CsvField> fields;
  int64_t line = 0;

  void readHeader() {
    for (const CsvField &field : fields)
      table.columns.emplace_back(trimmed(field.value(options.quote)));
    table.width = static_cast<int64_t>(fields.size());
  }

  Status readRow() {
    for (size_t i = 0; i < fields.size(); ++i)
      SINTER_TRY(readNumber(trimmed(fields[i].text), i + 1));
    auto count = static_cast<int64_t>(fields.size());
    if (table.width == 0)
      table.width = count;
    if (count != table.width)
      return wrongCount(path, line, count, table.width);
    ++table.rows;
    return {};
  }

  Status readNumber(std::string_view text, size_t field) {
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
  return Reader(path, options).read(textOf(file));
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

struct CsvRows::File {
  struct Start {
    size_t offset;
    int64_t line;
  };

  explicit File(runtime::MappedFile mapped) : mapped(std::move(mapped)) {}

  runtime::MappedFile mapped;
  CsvOptions options;
  std::shared_ptr<const std::string> path;
  Row::Names columns;
  std::vector<Start> rows;
};

namespace {

Result<std::vector<std::string>> namesOf(const std::vector<CsvField> &fields,
                                         const CsvOptions &options,
                                         const std::string &path,
                                         int64_t line) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const CsvField &field : fields) {
    names.push_back(options.header ? field.value(options.quote)
                                   : std::to_string(names.size()));
    if (!seen.insert(names.back()).second)
      return makeError(ErrorKind::io,
                       fmt::format("{}:{}: column '{}' is there twice", path,
                                   line, printableName(names.back())));
  }
  return names;
}

/// Finds the rows, and that each has as many fields as the first.
Status indexRows(CsvRows::File &file) {
  CsvText text(textOf(file.mapped), *file.path, file.options);
  SINTER_TRY(text.check());
  std::vector<CsvField> fields;
  while (true) {
    SINTER_TRY_ASSIGN(bool more, text.next(fields));
    if (!more)
      return {};
    if (!file.columns) {
      SINTER_TRY_ASSIGN(auto names, namesOf(fields, file.options, *file.path,
                                            text.rowLine()));
      file.columns =
          std::make_shared<const std::vector<std::string>>(std::move(names));
      if (file.options.header)
        continue;
    }
    if (fields.size() != file.columns->size())
      return wrongCount(*file.path, text.rowLine(), int64_t(fields.size()),
                        int64_t(file.columns->size()));
    file.rows.push_back({text.rowBegin(), text.rowLine()});
  }
}

} // namespace

Result<std::shared_ptr<const CsvRows::File>>
openCsv(runtime::MappedFile mapped, const std::string &path,
        const CsvOptions &options) {
  auto file = std::make_shared<CsvRows::File>(std::move(mapped));
  file->options = options;
  file->path = std::make_shared<const std::string>(path);
  SINTER_TRY(indexRows(*file));
  if (!file->columns)
    file->columns = std::make_shared<const std::vector<std::string>>();
  return std::shared_ptr<const CsvRows::File>(std::move(file));
}

CsvRows::CsvRows(const std::string &path, const CsvOptions &options,
                 std::source_location where) try
    : file(detail::unwrap(
          openCsv(detail::unwrap(runtime::MappedFile::open(path), where), path,
                  options),
          where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t CsvRows::size() const {
  return static_cast<int64_t>(detail::held(file, "size").rows.size());
}

Row CsvRows::get(int64_t index) const try {
  detail::checkItem(index, size());
  auto [offset, line] = file->rows[static_cast<size_t>(index)];
  CsvText text(textOf(file->mapped), *file->path, file->options);
  text.seek(offset, line);
  std::vector<CsvField> fields;
  detail::unwrap(text.next(fields), {});
  std::vector<Cell> cells;
  cells.reserve(fields.size());
  for (const CsvField &field : fields)
    cells.push_back(Cell::untyped(field.value(file->options.quote)));
  return {file->columns, std::move(cells), {file->path, line, true}};
} catch (...) {
  detail::raiseExhausted({});
}

const std::vector<std::string> &CsvRows::columns() const {
  return *detail::held(file, "columns").columns;
}

} // namespace sinter::data

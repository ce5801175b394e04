/// CSV, with a header and without, tables and rows: what is read is written and
/// read again.
#include "frontend/data/CsvText.h"
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/data/Csv.h>

#include <bit>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

using namespace sinter;
using fuzz::require;

static std::string written(const data::Table &table) {
  std::string text;
  for (size_t i = 0; i < table.values.size(); ++i)
    text += fmt::format("{}{}", table.values[i],
                        (i + 1) % size_t(table.width) == 0 ? '\n' : ',');
  return text;
}

static bool areEqual(double a, double b) {
  return (a != a && b != b) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

static void check(std::string_view text, const data::CsvOptions &options) {
  data::Table table;
  try {
    table = data::parse_csv(text, options);
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io);
    return;
  }
  require(table.values.size() == size_t(table.rows * table.width));
  require(table.columns.empty() || table.columns.size() == size_t(table.width));
  data::Table again = data::parse_csv(written(table), {.header = false});
  require(again.rows == table.rows);
  for (size_t i = 0; i < table.values.size(); ++i)
    require(areEqual(again.values[i], table.values[i]));
}

/// The rows of a text; none where it is refused.
static std::optional<data::CsvRows> rowsOf(std::string_view text,
                                           const data::CsvOptions &options) {
  auto mapped =
      runtime::MappedFile::copyOf(std::as_bytes(std::span<const char>(text)));
  require(mapped.ok());
  auto file = data::openCsv(std::move(*mapped), "text", options);
  if (file)
    return data::CsvRows(std::move(*file));
  require(file.error().kind == ErrorKind::io);
  return std::nullopt;
}

static void checkRows(std::string_view text, const data::CsvOptions &options) {
  auto rows = rowsOf(text, options);
  if (!rows)
    return;
  std::string again;
  for (int64_t i = 0; i < rows->size(); ++i) {
    data::Row row = rows->get(i);
    require(row.cells().size() == rows->columns().size());
    for (size_t c = 0; c < row.cells().size(); ++c) {
      again += c == 0 ? "\"" : ",\"";
      for (char letter : *row.cells()[c].get_if<std::string>())
        again += letter == '"' ? std::string("\"\"") : std::string(1, letter);
      again += '"';
    }
    again += '\n';
  }
  auto second = rowsOf(again, {.header = false});
  require(second && second->size() == rows->size());
  for (int64_t i = 0; i < rows->size(); ++i)
    require(second->get(i).cells() == rows->get(i).cells());
}

SINTER_FUZZER(Csv) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  check(text, {});
  check(text, {.header = false, .delimiter = ';'});
  checkRows(text, {});
  checkRows(text, {.header = false, .delimiter = ';', .quote = '\''});
}

/// CSV tables, with a header and without: what is read is written and read
/// again.
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/data/Csv.h>

#include <bit>
#include <fmt/format.h>

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

SINTER_FUZZER(Csv) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  check(text, {});
  check(text, {.header = false, .delimiter = ';'});
}

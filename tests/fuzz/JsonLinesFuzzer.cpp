/// JSON lines and lists: rows that are read are written and read again.
#include "frontend/datasets/JsonCell.h"
#include "frontend/datasets/OpenRows.h"
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>

#include <utility>

using namespace sinter;
using fuzz::require;

static void check(const data::JsonLines &lines, int64_t index) {
  data::Row row;
  try {
    row = lines.get(index);
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io);
    return;
  }
  require(row.names().size() == row.cells().size());
  for (const data::Cell &cell : row.cells()) {
    auto text = data::writeJson(cell);
    require(text.ok());
    auto again = data::parseJson(*text);
    require(again && *again == cell);
  }
}

SINTER_FUZZER(JsonLines) {
  auto mapped = runtime::MappedFile::copyOf(fuzz::bytesOf(data, size));
  require(mapped.ok());
  auto file = data::openJsonLines(std::move(*mapped), "text");
  if (!file) {
    require(file.error().kind == ErrorKind::io);
    return;
  }
  data::JsonLines lines(std::move(*file));
  for (int64_t i = 0; i < lines.size(); ++i)
    check(lines, i);
}

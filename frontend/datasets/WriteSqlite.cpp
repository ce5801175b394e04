/// Filling new SQLite files.
#include "frontend/datasets/WriteSqlite.h"

#include "frontend/Raise.h"
#include "frontend/datasets/JsonCell.h"
#include "runtime/files/MappedFile.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace sinter::data {

namespace {

ErrorInfo cannot(const std::string &what) {
  return makeError(ErrorKind::unsupported, what);
}

} // namespace

Result<SqliteWriter> SqliteWriter::create(const std::string &path,
                                          const std::string &table) {
  SqliteWriter writer;
  writer.path = path;
  writer.table = table;
  if (table.empty() || table == metaTable || table.starts_with("sqlite_") ||
      table.find('\0') != table.npos)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("write_sqlite: '{}' is no name of a table",
                                 printableName(table)));
  std::string name =
      std::filesystem::path(path).parent_path() / ".sinter-XXXXXX";
  writer.file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!writer.file)
    return runtime::systemError(path, "cannot make a file beside it");
  auto opened = Database::openToFill(name, path);
  // SQLite goes on with the file that it has open.
  Status begun = opened ? opened->run("BEGIN EXCLUSIVE") : Status();
  if (opened && begun)
    begun = opened->run(std::string("CREATE TABLE ") + metaTable +
                        " (key TEXT PRIMARY KEY, value TEXT)");
  ::unlink(name.c_str());
  if (!opened)
    return opened.takeError();
  SINTER_TRY(begun);
  writer.database = std::move(*opened);
  return writer;
}

Status SqliteWriter::addColumn(const std::string &name) {
  if (name.find('\0') != name.npos)
    return cannot("a column whose name has a zero byte");
  insert.reset();
  std::string own = sqlName(table), added = sqlName(name);
  SINTER_TRY(database->run(
      columns.empty()
          ? fmt::format("CREATE TABLE {} ({})", own, added)
          : fmt::format("ALTER TABLE {} ADD COLUMN {}", own, added)));
  columns.push_back({name});
  return {};
}

Status SqliteWriter::addColumns(const std::vector<std::string> &names) {
  for (size_t i = 0; i < names.size(); ++i)
    SINTER_TRY(placeOf(names[i], i));
  return {};
}

Result<size_t> SqliteWriter::placeOf(const std::string &name, size_t hint) {
  if (hint < columns.size() && columns[hint].name == name)
    return hint;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name)
      return i;
  SINTER_TRY(addColumn(name));
  return columns.size() - 1;
}

Status SqliteWriter::prepareInsert() {
  std::string marks = "?";
  for (size_t i = 1; i < columns.size(); ++i)
    marks += ",?";
  SINTER_TRY_ASSIGN(insert,
                    database->prepare(fmt::format("INSERT INTO {} VALUES ({})",
                                                  sqlName(table), marks)));
  return {};
}

Status SqliteWriter::bind(size_t place, const Cell &cell) {
  Column &column = columns[place];
  auto number = static_cast<int>(place) + 1;
  CellKind kind = cell.kind();
  if (kind == CellKind::null) {
    insert->bindNull(number);
    return {};
  }
  Meaning meaning = kind == CellKind::boolean ? Meaning::boolean
                    : kind == CellKind::list || kind == CellKind::object
                        ? Meaning::json
                        : Meaning::plain;
  if (column.meaning != Meaning::none && column.meaning != meaning)
    return cannot(fmt::format("column '{}' has truth values, lists or objects "
                              "in some rows, and other things in others",
                              printableName(column.name)));
  column.meaning = meaning;
  if (meaning == Meaning::json) {
    SINTER_TRY_ASSIGN(texts[place], writeJson(cell));
    insert->bind(number, std::string_view(texts[place]));
  } else if (const bool *flag = cell.get_if<bool>())
    insert->bind(number, int64_t(*flag));
  else if (const auto *integer = cell.get_if<int64_t>())
    insert->bind(number, *integer);
  else if (const auto *real = cell.get_if<double>()) {
    if (std::isnan(*real))
      return cannot(fmt::format("column '{}' has a NaN, which SQLite lacks",
                                printableName(column.name)));
    insert->bind(number, *real);
  } else if (const auto *text = cell.get_if<std::string>())
    insert->bind(number, std::string_view(*text));
  else
    insert->bind(number, std::span<const std::byte>(*cell.get_if<Bytes>()));
  return {};
}

Status SqliteWriter::add(const Row &row) {
  const auto &names = row.names();
  if (names.empty())
    return cannot("a row without a cell");
  std::vector<size_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    SINTER_TRY_ASSIGN(size_t place, placeOf(names[i], i));
    places.push_back(place);
  }
  if (!insert)
    SINTER_TRY(prepareInsert());
  texts.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    insert->bindNull(static_cast<int>(i) + 1);
  for (size_t i = 0; i < names.size(); ++i)
    SINTER_TRY(bind(places[i], row.cells()[i]));
  SINTER_TRY(insert->step());
  insert->reset();
  ++count;
  return {};
}

Status SqliteWriter::writeNotes() {
  note("table", table);
  note("rows", std::to_string(count));
  for (const Column &column : columns) {
    if (column.meaning == Meaning::json)
      note("column:" + column.name, "json");
    if (column.meaning == Meaning::boolean)
      note("column:" + column.name, "boolean");
  }
  SINTER_TRY_ASSIGN(Statement add,
                    database->prepare(std::string("INSERT INTO ") + metaTable +
                                      " VALUES (?, ?)"));
  for (const auto &[key, value] : notes) {
    add.bind(1, std::string_view(key));
    add.bind(2, std::string_view(value));
    SINTER_TRY(add.step());
    add.reset();
  }
  return {};
}

Status SqliteWriter::finish() {
  if (columns.empty())
    return cannot("no row and no column");
  insert.reset();
  SINTER_TRY(writeNotes());
  SINTER_TRY(database->run("COMMIT"));
  database.reset();
  SINTER_TRY_ASSIGN(auto mapped, runtime::MappedFile::map(file.get(), path));
  std::array<std::span<const std::byte>, 1> parts = {mapped.bytes()};
  return runtime::replaceFile(path, parts);
}

} // namespace sinter::data

namespace sinter::detail {

namespace {

/// The error of a row, which what is written from did not throw.
ErrorInfo ofRow(ErrorInfo error, const std::string &path, int64_t index) {
  // Errors of the file begin with its name.
  std::string name = printableName(path);
  error.message =
      error.message.starts_with(name)
          ? std::move(error.message)
          : fmt::format("{}: item {}: {}", name, index, error.message);
  return error;
}

} // namespace

void writeSqlite(const std::string &path, const SqliteContents &contents,
                 const data::WriteSqliteOptions &options,
                 const std::source_location &where) try {
  auto writer = unwrap(data::SqliteWriter::create(path, options.table), where);
  unwrap(writer.addColumns(contents.columns), where);
  for (int64_t i = 0; i < contents.size; ++i)
    if (auto added = writer.add(contents.row(i)); !added)
      raise(ofRow(added.takeError(), path, i), where);
  if (auto finished = writer.finish(); !finished)
    raise(ofRow(finished.takeError(), path, contents.size), where);
} catch (...) {
  raiseExhausted(where);
}

} // namespace sinter::detail

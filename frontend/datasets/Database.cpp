/// Connections to SQLite files.
#include "frontend/datasets/Database.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <filesystem>
#include <sqlite3.h>
#include <utility>

namespace sinter::data {

namespace {

ErrorInfo errorOf(sqlite3 *database, const std::string &path) {
  int code = sqlite3_errcode(database) & 0xff;
  auto kind = code == SQLITE_NOMEM ? ErrorKind::out_of_memory : ErrorKind::io;
  return makeError(kind, fmt::format("{}: {}", printableName(path),
                                     printable(sqlite3_errmsg(database))));
}

/// The path as a URI, in which some characters mean something else.
std::string uriOf(const std::string &path, const char *options) {
  std::string uri = "file://";
  std::error_code ignored;
  std::string full = std::filesystem::absolute(path, ignored);
  for (char c : full)
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  return uri + options;
}

} // namespace

void Statement::End::operator()(sqlite3_stmt *statement) const {
  sqlite3_finalize(statement);
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement.get())) {
  case SQLITE_ROW:
    return true;
  case SQLITE_DONE:
    return false;
  default:
    ErrorInfo error = errorOf(sqlite3_db_handle(statement.get()), *path);
    reset();
    return error;
  }
}

void Statement::reset() { sqlite3_reset(statement.get()); }

void Statement::bind(int place, int64_t value) {
  sqlite3_bind_int64(statement.get(), place, value);
}

void Statement::bind(int place, double value) {
  sqlite3_bind_double(statement.get(), place, value);
}

void Statement::bind(int place, std::string_view text) {
  // A null pointer would be NULL; too long a text fails when it is run.
  const char *data = text.empty() ? "" : text.data();
  if (sqlite3_bind_text64(statement.get(), place, data, text.size(),
                          SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK)
    sqlite3_bind_null(statement.get(), place);
}

void Statement::bind(int place, std::span<const std::byte> bytes) {
  if (bytes.empty())
    sqlite3_bind_zeroblob(statement.get(), place, 0);
  else
    sqlite3_bind_blob64(statement.get(), place, bytes.data(), bytes.size(),
                        SQLITE_STATIC);
}

void Statement::bindNull(int place) {
  sqlite3_bind_null(statement.get(), place);
}

int Statement::columns() const { return sqlite3_column_count(statement.get()); }

std::string Statement::name(int column) const {
  const char *name = sqlite3_column_name(statement.get(), column);
  return name ? name : "";
}

std::string Statement::declaredType(int column) const {
  const char *type = sqlite3_column_decltype(statement.get(), column);
  return type ? type : "";
}

int Statement::kind(int column) const {
  return sqlite3_column_type(statement.get(), column);
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto *text = reinterpret_cast<const char *>(
      sqlite3_column_text(statement.get(), column));
  int size = sqlite3_column_bytes(statement.get(), column);
  return text ? std::string_view(text, size_t(size)) : std::string_view();
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto *bytes = static_cast<const std::byte *>(
      sqlite3_column_blob(statement.get(), column));
  int size = sqlite3_column_bytes(statement.get(), column);
  return bytes ? std::span(bytes, size_t(size)) : std::span<const std::byte>();
}

void Database::End::operator()(sqlite3 *database) const {
  sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::string &path, const std::string &uri,
                                int flags) {
  Database opened;
  opened.path = std::make_unique<const std::string>(path);
  sqlite3 *database = nullptr;
  int state = sqlite3_open_v2(uri.c_str(), &database,
                              flags | SQLITE_OPEN_NOMUTEX, nullptr);
  opened.database.reset(database);
  if (!database)
    return makeError(ErrorKind::out_of_memory,
                     printableName(path) + ": no memory to open it");
  if (state != SQLITE_OK)
    return errorOf(database, path);
  // What stands in a file must not run functions that reach outside of it.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return opened;
}

Result<Database> Database::openToRead(const std::string &path) {
  SINTER_TRY_ASSIGN(Database opened,
                    open(path, uriOf(path, "?mode=ro&immutable=1"),
                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  std::error_code error;
  auto size = std::filesystem::file_size(path, error);
  if (!error)
    SINTER_TRY(opened.run(fmt::format("PRAGMA mmap_size={}", size)));
  SINTER_TRY(opened.run("PRAGMA cell_size_check=ON"));
  return opened;
}

Result<Database> Database::openToFill(const std::string &path,
                                      const std::string &name) {
  SINTER_TRY_ASSIGN(Database opened, open(name, path, SQLITE_OPEN_READWRITE));
  for (const char *sql : {"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF",
                          "PRAGMA locking_mode=EXCLUSIVE"})
    SINTER_TRY(opened.run(sql));
  return opened;
}

Result<Statement> Database::prepare(const std::string &sql) const {
  sqlite3_stmt *statement = nullptr;
  int state =
      sqlite3_prepare_v2(database.get(), sql.c_str(),
                         static_cast<int>(sql.size()) + 1, &statement, nullptr);
  Statement prepared;
  prepared.statement.reset(statement);
  prepared.path = path.get();
  if (state != SQLITE_OK || !statement)
    return errorOf(database.get(), *path);
  return prepared;
}

Status Database::run(const std::string &sql) const {
  SINTER_TRY_ASSIGN(Statement statement, prepare(sql));
  while (true) {
    SINTER_TRY_ASSIGN(bool more, statement.step());
    if (!more)
      return {};
  }
}

std::string sqlName(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

} // namespace sinter::data

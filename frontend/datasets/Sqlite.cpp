/// Rows of SQLite files.
#include <sinter/data/Sqlite.h>

#include "frontend/Raise.h"
#include "frontend/datasets/Database.h"
#include "frontend/datasets/JsonCell.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sqlite3.h>
#include <sys/stat.h>
#include <utility>

namespace sinter::data {

namespace {

/// What a column's values are beside what SQLite says.
enum class Meaning : uint8_t { plain, boolean, json };

/// Which file has a name.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  off_t size = 0;
  bool operator==(const Identity &) const = default;

  static Identity of(const std::string &path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
      return {};
    return {info.st_dev, info.st_ino, info.st_size};
  }
};

struct Connection {
  Database database;
  Statement select;
};

ErrorInfo brokenFile(const std::string &path, const std::string &what,
                     ErrorKind kind = ErrorKind::io) {
  return makeError(kind, fmt::format("{}: {}", printableName(path), what));
}

} // namespace

struct Sqlite::File {
  std::shared_ptr<const std::string> path;
  Identity identity;
  std::string select; ///< a row by its number
  Row::Names columns;
  std::vector<Meaning> meanings;
  int64_t size = 0, firstId = 1;
  std::vector<int64_t> ids; ///< where these do not follow each other

  mutable std::mutex mutex;
  mutable std::vector<Connection> idle;
  mutable int64_t opened = 0;

  int64_t id(int64_t index) const {
    detail::checkItem(index, size);
    return ids.empty() ? firstId + index : ids[static_cast<size_t>(index)];
  }

  Result<Connection> connect() const {
    {
      std::scoped_lock lock(mutex);
      if (!idle.empty()) {
        Connection last = std::move(idle.back());
        idle.pop_back();
        return last;
      }
      ++opened;
    }
    SINTER_TRY_ASSIGN(Database database, Database::openToRead(*path));
    SINTER_TRY_ASSIGN(Statement statement, database.prepare(select));
    // Its rows would be others.
    if (Identity::of(*path) != identity)
      return brokenFile(*path, "it was replaced or changed while it is open");
    return Connection{std::move(database), std::move(statement)};
  }

  void giveBack(Connection connection) const {
    std::scoped_lock lock(mutex);
    idle.push_back(std::move(connection));
  }

  Result<Row> read(int64_t id) const;
  Result<Cell> cell(const Statement &row, int column) const;
};

Result<Cell> Sqlite::File::cell(const Statement &row, int column) const {
  Meaning meaning = meanings[size_t(column)];
  switch (row.kind(column)) {
  case SQLITE_INTEGER: {
    int64_t value = row.integer(column);
    if (meaning == Meaning::boolean && (value == 0 || value == 1))
      return Cell(value == 1);
    return Cell(value);
  }
  case SQLITE_FLOAT:
    return Cell(row.number(column));
  case SQLITE_TEXT:
    if (meaning == Meaning::json)
      return parseJson(row.text(column));
    return Cell(std::string(row.text(column)));
  case SQLITE_BLOB: {
    auto bytes = row.bytes(column);
    return Cell(Bytes(bytes.begin(), bytes.end()));
  }
  default:
    return Cell();
  }
}

Result<Row> Sqlite::File::read(int64_t id) const {
  SINTER_TRY_ASSIGN(Connection connection, connect());
  Statement &statement = connection.select;
  statement.bind(1, id);
  auto found = statement.step();
  RowPlace place{path, id, false};
  auto broken = [&](std::string_view what) {
    return makeError(ErrorKind::io, fmt::format("{}: {}", place.text(), what));
  };
  if (!found) {
    ErrorInfo error = found.takeError();
    // Its text begins with the file's name.
    error.message =
        place.text() + error.message.substr(printableName(*path).size());
    return error;
  }
  if (!*found)
    return broken("it is missing");
  std::vector<Cell> cells;
  cells.reserve(columns->size());
  for (int i = 0; i < statement.columns(); ++i) {
    auto value = cell(statement, i);
    if (!value)
      return broken(fmt::format("column '{}': {}",
                                printableName((*columns)[size_t(i)]),
                                value.error().message));
    cells.push_back(std::move(*value));
  }
  statement.reset();
  giveBack(std::move(connection));
  return Row(columns, std::move(cells), std::move(place));
}

namespace {

/// Finds out what there is to know before rows are read.
class Opener {
public:
  Opener(const std::string &path, const SqliteOptions &options)
      : path(path), options(options) {}

  Result<std::shared_ptr<const Sqlite::File>> open() {
    SINTER_TRY(checkFile());
    file->identity = Identity::of(path);
    SINTER_TRY_ASSIGN(Database opened, Database::openToRead(path));
    database = &opened;
    file->path = std::make_shared<const std::string>(path);
    SINTER_TRY(readMeta());
    SINTER_TRY(findTable());
    SINTER_TRY(readColumns());
    SINTER_TRY(findRows());
    return std::shared_ptr<const Sqlite::File>(std::move(file));
  }

private:
  const std::string &path;
  const SqliteOptions &options;
  std::shared_ptr<Sqlite::File> file = std::make_shared<Sqlite::File>();
  const Database *database = nullptr;
  std::map<std::string, std::string> meta;
  std::string table;
  std::string idName;

  Status checkFile() {
    SINTER_TRY_ASSIGN(auto mapped, runtime::MappedFile::open(path));
    auto bytes = mapped.bytes();
    std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                          bytes.size());
    constexpr std::string_view magic("SQLite format 3\0", 16);
    if (!text.starts_with(magic))
      return brokenFile(path, "it does not begin as an SQLite file");
    for (const char *end : {"-wal", "-journal"}) {
      std::error_code missing;
      auto size = std::filesystem::file_size(path + end, missing);
      if (!missing && size > 0)
        return brokenFile(path, fmt::format("changes that are not in it yet "
                                            "stand in {}{}: end what writes it",
                                            printableName(path), end));
    }
    return {};
  }

  Result<std::vector<std::string>> tables() {
    std::vector<std::string> names;
    SINTER_TRY_ASSIGN(
        Statement list,
        database->prepare("SELECT name FROM sqlite_master WHERE type='table' "
                          "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
                          "ORDER BY name"));
    while (true) {
      SINTER_TRY_ASSIGN(bool more, list.step());
      if (!more)
        return names;
      names.emplace_back(list.text(0));
    }
  }

  Status readMeta() {
    SINTER_TRY_ASSIGN(auto names, tables());
    if (std::ranges::find(names, metaTable) == names.end())
      return {};
    SINTER_TRY_ASSIGN(
        Statement all,
        database->prepare(std::string("SELECT key, value FROM ") + metaTable));
    while (true) {
      SINTER_TRY_ASSIGN(bool more, all.step());
      if (!more)
        return {};
      meta.emplace(all.text(0), all.text(1));
    }
  }

  Status findTable() {
    SINTER_TRY_ASSIGN(auto names, tables());
    std::erase(names, metaTable);
    table = options.table;
    if (table.empty() && names.size() == 1)
      table = names.front();
    if (std::ranges::find(names, table) != names.end())
      return {};
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + printableName(name);
    if (names.empty())
      return brokenFile(path, "it has no table");
    return brokenFile(path,
                      table.empty()
                          ? "it has several tables; name one of: " + list
                          : fmt::format("it has no table '{}', but: {}",
                                        printableName(table), list),
                      ErrorKind::invalid_argument);
  }

  Status readColumns() {
    SINTER_TRY_ASSIGN(
        Statement any,
        database->prepare("SELECT * FROM " + sqlName(table) + " LIMIT 0"));
    std::vector<std::string> names;
    for (int i = 0; i < any.columns(); ++i) {
      names.push_back(any.name(i));
      file->meanings.push_back(meaningOf(names.back(), any.declaredType(i)));
    }
    for (const char *name : {"rowid", "_rowid_", "oid"})
      if (idName.empty() && std::ranges::none_of(names, [&](const auto &own) {
            return sqlite3_stricmp(own.c_str(), name) == 0;
          }))
        idName = name;
    file->select =
        fmt::format("SELECT * FROM {} WHERE {}=?1", sqlName(table), idName);
    if (idName.empty() || !database->prepare(file->select))
      return brokenFile(
          path, fmt::format("table '{}' has no row ids", printableName(table)),
          ErrorKind::unsupported);
    file->columns =
        std::make_shared<const std::vector<std::string>>(std::move(names));
    return {};
  }

  Meaning meaningOf(const std::string &column, const std::string &declared) {
    auto own = meta.find("column:" + column);
    std::string_view word = own == meta.end() || table != meta["table"]
                                ? std::string_view()
                                : std::string_view(own->second);
    if (word == "json" || sqlite3_stricmp(declared.c_str(), "json") == 0)
      return Meaning::json;
    return word == "boolean" ? Meaning::boolean : Meaning::plain;
  }

  Status findRows() {
    SINTER_TRY_ASSIGN(
        Statement ends,
        // Each by itself is found at once, both together by a scan.
        database->prepare(fmt::format("SELECT (SELECT min({0}) FROM {1}), "
                                      "(SELECT max({0}) FROM {1})",
                                      idName, sqlName(table))));
    SINTER_TRY_ASSIGN(bool found, ends.step());
    if (!found || ends.kind(0) == SQLITE_NULL)
      return {};
    int64_t first = ends.integer(0), last = ends.integer(1);
    file->firstId = first;
    // Files of `write_sqlite` say how many rows there are, which SQLite counts
    // one by one.
    std::optional<int64_t> count = countInMeta();
    if (first == 1 && count == last) {
      file->size = last;
      return {};
    }
    return listRows();
  }

  std::optional<int64_t> countInMeta() {
    auto rows = meta.find("rows");
    if (rows == meta.end() || meta["table"] != table)
      return std::nullopt;
    int64_t count = 0;
    const std::string &text = rows->second;
    auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc() ? std::optional(count) : std::nullopt;
  }

  Status listRows() {
    SINTER_TRY_ASSIGN(Statement all, database->prepare(fmt::format(
                                         "SELECT {0} FROM {1} ORDER BY {0}",
                                         idName, sqlName(table))));
    bool follow = true;
    while (true) {
      SINTER_TRY_ASSIGN(bool more, all.step());
      if (!more)
        break;
      follow &= file->ids.empty() || all.integer(0) == file->ids.back() + 1;
      file->ids.push_back(all.integer(0));
    }
    file->size = static_cast<int64_t>(file->ids.size());
    if (follow)
      file->ids = {};
    return {};
  }
};

} // namespace

Sqlite::Sqlite(const std::string &path, const SqliteOptions &options,
               std::source_location where) try
    : file(detail::unwrap(Opener(path, options).open(), where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t Sqlite::size() const { return detail::held(file, "size").size; }

Row Sqlite::get(int64_t index) const try {
  int64_t id = detail::held(file, "get").id(index);
  return detail::unwrap(file->read(id), {});
} catch (...) {
  detail::raiseExhausted({});
}

const std::vector<std::string> &Sqlite::columns() const {
  return *detail::held(file, "columns").columns;
}

int64_t Sqlite::row_id(int64_t index) const {
  return detail::held(file, "row_id").id(index);
}

int64_t Sqlite::connections() const {
  const File &own = detail::held(file, "connections");
  std::scoped_lock lock(own.mutex);
  return own.opened;
}

} // namespace sinter::data

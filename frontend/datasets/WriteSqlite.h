/// SqliteWriter: fills a new SQLite file with rows.
#pragma once

#include "frontend/datasets/Database.h"
#include "runtime/files/FileDescriptor.h"
#include "sinter/runtime/Result.h"

#include <sinter/data/Sqlite.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::data {

/// The file is made beside `path`, without a name, and takes its place when it
/// is finished: a process that ends early leaves nothing.
class SqliteWriter {
public:
  static Result<SqliteWriter> create(const std::string &path,
                                     const std::string &table);

  /// Columns that are there even if no row has them.
  Status addColumns(const std::vector<std::string> &names);
  /// An error does not say which row it is.
  Status add(const Row &row);
  /// What `key` of the meta table is to say.
  void note(std::string key, std::string value) {
    notes[std::move(key)] = std::move(value);
  }
  /// Writes the file.
  Status finish();

  int64_t rows() const { return count; }

private:
  SqliteWriter() = default;
  enum class Meaning : uint8_t { none, plain, boolean, json };
  struct Column {
    std::string name;
    Meaning meaning = Meaning::none;
  };

  Status addColumn(const std::string &name);
  Status prepareInsert();
  Result<size_t> placeOf(const std::string &name, size_t hint);
  Status bind(size_t place, const Cell &cell);
  Status writeNotes();

  std::string path, table;
  FileDescriptor file{-1};
  std::optional<Database> database;
  std::vector<Column> columns;
  std::optional<Statement> insert;
  std::map<std::string, std::string> notes;
  std::vector<std::string> texts; ///< what the statement borrows
  int64_t count = 0;
};

} // namespace sinter::data

/// Database: one connection to an SQLite file.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace sinter::data {

/// A statement. Used by one thread at a time, and not after its Database.
class Statement {
public:
  /// Whether there is a row; an error of a damaged file.
  Result<bool> step();
  /// Ready to be run again.
  void reset();

  void bind(int place, int64_t value);
  void bind(int place, double value);
  void bind(int place, std::string_view text);
  void bind(int place, std::span<const std::byte> bytes);
  void bindNull(int place);

  int columns() const;
  std::string name(int column) const;
  /// Of the table's column; empty where it has none.
  std::string declaredType(int column) const;
  /// One of SQLITE_INTEGER and so on.
  int kind(int column) const;
  int64_t integer(int column) const;
  double number(int column) const;
  /// Valid until the next step.
  std::string_view text(int column) const;
  std::span<const std::byte> bytes(int column) const;

private:
  friend class Database;
  struct End {
    void operator()(sqlite3_stmt *statement) const;
  };
  std::unique_ptr<sqlite3_stmt, End> statement;
  const std::string *path = nullptr;
};

class Database {
public:
  /// For reading alone, mapped; nobody may change the file meanwhile.
  static Result<Database> openToRead(const std::string &path);
  /// A file that is there, without a journal: what is written is lost when the
  /// process ends early. `name` stands in errors.
  static Result<Database> openToFill(const std::string &path,
                                     const std::string &name);

  Result<Statement> prepare(const std::string &sql) const;
  Status run(const std::string &sql) const;

private:
  struct End {
    void operator()(sqlite3 *database) const;
  };
  /// `uri` is what SQLite opens.
  static Result<Database> open(const std::string &path, const std::string &uri,
                               int flags);
  // Statements point to the name, so it must not move.
  std::unique_ptr<const std::string> path;
  std::unique_ptr<sqlite3, End> database;
};

/// A name as it stands in SQL: in double quotes.
std::string sqlName(std::string_view name);

/// What is known of a file that `write_sqlite` made stands in a table of this
/// name, as keys and values.
inline constexpr const char *metaTable = "sinter_meta";

} // namespace sinter::data

/// SQLite files: those of Python, our own, and damaged ones.
#include "tests/unit/datasets/Folder.h"

#include <sinter/data/Dataset.h>
#include <sinter/data/JsonLines.h>
#include <sinter/data/Sqlite.h>

#include <cmath>
#include <limits>
#include <random>
#include <sqlite3.h>
#include <thread>
#include <vector>

using namespace sinter;
using data::Row;

static_assert(data::RowDataset<data::Sqlite>);

namespace {

struct Of {
  std::string of;
  SINTER_ROW(of)
};

struct Person {
  std::string name, note;
  int64_t age = 0;
  double height = 0;
  SINTER_ROW(name, note, age, height)
  bool operator==(const Person &) const = default;
};

struct Item {
  int64_t number = 0;
  double real = 0;
  bool flag = false;
  std::string text;
  data::Bytes bytes;
  std::optional<int32_t> maybe;
  std::vector<std::vector<int64_t>> lists;
  SINTER_ROW(number, real, flag, text, bytes, maybe, lists)
  bool operator==(const Item &) const = default;
};

std::vector<Item> items(int64_t count) {
  std::mt19937_64 random(2);
  std::vector<Item> all;
  for (int64_t i = 0; i < count; ++i) {
    Item item{
        i, double(random()) / 7, i % 3 == 0, std::to_string(random()), {}, {},
        {}};
    item.bytes.resize(random() % 5, std::byte(i));
    if (i % 2 == 0)
      item.maybe = int32_t(i);
    item.lists.assign(random() % 3, {i, -i});
    item.text.insert(0, 1, '\0');
    all.push_back(std::move(item));
  }
  all.back().number = std::numeric_limits<int64_t>::min();
  all.back().real = std::numeric_limits<double>::infinity();
  return all;
}

class Sqlite : public FolderTest {
protected:
  std::string file() const { return folder / "a.sqlite"; }
  /// Runs SQL on the file, as another program would.
  void run(const std::string &sql) const {
    sqlite3 *database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
};

} // namespace

TEST_F(Sqlite, HoldsTheItemsOfADataSetInMemory) {
  data::InMemory<Item> memory(items(200));
  data::write_sqlite(memory, file());
  data::Sqlite rows(file());
  auto stored = data::rows_as<Item>(rows);
  ASSERT_EQ(stored.size(), 200);
  for (int64_t i : {199, 0, 57, 58, 57})
    EXPECT_EQ(stored.get(i), memory.get(i)) << i;
  for (int64_t i = 0; i < 200; ++i)
    ASSERT_EQ(stored.get(i), memory.get(i)) << i;
  EXPECT_EQ(rows.columns()[3], "text");
  EXPECT_EQ(rows.row_id(57), 58);
  EXPECT_EQ(rows.connections(), 1);
  errorOf([&] { rows.get(200); }, ErrorKind::invalid_argument);
  errorOf([&] { rows.get(-1); }, ErrorKind::invalid_argument);
}

TEST_F(Sqlite, FilesOfPythonAreRead) {
  data::Sqlite rows(filesOfTests() / "people.sqlite");
  data::JsonLines lines(filesOfTests() / "people.jsonl");
  auto people = data::rows_as<Person>(rows);
  ASSERT_EQ(rows.size(), 6);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(people.get(i), lines.get(i).as<Person>());
    Row row = rows.get(i);
    EXPECT_EQ(row.get<int64_t>("id"), 10 + 3 * i);
    EXPECT_EQ(rows.row_id(i), 10 + 3 * i);
    EXPECT_EQ(row.get<data::Bytes>("photo").size(), size_t(i));
    EXPECT_EQ(row.get<std::optional<std::string>>("gone"), std::nullopt);
    auto tags = row.get<std::vector<data::Cell>>("tags");
    EXPECT_EQ(*tags[0].get_if<int64_t>(), people.get(i).age);
    EXPECT_EQ(*tags[1].find("of")->get_if<std::string>(), people.get(i).name);
  }
}

TEST_F(Sqlite, ItemsAreFoundByTheirRowIds) {
  run("CREATE TABLE t (a, rowid TEXT); INSERT INTO t(_rowid_, a, rowid) VALUES "
      "(-5, 'x', 'p'), (9000000000, 'y', 'q'), (3, 'z', 'r')");
  data::Sqlite rows(file());
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.get(0).get<std::string>("a"), "x");
  EXPECT_EQ(rows.get(1).get<std::string>("a"), "z");
  EXPECT_EQ(rows.get(2).get<std::string>("rowid"), "q");
  EXPECT_EQ(rows.row_id(2), 9000000000);
}

TEST_F(Sqlite, ReadersAreAsManyAsThreads) {
  data::InMemory<Item> memory(items(500));
  data::write_sqlite(memory, file());
  data::Sqlite rows(file());
  std::atomic<int64_t> equal = 0;
  {
    std::vector<std::jthread> threads;
    for (int64_t first = 0; first < 4; ++first)
      threads.emplace_back([&, first, rows] {
        for (int64_t i = 0; i < 1000; ++i) {
          int64_t index = (first * 131 + i * 7) % 500;
          equal += rows.get(index).as<Item>() == memory.get(index);
        }
      });
  }
  EXPECT_EQ(equal, 4000);
  EXPECT_GE(rows.connections(), 1);
  EXPECT_LE(rows.connections(), 4);
}

TEST_F(Sqlite, RowsMayHaveOtherColumnsEach) {
  std::string lines =
      write("a.jsonl", "{\"a\": 1}\n{\"b\": [1, {}], \"a\": 2}\n"
                       "{\"c\": true, \"d e\\\"f\": \"x\"}\n");
  data::write_sqlite(data::JsonLines(lines), file());
  data::Sqlite rows(file());
  EXPECT_EQ(rows.columns(),
            (std::vector<std::string>{"a", "b", "c", "d e\"f"}));
  EXPECT_TRUE(rows.get(0).find("b")->is_null());
  EXPECT_EQ(*rows.get(1).find("b"), *data::JsonLines(lines).get(1).find("b"));
  EXPECT_EQ(rows.get(2).find("c")->kind(), data::CellKind::boolean);
  EXPECT_EQ(rows.get(2).get<std::string>("d e\"f"), "x");
}

TEST_F(Sqlite, AnyDataSetIsWritten) {
  data::InMemory<std::pair<std::vector<double>, int64_t>> pairs(
      {{{1.5, 2}, 3}, {{}, 4}});
  data::write_sqlite(pairs, file(), {.table = "my \"pairs\""});
  data::Sqlite rows(file(), {.table = "my \"pairs\""});
  EXPECT_EQ(rows.get(0).get<std::vector<double>>("0"),
            (std::vector<double>{1.5, 2}));
  EXPECT_EQ(rows.get(1).get<int64_t>("1"), 4);
  data::InMemory<std::string> words({"a", "b"});
  data::write_sqlite(data::shuffle(words, 1), file());
  EXPECT_EQ(data::Sqlite(file()).size(), 2);
  EXPECT_EQ(data::Sqlite(file()).columns(), std::vector<std::string>{"value"});
  data::write_sqlite(data::InMemory<Item>({}), file());
  EXPECT_EQ(data::Sqlite(file()).size(), 0);
  EXPECT_EQ(data::Sqlite(file()).columns().size(), 7U);
}

TEST_F(Sqlite, WhatCannotBeStoredLeavesTheFileAsItWas) {
  data::write_sqlite(data::InMemory<Item>(items(3)), file());
  std::string before = readAll(file());
  auto refuse = [&](std::string_view lines, std::string_view why,
                    ErrorKind kind = ErrorKind::unsupported) {
    data::JsonLines bad(write("a.jsonl", lines));
    expectPart(errorOf([&] { data::write_sqlite(bad, file()); }, kind), why);
  };
  refuse("{\"a\": 1}\n{\"a\": [1]}", "item 1: column 'a' has truth values");
  refuse("{\"a\": true}\n{\"a\": 1}", "item 1: column 'a' has truth values");
  refuse("{\"a\": 1, \"A\": 2}", "duplicate column name", ErrorKind::io);
  refuse("{\"a\\u0000b\": 1}", "a zero byte");
  refuse("{}", "a row without a cell");
  refuse("", "no row and no column");
  refuse("{\"a\": 1}\nx", "a.jsonl:2", ErrorKind::io);
  data::InMemory<double> numbers({1, std::nan("")});
  expectPart(errorOf([&] { data::write_sqlite(numbers, file()); },
                     ErrorKind::unsupported),
             "item 1: column 'value' has a NaN");
  data::InMemory<Of> one({{"x"}});
  errorOf([&] { data::write_sqlite(one, file(), {.table = "sqlite_x"}); },
          ErrorKind::invalid_argument);
  errorOf([&] { data::write_sqlite(one, folder / "no" / "such"); });
  EXPECT_EQ(readAll(file()), before);
  // Nor is anything left beside it.
  int64_t names = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names += entry.is_regular_file();
  EXPECT_EQ(names, 2);
}

TEST_F(Sqlite, TablesAreChosen) {
  run("CREATE TABLE b (x); CREATE TABLE a (x); CREATE TABLE w (x PRIMARY KEY) "
      "WITHOUT ROWID; CREATE VIEW v AS SELECT 1; INSERT INTO a VALUES (4)");
  expectPart(
      errorOf([&] { data::Sqlite{file()}; }, ErrorKind::invalid_argument),
      "several tables; name one of: a, b, w");
  EXPECT_EQ(data::Sqlite(file(), {.table = "a"}).get(0).get<int>("x"), 4);
  EXPECT_EQ(data::Sqlite(file(), {.table = "b"}).size(), 0);
  expectPart(errorOf([&] { data::Sqlite(file(), {.table = "v"}); },
                     ErrorKind::invalid_argument),
             "no table 'v', but: a, b, w");
  expectPart(errorOf([&] { data::Sqlite(file(), {.table = "w"}); },
                     ErrorKind::unsupported),
             "table 'w' has no row ids");
}

TEST_F(Sqlite, WhatIsNotInTheFileYetIsAnError) {
  run("CREATE TABLE a (x)");
  std::ofstream(file() + "-wal") << "changes";
  expectPart(errorOf([&] { data::Sqlite{file()}; }), "a.sqlite-wal");
}

TEST_F(Sqlite, AFileThatIsReplacedIsNotMixedWithTheOther) {
  data::write_sqlite(data::InMemory<Item>(items(3)), file());
  data::Sqlite rows(file());
  data::write_sqlite(data::InMemory<Item>(items(2)), file());
  expectPart(errorOf([&] { rows.get(0); }), "it was replaced");
}

TEST_F(Sqlite, DamagedFilesAreErrors) {
  errorOf([&] { data::Sqlite(write("b", "no file of SQLite")); });
  errorOf([&] { data::Sqlite(write("b", "")); });
  errorOf([&] { data::Sqlite(folder / "none"); });
  errorOf([&] { data::Sqlite{folder}; });
  data::write_sqlite(data::InMemory<Item>(items(200)), file());
  std::string whole = readAll(file());
  int64_t errors = 0, read = 0;
  std::mt19937 random(6);
  auto readAllRows = [&](const std::string &bytes) {
    std::string damaged = write("damaged.sqlite", bytes);
    try {
      data::Sqlite rows(damaged);
      for (int64_t i = 0; i < std::min<int64_t>(rows.size(), 300); ++i)
        try {
          rows.get(i);
          ++read;
        } catch (const Error &error) {
          EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
          expectPart(error.message(), "damaged.sqlite: row ");
          ++errors;
        }
    } catch (const Error &error) {
      expectPart(error.message(), "damaged.sqlite");
      ++errors;
    }
  };
  for (size_t length = 0; length < whole.size(); length += 1024)
    readAllRows(whole.substr(0, length));
  EXPECT_GT(errors, 4);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 20; ++i)
      bytes[random() % bytes.size()] = char(random());
    readAllRows(bytes);
  }
  EXPECT_GT(errors, 100);
  EXPECT_GT(read, 1000);
}

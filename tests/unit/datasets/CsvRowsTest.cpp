/// CSV with text: quotes, line ends, types, and errors that say where.
#include "tests/unit/datasets/Folder.h"

#include <sinter/data/Csv.h>
#include <sinter/data/JsonLines.h>

#include <limits>
#include <random>
#include <vector>

using namespace sinter;
using data::CsvRows;
using data::Row;

static_assert(data::RowDataset<CsvRows>);

namespace {

struct Person {
  std::string name, note;
  int64_t age = 0;
  double height = 0;
  SINTER_ROW(name, note, age, height)
  bool operator==(const Person &) const = default;
};

struct Optional {
  std::optional<int16_t> a;
  std::optional<std::string> b;
  std::optional<float> missing;
  bool flag = false;
  SINTER_ROW(a, b, missing, flag)
};

class Csv : public FolderTest {
protected:
  CsvRows rows(std::string_view text, const data::CsvOptions &options = {}) {
    return CsvRows(write("a.csv", text), options);
  }
  std::vector<std::string> texts(std::string_view text) {
    CsvRows all = rows(text, {.header = false});
    std::vector<std::string> found;
    for (int64_t i = 0; i < all.size(); ++i)
      for (const data::Cell &cell : all.get(i).cells())
        found.push_back(*cell.get_if<std::string>());
    return found;
  }
};

} // namespace

TEST(CsvFiles, OfPythonAreReadAsPythonWroteThem) {
  auto csv = data::rows_as<Person>(CsvRows(filesOfTests() / "people.csv"));
  auto json =
      data::rows_as<Person>(data::JsonLines(filesOfTests() / "people.jsonl"));
  ASSERT_EQ(csv.size(), 6);
  ASSERT_EQ(json.size(), 6);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(csv.get(i), json.get(i)) << i;
  EXPECT_EQ(csv.get(1).name, "Bob \"B\" Smith");
  EXPECT_EQ(csv.get(2).note, "two\nlines\r\nor three");
  EXPECT_EQ(csv.get(3).age, 9007199254740993);
}

TEST_F(Csv, QuotesHoldDelimitersLineEndsAndQuotes) {
  EXPECT_EQ(texts("a,\"b,c\",\"d\"\"e\",\"f\r\ng\"\n"),
            (std::vector<std::string>{"a", "b,c", "d\"e", "f\r\ng"}));
  EXPECT_EQ(texts("\"\",\"\"\"\""), (std::vector<std::string>{"", "\""}));
  // Within a field that does not begin with one, they are text.
  EXPECT_EQ(texts("a\"b,'c'\n"), (std::vector<std::string>{"a\"b", "'c'"}));
  EXPECT_EQ(rows("a;\"b;\"", {.header = false, .delimiter = ';', .quote = 0})
                .columns()
                .size(),
            3U);
}

TEST_F(Csv, LineEndsMarksAndEmptyLines) {
  EXPECT_EQ(texts("\xef\xbb\xbf"
                  "a,b\r\n\r\n\nc,d"),
            (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(texts("a\rb,c\n"), (std::vector<std::string>{"a\rb", "c"}));
  EXPECT_EQ(texts(" a , b \n"), (std::vector<std::string>{" a ", " b "}));
  EXPECT_EQ(texts("a,\n,b\n"), (std::vector<std::string>{"a", "", "", "b"}));
  EXPECT_EQ(rows("").size(), 0);
  EXPECT_EQ(rows("a,b\n").size(), 0);
  EXPECT_EQ(rows("a,b").columns(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Csv, ColumnsAreReadByNameAsTypes) {
  CsvRows all = rows("n,x y,text\n1,2.5,a\n-3, 4e2 ,\n");
  EXPECT_EQ(all.get(0).get<int64_t>("n"), 1);
  EXPECT_EQ(all.get(1).get<int8_t>("n"), -3);
  EXPECT_EQ(all.get(1).get<float>("x y"), 400);
  EXPECT_EQ(all.get(0).get<std::string>("n"), "1");
  EXPECT_EQ(all.get(1).get<std::string>("text"), "");
  EXPECT_EQ(all.get(1).get<std::optional<std::string>>("text"), std::nullopt);
}

TEST_F(Csv, OptionalsAreEmptyWhereNothingIs) {
  auto all =
      data::rows_as<Optional>(rows("flag,a,b,more\nTrue,,x,1\n0,7,,2\n"));
  EXPECT_TRUE(all.get(0).flag);
  EXPECT_FALSE(all.get(0).a);
  EXPECT_EQ(all.get(0).b, "x");
  EXPECT_FALSE(all.get(0).missing);
  EXPECT_EQ(all.get(1).a, 7);
  EXPECT_FALSE(all.get(1).b);
}

TEST_F(Csv, ErrorsSayLineAndColumn) {
  auto message = [&](std::string_view text) {
    return errorOf([&] { rows(text); });
  };
  expectPart(message("a,b\n1,2\n\"x\ny\",\"open\n"),
             "a.csv:4:4: a quote that is never closed");
  expectPart(message("a,b\n\"x\"y,2\n"),
             "a.csv:2:4: more text follows a closed quote");
  expectPart(message("a,b\n\"1\n\n\",2\n3\n"), "a.csv:5: 1 fields, expected 2");
  expectPart(message("a,a\n"), "a.csv:1: column 'a' is there twice");
  expectPart(message("\xff\xfe"
                     "a\0"),
             "UTF-16");

  CsvRows all = rows("name,age\n\"x\ny\",12\nz,12a\nw,300\n");
  expectPart(errorOf([&] { all.get(1).get<int>("age"); }),
             "a.csv:4: column 'age' is '12a', expected a whole number");
  expectPart(errorOf([&] { all.get(2).get<uint8_t>("age"); }),
             "a.csv:5: column 'age' is '300', expected one of 0 to 255");
  expectPart(errorOf([&] { all.get(0).get<double>("name"); }),
             R"(a.csv:2: column 'name' is 'x\x0ay', expected a number)");
  expectPart(errorOf([&] { all.get(0).get<int>("size"); }),
             "a.csv:2: column 'size' is missing");
  expectPart(errorOf([&] { data::rows_as<Person>(all).get(0); }),
             "a.csv:2: column 'note' is missing");
  errorOf([&] { all.get(3); }, ErrorKind::invalid_argument);
  expectPart(errorOf([&] { rows("a", {.delimiter = '"'}); },
                     ErrorKind::invalid_argument),
             "the delimiter is the quote");
}

TEST_F(Csv, NumbersOfTablesMayBeQuoted) {
  data::Table table = data::parse_csv("\"a\",b\n\"1.5\",2\n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.values, (std::vector<double>{1.5, 2}));
}

TEST_F(Csv, WhateverIsWrittenIsReadAgain) {
  std::mt19937 random(11);
  constexpr std::string_view letters = "ab\",;\n\r \t1";
  for (int round = 0; round < 300; ++round) {
    size_t width = 1 + random() % 4, count = width * (1 + random() % 5);
    std::vector<std::string> fields;
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      std::string field;
      for (size_t n = random() % 6; n > 0; --n)
        field += letters[random() % letters.size()];
      text += '"';
      for (char c : field)
        text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += (i + 1) % width == 0 ? "\"\r\n" : "\",";
      fields.push_back(std::move(field));
    }
    ASSERT_EQ(texts(text), fields) << text;
  }
}

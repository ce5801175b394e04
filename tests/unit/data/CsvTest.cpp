/// Reading CSV files: what is accepted, and errors that name line and field.
#include <sinter/data/Csv.h>

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sinter;

namespace {

class Csv : public testing::Test {
protected:
  std::string write(const std::string &text) {
    std::ofstream(path) << text;
    return path;
  }
  void expectError(const std::string &text, const std::string &part) {
    try {
      data::read_csv(write(text));
      FAIL() << "accepted: " << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_NE(error.message().find(path + ":" + part), std::string::npos)
          << error.what();
      EXPECT_NE(error.site().find("CsvTest.cpp"), std::string::npos);
    }
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-csv-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(Csv, ReadsHeaderAndNumbers) {
  data::Table table =
      data::read_csv(write("a, b,c\r\n1,2.5,-3e2\r\n\n4 , 5,6\n"));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.width, 3);
  EXPECT_EQ(table.values, (std::vector<double>{1, 2.5, -300, 4, 5, 6}));
  EXPECT_EQ(table.row(1)[2], 6);
}

TEST_F(Csv, ReadsWithoutHeaderAndOtherDelimiters) {
  data::Table table =
      data::read_csv(write("1;2\n3;4"), {.header = false, .delimiter = ';'});
  EXPECT_TRUE(table.columns.empty());
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Csv, ReadsNothing) {
  EXPECT_EQ(data::read_csv(write("")).rows, 0);
  EXPECT_EQ(data::read_csv(write("a,b\n")).rows, 0);
}

TEST_F(Csv, NamesLineAndField) {
  expectError("a,b\n1,x\n", "2: field 2");
  expectError("a,b\n1,2\n3,\n", "3: field 2");
  expectError("a,b\n1,2\n3\n", "3: 1 fields, expected 2");
  expectError("a,b\n1,2,3\n", "2: 3 fields, expected 2");
  expectError("a\n1.5junk\n", "2: field 1");
}

TEST_F(Csv, ErrorsSteerNoTerminal) {
  expectError("a\n\x1b[31mred\n", R"(2: field 1 is no number: '\x1b[31mred')");
  expectError("a\n" + std::string(1 << 20, 'x'),
              "2: field 1 is no number: '" + std::string(256, 'x') + "...'");
}

TEST_F(Csv, TextInMemory) {
  data::Table table = data::parse_csv("a,b\n1,2\n");
  EXPECT_EQ(table.values, (std::vector<double>{1, 2}));
  EXPECT_THROW(data::parse_csv("a\nb\n"), Error);
}

TEST_F(Csv, MissingFileIsAnError) {
  EXPECT_THROW(data::read_csv("/no/such/file.csv"), Error);
}

TEST_F(Csv, RowsAreADataSet) {
  data::CsvDataset rows(write("a,b\n1,2\n3,4\n"));
  EXPECT_EQ(rows.columns(), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows.get(1)[0], 3);
  EXPECT_THROW(rows.get(2), Error);
}

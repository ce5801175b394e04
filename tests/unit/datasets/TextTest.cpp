/// JSON lines, folders of texts, and lines of a text.
#include "tests/unit/datasets/Folder.h"

#include <sinter/data/JsonLines.h>
#include <sinter/data/TextFolder.h>

#include <map>
#include <random>
#include <vector>

using namespace sinter;
using data::JsonLines;

static_assert(data::RowDataset<JsonLines>);
static_assert(data::Dataset<data::TextFolder> &&
              data::Dataset<data::TextLines>);

namespace {

struct Tag {
  std::string word;
  int64_t kind = 0;
  SINTER_ROW(word, kind)
};

struct Sentence {
  std::vector<std::string> tokens;
  std::vector<Tag> tags;
  std::vector<std::vector<double>> scores;
  std::optional<bool> checked;
  SINTER_ROW(tokens, tags, scores, checked)
};

class Json : public FolderTest {
protected:
  JsonLines lines(std::string_view text) {
    return JsonLines(write("a.jsonl", text));
  }
  std::string lineError(std::string_view text, int64_t index) {
    JsonLines all = lines(text);
    return errorOf([&] { all.get(index); });
  }
};

class Text : public FolderTest {};

} // namespace

TEST_F(Json, LinesBecomeStructs) {
  auto sentences = data::rows_as<Sentence>(lines(
      R"({"tokens": ["a", "b\u00e9"], "tags": [{"word": "a", "kind": 3}],)"
      R"( "scores": [[1, 2.5], []], "checked": null, "more": {}})"
      "\r\n\n"
      R"({"scores": [], "tags": [], "tokens": [], "checked": true})"));
  ASSERT_EQ(sentences.size(), 2);
  Sentence first = sentences.get(0);
  EXPECT_EQ(first.tokens, (std::vector<std::string>{"a", "b\u00e9"}));
  EXPECT_EQ(first.tags[0].kind, 3);
  EXPECT_EQ(first.scores[0][1], 2.5);
  EXPECT_FALSE(first.checked);
  EXPECT_EQ(sentences.get(1).checked, true);
}

TEST_F(Json, AListOfObjectsIsAFileOfRows) {
  JsonLines rows = lines("\n [ {\"a\": \"]}\\\"\"},\n\n{\"a\": \"x\"} ] \n");
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows.get(0).get<std::string>("a"), "]}\"");
  EXPECT_EQ(rows.get(1).place().number, 4);
  EXPECT_EQ(lines("[]").size(), 0);
  EXPECT_EQ(lines("").size(), 0);
  expectPart(errorOf([&] { lines("[{}"); }), "a.jsonl:1: the list is never");
  expectPart(errorOf([&] { lines("[{},\n]"); }), "a.jsonl:2: no object");
  expectPart(errorOf([&] { lines("[{}\n{}]"); }), "a.jsonl:2: a comma");
  expectPart(errorOf([&] { lines("[1]"); }), "a.jsonl:1: an element");
  expectPart(errorOf([&] { lines("[{\n"); }), "a.jsonl:1: the object is never");
  expectPart(errorOf([&] { lines("[{}] x"); }), "a.jsonl:1: more text");
}

TEST_F(Json, ErrorsSayFileLineAndByte) {
  expectPart(lineError("{\"a\": 1}\n{\"a\": }\n", 1),
             "a.jsonl:2: byte 7 is no JSON");
}

TEST_F(Json, WhatIsNoObjectIsAnErrorOfItsLine) {
  expectPart(lineError("{}\n\n12\n", 1), "a.jsonl:3: it is no object");
  expectPart(lineError("{\"a\":1,\"a\":2}", 0), "member 'a' is there twice");
  expectPart(lineError("{\"a\": \"\xff\"}", 0), "a.jsonl:1: byte");
  expectPart(lineError("{} {}", 0), "a.jsonl:1: byte");
  expectPart(lineError("{\"a\": 1e999}", 0), "a.jsonl:1: byte");
  std::string deep(100000, '[');
  expectPart(lineError("{\"a\": " + deep, 0), "within more than 64");
  expectPart(lineError("{\"a\": NaN}", 0), "a.jsonl:1: byte");
}

TEST_F(Json, ValuesOfAnotherTypeAreErrorsOfTheirPlace) {
  auto rows = data::rows_as<Sentence>(lines(
      R"({"tokens": [], "scores": [], "tags": [{"word": "a", "kind": "x"}]})"));
  expectPart(errorOf([&] { rows.get(0); }),
             "a.jsonl:1: column 'tags', element 0, member 'kind' is 'x', "
             "expected a whole number");
  data::Row row =
      lines(R"({"big": 18446744073709551615, "text": "12"})").get(0);
  EXPECT_EQ(row.get<double>("big"), 18446744073709551615.0);
  expectPart(errorOf([&] { row.get<uint64_t>("big"); }),
             "expected a whole number");
  // Text is no number where a file tells them apart.
  expectPart(errorOf([&] { row.get<int>("text"); }), "column 'text' is '12'");
}

TEST_F(Json, RowsAreReadLazily) {
  JsonLines all = lines("{\"a\": 1}\nnot JSON at all\n{\"a\": 3}\n");
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(all.get(2).get<int>("a"), 3);
  errorOf([&] { all.get(1); });
}

TEST_F(Json, DamageAnywhereIsAnErrorOrRows) {
  std::mt19937 random(4);
  std::string whole = readAll(filesOfTests() / "people.jsonl");
  int64_t errors = 0, rows = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = char(random());
    JsonLines all = lines(damaged);
    for (int64_t i = 0; i < all.size(); ++i)
      try {
        all.get(i);
        ++rows;
      } catch (const Error &error) {
        ASSERT_EQ(error.kind(), ErrorKind::io);
        ++errors;
      }
  }
  EXPECT_GT(errors, 100);
  EXPECT_GT(rows, 1000);
}

TEST_F(Text, FoldersAreClasses) {
  write("neg/1.txt", "bad");
  write("neg/10.txt", "\xef\xbb\xbfworse");
  write("neg/deep/2.TXT", "worst");
  write("pos/1.txt", "good\n");
  write("pos/readme.md", "left");
  write(".hidden/1.txt", "left");
  data::TextFolder texts(folder);
  EXPECT_EQ(texts.classes(), (std::vector<std::string>{"neg", "pos"}));
  std::vector<std::pair<std::string, int64_t>> found;
  for (int64_t i = 0; i < texts.size(); ++i)
    found.emplace_back(texts.get(i).text, texts.label(i));
  EXPECT_EQ(found, (std::vector<std::pair<std::string, int64_t>>{
                       {"bad", 0}, {"worse", 0}, {"worst", 0}, {"good\n", 1}}));
  write("pos/2.txt", "\xc3\x28");
  data::TextFolder more(folder);
  expectPart(errorOf([&] { more.get(4); }), "2.txt: the text is not UTF-8");
  data::TextFolder small(folder, {.max_bytes = 3});
  expectPart(errorOf([&] { small.get(3); }), "5 bytes; more than 3");
}

TEST_F(Text, LinesOfAFileAreItems) {
  data::TextLines lines(write("a.txt", "one\n\r\n\nfour\r\nlast"));
  ASSERT_EQ(lines.size(), 5);
  EXPECT_EQ(lines.get(0), "one");
  EXPECT_EQ(lines.get(1), "");
  EXPECT_EQ(lines.get(3), "four");
  EXPECT_EQ(lines.view(4), "last");
  EXPECT_EQ(data::TextLines(write("b.txt", "")).size(), 0);
  EXPECT_EQ(data::TextLines(write("b.txt", "\n")).size(), 1);
  errorOf([&] { lines.get(5); }, ErrorKind::invalid_argument);
}

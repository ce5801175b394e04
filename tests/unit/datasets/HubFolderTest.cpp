/// Folders in the layout of Hugging Face's data sets, imported once.
#include "tests/unit/datasets/Folder.h"

#include <sinter/data/HubFolder.h>

#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sinter;
using data::HubFolder;

static_assert(data::RowDataset<HubFolder>);

namespace {

using Names = std::vector<std::string>;

struct Review {
  std::string text;
  int64_t label = 0;
  SINTER_ROW(text, label)
};

std::string lines(int64_t first, int64_t last) {
  std::string text;
  for (int64_t i = first; i < last; ++i)
    text += "{\"text\": \"review " + std::to_string(i) +
            "\", \"label\": " + std::to_string(i % 2) + "}\n";
  return text;
}

class Hub : public FolderTest {
protected:
  Names texts(const HubFolder &rows) {
    Names found;
    for (int64_t i = 0; i < rows.size(); ++i)
      found.push_back(rows.get(i).get<std::string>("text"));
    return found;
  }
  int64_t cachedFiles() const {
    int64_t files = 0;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder / ".sinter"))
      files += entry.path().extension() == ".sqlite";
    return files;
  }
};

} // namespace

TEST_F(Hub, IsImportedOnceAndNotReadAgain) {
  write("data/train-00000-of-00002.jsonl", lines(0, 300));
  std::string second =
      write("data/train-00001-of-00002.jsonl", lines(300, 500));
  HubFolder first(folder);
  EXPECT_EQ(first.files_read(), 2);
  HubFolder again(folder);
  EXPECT_EQ(again.files_read(), 0);
  EXPECT_EQ(again.cache_file(), first.cache_file());
  auto reviews = data::rows_as<Review>(again);
  ASSERT_EQ(reviews.size(), 500);
  for (int64_t i : {0, 299, 300, 499}) {
    EXPECT_EQ(reviews.get(i).text, "review " + std::to_string(i));
    EXPECT_EQ(reviews.get(i).label, i % 2);
  }
  // A file that changed, also one of the same size, is imported again.
  std::filesystem::last_write_time(second,
                                   std::filesystem::last_write_time(second) +
                                       std::chrono::milliseconds(5));
  EXPECT_EQ(HubFolder(folder).files_read(), 2);
  EXPECT_EQ(HubFolder(folder).files_read(), 0);
  write("data/train-00001-of-00002.jsonl", lines(300, 301));
  HubFolder changed(folder);
  EXPECT_EQ(changed.files_read(), 2);
  EXPECT_EQ(changed.size(), 301);
  EXPECT_EQ(cachedFiles(), 1);
}

TEST_F(Hub, ADamagedCacheIsMadeAnew) {
  write("train.jsonl", lines(0, 3));
  std::string cached = HubFolder(folder).cache_file();
  std::ofstream(cached) << "no SQLite";
  HubFolder again(folder);
  EXPECT_EQ(again.files_read(), 1);
  EXPECT_EQ(again.size(), 3);
}

TEST_F(Hub, TheCacheMayLieElsewhere) {
  write("a/train.jsonl", lines(0, 3));
  write("b/train.jsonl", lines(0, 4));
  data::HubFolderOptions options{.cache = folder / "cache"};
  HubFolder a(folder / "a", "train", options);
  HubFolder b(folder / "b", "train", options);
  EXPECT_EQ(a.size(), 3);
  EXPECT_EQ(b.size(), 4);
  EXPECT_EQ(HubFolder(folder / "a" / "..", "train", options).size(), 7);
  EXPECT_FALSE(std::filesystem::exists(folder / "a" / ".sinter"));
  EXPECT_TRUE(a.cache_file().starts_with((folder / "cache").string()));
}

TEST_F(Hub, SplitsAreFoundByNames) {
  for (const char *name : {"training.csv", "my-dev-set.csv", "eval1.csv",
                           "eval2.csv", "README.md", "notes.bin"})
    write(name, "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder), (Names{"test", "train", "validation"}));
  EXPECT_EQ(HubFolder(folder, "test").size(), 2);
  // Shards name any split, and come before other names.
  write("data/extra-00000-of-00001.csv", "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder), Names{"extra"});
  write("one/a.csv", "a\n1\n");
  write("one/b.csv", "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder / "one"), Names{"train"});
  // Folders come before files; some say two.
  write("two/train/test.csv", "a\n1\n");
  write("two/my_val-2/b.csv", "a\n1\n");
  write("two/other/test.csv", "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder / "two"), (Names{"train", "validation"}));
  write("three/train-test.csv", "a\n1\n");
  write("three/retrain.csv", "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder / "three"), (Names{"test", "train"}));
  EXPECT_EQ(HubFolder(folder / "three", "test").size(), 1);
  expectPart(errorOf([&] { HubFolder(folder / "one", "test"); },
                     ErrorKind::invalid_argument),
             "no split 'test', but: train");
  std::filesystem::create_directories(folder / "none");
  expectPart(errorOf([&] { HubFolder(folder / "none"); }), "no files of data");
}

TEST_F(Hub, ConfigsOfTheReadmeNameFiles) {
  write("README.md", R"(---
license: mit
pretty_name: "Some: thing"
dataset_info:
  features:
  - name: text
    dtype: !weird {a: b}
configs:
- config_name: small   # a comment
  data_files:
  - split: train
    path: "s/*.csv"
  - split: holdout
    path:
    - s/deep/a.csv
    - 's/deep/b.csv'
- config_name: large
  default: true
  data_files: ["l/**/*.csv", l/x.csv]
- config_name: other
  data_dir: s/deep
tags:
- a
---
# A data set
)");
  for (const char *name : {"s/1.csv", "s/2.csv", "s/deep/a.csv", "s/deep/b.csv",
                           "l/x.csv", "l/y/z/w.csv"})
    write(name, "a\n1\n");
  EXPECT_EQ(data::hub_splits(folder), Names{"train"});
  EXPECT_EQ(HubFolder(folder).size(), 2);
  EXPECT_EQ(HubFolder(folder).files_read(), 0);
  EXPECT_EQ(data::hub_splits(folder, "small"), (Names{"holdout", "train"}));
  EXPECT_EQ(HubFolder(folder, "holdout", {.config = "small"}).size(), 2);
  EXPECT_EQ(HubFolder(folder, "train", {.config = "small"}).size(), 2);
  EXPECT_EQ(HubFolder(folder, "train", {.config = "other"}).size(), 2);
  expectPart(errorOf([&] { HubFolder(folder, "train", {.config = "huge"}); },
                     ErrorKind::invalid_argument),
             "no config 'huge', but: small, large, other");
  EXPECT_EQ(cachedFiles(), 4);
}

TEST_F(Hub, ReadmesThatAreNotUnderstoodAreErrors) {
  write("train.csv", "a\n1\n");
  auto refuse = [&](const std::string &configs, std::string_view why,
                    ErrorKind kind = ErrorKind::unsupported) {
    write("README.md", "---\n" + configs + "\n---\n");
    expectPart(errorOf([&] { HubFolder{folder}; }, kind), why);
  };
  refuse("configs:\n- &anchor\n  config_name: a", "README.md:3");
  refuse("configs:\n- config_name: a\n   data_files: x\n  y: z", "README.md:4");
  refuse("configs:\n- config_name: \"a\\n\"", "README.md:3: such a quoted");
  refuse("configs:\n- config_name: a\n  data_files:\n    a:\n      b: c",
         "neither a pattern nor a list");
  refuse("configs:\n- config_name: a\n  data_files: none/*", "no file fits",
         ErrorKind::io);
  refuse("configs:\n- config_name: a\n- config_name: b", "name one of: a, b",
         ErrorKind::invalid_argument);
  refuse(
      "configs:\n" +
          [] {
            std::string deep;
            for (size_t i = 0; i < 40; ++i)
              deep += std::string(i + 1, ' ') + "a:\n";
            return deep;
          }(),
      "more than 16 levels");
  // Without configs nothing of it is read.
  write("README.md", "---\nlicense: {a: [\n---\n");
  EXPECT_EQ(HubFolder(folder).size(), 1);
  write("README.md", "no front");
  EXPECT_EQ(HubFolder(folder).size(), 1);
}

TEST_F(Hub, ColumnsOfCsvAreNumbersWhereAllRowsAre) {
  write("train/a.csv", "whole,real,code,text,none\n1,1,007,x,\n,2.5,1,2,\n");
  write("train/b.tsv", "whole\treal\tcode\ttext\tnone\n-3\t1e3\t2\t\"\"\t\n");
  HubFolder rows(folder);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.columns(), (Names{"whole", "real", "code", "text", "none"}));
  EXPECT_EQ(rows.get(0).find("whole")->kind(), data::CellKind::integer);
  EXPECT_TRUE(rows.get(1).find("whole")->is_null());
  EXPECT_EQ(rows.get(2).get<int>("whole"), -3);
  EXPECT_EQ(rows.get(0).find("real")->kind(), data::CellKind::number);
  EXPECT_EQ(rows.get(2).get<double>("real"), 1000);
  EXPECT_EQ(rows.get(0).get<std::string>("code"), "007");
  EXPECT_EQ(rows.get(2).get<std::string>("code"), "2");
  EXPECT_EQ(rows.get(1).get<std::string>("text"), "2");
  EXPECT_TRUE(rows.get(0).find("none")->is_null());
}

TEST_F(Hub, ListsPackedFilesAndTextsAreRead) {
  // Two members, one after the other.
  std::filesystem::copy(filesOfTests() / "lines.jsonl.gz",
                        folder / "train.jsonl.gz");
  write("test.json", "[{\"text\": \"c\"}, {\"text\": \"d\"}]");
  write("dev.txt", "e\nf\n");
  EXPECT_EQ(texts(HubFolder(folder)), (Names{"a", "b"}));
  EXPECT_EQ(texts(HubFolder(folder, "test")), (Names{"c", "d"}));
  EXPECT_EQ(texts(HubFolder(folder, "validation")), (Names{"e", "f"}));
  write("train.jsonl.gz",
        readAll(filesOfTests() / "lines.jsonl.gz").substr(0, 30));
  expectPart(errorOf([&] { HubFolder{folder}; }),
             "train.jsonl.gz: the packed bytes are cut short");
  write("train.jsonl.gz", readAll(filesOfTests() / "lines.jsonl.gz") + "junk");
  expectPart(errorOf([&] { HubFolder{folder}; }), "other bytes follow");
}

TEST_F(Hub, ParquetIsAnErrorThatSaysWhatToDo) {
  write("data/train-00000-of-00001.parquet", "PAR1");
  expectPart(errorOf([&] { HubFolder{folder}; }, ErrorKind::unsupported),
             "to_json(\"train.jsonl\")");
  EXPECT_EQ(cachedFiles(), 0);
}

TEST_F(Hub, AnErrorInAFileLeavesTheCacheAsItWas) {
  write("train.jsonl", lines(0, 3));
  HubFolder good(folder);
  std::string before = readAll(good.cache_file());
  write("train.jsonl", lines(0, 3) + "{\"text\": }\n");
  expectPart(errorOf([&] { HubFolder{folder}; }), "train.jsonl:4: byte");
  EXPECT_EQ(readAll(good.cache_file()), before);
  EXPECT_EQ(good.get(2).get<std::string>("text"), "review 2");
  write("train.jsonl", lines(0, 3) + "{\"text\": [1]}\n");
  expectPart(errorOf([&] { HubFolder{folder}; }, ErrorKind::unsupported),
             "train.jsonl:4: column 'text' has");
}

TEST_F(Hub, OfSeveralProcessesOneImports) {
  write("train.jsonl", lines(0, 20000));
  constexpr int processes = 4;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      HubFolder rows(folder);
      bool right = rows.size() == 20000 &&
                   rows.get(19999).get<std::string>("text") == "review 19999";
      ::_exit(right ? int(rows.files_read()) : 100);
    }
    children.push_back(child);
  }
  int read = 0;
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    read += WEXITSTATUS(status);
  }
  EXPECT_EQ(read, 1);
  EXPECT_EQ(HubFolder(folder).files_read(), 0);
}

/// Records as trees of values: what is put is got back, and what does not fit
/// is an error that names the path.
#include "tests/unit/record/SmallModels.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <optional>

using namespace record_test;

namespace mine {

enum class Phase : uint8_t { warm, hot };

struct Progress {
  int64_t epoch = 0;
  double best = 0;
  bool done = false;
  std::string note;
  std::vector<double> losses;
  std::array<int32_t, 2> sizes{};
  std::map<std::string, double> metrics;
  std::optional<int64_t> seed;
  Phase phase = Phase::warm;
  std::vector<std::byte> blob;
  std::vector<std::string> names;
  SINTER_RECORD(Progress, epoch, best, done, note, losses, sizes, metrics, seed,
                phase, blob, names)
  bool operator==(const Progress &) const = default;
};

/// A class with a pair of functions beside it.
struct Vocabulary {
  std::vector<std::string> words;
};
// NOLINTBEGIN(readability-identifier-naming): the names that records look for.
sn::Record into_record(const Vocabulary &vocabulary) {
  sn::Record record;
  record.put("words", vocabulary.words);
  return record;
}
void load_record(Vocabulary &vocabulary, const sn::Record &record) {
  record.get("words", vocabulary.words);
}
// NOLINTEND(readability-identifier-naming)

} // namespace mine

static mine::Progress someProgress() {
  return {.epoch = 7,
          .best = std::numeric_limits<double>::infinity(),
          .done = true,
          .note = "on \"fire\" \xc3\xa4",
          .losses = {0.5, -0.0, 1e-300, 3},
          .sizes = {-4, 2147483647},
          .metrics = {{"accuracy", 0.25}, {"$odd", 1}},
          .seed = std::nullopt,
          .phase = mine::Phase::hot,
          .blob = {std::byte(0), std::byte(255)},
          .names = {"a", ""}};
}

TEST(Record, FieldsThatAreNoTensorsAreSavedInEveryFormat) {
  Folder folder;
  for (sn::RecordFormat format : fileFormats) {
    sn::Record record;
    record.put("progress", someProgress());
    record.put("vocabulary", mine::Vocabulary{{"one", "two"}});
    record.put("pi", 3.141592653589793);
    record.put("most", std::numeric_limits<int64_t>::max());
    record.put("least", std::numeric_limits<int64_t>::min());
    std::string file = record.save(folder / "fields", {.format = format});
    sn::Record loaded = sn::Record::load(file);
    EXPECT_TRUE(loaded == record) << file;
    mine::Progress progress;
    progress.seed = 5;
    loaded.get("progress", progress);
    EXPECT_EQ(progress, someProgress()) << file;
    EXPECT_TRUE(std::signbit(progress.losses[1]));
    mine::Vocabulary vocabulary;
    loaded.get("vocabulary", vocabulary);
    EXPECT_EQ(vocabulary.words, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(loaded.get<double>("pi"), 3.141592653589793);
    EXPECT_EQ(loaded.get<int64_t>("most"), INT64_MAX);
    EXPECT_EQ(loaded.get<int64_t>("least"), INT64_MIN);
    // The order of the entries stays.
    EXPECT_EQ(loaded.as_map()[0].name, "progress");
    EXPECT_EQ(loaded.as_map()[4].name, "least");
  }
}

TEST(Record, NamesThatBeginAsTagsDoAreNames) {
  sn::Record inner;
  inner.put("$tensor", "f32");
  inner.put("$", 1);
  inner.put("", 2);
  inner.put("a.b", sn::tensor({1.0f}));
  sn::Record record;
  record.set("inner", inner);
  sn::Record a;
  a.put("b", sn::tensor({2.0f}));
  record.set("inner.a", a);
  for (sn::RecordFormat format : fileFormats) {
    auto bytes = record.to_bytes(sn::SaveRecordOptions{.format = format});
    EXPECT_TRUE(sn::Record::from_bytes(bytes) == record) << int(format);
  }
}

TEST(Record, ErrorsNameThePath) {
  sn::Record record;
  record.put("progress", someProgress());
  auto messageOf = [&](auto &&change) {
    sn::Record changed = record.at("progress");
    change(changed);
    sn::Record outer;
    outer.set("progress", changed);
    return errorOf([&] {
      mine::Progress progress;
      outer.get("progress", progress);
    });
  };
  EXPECT_EQ(messageOf([](sn::Record &r) { r.put("epoch", "seven"); }),
            "record: 'progress.epoch' is a text, not an integer");
  EXPECT_EQ(messageOf([](sn::Record &r) {
              r.put("losses", std::vector<std::string>{"x"});
            }),
            "record: 'progress.losses.0' is a text, not a real number");
  EXPECT_EQ(messageOf([](sn::Record &r) {
              r.put("sizes", std::vector<int64_t>{1, int64_t(1) << 40});
            }),
            "record: 'progress.sizes.1' is 1099511627776, for which an integer "
            "of 32 bits has no room");
  EXPECT_EQ(
      messageOf([](sn::Record &r) { r.put("sizes", std::vector<int64_t>{1}); }),
      "record: 'progress.sizes' has 1 elements, not 2");
  EXPECT_EQ(messageOf([](sn::Record &r) { r.erase("note"); }).substr(0, 46),
            "record: 'progress' has no entry 'note'; it has");
  EXPECT_EQ(errorOf([&] { record.get<bool>("none"); }),
            "record: has no entry 'none'; it has 'progress'");
  EXPECT_EQ(errorOf([&] { record.put("big", UINT64_MAX); }),
            "record: 'big' is 18446744073709551615, which an int64 cannot be");
  EXPECT_EQ(errorOf([&] { record.at("progress").at("epoch").at("x"); }),
            "record: is an integer, not a map");
}

TEST(Record, IsAValue) {
  sn::Record a;
  a.put("x", 1);
  sn::Record b = a;
  b.put("x", 2);
  b.put("y", true);
  EXPECT_EQ(a.get<int>("x"), 1);
  EXPECT_EQ(b.get<int>("x"), 2);
  EXPECT_EQ(b.size(), 2u);
  EXPECT_TRUE(b.erase("y"));
  EXPECT_FALSE(b.erase("y"));
  EXPECT_FALSE(b.contains("y"));
  EXPECT_FALSE(a == b);
}

TEST(Record, WhatCannotBeStoredIsAnErrorOfSaving) {
  auto messageOf = [](const sn::Record &record) {
    return errorOf([&] { record.to_bytes(); });
  };
  sn::Record text, outer;
  text.put("note", "\xff");
  outer.set("deep", text);
  EXPECT_EQ(messageOf(outer), "record: 'deep.note' is no UTF-8; a vector of "
                              "std::byte may be anything");
  sn::Record nested;
  for (int i = 0; i < 40; ++i) {
    sn::Record around;
    around.set("x", nested);
    nested = around;
  }
  EXPECT_NE(messageOf(nested).find("is more than 32 levels deep"),
            std::string::npos);
  sn::Record many;
  many.put("list", std::vector<std::optional<bool>>(1300000));
  EXPECT_EQ(messageOf(many), "record: 1300002 values are too many for a file; "
                             "long lists are tensors");
  EXPECT_EQ(messageOf(sn::Record(sn::Record::Value(int64_t(1)))),
            "record: only a map can be a file");
}

TEST(Record, AddsTheExtensionByItself) {
  Folder folder;
  sn::Record record;
  record.put("x", 1);
  const char *extensions[] = {".safetensors", ".mpk",     ".mpk.gz", ".bin",
                              ".bin.gz",      ".json.gz", ".json"};
  for (size_t i = 0; i < std::size(fileFormats); ++i) {
    std::string full = folder / ("run" + std::string(extensions[i]));
    // Added, or there; said by the extension alone.
    EXPECT_EQ(record.save(folder / "run", {.format = fileFormats[i]}), full);
    EXPECT_EQ(record.save(full, {.format = fileFormats[i]}), full);
    EXPECT_EQ(record.save(full), full);
    EXPECT_TRUE(sn::Record::load(folder / "run", {.format = fileFormats[i]}) ==
                record);
    EXPECT_TRUE(sn::Record::load(folder / "run") == record);
    fs::remove(full);
  }
  EXPECT_EQ(record.save(folder / "plain"), folder / "plain.mpk");
  EXPECT_EQ(errorOf([&] {
              record.save(folder / "run.bin",
                          {.format = sn::RecordFormat::pretty_json});
            }),
            "record: " + folder / "run.bin" +
                " has the extension of the binary form, and is to be in JSON");
  record.save(folder / "plain.bin");
  EXPECT_EQ(errorOf([&] { sn::Record::load(folder / "plain"); }),
            folder / "plain" + ": there are " + folder / "plain.mpk" + " and " +
                folder / "plain.bin" + "; name the one that is meant");
  EXPECT_EQ(errorOf([&] { sn::Record::load(folder / "nothing"); }),
            folder / "nothing" + ": cannot open: No such file or directory");
}

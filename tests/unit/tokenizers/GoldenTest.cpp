/// What the `tokenizers` package gave of small tokenizers; make_goldens.py of
/// tests/e2e/tokenizers wrote it.
#include <sinter/Tokenizers.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace sinter::text;
using nlohmann::json;

static void check(const json &golden) {
  Tokenizer tokenizer = Tokenizer::from_json(golden["tokenizer"].dump());
  auto lines = golden["lines"].get<std::vector<std::string>>();
  std::vector<Encoding> all = tokenizer.encode_batch(lines, 2);
  for (size_t i = 0; i < lines.size(); ++i) {
    const json &expected = golden["expected"][i];
    EXPECT_EQ(json(all[i].ids), expected["ids"]) << lines[i];
    json offsets = json::array();
    for (auto [begin, end] : all[i].offsets)
      offsets.push_back({begin, end});
    EXPECT_EQ(offsets, expected["offsets"]) << lines[i];
    EXPECT_EQ(json(tokenizer.decode(all[i].ids, false)), expected["decoded"]);
  }
}

TEST(TokenizerGoldens, equalThePackages) {
  size_t count = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(SINTER_TOKENIZER_GOLDENS)) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path());
    check(json::parse(file));
    ++count;
  }
  EXPECT_EQ(count, 5u);
}

/// Replays what the fuzzers start from, what they found, and some small changes
/// of each: the same ones every time.
#include "tests/fuzz/Corpus.h"
#include "tests/fuzz/Fuzzer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <vector>

namespace fs = std::filesystem;

void fuzzCache(const uint8_t *data, size_t size);
void fuzzCsv(const uint8_t *data, size_t size);
void fuzzImage(const uint8_t *data, size_t size);
void fuzzIdx(const uint8_t *data, size_t size);
void fuzzJson(const uint8_t *data, size_t size);
void fuzzJsonLines(const uint8_t *data, size_t size);
void fuzzKernel(const uint8_t *data, size_t size);
void fuzzModel(const uint8_t *data, size_t size);
void fuzzNpy(const uint8_t *data, size_t size);
void fuzzNpz(const uint8_t *data, size_t size);
void fuzzOnnx(const uint8_t *data, size_t size);
void fuzzTokenizer(const uint8_t *data, size_t size);
void fuzzTorch(const uint8_t *data, size_t size);
void fuzzPickle(const uint8_t *data, size_t size);
void fuzzPicture(const uint8_t *data, size_t size);
void fuzzRecord(const uint8_t *data, size_t size);
void fuzzSafetensors(const uint8_t *data, size_t size);
void fuzzText(const uint8_t *data, size_t size);
void fuzzTiles(const uint8_t *data, size_t size);
void fuzzWeights(const uint8_t *data, size_t size);

namespace {

struct Named {
  const char *name;
  void (*fuzzer)(const uint8_t *data, size_t size);
};

void PrintTo(const Named &named, std::ostream *stream) {
  *stream << named.name;
}

class Replay : public testing::TestWithParam<Named> {
protected:
  void SetUp() override { ASSERT_TRUE(sinter::fuzz::writeCorpus(folder)); }
  void TearDown() override { fs::remove_all(folder); }

  /// Good files, then those stored beside this one.
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const fs::path &root : {folder, fs::path(SINTER_FUZZ_CORPUS)}) {
      fs::path own = root / GetParam().name;
      if (fs::exists(own))
        for (const auto &entry : fs::directory_iterator(own))
          all.push_back(entry.path());
    }
    return all;
  }

  fs::path folder =
      fs::temp_directory_path() / ("sinter-corpus-" + std::to_string(getpid()));
};

std::vector<uint8_t> contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_P(Replay, endsWell) {
  constexpr int changesOfEach = 60;
  std::vector<fs::path> all = files();
  ASSERT_FALSE(all.empty());
  std::mt19937_64 random(1);
  for (const fs::path &path : all) {
    SCOPED_TRACE(path);
    std::vector<uint8_t> bytes = contents(path);
    GetParam().fuzzer(bytes.data(), bytes.size());
    for (int i = 0; i < changesOfEach && !bytes.empty(); ++i) {
      std::vector<uint8_t> altered = bytes;
      altered[random() % altered.size()] ^= uint8_t(1 << random() % 8);
      if (i % 4 == 0)
        altered.resize(random() % altered.size());
      GetParam().fuzzer(altered.data(), altered.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fuzzers, Replay,
    testing::Values(
        Named{"cache", fuzzCache}, Named{"csv", fuzzCsv}, Named{"idx", fuzzIdx},
        Named{"image", fuzzImage}, Named{"json", fuzzJson},
        Named{"jsonlines", fuzzJsonLines}, Named{"picture", fuzzPicture},
        Named{"kernel", fuzzKernel}, Named{"model", fuzzModel},
        Named{"npy", fuzzNpy}, Named{"npz", fuzzNpz}, Named{"onnx", fuzzOnnx},
        Named{"pickle", fuzzPickle}, Named{"tokenizer", fuzzTokenizer},
        Named{"torch", fuzzTorch}, Named{"record", fuzzRecord},
        Named{"safetensors", fuzzSafetensors}, Named{"text", fuzzText},
        Named{"tiles", fuzzTiles}, Named{"weights", fuzzWeights}),
    [](const auto &each) { return std::string(each.param.name); });

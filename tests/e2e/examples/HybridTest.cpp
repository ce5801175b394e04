/// MNIST end to end: examples/12_hybrid_trainer, which reads the files as they
/// are published. SINTER_SUITES names the folder that has them.
#include "tests/e2e/export/ShellRun.h"

#include <cstdint>
#include <fstream>
#include <regex>
#include <unistd.h>

namespace fs = std::filesystem;
using sinter::test::runIn;

namespace {

class HybridMnist : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/sinter-hybrid-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Images of 4x4 whose one bright pixel is their digit's, and the digits.
  void writeImages(const std::string &kind, uint8_t count) const {
    std::string images("\0\0\x08\x03\0\0\0\0\0\0\0\x04\0\0\0\x04", 16);
    std::string labels("\0\0\x08\x01\0\0\0\0", 8);
    images[7] = labels[7] = char(count);
    for (uint8_t i = 0; i < count; ++i) {
      std::string image(16, 0);
      image[i % 10] = '\xff';
      images += image;
      labels += char(i % 10);
    }
    std::ofstream(folder / (kind + "-images-idx3-ubyte")) << images;
    std::ofstream(folder / (kind + "-labels-idx1-ubyte")) << labels;
  }

  std::string run(const std::string &arguments, int rc = 0) const {
    return runIn(folder, HYBRID_PROGRAM " " + arguments, rc);
  }

  fs::path folder;
};

/// The sum of what the first group of a pattern finds.
int64_t sumOf(const std::string &output, const char *pattern) {
  std::regex regex(pattern);
  int64_t sum = 0;
  for (std::sregex_iterator it(output.begin(), output.end(), regex), end;
       it != end; ++it)
    sum += std::stoll((*it)[1]);
  return sum;
}

} // namespace

TEST_F(HybridMnist, OneEpochOfThePublishedFilesFindsTheDigits) {
  const char *suites = std::getenv("SINTER_SUITES");
  if (!suites)
    GTEST_SKIP() << "SINTER_SUITES names no folder";
  std::string output = run("--data '" + fs::absolute(suites).string() +
                           "/data/mnist' --epochs 1");
  std::printf("%s", output.c_str());
  EXPECT_EQ(sumOf(output, "(\\d+) parameters"),
            784 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(sumOf(output, "(\\d+) images to train on"), 60000);
  EXPECT_EQ(sumOf(output, "(\\d+) steps of phase"), (60000 + 63) / 64);
  EXPECT_GT(sumOf(output, "(\\d+) steps of phase predict"), 0);
}

TEST_F(HybridMnist, AFolderOfAnyFourFilesIsTrainedOn) {
  writeImages("train", 100);
  writeImages("t10k", 20);
  std::string output = run("--data . --batch 10 --epochs 8 --hidden 16");
  EXPECT_EQ(sumOf(output, "(\\d+) images to train on"), 100);
  EXPECT_EQ(sumOf(output, "(\\d+) steps of phase"), 80);
}

TEST_F(HybridMnist, FilesThatAreMissingAreNamed) {
  writeImages("train", 10);
  EXPECT_NE(run("--data .", 1).find("no t10k-images-idx3-ubyte"),
            std::string::npos);
  EXPECT_NE(run("--dat .", 1).find("did you mean --data"), std::string::npos);
}

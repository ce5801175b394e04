/// SINTER_TUNE=1 in whole processes: the answers of those without, choices that
/// the next one finds, and nothing else where nobody asks. The test starts
/// itself again as those processes.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

namespace sn = sinter;
namespace fs = std::filesystem;

namespace {

constexpr const char *childVariable = "SINTER_TEST_CHILD";

/// Products of whole numbers, which are exact in any order, one of them of
/// symbolic rows; then the counters and the text of the kernels.
int beChild() {
  auto numbers = [](int64_t rows, int64_t columns, float step) {
    std::vector<float> values(static_cast<size_t>(rows * columns));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6) * step;
    return sn::tensor(values, {rows, columns});
  };
  sn::Tensor x = numbers(96, 64, 1), w = numbers(64, 80, 2);
  sn::Tensor some = numbers(33, 64, 1).dynamic(0);
  std::vector<float> a = sn::relu(sn::matmul(x, w) + 1.f).to_vector<float>();
  std::vector<float> b = sn::matmul(some, w).to_vector<float>();
  double sum = 0;
  for (const std::vector<float> &all : {a, b})
    for (size_t i = 0; i < all.size(); ++i)
      sum += double(all[i]) * double(i % 101);
  sn::Stats stats = sn::stats();
  std::ifstream maps("/proc/self/maps");
  std::string text(std::istreambuf_iterator<char>(maps), {});
  std::printf("sum %.17g compiles %d disk %d compiler %d warnings %d\n", sum,
              static_cast<int>(stats.compiles),
              static_cast<int>(stats.disk_hits),
              static_cast<int>(text.find("libsinter-compiler") != text.npos),
              static_cast<int>(stats.warnings));
  return 0;
}

class Tuning : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    char name[] = "/tmp/sinter-tuning-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// The child's line, with a cache in `cache`; standard error joins it.
  std::string child(const char *cache, const std::string &variables) const {
    std::string self = fs::read_symlink("/proc/self/exe");
    std::string command = "env -u SINTER_TUNE SINTER_CACHE_DIR='" +
                          (folder / cache).string() + "' " + childVariable +
                          "=1 " + variables + " '" + self + "' 2>&1";
    FILE *pipe = ::popen(command.c_str(), "r");
    std::string output;
    char buffer[512];
    while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
      output.append(buffer, count);
    EXPECT_EQ(::pclose(pipe), 0) << output;
    return output;
  }

  /// The names of a cache's files with this extension.
  std::set<std::string> entries(const char *cache,
                                const char *extension) const {
    std::set<std::string> found;
    for (const auto &entry : fs::directory_iterator(folder / cache))
      if (entry.path().extension() == extension)
        found.insert(entry.path().filename());
    return found;
  }

  fs::path folder;
};

/// `sum X` of a child's line.
std::string sumOf(const std::string &line) {
  size_t start = line.find("sum "), end = line.find(" compiles");
  return start == line.npos ? line : line.substr(start, end - start);
}

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

} // namespace

TEST_F(Tuning, TheAnswersAreTheSame) {
  std::string plain = child("plain", "");
  std::string tuned = child("tuned", "SINTER_TUNE=1");
  expectHas(tuned, "compiles 2 disk 0 compiler 1 warnings 0");
  EXPECT_EQ(sumOf(tuned), sumOf(plain));
  EXPECT_FALSE(entries("tuned", ".tiles").empty());
  EXPECT_EQ(sumOf(child("exact", "SINTER_TUNE=1 SINTER_NUMERICS=exact")),
            sumOf(plain));
}

TEST_F(Tuning, TheNextProcessCompilesNothing) {
  std::string cold = child("tuned", "SINTER_TUNE=1");
  std::set<std::string> tiles = entries("tuned", ".tiles");
  std::set<std::string> kernels = entries("tuned", ".kernel");
  std::string warm = child("tuned", "SINTER_TUNE=1");
  expectHas(warm, "compiles 0 disk 2 compiler 0 warnings 0");
  EXPECT_EQ(sumOf(warm), sumOf(cold));
  EXPECT_EQ(entries("tuned", ".tiles"), tiles);
  EXPECT_EQ(entries("tuned", ".kernel"), kernels);
}

TEST_F(Tuning, BrokenChoicesAreMadeAnew) {
  std::string cold = child("tuned", "SINTER_TUNE=1");
  std::set<std::string> tiles = entries("tuned", ".tiles");
  for (const std::string &name : tiles)
    std::ofstream(folder / "tuned" / name) << "broken";
  std::string again = child("tuned", "SINTER_TUNE=1");
  EXPECT_EQ(sumOf(again), sumOf(cold));
  expectHas(again, "the digest is wrong; choosing tiles again");
  EXPECT_EQ(entries("tuned", ".tiles"), tiles);
  expectHas(child("tuned", "SINTER_TUNE=1"), "compiler 0 warnings 0");
}

TEST_F(Tuning, NothingChangesUnasked) {
  child("plain", "");
  std::set<std::string> programs = entries("plain", ".sinter");
  EXPECT_TRUE(entries("plain", ".tiles").empty());
  // Where choices are, those who do not ask have their own programs.
  child("tuned", "SINTER_TUNE=1");
  std::set<std::string> tuned = entries("tuned", ".sinter");
  expectHas(child("tuned", ""), "compiles 2 disk 0");
  for (const std::string &name : programs) {
    EXPECT_FALSE(tuned.contains(name));
    EXPECT_TRUE(entries("tuned", ".sinter").contains(name));
  }
}

int main(int argc, char **argv) {
  if (std::getenv(childVariable))
    return beChild();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

/// A miscompile from end to end: SINTER_VERIFY finds it, `sinter run` replays
/// and shrinks it. The fault is code in the kernel cache with another constant
/// in it than the kernel's text has.
#include "runtime/files/DiskCache.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace sn = sinter;
namespace fs = std::filesystem;

namespace {

constexpr const char *childVariable = "SINTER_TEST_CHILD";
constexpr float right = 1234.5f, wrong = 4321.5f;

/// The child: two outputs of which one has the constant.
int beChild() {
  sn::Tensor x = sn::tensor({{1.f, -2.f, 3.f}, {3.f, 4.f, 5.f}});
  sn::Tensor product = sn::matmul(sn::exp(x), sn::transpose(x, {1, 0}));
  sn::Tensor scaled = sn::tanh(x) * sn::full({2, 3}, right);
  try {
    sn::eval({product, scaled});
  } catch (const sn::Error &error) {
    std::printf("%s\n", error.what());
    return 3;
  }
  return 0;
}

struct Ran {
  int code = -1;
  std::string output;
};

class VerifyProcess : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    char name[] = "/tmp/sinter-verify-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// Runs a shell line in the folder; its standard error joins its output.
  Ran shell(const std::string &cache, const std::string &line) const {
    std::string command = "cd '" + folder.string() +
                          "' && env SINTER_CACHE_DIR='" +
                          (folder / cache).string() + "' " + line + " 2>&1";
    FILE *pipe = ::popen(command.c_str(), "r");
    Ran ran;
    char buffer[512];
    while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
      ran.output.append(buffer, count);
    ran.code = WEXITSTATUS(::pclose(pipe));
    return ran;
  }
  Ran child(const std::string &cache) const {
    std::string self = fs::read_symlink("/proc/self/exe");
    return shell(cache, std::string("SINTER_VERIFY=1 ") + childVariable +
                            "=1 '" + self + "'");
  }
  Ran tool(const std::string &cache, const std::string &arguments) const {
    return shell(cache, "'" SINTER_TOOL "' " + arguments);
  }

  /// Puts the wrong constant into the cached code of every kernel that has the
  /// right one, and removes the programs; counts the constants.
  unsigned alterCache(const std::string &cache) const;

  fs::path folder;
};

unsigned VerifyProcess::alterCache(const std::string &cache) const {
  sn::runtime::DiskCache files((folder / cache).string(), 1 << 30);
  unsigned count = 0;
  for (const auto &entry : fs::directory_iterator(folder / cache)) {
    if (entry.path().extension() == ".sinter")
      fs::remove(entry.path());
    if (entry.path().extension() != ".kernel")
      continue;
    std::string name = entry.path().stem();
    sn::runtime::Key key{std::stoull(name.substr(0, 16), nullptr, 16),
                         std::stoull(name.substr(16), nullptr, 16)};
    auto bytes = files.findBytes(sn::runtime::CacheKind::kernel, key);
    EXPECT_TRUE(bytes && *bytes) << entry.path();
    std::vector<std::byte> &code = **bytes;
    for (size_t at = 0; at + sizeof(float) <= code.size(); ++at)
      if (std::ranges::equal(std::span(code).subspan(at, sizeof(float)),
                             std::as_bytes(std::span(&right, 1)))) {
        std::memcpy(code.data() + at, &wrong, sizeof(float));
        ++count;
      }
    EXPECT_TRUE(files.storeBytes(sn::runtime::CacheKind::kernel, key, code));
  }
  return count;
}

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

} // namespace

TEST_F(VerifyProcess, AMiscompileIsFoundReplayedAndShrunk) {
  Ran before = child("cache");
  ASSERT_EQ(before.code, 0) << before.output;
  ASSERT_GT(alterCache("cache"), 0u);

  Ran found = child("cache");
  EXPECT_EQ(found.code, 3);
  expectHas(found.output, "mul: differs from the reference: output 1: element");
  fs::path repro;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      repro = entry.path().filename();
  ASSERT_FALSE(repro.empty()) << found.output;
  expectHas(found.output, "see " + repro.string());

  Ran again = tool("cache", "run " + repro.string());
  EXPECT_EQ(again.code, 1);
  expectHas(again.output, "differs from the reference: output 1: element 0");
  // Right code gives no difference.
  Ran healthy = tool("other", "run " + repro.string());
  EXPECT_EQ(healthy.code, 0) << healthy.output;
  expectHas(healthy.output, "no difference");

  Ran small = tool("cache", "run " + repro.string() + " --shrink");
  EXPECT_EQ(small.code, 1);
  std::string minimal = repro.stem().string() + ".min.mlir";
  expectHas(small.output, minimal + ": from ");
  expectHas(small.output, "sinter.mul");
  EXPECT_EQ(small.output.find("sinter.matmul"), std::string::npos)
      << small.output;
  Ran smallAgain = tool("cache", "run " + minimal);
  EXPECT_EQ(smallAgain.code, 1);
  expectHas(smallAgain.output, "differs from the reference: output ");
}

TEST_F(VerifyProcess, OnlyReprosShrink) {
  std::ofstream(folder / "m.mlir")
      << "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
         "  %0 = sinter.exp %x : (tensor<2xf32>) -> tensor<2xf32>\n"
         "  return %0 : tensor<2xf32>\n}\n";
  Ran ran = tool("cache", "run m.mlir --shrink");
  EXPECT_EQ(ran.code, 2);
  expectHas(ran.output, "--shrink takes a repro of SINTER_VERIFY");
}

int main(int argc, char **argv) {
  if (std::getenv(childVariable))
    return beChild();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

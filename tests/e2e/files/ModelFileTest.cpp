/// One model, three ways: what the cache holds after a flush, and what the
/// command line tool makes of the exported graph, are the same bytes; running
/// the file gives the same numbers and needs no compiler.
#include "runtime/device/Device.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sn = sinter;
namespace fs = std::filesystem;

namespace {

struct Net {
  sn::nn::Linear fc1{6, 16}, fc2{16, 3};
  sn::Tensor forward(const sn::Tensor &x) const {
    return sn::softmax(fc2(sn::gelu(fc1(x))), -1);
  }
  SINTER_MODULE(Net, fc1, fc2)
};

std::string readAll(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ModelFile : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    char name[] = "/tmp/sinter-files-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// What the tool prints on both streams; `rc` must be its exit status.
  std::string tool(const std::string &arguments, int rc = 0,
                   const std::string &environment = {}) const {
    std::string command = "cd '" + folder.string() + "' && env " + environment +
                          " " SINTER_TOOL " " + arguments + " 2>&1";
    FILE *pipe = ::popen(command.c_str(), "r");
    std::string output;
    char buffer[512];
    while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
      output.append(buffer, count);
    int status = ::pclose(pipe);
    EXPECT_EQ(WEXITSTATUS(status), rc) << arguments << "\n" << output;
    return output;
  }

  /// Compiles for the device of these tests.
  std::string compile(const std::string &arguments,
                      const std::string &environment = {}) const {
    auto device = sn::runtime::getDevice(sn::default_device());
    EXPECT_TRUE(device);
    return tool("compile " + arguments + " --target " + (*device)->target(), 0,
                environment);
  }

  /// The .sinter files of this process's cache.
  static std::vector<fs::path> cacheEntries() {
    std::vector<fs::path> entries;
    for (const auto &entry :
         fs::directory_iterator(std::getenv("SINTER_CACHE_DIR")))
      if (entry.path().extension() == ".sinter")
        entries.push_back(entry.path());
    return entries;
  }

  fs::path folder;
};

} // namespace

TEST_F(ModelFile, TheCacheAndTheToolMakeTheSameBytes) {
  Net model;
  model.visit([](auto &, sn::Param &p) { p.tensor().eval(); });
  sn::Tensor x = sn::uniform({5, 6}).eval();
  sn::no_grad guard;
  sn::Tensor y = model.forward(x);
  sn::export_graph({y}, folder / "net.mlir");
  size_t before = cacheEntries().size();
  y.eval();
  ASSERT_EQ(cacheEntries().size(), before + 1);

  compile("net.mlir --strip -o net.sinter");
  std::string made = readAll(folder / "net.sinter");
  ASSERT_GT(made.size(), 1000u);
  int same = 0;
  for (const fs::path &entry : cacheEntries())
    same += readAll(entry).ends_with(made); // behind the entry's head
  EXPECT_EQ(same, 1) << "no entry of the cache is the tool's file";
}

TEST_F(ModelFile, CompilingTwiceGivesTheSameBytes) {
  Net model;
  sn::export_graph({model.forward(sn::zeros({5, 6}))}, folder / "net.mlir");
  compile("net.mlir -o one.sinter");
  compile("net.mlir -o two.sinter", "SINTER_THREADS=1");
  EXPECT_EQ(readAll(folder / "one.sinter"), readAll(folder / "two.sinter"));
}

TEST_F(ModelFile, RunningAFileMapsNoCompiler) {
  Net model;
  sn::export_graph({model.forward(sn::zeros({5, 6}))}, folder / "net.mlir");
  compile("net.mlir -o net.sinter");
  std::string output =
      tool("run net.sinter --random-inputs 1", 0, "LD_DEBUG=files");
  EXPECT_NE(output.find("libsinter-runtime"), std::string::npos);
  EXPECT_EQ(output.find("libsinter-compiler"), std::string::npos);
  EXPECT_EQ(output.find("libMLIR"), std::string::npos);
}

TEST_F(ModelFile, ATruncatedOrAlteredFileIsAnError) {
  Net model;
  sn::export_graph({model.forward(sn::zeros({5, 6}))}, folder / "net.mlir");
  compile("net.mlir -o net.sinter");
  std::string whole = readAll(folder / "net.sinter");
  for (size_t size : {size_t{0}, size_t{10}, size_t{64}, whole.size() / 2,
                      whole.size() - 1}) {
    std::ofstream(folder / "cut.sinter", std::ios::binary)
        << whole.substr(0, size);
    std::string output = tool("run cut.sinter --random-inputs 1", 1);
    EXPECT_EQ(output.find("error: "), 0u) << output;
  }
  for (size_t at = 0; at < whole.size(); at += whole.size() / 40 + 1) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    std::ofstream(folder / "altered.sinter", std::ios::binary) << altered;
    std::string output = tool("run altered.sinter --random-inputs 1", 1);
    EXPECT_EQ(output.find("error: "), 0u) << at << ": " << output;
  }
}

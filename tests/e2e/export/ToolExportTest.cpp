/// What the command line tool makes of exported files.
#include <sinter/Basic.h>
#include <sinter/Export.h>

#include "runtime/device/Device.h"
#include "tests/e2e/export/ShellRun.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace sn = sinter;
namespace fs = std::filesystem;

namespace {

struct Net {
  sn::nn::Linear fc1{4, 8};
  sn::nn::BatchNorm1d norm{8};
  sn::Tensor forward(const sn::Tensor &x) const { return norm(fc1(x)); }
  SINTER_MODULE(Net, fc1, norm)
};

class ToolExportTest : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() != sn::device("cpu"))
      GTEST_SKIP() << "of the processor";
    char name[] = "/tmp/sinter-export-XXXXXX";
    folder = ::mkdtemp(name);
    sn::manual_seed(3);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// What a program prints on both streams; `rc` must be its exit status.
  std::string run(const std::string &command, int rc = 0) const {
    return sn::test::runIn(folder, command, rc);
  }
  std::string tool(const std::string &arguments, int rc = 0) const {
    return run(SINTER_TOOL " " + arguments, rc);
  }

  /// `predict` with weights, and `count` with state.
  void write(const std::string &file, const std::string &target) {
    sn::ModelExport exported;
    model.eval();
    exported.add("predict", model, x,
                 {.inputs = {"x"},
                  .outputs = {"y"},
                  .dynamic = {"x:0=batch"},
                  .description = "what it is",
                  .descriptions = {{"x", "images"}, {"y", "scores"}}});
    exported.name(total, "total");
    exported.add("count",
                 [&](const sn::Tensor &in) {
                   sn::Tensor sum = total.tensor() + in;
                   total.set(sum);
                   return sum * 2;
                 },
                 sn::zeros({4}), {.inputs = {"in"}, .outputs = {"twice"}});
    exported.write(folder / file,
                   {.targets = {target}, .metadata = {{"author", "me"}}});
  }

  /// A tensor in a file, as the tool reads it.
  void save(const char *name, const sn::Tensor &tensor) const {
    sn::data::write_npy(folder / name, tensor);
  }
  sn::Tensor load(const std::string &name) const {
    return sn::data::read_npy(folder / name);
  }

  fs::path folder;
  Net model;
  sn::Param total{sn::ones({4}), "total", false};
  sn::Tensor x = sn::uniform({5, 4}).eval();
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}

} // namespace

TEST_F(ToolExportTest, inspectPrintsTheSignatureFirst) {
  write("net.sinter", "cpu:scalar");
  std::string text = tool("inspect net.sinter");
  EXPECT_EQ(text.find("entry predict  what it is\n"
                      "  input x: f32[batch,4]  images\n"
                      "  output y: f32[batch,8]  scores\n"
                      "  reads 6 weights\n"
                      "  runs on cpu\n"
                      "  1 constant scalars\n"
                      "entry count\n"
                      "  input in: f32[4]\n"
                      "  output twice: f32[4]\n"
                      "  reads state total\n"
                      "  changes state total\n"),
            0u)
      << text.substr(0, 600);
  EXPECT_TRUE(has(text, "weight fc1.weight: f32[8,4], 128 bytes\n"));
  EXPECT_TRUE(has(text, "state total: f32[4], 16 bytes\n"));
  EXPECT_TRUE(has(text, "metadata author: me\n"));
  EXPECT_LT(text.find("metadata"), text.find("program for cpu"));
  EXPECT_FALSE(
      has(tool("inspect net.sinter --entry count --stage asm"), "error"));
  tool("inspect net.sinter --entry nothing", 1);
}

TEST_F(ToolExportTest, runFeedsByNameAndTakesWeightsFromTheFile) {
  write("net.sinter", "cpu");
  save("x.npy", x);
  tool("run net.sinter --entry predict --input x=x.npy --output-dir .");
  EXPECT_EQ(load("y.npy").to_vector<float>(), model(x).to_vector<float>());
  std::string text =
      tool("run net.sinter --entry count --random-inputs 1 --repeat 2");
  EXPECT_TRUE(has(text, "twice: f32[4]")) << text;
  EXPECT_FALSE(has(text, "total:")) << text;
  EXPECT_TRUE(has(tool("run net.sinter --random-inputs 1", 1),
                  "the file has several entries, --entry names one: predict, "
                  "count"));
  EXPECT_TRUE(has(tool("run net.sinter --entry sum --random-inputs 1", 1),
                  "the file has no entry 'sum', it has: predict, count"));
  EXPECT_TRUE(has(tool("run net.sinter --entry predict --input y=x.npy", 1),
                  "input 0 'x' has no value"));
  EXPECT_TRUE(has(tool("run net.sinter --entry predict --input x=x.npy "
                       "--input fc1.weight=x.npy",
                       1),
                  "no input is named 'fc1.weight'"));
}

TEST_F(ToolExportTest, compileMakesProgramsForOtherTargets) {
  write("net.sinter", "cpu:scalar");
  tool("compile net.sinter --target cpu,cuda:sm_90 -o both.sinter");
  tool("compile net.sinter --target cpu,cuda:sm_90 -o again.sinter");
  run("cmp both.sinter again.sinter");
  std::string text = tool("inspect both.sinter");
  EXPECT_TRUE(has(text, "  runs on cuda (sm_90")) << text.substr(0, 600);
  EXPECT_TRUE(has(text, "weight fc1.weight: f32[8,4], 128 bytes\n"));
  save("x.npy", x);
  tool("run both.sinter --entry predict --input x=x.npy --output-dir .");
  EXPECT_EQ(load("y.npy").to_vector<float>(), model(x).to_vector<float>());
  tool("compile net.sinter --strip -o bare.sinter");
  tool("run bare.sinter --entry predict --input x=x.npy");
  EXPECT_TRUE(has(tool("compile net.sinter --target nonsense -o c.sinter", 1),
                  "target nonsense is unknown"));
}

TEST_F(ToolExportTest, whereNoProgramFitsTheGraphIsCompiled) {
  write("gpu.sinter", "cuda:sm_90");
  save("x.npy", x);
  std::string command =
      "run gpu.sinter --device cpu --entry predict --input x=x.npy "
      "--output-dir .";
  EXPECT_TRUE(has(tool(command), "gpu.sinter: it has no program for cpu: its "
                                 "portable graph was compiled\n"));
  EXPECT_EQ(load("y.npy").to_vector<float>(), model(x).to_vector<float>());
  EXPECT_TRUE(has(run("SINTER_LOG=info " SINTER_TOOL " " + command),
                  "its portable graph was compiled before\n"));

  // The same without a compiler.
  fs::create_directories(folder / "lib");
  fs::copy(SINTER_TOOL, folder / "lib/sinter");
  fs::copy(SINTER_RUNTIME, folder / "lib" / SINTER_RUNTIME_NAME);
  fs::copy(SINTER_FRONTEND, folder / "lib" / SINTER_FRONTEND_NAME);
  std::string text = run("LD_LIBRARY_PATH=lib lib/sinter " + command, 1);
  EXPECT_TRUE(has(text, "model file: no program runs on cpu: cuda is for "
                        "another device; the device has ") ||
              has(text, "cuda (sm_90"))
      << text;
  EXPECT_TRUE(has(text, "; and it cannot be compiled here: no compiler: "))
      << text;
}

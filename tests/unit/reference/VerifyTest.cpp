/// Verify: silent when a program is right, a file when it is not.
#include "runtime/reference/Verify.h"

#include "runtime/reference/Repro.h"
#include "tests/unit/reference/HostRows.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sinter;
using namespace sinter::reference;

namespace {
class VerifyTest : public testing::Test {
protected:
  void SetUp() override {
    before = std::filesystem::current_path();
    folder = std::filesystem::temp_directory_path() /
             ("verify-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
  }
  void TearDown() override {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
  std::filesystem::path before, folder;
};
} // namespace

TEST_F(VerifyTest, ToleratesRoundingOnly) {
  HostTensor x = reals(DType::f32, {1, 2, 3});
  graph::NodeRef leaf = leafOf(x);
  graph::recordScope().site = 3;
  graph::NodeRef y = graph::ok(graph::exp(leaf));
  graph::recordScope().site = 0;
  graph::Slice slice = *graph::slice({&y, 1});
  HostTensor right = (*evaluate(slice.graph, {&x, 1}))[0];
  EXPECT_TRUE(verify(slice.graph, {&x, 1}, {&right, 1}, {}).ok());
  HostTensor near = reals(DType::f32, {2.7182817, 7.3890561, 20.085537});
  EXPECT_TRUE(verify(slice.graph, {&x, 1}, {&near, 1}, {}).ok());

  HostTensor wrong = reals(DType::f32, {2.7182817, 7.3890561, 20.1});
  static runtime::CompilerHook hook{};
  hook.exportGraph = [](const graph::Graph &) -> Result<std::string> {
    return makeError(ErrorKind::compile, "no text");
  };
  runtime::registerCompiler(&hook);
  Status status = verify(slice.graph, {&x, 1}, {&wrong, 1}, {});
  runtime::registerCompiler(nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::internal);
  EXPECT_EQ(status.error().op, "exp");
  EXPECT_EQ(status.error().site, 3u);
  EXPECT_NE(status.error().message.find("no repro"), std::string::npos)
      << status.error().message;
}

TEST_F(VerifyTest, KeepsARepro) {
  HostTensor x = reals(DType::f32, {1, 2, 3});
  graph::NodeRef y = graph::ok(graph::exp(leafOf(x)));
  static graph::Graph graph = graph::slice({&y, 1})->graph;
  static runtime::CompilerHook hook{};
  hook.exportGraph = [](const graph::Graph &) -> Result<std::string> {
    return std::string("the text");
  };
  hook.readGraph = [](std::string_view text) -> Result<graph::Graph> {
    EXPECT_TRUE(text.ends_with("\nthe text"));
    return graph;
  };
  runtime::registerCompiler(&hook);
  HostTensor wrong = reals(DType::f32, {2.7182817, 7.3890561, 20.1});
  runtime::CompileRequest request{
      .target = "cpu:scalar", .numerics = 0, .memoryLimit = 77};
  Status status = verify(graph, {&x, 1}, {&wrong, 1}, request);
  ASSERT_FALSE(status.ok());
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_NE(status.error().message.find(files[0].filename()),
            std::string::npos);
  std::ifstream file(files[0]);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_TRUE(isRepro(text));
  auto repro = readRepro(files[0], text);
  ASSERT_TRUE(repro) << repro.error().message;
  EXPECT_EQ(repro->request.target, "cpu:scalar");
  EXPECT_EQ(repro->request.numerics, 0);
  EXPECT_EQ(repro->request.fusion, 0);
  EXPECT_EQ(repro->request.memoryLimit, 77);
  EXPECT_TRUE(repro->difference.starts_with("output 0: element 2"));
  ASSERT_EQ(repro->inputs.size(), 1u);
  EXPECT_EQ(repro->inputs[0].dims, x.dims);
  EXPECT_EQ(repro->inputs[0].data, x.data);

  // What a file lacks is said.
  for (std::string_view broken :
       {"", "module {}", "// sinter-repro", "// sinter-repro {",
        "// sinter-repro {}\n", "// sinter-repro {\"target\": 3}\n"}) {
    auto refused = readRepro(files[0], broken);
    ASSERT_FALSE(refused) << broken;
    EXPECT_EQ(refused.error().kind, ErrorKind::io);
  }
  std::filesystem::remove(
      std::filesystem::path(files[0]).replace_extension(".safetensors"));
  EXPECT_FALSE(readRepro(files[0], text));
  runtime::registerCompiler(nullptr);
}

/// Verify: silent when a program is right, a file when it is not.
#include "runtime/reference/Verify.h"

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
  graph::recordScope().user = 3;
  graph::NodeRef y = graph::ok(graph::exp(leaf));
  graph::recordScope().user = 0;
  graph::Slice slice = *graph::slice({&y, 1});
  HostTensor right = (*evaluate(slice.graph, {&x, 1}))[0];
  EXPECT_TRUE(verify(slice.graph, {&x, 1}, {&right, 1}).ok());
  HostTensor near = reals(DType::f32, {2.7182817, 7.3890561, 20.085537});
  EXPECT_TRUE(verify(slice.graph, {&x, 1}, {&near, 1}).ok());

  HostTensor wrong = reals(DType::f32, {2.7182817, 7.3890561, 20.1});
  Status status = verify(slice.graph, {&x, 1}, {&wrong, 1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::internal);
  EXPECT_EQ(status.error().op, "exp");
  EXPECT_EQ(status.error().site, 3u);
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    EXPECT_TRUE(line.starts_with("// output 0: element 2")) << line;
    std::getline(file, line);
    EXPECT_EQ(line, "// input 0: f32[3] = 1 2 3");
    ++files;
  }
  EXPECT_EQ(files, 1);
}

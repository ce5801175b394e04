/// Looking at what tensors compile to runs and flushes nothing.
#include "tests/unit/frontend/Counting.h"

#include <fstream>
#include <sstream>
#include <unistd.h>

namespace sn = sinter;

static sn::Tensor firstLine() {
  sn::Tensor x = sn::tensor(std::vector<float>(32, 1.f), {4, 8});
  return sn::relu(
      sn::matmul(x, sn::tensor(std::vector<float>(16, 1.f), {8, 2})) +
      sn::tensor({1.f, 2.f}));
}

TEST(Inspect, ShowsStagesWithoutRunning) {
  uint64_t before = sn::stats().programs_run;
  sn::Tensor y = firstLine();
  EXPECT_NE(sn::inspect({y}, "import").find("sinter.matmul"),
            std::string::npos);
  EXPECT_NE(sn::inspect({y}, "fuse").find("program.kernel"), std::string::npos);
  EXPECT_NE(sn::explain(std::vector<sn::Tensor>{y}).find("launch"),
            std::string::npos);
  EXPECT_EQ(sn::stats().programs_run, before);
  EXPECT_NE(y.explain().find("pending"), std::string::npos);
  EXPECT_THROW(sn::inspect({y}, "no-such-stage"), sn::Error);
}

TEST(Inspect, UsersAssertFusion) {
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f});
  sn::Tensor inner = sn::exp(x);
  sn::Tensor outer = inner * x + 1.0;
  sn::expect_fused(inner, outer);
  sn::max_kernels({outer}, 1);
  expectError(sn::ErrorKind::invalid_argument, "max_kernels",
              [&] { sn::max_kernels({outer}, 0); });
  expectError(sn::ErrorKind::invalid_argument, "does not compute",
              [&] { sn::expect_fused(outer, inner); });
}

TEST(Inspect, ExportsWhatAFlushCompiles) {
  std::string path =
      testing::TempDir() + "sinter-" + std::to_string(getpid()) + ".mlir";
  sn::Tensor y = firstLine();
  sn::export_graph({y}, path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  EXPECT_NE(text.str().find("func.func @main"), std::string::npos);
  expectError(sn::ErrorKind::io, "",
              [&] { sn::export_graph({y}, "/no/such/folder/graph.mlir"); });
}

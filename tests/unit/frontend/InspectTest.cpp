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

namespace {
/// LLVM IR is the processor's, whatever device a test is run on.
struct OnProcessor {
  sn::DeviceId before = sn::default_device();

  OnProcessor() { sn::set_default_device("cpu"); }
  ~OnProcessor() { sn::set_default_device(before); }
  OnProcessor(const OnProcessor &) = delete;
  OnProcessor &operator=(const OnProcessor &) = delete;
};
} // namespace

// Instructions of kernels that call a function `count` times.
static size_t instructions(sn::Tensor (*function)(const sn::Arg &), int count,
                           bool sums) {
  sn::Tensor x = sn::tensor(std::vector<float>(1000, .5f)), y = x;
  std::vector<sn::Tensor> results;
  for (int i = 0; i < count; ++i)
    if (sums)
      results.push_back(sn::sum(function(x + sn::scalar(float(i)))));
    else
      y = function(y);
  if (!sums)
    results.push_back(y);
  std::istringstream text(sn::inspect(results, "llvm"));
  size_t found = 0;
  for (std::string line; std::getline(text, line);)
    found += line.starts_with("  ");
  return found;
}

// What only far arguments need is there once, however many sines there are.
TEST(Inspect, ManySinesAreNotMuchCode) {
  OnProcessor here;
  using Function = sn::Tensor (*)(const sn::Arg &);
  for (bool sums : {false, true}) {
    int few = sums ? 2 : 8, many = sums ? 8 : 96;
    auto each = [&](Function function) {
      return (instructions(function, many, sums) -
              instructions(function, few, sums)) /
             size_t(many - few);
    };
    size_t ofExp = each(sn::exp);
    for (Function function : {Function(sn::sin), Function(sn::cos)}) {
      size_t one = instructions(function, 1, sums);
      EXPECT_LE(each(function), 5 * ofExp) << sums;
      EXPECT_LE(one, 40 * ofExp) << sums;
    }
  }
}

TEST(Inspect, SaysWhatMemoryItTakesByLine) {
  uint64_t before = sn::stats().programs_run;
  sn::Tensor x = sn::tensor(std::vector<float>(64, 1.f), {8, 8});
  int line = __LINE__ + 1;
  sn::Tensor inner = sn::matmul(x, x);
  sn::Tensor y = sn::matmul(inner, sn::tensor(std::vector<float>(16), {8, 2}));
  sn::PeakMemory peak = sn::inspect_memory({y});
  EXPECT_EQ(peak.input_bytes, (64 + 16) * sizeof(float));
  EXPECT_EQ(peak.output_bytes, 16 * sizeof(float));
  EXPECT_EQ(peak.temporary_bytes, 64 * sizeof(float));
  EXPECT_EQ(peak.bytes, 160 * sizeof(float));
  ASSERT_EQ(peak.live.size(), 4u);
  bool hasInner = false;
  for (size_t i = 0; i < peak.live.size(); ++i) {
    const sn::PeakMemory::Use &use = peak.live[i];
    EXPECT_TRUE(i == 0 || use.bytes <= peak.live[i - 1].bytes);
    if (use.role == "temporary") {
      hasInner = true;
      EXPECT_EQ(use.what, "matmul f32[8,8]");
      EXPECT_TRUE(use.site.ends_with("InspectTest.cpp:" + std::to_string(line)))
          << use.site;
    }
  }
  EXPECT_TRUE(hasInner);
  EXPECT_NE(sn::to_string(peak).find("peak 640 bytes: 320 of inputs"),
            std::string::npos)
      << sn::to_string(peak);
  EXPECT_EQ(sn::stats().programs_run, before);
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

/// The unfused program answers at once, the fused one from when it is there.
#include "runtime/support/Flags.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <sys/wait.h>

namespace sn = sinter;

namespace {

constexpr const char *childVariable = "SINTER_TEST_CHILD";

/// Four ops that are one kernel; `width`, which comes with a rank of its own
/// and so does not become symbolic, makes it another program.
sn::Tensor chain(int64_t width, float value = 0.5f) {
  std::vector<sn::Dim> dims(1 + width % 16, 1);
  dims.emplace_back(width);
  sn::Tensor x = sn::tensor(std::vector<float>(width, value), dims);
  return sn::exp(sn::neg(sn::tanh(sn::sqrt(x))));
}

float expected(float value) { return std::exp(-std::tanh(std::sqrt(value))); }

class Background : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    sn::set_background_compile(true);
    sn::reset_stats();
  }
  void TearDown() override {
    sn::set_background_compile(false);
    sn::wait_for_background();
  }
};

/// What one child prints, and its exit code.
std::string child(const std::string &environment, int &code) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string command =
      "env " + environment + " " + childVariable + "=1 '" + self + "' 2>&1";
  FILE *pipe = ::popen(command.c_str(), "r");
  std::string output;
  char buffer[256];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
    output.append(buffer, count);
  int status = ::pclose(pipe);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

} // namespace

TEST_F(Background, TheFusedProgramComesLater) {
  EXPECT_FLOAT_EQ(chain(11).to_vector<float>()[10], expected(0.5f));
  sn::Stats first = sn::stats();
  EXPECT_EQ(first.unfused_answers, 1u);
  EXPECT_EQ(first.launches, 4u);
  sn::wait_for_background();
  EXPECT_EQ(sn::stats().background_compiles, 1u);
  EXPECT_FLOAT_EQ(chain(11).to_vector<float>()[0], expected(0.5f));
  sn::Stats second = sn::stats();
  EXPECT_EQ(second.launches, 5u) << "one kernel now";
  EXPECT_EQ(second.unfused_answers, 1u);
  EXPECT_EQ(second.background_failures, 0u);
  EXPECT_EQ(second.compiles, 2u);
}

TEST_F(Background, WhatIsCachedIsNotCompiledTwice) {
  sn::set_background_compile(false);
  chain(12).eval();
  sn::set_background_compile(true);
  chain(12).eval();
  sn::wait_for_background();
  sn::Stats stats = sn::stats();
  EXPECT_EQ(stats.unfused_answers, 0u);
  EXPECT_EQ(stats.compiles, 1u);
}

TEST_F(Background, TrainingGoesOnOverTheSwap) {
  sn::nn::Linear model{6, 5};
  sn::optim::Sgd sgd({.lr = 0.1});
  sn::Tensor x = sn::tensor(std::vector<float>(24, 0.3f), {4, 6});
  float last = 0;
  for (int i = 0; i < 12; ++i) {
    sn::Tensor y = model(x) - 1.f;
    sn::Tensor loss = sn::mean(y * y);
    sgd.step(model, loss.backward());
    auto now = loss.item<float>();
    EXPECT_TRUE(i == 0 || now < last) << i;
    last = now;
    if (i == 5)
      sn::wait_for_background();
  }
  EXPECT_GE(sn::stats().background_compiles, 1u);
}

TEST_F(Background, ManyThreadsShareOneSwap) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (int i = 0; i < 30; ++i) {
        int64_t width = 20 + (i + number) % 3;
        float value = 0.25f * float(number + 1);
        EXPECT_FLOAT_EQ(chain(width, value).to_vector<float>()[width - 1],
                        expected(value));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  sn::wait_for_background();
  EXPECT_EQ(sn::stats().background_compiles, 3u);
  uint64_t launches = sn::stats().launches;
  chain(20).eval();
  chain(21).eval();
  chain(22).eval();
  EXPECT_EQ(sn::stats().launches, launches + 3);
}

TEST_F(Background, ExactRefusesIt) {
  ::setenv("SINTER_NUMERICS", "exact", 1);
  sn::reloadFlags();
  EXPECT_THROW(sn::set_background_compile(true), sn::Error);
  EXPECT_THROW(chain(30).eval(), sn::Error) << "it is on from before";
  sn::set_background_compile(false);
  chain(30).eval();
  ::unsetenv("SINTER_NUMERICS");
  sn::reloadFlags();
}

TEST_F(Background, AProcessEndsWhileItCompiles) {
  std::string folder = testing::TempDir() + "sinter-background-XXXXXX";
  ASSERT_TRUE(::mkdtemp(folder.data()));
  for (int i = 0; i < 3; ++i) {
    int code = 0;
    // From the second on the unfused program is on disk, the fused one perhaps.
    std::string output =
        child("SINTER_BACKGROUND=1 SINTER_CACHE_DIR='" + folder + "'", code);
    EXPECT_EQ(code, 0) << output;
    EXPECT_EQ(output, "answered\n");
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Background, TheTierCanBeChosen) {
  std::string folder = testing::TempDir() + "sinter-tier-XXXXXX";
  ASSERT_TRUE(::mkdtemp(folder.data()));
  int code = 0;
  std::string output = child("SINTER_FUSION=none SINTER_TEST_LAUNCHES=1 "
                             "SINTER_CACHE_DIR='" +
                                 folder + "'",
                             code);
  EXPECT_EQ(output, "answered\n4 launches\n");
  output = child("SINTER_FUSION=some SINTER_CACHE_DIR='" + folder + "'", code);
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("SINTER_FUSION is full or none, not 'some'"),
            std::string::npos)
      << output;
  std::filesystem::remove_all(folder);
}

static int beChild() {
  try {
    chain(50).eval();
  } catch (const sn::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  std::printf("answered\n");
  if (std::getenv("SINTER_TEST_LAUNCHES"))
    std::printf("%d launches\n", static_cast<int>(sn::stats().launches));
  return 0;
}

int main(int argc, char **argv) {
  if (std::getenv(childVariable))
    return beChild();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

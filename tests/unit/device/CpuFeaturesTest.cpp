#include "runtime/device/cpu/CpuFeatures.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace sinter::runtime;

TEST(CpuFeatures, areSortedAndAgreeWithTheCompiler) {
  const std::vector<std::string> &found = hostCpuFeatures();
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  auto has = [&](const char *name) {
    return std::find(found.begin(), found.end(), name) != found.end();
  };
#if defined(__x86_64__)
  EXPECT_EQ(has("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(has("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(has("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(has("avx512bw"), bool(__builtin_cpu_supports("avx512bw")));
  EXPECT_EQ(has("avx512vl"), bool(__builtin_cpu_supports("avx512vl")));
  EXPECT_EQ(has("avx512ifma"), bool(__builtin_cpu_supports("avx512ifma")));
  EXPECT_EQ(has("avx512bitalg"), bool(__builtin_cpu_supports("avx512bitalg")));
  EXPECT_EQ(has("avx512vbmi"), bool(__builtin_cpu_supports("avx512vbmi")));
  EXPECT_EQ(has("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(has("avx512bf16"), bool(__builtin_cpu_supports("avx512bf16")));
  EXPECT_EQ(has("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(has("bmi2"), bool(__builtin_cpu_supports("bmi2")));
#endif
  EXPECT_FALSE(cpuModelName().empty());
}

TEST(CpuFeatures, saysWhichAreMissing) {
  EXPECT_EQ(missingFeatures("", "avx"), "");
  EXPECT_EQ(missingFeatures("avx", "avx,fma"), "");
  EXPECT_EQ(missingFeatures("avx2,avx512f,fma", "avx,fma"), "avx2,avx512f");
  EXPECT_EQ(missingFeatures("avx", ""), "avx");
  EXPECT_EQ(missingFeatures("avx", "avx2"), "avx");
  std::vector<std::string> list = {"a", "b"};
  EXPECT_EQ(joinFeatures(list), "a,b");
}

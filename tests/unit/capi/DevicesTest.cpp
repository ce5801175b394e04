/// Devices, messages and profiles.
#include "sinter/runtime/Log.h"
#include "tests/unit/capi/Models.h"

#include <cstring>

using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;

TEST(CapiDevices, areListed) {
  size_t count = 0;
  ASSERT_OK(sinter_device_count(&count));
  ASSERT_GE(count, 2u);
  auto info = sized<sinter_device_info>();
  ASSERT_OK(sinter_device(0, &info));
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_EQ(info.kind, SINTER_DEVICE_CPU);
  EXPECT_GT(info.total_bytes, 0u);
  EXPECT_GE(info.total_bytes, info.used_bytes);
  EXPECT_NE(std::strlen(info.description), 0u);
  ASSERT_OK(sinter_device(1, &info));
  EXPECT_STREQ(info.name, "null");
  EXPECT_EQ(info.kind, SINTER_DEVICE_NULL);
  EXPECT_FAILS(sinter_device(count, &info), SINTER_INVALID_ARGUMENT,
               "there is no device");
}

namespace {
struct Heard {
  int count = 0;
  int32_t level = -1;
  std::string text;
};
} // namespace

TEST(CapiLog, goesToTheCallback) {
  Heard heard;
  ASSERT_OK(sinter_set_log(
      [](void *user, int32_t level, const char *message) {
        auto &mine = *static_cast<Heard *>(user);
        ++mine.count;
        mine.level = level;
        mine.text = message;
      },
      &heard));
  sinter::log(sinter::LogLevel::warning, "mind the gap");
  EXPECT_EQ(heard.count, 1);
  EXPECT_EQ(heard.level, SINTER_LOG_WARNING);
  EXPECT_EQ(heard.text, "mind the gap");
  ASSERT_OK(sinter_set_log(nullptr, nullptr));
  sinter::log(sinter::LogLevel::info, "not heard");
  EXPECT_EQ(heard.count, 1);
}

TEST(CapiProfile, namesKernels) {
  Opened opened(scaleProgram());
  Host x(counting(1000));
  float factor = 2;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  ASSERT_OK(sinter_profile_begin());
  ASSERT_OK(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr));
  const char *table = nullptr;
  ASSERT_OK(sinter_profile_end(&table));
  EXPECT_NE(std::strstr(table, "map"), nullptr) << table;
  EXPECT_FAILS(sinter_profile_end(nullptr), SINTER_INVALID_ARGUMENT,
               "table is null");
}

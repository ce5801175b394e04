#include "runtime/device/Device.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;

TEST(DeviceId, printsWhatItParses) {
  for (const char *text : {"cpu", "null", "cuda:0", "cuda:3", "vulkan:255"}) {
    auto id = parseDevice(text);
    ASSERT_TRUE(id) << text;
    EXPECT_EQ(toString(*id), text);
  }
  EXPECT_EQ(toString(*parseDevice("cuda")), "cuda:0");
}

TEST(DeviceId, namesWhatItCannotParse) {
  for (const char *text : {"", "gpu", "cpu:1", "cuda:", "cuda:x", "cuda:-1",
                           "cuda:256", "cuda:1x", "null:2", "CPU"}) {
    auto id = parseDevice(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(id.error().message.find(text), std::string::npos);
  }
}

TEST(Registry, opensOnceAndNamesWhatIsMissing) {
  auto cpu = getDevice({DeviceKind::cpu, 0});
  ASSERT_TRUE(cpu);
  EXPECT_EQ(*cpu, *getDevice({DeviceKind::cpu, 0}));
  EXPECT_FALSE((*cpu)->description().empty());
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::vulkan}) {
    DeviceId id{kind, 200};
    auto device = getDevice(id);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().kind, ErrorKind::device);
    EXPECT_EQ(device.error().message.find("device " + toString(id) +
                                          " is not available: "),
              0u);
  }
  for (DeviceId id : availableDevices())
    EXPECT_TRUE(getDevice(id)) << toString(id);
}

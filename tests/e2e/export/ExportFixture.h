/// ExportFixture: a folder for files that are exported for the default device.
#pragma once

#include "runtime/device/Device.h"

#include <sinter/Creation.h>
#include <sinter/Random.h>

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace sinter::test {

class ExportFixture : public testing::Test {
protected:
  void SetUp() override {
    if (default_device() == device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    char name[] = "/tmp/sinter-export-XXXXXX";
    folder = ::mkdtemp(name);
    manual_seed(3);
    target = (*runtime::getDevice(default_device()))->target();
  }
  void TearDown() override {
    if (!folder.empty())
      std::filesystem::remove_all(folder);
  }

  std::filesystem::path folder;
  std::string target; ///< of the device of these tests
};

} // namespace sinter::test

/// A folder for the artifacts of one test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <unistd.h>

namespace spirals {

class FolderTest : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder =
      std::filesystem::temp_directory_path() /
      ("sinter-learner-" + std::to_string(getpid()) + "-" +
       testing::UnitTest::GetInstance()->current_test_info()->name());

  /// The numbers of the checkpoints that are there.
  std::set<int64_t> numbers() const {
    std::set<int64_t> found;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder + "/checkpoint")) {
      std::string name = entry.path().filename();
      if (name.starts_with("state-"))
        found.insert(std::stoll(name.substr(6)));
    }
    return found;
  }
};

} // namespace spirals

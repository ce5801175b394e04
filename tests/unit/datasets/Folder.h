/// A folder of a test's own, and what errors say.
#pragma once

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace sinter {

/// The folder `files` beside the tests.
inline std::filesystem::path filesOfTests() { return SINTER_DATASET_FILES; }

inline std::string readAll(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class FolderTest : public testing::Test {
protected:
  FolderTest() {
    const auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("sinter-" + std::string(info->test_suite_name()) + info->name() +
              std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// Writes a file, and the folders that it is in; its path.
  std::string write(const std::string &name, std::string_view text) const {
    std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path folder;
};

/// The message of the error that `call` throws, which must be of that kind.
template <typename F>
std::string errorOf(const F &call, ErrorKind kind = ErrorKind::io) {
  try {
    call();
  } catch (const Error &error) {
    EXPECT_EQ(toString(error.kind()), toString(kind)) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return {};
}

inline void expectPart(const std::string &text, std::string_view part) {
  EXPECT_NE(text.find(part), text.npos) << text << "\n  lacks: " << part;
}

} // namespace sinter

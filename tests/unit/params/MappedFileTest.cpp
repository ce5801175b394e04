/// Mapped files whose pages are given back.
#include "runtime/files/MappedFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace sinter;
using runtime::MappedFile;

TEST(MappedFile, whatWasLeftIsReadAgain) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-mapped-" + std::to_string(getpid()));
  std::string content(100'000, 'a');
  for (size_t i = 0; i < content.size(); ++i)
    content[i] = char(i % 127);
  std::ofstream(path, std::ios::binary) << content;
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  auto text = [&] {
    auto bytes = file->bytes();
    return std::string(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  };
  EXPECT_EQ(text(), content);
  file->leave(file->bytes());
  EXPECT_EQ(text(), content);
  file->leave(file->bytes().subspan(5000, 50'000));
  EXPECT_EQ(text(), content);
  std::filesystem::remove(path);
}

TEST(MappedFile, otherMemoryStays) {
  auto file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  std::vector<std::byte> own(100'000, std::byte(7));
  file->leave(own);
  file->leave({});
  EXPECT_EQ(own, std::vector<std::byte>(100'000, std::byte(7)));
}

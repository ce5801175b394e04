/// Tensors in files beside a model, and nowhere else.
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "tests/unit/onnx/ModelWriter.h"

#include <sinter/Error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class ExternalDataTest : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder / "model/inner");
    for (const char *file : {"outside", "model/weights", "model/inner/more"})
      std::ofstream(folder / file, std::ios::binary) << "abcdefgh";
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Two bytes of a file, or what is wrong.
  std::string read(std::string_view location, const char *offset = nullptr,
                   const char *length = nullptr) {
    Message tensor = Message().integers(1, {2}).integer(2, 2).text(8, "w");
    auto entry = [&](std::string_view key, std::string_view value) {
      tensor.message(13, Message().text(1, key).text(2, value));
    };
    entry("location", location);
    if (offset)
      entry("offset", offset);
    if (length)
      entry("length", length);
    tensor.integer(14, 1);
    ExternalFiles files;
    files.setFolder((folder / "model").string());
    if (isMoved) { // another folder takes its name
      fs::rename(folder / "model", folder / "moved");
      fs::create_directories(folder / "model");
      std::ofstream(folder / "model/weights") << "ABCDEFGH";
    }
    try {
      TensorRecord record = readTensor(std::as_bytes(std::span(tensor.bytes)));
      TensorBytes bytes = elementsOf(record, files);
      return {reinterpret_cast<const char *>(bytes.bytes.data()),
              bytes.bytes.size()};
    } catch (const Error &error) {
      return error.message();
    }
  }

  bool isMoved = false; ///< the model's folder, once it is known
  fs::path folder =
      fs::temp_directory_path() / ("sinter-onnx-" + std::to_string(getpid()));
};

} // namespace

TEST_F(ExternalDataTest, readsFilesOfTheFolder) {
  EXPECT_EQ(read("weights"), "ab");
  EXPECT_EQ(read("weights", "6"), "gh");
  EXPECT_EQ(read("./inner/more", "2", "2"), "cd");
}

TEST_F(ExternalDataTest, readsTheFolderThatTheModelWasIn) {
  isMoved = true;
  EXPECT_EQ(read("weights"), "ab");
}

TEST_F(ExternalDataTest, refusesPathsThatLeadAway) {
  for (std::string path : {"../outside", "inner/../../outside", "/etc/passwd",
                           "", ".", "..", "inner/.."})
    EXPECT_THAT(read(path), HasSubstr("not in the model's folder")) << path;
  EXPECT_THAT(read(std::string_view("weights\0", 8)),
              HasSubstr("not in the model's folder"));
}

TEST_F(ExternalDataTest, refusesLinks) {
  fs::create_symlink(folder / "outside", folder / "model/link");
  fs::create_directory_symlink(folder, folder / "model/up");
  EXPECT_THAT(read("link"), HasSubstr("cannot open"));
  EXPECT_THAT(read("up/outside"), HasSubstr("cannot open"));
  EXPECT_THAT(read("inner"), HasSubstr("not a regular file"));
}

TEST_F(ExternalDataTest, refusesPartsThatAreNotThere) {
  EXPECT_THAT(read("weights", "7"), HasSubstr("beyond the end"));
  EXPECT_THAT(read("weights", "99999999999999999"),
              HasSubstr("beyond the end"));
  EXPECT_THAT(read("weights", "0", "3"), HasSubstr("has 3 bytes"));
  EXPECT_THAT(read("weights", "-1"), HasSubstr("offset -1"));
  EXPECT_THAT(read("weights", "18446744073709551616"), HasSubstr("offset"));
  EXPECT_THAT(read("none"), HasSubstr("cannot open"));
}

TEST_F(ExternalDataTest, modelsInMemoryHaveNone) {
  Message tensor = Message().integers(1, {1}).integer(2, 2).integer(14, 1);
  tensor.message(13, Message().text(1, "location").text(2, "weights"));
  TensorRecord record = readTensor(std::as_bytes(std::span(tensor.bytes)));
  ExternalFiles none;
  EXPECT_THROW(elementsOf(record, none), Error);
}

/// Many tensors of one file would take many times its memory.
TEST_F(ExternalDataTest, tensorsTakeNoManyTimesTheirFiles) {
  constexpr int64_t size = 1 << 20;
  std::ofstream(folder / "model/large") << std::string(size, 'a');
  Message tensor = Message().integers(1, {size}).integer(2, 2).integer(14, 1);
  tensor.message(13, Message().text(1, "location").text(2, "large"));
  TensorRecord record = readTensor(std::as_bytes(std::span(tensor.bytes)));
  ExternalFiles files;
  files.setFolder((folder / "model").string());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(elementsOf(record, files).bytes.size(), size_t(size));
  EXPECT_THROW(for (int i = 0; i < 12; ++i) elementsOf(record, files), Error);
}

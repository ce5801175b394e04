/// Files of every version of the format, as they were written: those of this
/// build's version are read and run, others are refused by their version.
///
/// A file is named `vVERSION-NAME.sinter`. With SINTER_WRITE_FORMATS=1 those of
/// this version are written anew, which is right while the format is
/// provisional and the change is meant.
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/WeightStore.h"
#include "tests/unit/program/ModelBuilder.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

Bytes contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Files by version.
std::multimap<uint32_t, fs::path> allFiles() {
  std::multimap<uint32_t, fs::path> files;
  for (const auto &entry : fs::directory_iterator(SINTER_FORMATS))
    if (entry.path().extension() == ".sinter")
      files.emplace(uint32_t(std::strtoul(entry.path().filename().c_str() + 1,
                                          nullptr, 10)),
                    entry.path());
  return files;
}

/// What this build writes, without native code: it is the same everywhere.
std::map<std::string, Bytes> writtenNow() {
  ModelBuilder model = copyModel();
  model.info.metadata = {{"name", "a file of this version"}};
  return {{"program", copyProgram().file()}, {"model", model.file()}};
}

} // namespace

TEST(Formats, everyVersionHasAFile) {
  std::set<uint32_t> versions;
  for (const auto &[version, path] : allFiles())
    versions.insert(version);
  for (uint32_t version = 2; version <= fileVersion; ++version)
    EXPECT_TRUE(versions.contains(version)) << version;
  EXPECT_LE(*versions.rbegin(), fileVersion);
}

TEST(Formats, filesOfOtherVersionsAreRefusedByName) {
  Device &null = **getDevice({DeviceKind::null, 0});
  for (const auto &[version, path] : allFiles()) {
    if (version == fileVersion)
      continue;
    auto program = Program::loadFile(path, null);
    ASSERT_FALSE(program) << path;
    EXPECT_EQ(program.error().kind, ErrorKind::io);
    EXPECT_EQ(program.error().message,
              fmt::format("{}: model file: format version {}, this build reads "
                          "version {}: write the file again with this release",
                          path.string(), version, fileVersion));
  }
}

TEST(Formats, whatIsWrittenNowIsWhatWasWritten) {
  for (const auto &[name, bytes] : writtenNow()) {
    fs::path path = fs::path(SINTER_FORMATS) /
                    fmt::format("v{}-{}.sinter", fileVersion, name);
    if (std::getenv("SINTER_WRITE_FORMATS"))
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char *>(bytes.data()),
                 std::streamsize(bytes.size()));
    EXPECT_EQ(contents(path), bytes)
        << path << ": the format changed, and its version did not";
  }
}

TEST(Formats, filesOfThisVersionRun) {
  Device &null = **getDevice({DeviceKind::null, 0});
  fs::path path =
      fs::path(SINTER_FORMATS) / fmt::format("v{}-model.sinter", fileVersion);
  Bytes bytes = contents(path);
  auto model = readModel(bytes);
  ASSERT_TRUE(model) << model.error().message;
  auto info = readModelInfo(*model);
  ASSERT_TRUE(info) << info.error().message;
  WeightStore store(*model, *info, "");
  auto first = store.bytesOf(info->states[0].initial);
  ASSERT_TRUE(first);
  auto program = Program::loadFile(path, null);
  ASSERT_TRUE(program) << program.error().message;
  BufferRef state = *null.allocate(first->size());
  ASSERT_TRUE(null.copyIn(*state, 0, *first));
  BufferRef x = bufferOf(null, std::vector<float>(8, 5));
  auto outputs = run(**program, std::vector{bind(x, {8}), bind(state, {8})});
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
            (std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(valuesOf<float>(*(*outputs)[1].buffer), std::vector<float>(8, 5));
}

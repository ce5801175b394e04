/// Reads the safetensors files of a folder of weight files, good and hostile,
/// and compares with what its manifest says. SINTER_SUITES names the folder.
#include "runtime/params/Json.h"
#include "runtime/params/Safetensors.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace sinter;
using namespace sinter::runtime;

namespace {

std::string sha256(std::span<const std::byte> data) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-sha-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data.data()), data.size());
  FILE *pipe = ::popen(("sha256sum " + path).c_str(), "r");
  char digest[65] = {};
  size_t got = pipe ? fread(digest, 1, 64, pipe) : 0;
  if (pipe)
    ::pclose(pipe);
  std::filesystem::remove(path);
  return got == 64 ? digest : "";
}

void checkTensors(const json::Value &entry, const SafetensorsFile &file) {
  const json::Value *expected = entry.find("tensors");
  size_t count = expected ? expected->keys.size() : 0;
  EXPECT_EQ(file.tensors().size(), count);
  for (size_t i = 0; i < count; ++i) {
    const std::string &name = expected->keys[i];
    const json::Value &fields = expected->elements[i];
    const NamedTensor *tensor = file.find(name);
    ASSERT_TRUE(tensor) << name;
    std::vector<int64_t> shape;
    for (const json::Value &dim : fields.find("shape")->elements)
      shape.push_back(static_cast<int64_t>(dim.integer));
    EXPECT_EQ(tensor->shape, shape) << name;
    EXPECT_EQ(sha256(tensor->data), fields.find("sha256")->string) << name;
  }
}

} // namespace

TEST(WeightSuite, LoadsAndRefusesAsTheManifestSays) {
  const char *suites = std::getenv("SINTER_SUITES");
  if (!suites)
    GTEST_SKIP() << "SINTER_SUITES is not set";
  std::filesystem::path root = std::filesystem::path(suites) / "weights";
  std::ifstream in(root / "manifest.json");
  std::string text(std::istreambuf_iterator<char>(in), {});
  auto manifest = json::parse(text);
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;

  size_t loaded = 0, refused = 0;
  for (const json::Value &entry : manifest->elements) {
    std::string name = entry.find("file")->string;
    if (!name.ends_with(".safetensors"))
      continue;
    SCOPED_TRACE(name);
    std::string expect = entry.find("expect")->string;
    auto file = SafetensorsFile::open(root / name);
    if (file) {
      ++loaded;
      EXPECT_NE(expect, "reject");
      checkTensors(entry, *file);
    } else {
      ++refused;
      EXPECT_NE(expect, "load") << file.error().message;
      EXPECT_NE(file.error().message.find(name), std::string::npos);
    }
  }
  EXPECT_GE(loaded, 5u);
  EXPECT_GE(refused, 13u);
}

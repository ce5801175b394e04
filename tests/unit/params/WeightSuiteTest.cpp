/// Reads the files of a folder of weight files, good and hostile, and compares
/// with what its manifest says. SINTER_SUITES names the folder.
#include "runtime/params/Json.h"
#include "runtime/params/weights/WeightFile.h"

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
      .write(reinterpret_cast<const char *>(data.data()),
             static_cast<std::streamsize>(data.size()));
  FILE *pipe = ::popen(("sha256sum " + path).c_str(), "r");
  char digest[65] = {};
  size_t got = pipe ? fread(digest, 1, 64, pipe) : 0;
  if (pipe)
    ::pclose(pipe);
  std::filesystem::remove(path);
  return got == 64 ? digest : "";
}

/// The manifest's names of dtypes are those of safetensors.
std::string_view manifestName(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return "F64";
  case DType::f32:
    return "F32";
  case DType::f16:
    return "F16";
  case DType::bf16:
    return "BF16";
  case DType::i64:
    return "I64";
  case DType::i32:
    return "I32";
  case DType::i16:
    return "I16";
  case DType::i8:
    return "I8";
  case DType::u8:
    return "U8";
  case DType::boolean:
    return "BOOL";
  case DType::f8e4m3fn:
    return "F8_E4M3";
  case DType::f8e5m2:
    return "F8_E5M2";
  default:
    return name(dtype);
  }
}

void checkTensor(const json::Value &fields, const WeightFile &file,
                 const WeightTensor &tensor) {
  std::vector<int64_t> shape, stride;
  for (const json::Value &dim : fields.find("shape")->elements)
    shape.push_back(static_cast<int64_t>(dim.integer));
  EXPECT_EQ(tensor.dims, shape);
  EXPECT_EQ(manifestName(tensor.dtype), fields.find("dtype")->string);
  auto dense = file.read(tensor);
  ASSERT_TRUE(dense.ok()) << dense.error().message;
  EXPECT_EQ(sha256(*dense), fields.find("sha256")->string);
  if (const json::Value *strides = fields.find("stride"))
    for (const json::Value &each : strides->elements)
      stride.push_back(static_cast<int64_t>(each.integer));
  if (!tensor.strides.empty()) {
    EXPECT_EQ(tensor.strides, stride);
  }
  std::span<const std::byte> view = file.view(tensor);
  if (!view.empty()) {
    EXPECT_TRUE(std::ranges::equal(view, *dense));
  }
  EXPECT_TRUE(file.check(tensor).ok());
}

void checkTensors(const json::Value &entry, const WeightFile &file) {
  const json::Value *expected = entry.find("tensors");
  size_t count = expected ? expected->keys.size() : 0;
  // A reader that may refuse may read more than the manifest's did.
  if (entry.find("expect")->string == "load") {
    EXPECT_EQ(file.tensors().size(), count);
  }
  for (size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(expected->keys[i]);
    const WeightTensor *tensor = file.find(expected->keys[i]);
    ASSERT_TRUE(tensor);
    checkTensor(expected->elements[i], file, *tensor);
  }
  for (const WeightTensor &tensor : file.tensors())
    EXPECT_TRUE(file.read(tensor).ok()) << tensor.name;
}

/// Loads and refusals.
struct Tally {
  size_t loaded = 0, refused = 0;
};

void checkFile(const json::Value &entry, const std::filesystem::path &root,
               Tally &tally) {
  std::string name = entry.find("file")->string;
  SCOPED_TRACE(name);
  std::string expect = entry.find("expect")->string;
  auto file = WeightFile::open(root / name);
  if (file) {
    ++tally.loaded;
    EXPECT_NE(expect, "reject");
    checkTensors(entry, **file);
    return;
  }
  ++tally.refused;
  const std::string &message = file.error().message;
  EXPECT_NE(expect, "load") << message;
  EXPECT_NE(message.find(name), std::string::npos) << message;
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
  Tally tally;
  for (const json::Value &entry : manifest->elements)
    checkFile(entry, root, tally);
  EXPECT_GE(tally.loaded, 45u);
  EXPECT_GE(tally.refused, 41u);
}

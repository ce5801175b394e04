/// Writes the files that the fuzzers start from.
///
/// usage: fuzz-corpus FOLDER      makes FOLDER/json, model, npy, npz and
///                        safetensors
#include "runtime/params/Npz.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

static void write(const fs::path &path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

static void writeTexts(const fs::path &folder) {
  const char *texts[] = {
      R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
      R"({"__metadata__":{"a":"b"},"n":[1,-2.5e3,null,true,false]})",
      R"("\u00e9\ud83d\ude00\n")", "[[[[]]]]", "18446744073709551616"};
  int number = 0;
  for (std::string_view text : texts)
    write(folder / std::to_string(number++), std::as_bytes(std::span(text)));
}

/// Weights of several dtypes, one without elements, and metadata.
static bool writeWeights(const fs::path &folder) {
  std::vector<std::byte> zeros(64);
  std::span<const std::byte> bytes(zeros);
  std::vector<NamedTensor> tensors = {
      {"weight", DType::f32, {2, 3}, bytes.first(24)},
      {"mask", DType::boolean, {5}, bytes.first(5)},
      {"none", DType::i64, {0, 7}, {}},
      {"half", DType::bf16, {}, bytes.first(2)}};
  Metadata metadata = {{"format", "pt"}};
  return writeSafetensors(folder / "one", {&tensors[0], 1}).ok() &&
         writeSafetensors(folder / "all", tensors, metadata).ok() &&
         writeSafetensors(folder / "empty", {}).ok();
}

/// Arrays one by one and in archives.
static bool writeArrays(const fs::path &root) {
  std::vector<std::byte> zeros(64);
  std::span<const std::byte> bytes(zeros);
  std::vector<NamedTensor> tensors = {
      {"f", DType::f32, {2, 3}, bytes.first(24)},
      {"b", DType::boolean, {5}, bytes.first(5)},
      {"c", DType::c128, {}, bytes.first(16)}};
  bool ok = writeNpz(root / "npz/stored", tensors).ok() &&
            writeNpz(root / "npz/packed", tensors, ZipMethod::deflated).ok();
  for (const NamedTensor &tensor : tensors)
    ok &= writeNpy(root / "npy" / tensor.name, tensor).ok();
  write(root / "npy/turned",
        std::as_bytes(
            std::span("\x93NUMPY\1\0\x37\0"
                      "{'descr':'>i2','fortran_order':True,'shape':(2,1)}    \n"
                      "\0\1\0")));
  return ok;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-corpus FOLDER\n");
    return 2;
  }
  fs::path root(argv[1]);
  for (const char *name : {"json", "model", "npy", "npz", "safetensors"})
    fs::create_directories(root / name);
  writeTexts(root / "json");
  write(root / "model/scale", test::scaleProgram().file());
  write(root / "model/full", test::fullProgram().file());
  write(root / "model/loop", test::loopProgram().file());
  bool ok = writeWeights(root / "safetensors") && writeArrays(root);
  return ok ? 0 : 1;
}

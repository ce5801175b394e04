/// Writes the files that the fuzzers start from.
#include "tests/fuzz/Corpus.h"

#include "compiler/package/KernelFile.h"
#include "runtime/files/DiskCache.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Npz.h"
#include "runtime/params/Zip.h"
#include "tests/unit/onnx/ModelWriter.h"
#include "tests/unit/program/ModelBuilder.h"

#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

static void write(const fs::path &path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

static std::span<const std::byte> textBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// With what is rare: symbols, guards, loops, aliases, locations.
static constexpr std::string_view graphs[] = {
    R"(func.func @main(%x: tensor<2x3xf32> {sinter.name = "x"})
    -> tensor<2x3xf32> {
  %0 = sinter.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})",
    R"(#t = affine_map<()[s0] -> (s0, 4)>
func.func @main(%x: tensor<?x4xf32, #t>) -> tensor<?x4xf32, #t> {
  %0 = sinter.exp %x : (tensor<?x4xf32, #t>) -> tensor<?x4xf32, #t>
  %1 = sinter.mul %0, %x : (tensor<?x4xf32, #t>, tensor<?x4xf32, #t>)
      -> tensor<?x4xf32, #t>
  return %1 : tensor<?x4xf32, #t>
} loc(fused["a.mlir":1:2, callsite("f" at "g")]))"};

/// A kernel, bare and as the file of an entry.
static bool writeEntries(const fs::path &root) {
  compiler::KernelCode code;
  code.object = "object";
  code.numSymbols = 1;
  code.exprs = {{ExprOp::symbol, 0, 0, 0},
                {ExprOp::constant, 0, 0, 4},
                {ExprOp::mul, 0, 1, 0}};
  compiler::PhaseCode phase;
  phase.symbol = "phase";
  code.phases = {phase};
  code.workspaces = {2};
  code.tiles = {"8x8"};
  std::vector<std::byte> kernel = compiler::writeKernel("key", code);
  write(root / "kernel/one", kernel);
  fs::path folder = root / "cache";
  DiskCache disk((folder / "entries").string(), 1 << 20);
  Key key = keyOfText("corpus");
  bool ok = disk.prepare().ok() &&
            disk.storeBytes(CacheKind::kernel, key, kernel).ok();
  if (ok)
    fs::rename(disk.bytesPath(CacheKind::kernel, key), folder / "entry");
  fs::remove_all(folder / "entries");
  return ok;
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
         writeSafetensors(folder / "empty", std::span<const NamedTensor>())
             .ok();
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

/// Models with what a reader and the recorder meet: weights, shapes that are
/// computed, a branch, functions, types of every kind.
static void writeModels(const fs::path &folder) {
  using namespace sinter::onnx_test;
  auto save = [&](const char *name, const Message &message) {
    write(folder / name, textBytes(message.bytes));
  };
  std::vector<float> weight{1, 2, 3, 4, 5, 6};
  std::vector<int64_t> zero{0}, shape{-1, 3};
  Message linear =
      Message()
          .message(11, valueMessage("x", 1, {-1, 2}))
          .message(5, tensorMessage("w", 1, {2, 3}, weight))
          .message(12, valueMessage("y", 1, {-1, 3}))
          .message(1, nodeMessage("MatMul", {"x", "w"}, {"h"}))
          .message(1, nodeMessage("Softmax", {"h"}, {"y"},
                                  {attributeMessage("axis", int64_t(1))}));
  Message shapes = Message()
                       .message(11, valueMessage("x", 1, {2, 3, 4}))
                       .message(5, tensorMessage("i", 7, {}, zero))
                       .message(5, tensorMessage("s", 7, {2}, shape))
                       .message(12, valueMessage("y", 1, {}))
                       .message(1, nodeMessage("Shape", {"x"}, {"d"}))
                       .message(1, nodeMessage("Gather", {"d", "i"}, {"n"}))
                       .message(1, nodeMessage("Mul", {"n", "n"}, {"m"}))
                       .message(1, nodeMessage("ConstantOfShape", {"s"}, {"c"}))
                       .message(1, nodeMessage("Reshape", {"x", "s"}, {"y"}));
  Message branch = Message()
                       .message(12, valueMessage("r", 1, {}))
                       .message(1, nodeMessage("Neg", {"x"}, {"r"}));
  Message branches =
      Message()
          .message(11, valueMessage("x", 1, {4}))
          .message(11, valueMessage("c", 9, {}))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("If", {"c"}, {"y"},
                                  {graphAttribute("then_branch", branch),
                                   graphAttribute("else_branch", branch)}));
  Message image =
      Message()
          .message(11, valueMessage("x", 1, {1, 2, 5, 5}))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("MaxPool", {"x"}, {"p"},
                                  {attributeMessage("kernel_shape", {2, 2}),
                                   attributeMessage("pads", {0, 0, 1, 1}),
                                   attributeMessage("strides", {2, 2})}))
          .message(1, nodeMessage("Transpose", {"p"}, {"y"},
                                  {attributeMessage("perm", {0, 2, 3, 1})}));
  save("linear", modelMessage(linear));
  save("shapes", modelMessage(shapes));
  save("branches", modelMessage(branches));
  save("image", modelMessage(image));
  save("tensor", tensorMessage("t", 1, {2, 3}, weight));
  save("packed", Message().integers(1, {3}).integer(2, 22).text(9, "\x12\x03"));
}

/// The programs of the small cases in the tree.
static void writePrograms(const fs::path &folder) {
  for (const auto &entry : fs::directory_iterator(SINTER_TORCH_CASES)) {
    auto file = MappedFile::open((entry.path() / "model.pt2").string());
    if (!file)
      continue;
    write(folder / (entry.path().filename().string() + ".pt2"), file->bytes());
    auto zip = ZipArchive::parse(file->bytes());
    for (const ZipEntry &each : zip->entries())
      if (each.name.ends_with(".json"))
        if (auto text = zip->read(each))
          write(folder / (entry.path().filename().string() + "-" +
                          fs::path(each.name).filename().string()),
                *text);
  }
}

/// The files of Python's writers, and the pickles in them.
static bool writeWeightFiles(const fs::path &root) {
  for (const auto &file : fs::directory_iterator(SINTER_WEIGHT_FILES)) {
    fs::path name = file.path().filename();
    if (name == "expected.safetensors" || name.extension() == ".json")
      continue;
    fs::copy_file(file.path(), root / "weights" / name,
                  fs::copy_options::overwrite_existing);
    auto mapped = MappedFile::open(file.path());
    if (!mapped)
      return false;
    auto archive = ZipArchive::parse(mapped->bytes());
    for (size_t i = 0; archive && i < archive->entries().size(); ++i)
      if (const ZipEntry &entry = archive->entries()[i];
          entry.name.ends_with("/data.pkl"))
        write(root / "pickle" / name, archive->packed(entry));
  }
  return true;
}

/// Files of data sets, which lie beside their tests.
static void writeDatasets(const fs::path &root) {
  for (const auto &entry : fs::directory_iterator(SINTER_DATASET_FILES)) {
    fs::path ending = entry.path().extension();
    const char *folder = ending == ".png" || ending == ".jpg" ? "picture"
                         : ending == ".csv"                   ? "csv"
                         : ending == ".jsonl"                 ? "jsonlines"
                                                              : nullptr;
    if (folder)
      fs::copy_file(entry.path(), root / folder / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
  }
  write(root / "jsonlines/list", textBytes(R"([{"a": []}, {"b": 1e3}])"));
  for (std::string_view type : {"\x08", "\x0b", "\x0e"})
    write(root / "idx" / std::to_string(type[0]),
          textBytes(std::string("\0\0", 2) + std::string(type) +
                    std::string("\2\0\0\0\1\0\0\0\2", 9) +
                    std::string(type == "\x08"   ? 2
                                : type == "\x0b" ? 4
                                                 : 16,
                                'x')));
}

bool sinter::fuzz::writeCorpus(const fs::path &root) {
  for (const char *name :
       {"cache", "csv", "idx", "image", "json", "jsonlines", "kernel", "model",
        "npy", "npz", "onnx", "picture", "pickle", "safetensors", "text",
        "tiles", "torch", "weights"})
    fs::create_directories(root / name);
  writeTexts(root / "json");
  writeModels(root / "onnx");
  writePrograms(root / "torch");
  write(root / "model/scale", test::scaleProgram().file());
  write(root / "model/full", test::fullProgram().file());
  write(root / "model/loop", test::loopProgram().file());
  write(root / "model/while", test::conditionalProgram().file());
  write(root / "model/copy", test::copyProgram().file());
  write(root / "model/gather", test::gatherProgram().file());
  write(root / "model/whole", test::smallModel().file());
  write(root / "model/parts", test::partsModel().file());
  write(root / "model/state", test::copyModel().file());
  write(root / "csv/header", textBytes("a, b,c\r\n1,2.5,-3e2\r\n\n4 , 5,6\n"));
  write(root / "csv/rare", textBytes("inf\t,-0\nnan,1e-320"));
  writeDatasets(root);
  write(root / "image/cpu", test::kernelImage());
  write(root / "tiles/two", textBytes("sinter tiles 1\na=b\nk_1=64x32\n"));
  for (std::string_view text : graphs)
    write(root / "text" / std::to_string(text.size()), textBytes(text));
  return writeWeights(root / "safetensors") && writeArrays(root) &&
         writeWeightFiles(root) && writeEntries(root);
}

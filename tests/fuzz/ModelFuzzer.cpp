/// Model files: bytes as they come, and fields altered behind digests that fit
/// again. What loads is bound and planned; copies run, on the null device.
#include "runtime/graph/Elements.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ProgramData.h"
#include "runtime/program/WeightStore.h"
#include "tests/fuzz/Fuzzer.h"
#include "tests/unit/program/FieldMutator.h"
#include "tests/unit/program/FileMutator.h"
#include "tests/unit/program/TouchDevice.h"

#include <algorithm>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;
using sinter::fuzz::bytesOf;
using sinter::fuzz::require;

#ifndef SINTER_REPLAY
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

/// Two of three mutations repair the digests, else few would get past them.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  if (seed % 3 == 0 || !readModel(bytesOf(data, size)))
    return LLVMFuzzerMutate(data, size, limit);
  bool hasModel = readModel(bytesOf(data, size))->find(SectionKind::model);
  auto mutate =
      hasModel || seed % 3 == 1
          ? [](std::span<const std::byte> bytes,
               uint64_t own) { return test::mutateFields(bytes, own); }
          : test::mutateModel;
  std::vector<std::byte> file = mutate(bytesOf(data, size), seed);
  if (file.size() > limit)
    return size;
  std::transform(file.begin(), file.end(), data,
                 [](std::byte byte) { return static_cast<uint8_t>(byte); });
  return file.size();
}
#endif

static std::vector<Binding> bindingsFor(const Program &program, int64_t extent,
                                        Device &device) {
  std::vector<int64_t> symbols(program.numSymbols(), extent), values;
  evaluateAll(program.exprs(), symbols, values);
  std::vector<Binding> bindings;
  for (const Port &port : program.inputs()) {
    Binding &binding = bindings.emplace_back();
    for (uint32_t dim : port.dims)
      binding.dims.push_back(values[dim]);
    constexpr size_t most = 1 << 20;
    std::optional<size_t> count = elementsOf(binding.dims);
    if (count && *count <= most)
      if (auto buffer = device.allocate(*count * byteWidth(port.dtype)))
        binding.buffer = *buffer;
  }
  return bindings;
}

static void tryProgram(const Result<std::shared_ptr<const Program>> &program,
                       Device &device) {
  if (!program)
    return require(!program.error().message.empty());
  for (int64_t extent : {0, 1, 300}) {
    std::vector<Binding> inputs = bindingsFor(**program, extent, device);
    auto peak = peakBytes(**program, inputs);
    // What kernels touch is only known of those that nobody altered.
    if (!peak || *peak > (1 << 24) || !(*program)->launches().empty())
      continue;
    auto outputs = run(**program, inputs);
    require(outputs || !outputs.error().message.empty());
  }
}

static void tryOn(std::span<const std::byte> file, Device &device) {
  tryProgram(Program::load(file, device), device);
}

/// The tensors and the other entries of a whole model.
static void tryModel(std::span<const std::byte> file, Device &device) {
  auto model = readModel(file);
  if (!model || !model->find(SectionKind::model))
    return;
  auto info = readModelInfo(*model);
  if (!info)
    return require(!info.error().message.empty());
  WeightStore store(*model, *info, "");
  for (uint32_t i = 0; i < store.size(); ++i) {
    auto bytes = store.bytesOf(i);
    require(bytes ? bytes->size() == info->tensors[i].bytes
                  : !bytes.error().message.empty());
  }
  auto bytes = FileBytes::copyOf(file);
  require(bytes.ok());
  auto shared = std::make_shared<const FileBytes>(std::move(*bytes));
  for (uint32_t entry = 1; entry < info->entries.size(); ++entry)
    tryProgram(loadEntry(shared, entry, device), device);
}

SINTER_FUZZER(Model) {
  tryOn(bytesOf(data, size), **getDevice({DeviceKind::null, 0}));
  static test::TouchDevice touch;
  tryOn(bytesOf(data, size), touch);
  tryModel(bytesOf(data, size), touch);
}

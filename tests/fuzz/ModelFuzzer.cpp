/// libFuzzer on model files: bytes as they come, and metadata altered behind
/// digests that fit again.
#include "runtime/device/Device.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Program.h"
#include "tests/unit/program/FileMutator.h"

#include <algorithm>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

static std::span<const std::byte> bytesOf(const uint8_t *data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// Two of three mutations repair the digests, else few would get past them.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  if (seed % 3 == 0 || !readModel(bytesOf(data, size)))
    return LLVMFuzzerMutate(data, size, limit);
  std::vector<std::byte> file = test::mutateModel(bytesOf(data, size), seed);
  if (file.size() > limit)
    return size;
  std::transform(file.begin(), file.end(), data,
                 [](std::byte byte) { return static_cast<uint8_t>(byte); });
  return file.size();
}

/// Loads; what loads is bound and sized too. Nothing may run.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Device &cpu = **getDevice({DeviceKind::cpu, 0});
  auto program = Program::load(bytesOf(data, size), cpu);
  if (!program) {
    if (program.error().message.empty())
      __builtin_trap();
    return 0;
  }
  for (int64_t extent : {0, 1, 300}) {
    std::vector<Binding> inputs;
    for (const Port &port : (*program)->inputs())
      inputs.push_back(
          {.buffer = {},
           .dims = std::vector<int64_t>(port.dims.size(), extent)});
    if (auto peak = peakBytes(**program, inputs); !peak)
      continue;
  }
  return 0;
}

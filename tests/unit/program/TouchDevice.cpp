#include "tests/unit/program/TouchDevice.h"

#include "tests/unit/program/ProgramBuilder.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

struct TouchKernel {
  std::string symbol;
  uint32_t inputs;
};

const TouchKernel kernels[] = {{"scale", 2},
                               {"add", 2},
                               {"gather", 2},
                               {"sum_partials", 1},
                               {"sum_total", 1}};

class TouchImage final : public Image {
public:
  KernelHandle find(const std::string &symbol) const override {
    for (const TouchKernel &kernel : kernels)
      if (kernel.symbol == symbol)
        return &kernel;
    return nullptr;
  }
};

} // namespace

Result<BufferRef> TouchDevice::allocate(size_t bytes) {
  Result<BufferRef> buffer = HostDevice::allocate(bytes);
  std::lock_guard lock(mutex);
  if (buffer && bytes > 0)
    live[reinterpret_cast<uintptr_t>((*buffer)->data())] = bytes;
  return buffer;
}

void TouchDevice::free(Buffer *buffer) {
  {
    std::lock_guard lock(mutex);
    live.erase(reinterpret_cast<uintptr_t>(buffer->data()));
  }
  HostDevice::free(buffer);
}

void TouchDevice::check(const void *address, size_t bytes) {
  std::lock_guard lock(mutex);
  auto at = reinterpret_cast<uintptr_t>(address);
  auto after = live.upper_bound(at);
  bool isOurs = false;
  if (after != live.begin()) {
    auto [start, size] = *std::prev(after);
    isOurs = at - start <= size && bytes <= size - (at - start);
  }
  if (isOurs || bytes == 0)
    return;
  std::fprintf(stderr, "%zu bytes at %p are not the device's\n", bytes,
               address);
  std::abort();
}

Status TouchDevice::move(void *to, const void *from, size_t bytes) {
  check(to, bytes);
  check(from, bytes);
  return HostDevice::move(to, from, bytes);
}

Result<std::unique_ptr<Image>>
TouchDevice::loadImage(std::span<const std::byte>) {
  return std::unique_ptr<Image>(std::make_unique<TouchImage>());
}

Status TouchDevice::launch(const LaunchArgs &args) {
  auto &kernel = *static_cast<const TouchKernel *>(args.function);
  std::span dims(args.block->dims, args.numDims);
  std::vector<int64_t> touched = touchedBytes(kernel.symbol, dims);
  if (args.numBuffers < touched.size())
    std::abort();
  uint8_t sum = 0;
  for (size_t i = 0; i < touched.size(); ++i) {
    auto *bytes = static_cast<uint8_t *>(args.block->buffers[i]);
    auto count = size_t(touched[i]);
    check(bytes, count);
    for (size_t k = 0; i < kernel.inputs && k < count; ++k)
      sum ^= bytes[k];
    if (i >= kernel.inputs && count > 0)
      std::memset(bytes, sum, count);
  }
  return {};
}

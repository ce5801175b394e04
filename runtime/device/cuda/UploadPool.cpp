/// Pinned memory and buffers that go round.
#include "runtime/device/cuda/UploadPool.h"

#include <algorithm>
#include <utility>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace sinter::runtime {

class CudaUpload final : public Upload {
public:
  CudaUpload(UploadPool &pool, Device &device, UploadPool::Pinned pinned,
             size_t bytes)
      : pool(pool), device(device), pinned(pinned), bytes(bytes) {}
  ~CudaUpload() override {
    if (pinned.memory)
      pool.giveBack(pinned);
  }
  std::span<std::byte> room() const override { return {pinned.memory, bytes}; }
  Result<BufferRef> send() override {
    Result<BufferRef> sent = pool.send(device, pinned, bytes);
    pool.giveBack(std::exchange(pinned, {}));
    return sent;
  }

private:
  UploadPool &pool;
  Device &device;
  UploadPool::Pinned pinned;
  const size_t bytes;
};

/// Gives its memory back to the pool.
struct UploadedBuffer final : Buffer {
  UploadedBuffer(Device &device, size_t bytes, UploadPool &pool,
                 UploadPool::Block block)
      : Buffer(device, block.memory->data(), bytes, &UploadedBuffer::finish),
        pool(pool), block(std::move(block)) {}
  static void finish(Buffer *buffer) {
    auto *own = static_cast<UploadedBuffer *>(buffer);
    UploadPool &pool = own->pool;
    UploadPool::Block block = std::move(own->block);
    delete own;
    pool.giveBack(std::move(block));
  }
  UploadPool &pool;
  UploadPool::Block block;
};

} // namespace sinter::runtime

/// How much is kept for uploads to come.
static constexpr size_t mostPinned = 16, mostBlocks = 8;

/// Whether memory of `has` bytes is not far too much for some.
static bool fits(size_t has, size_t bytes) {
  return has >= bytes && has <= 2 * bytes + (size_t(64) << 10);
}

Code UploadPool::open() {
  if (copies)
    return success;
  return driver.createStream(&copies, nonBlocking);
}

void UploadPool::drop(Pinned &old) {
  driver.destroyEvent(old.taken);
  driver.freeHost(old.memory);
  old = {};
}

void UploadPool::drop(Block &old) {
  driver.destroyEvent(old.freed);
  old = {};
}

Code UploadPool::takePinned(size_t bytes, Pinned &taken) {
  auto isFree = [&](const Pinned &each) {
    return !each.isQueued || driver.queryEvent(each.taken) == success;
  };
  auto found = std::ranges::find_if(pinned, [&](const Pinned &each) {
    return fits(each.bytes, bytes) && isFree(each);
  });
  if (found != pinned.end()) {
    taken = *found;
    taken.isQueued = false;
    pinned.erase(found);
    return success;
  }
  if (pinned.size() >= mostPinned)
    if (auto old = std::ranges::find_if(pinned, isFree); old != pinned.end()) {
      drop(*old);
      pinned.erase(old);
    }
  constexpr size_t unit = size_t(4) << 10;
  Pinned made;
  made.bytes = (bytes + unit - 1) / unit * unit;
  if (Code code = driver.createEvent(&made.taken, disableTiming);
      code != success)
    return code;
  void *memory = nullptr;
  if (Code code = driver.allocateHost(&memory, made.bytes, 0);
      code != success) {
    driver.destroyEvent(made.taken);
    return code;
  }
  made.memory = static_cast<std::byte *>(memory);
  taken = made;
  return success;
}

void UploadPool::giveBack(Pinned old) {
  std::lock_guard lock(mutex);
  pinned.push_back(old);
}

void UploadPool::giveBack(Block block) {
  std::lock_guard lock(mutex);
  driver.setContext(context);
  // Memory of a device that is lost goes back to where it came from.
  if (driver.recordEvent(block.freed, work) != success) {
    drop(block);
    return;
  }
  blocks.push_back(std::move(block));
  if (blocks.size() <= mostBlocks)
    return;
  // The allocator gives it to what is queued behind.
  drop(blocks.front());
  blocks.erase(blocks.begin());
}

Result<UploadPool::Block> UploadPool::takeBlock(Device &device, size_t bytes) {
  {
    std::lock_guard lock(mutex);
    auto found = std::ranges::find_if(blocks, [&](const Block &each) {
      return fits(each.memory->bytes(), bytes);
    });
    if (found != blocks.end()) {
      Block block = std::move(*found);
      blocks.erase(found);
      return block;
    }
  }
  Result<BufferRef> memory = device.allocate(bytes);
  if (!memory) {
    std::lock_guard lock(mutex);
    for (Block &old : blocks)
      drop(old);
    blocks.clear();
    memory = device.allocate(bytes);
  }
  if (!memory)
    return memory.takeError();
  Block block;
  block.memory = std::move(*memory);
  SINTER_TRY(driver.check("cuEventCreate",
                          driver.createEvent(&block.freed, disableTiming)));
  // Whatever had this memory before is queued till now.
  if (Code code = driver.recordEvent(block.freed, work); code != success) {
    driver.destroyEvent(block.freed);
    return driver.error("cuEventRecord", code);
  }
  return block;
}

Result<BufferRef> UploadPool::send(Device &device, Pinned &from, size_t bytes) {
  SINTER_TRY(driver.check("cuCtxSetCurrent", driver.setContext(context)));
  SINTER_TRY_ASSIGN(Block block, takeBlock(device, bytes));
  Address to = reinterpret_cast<uintptr_t>(block.memory->data());
  DriverEvent freed = block.freed;
  BufferRef buffer = BufferRef::adopt(
      new UploadedBuffer(device, bytes, *this, std::move(block)));
  std::lock_guard lock(mutex);
  SINTER_TRY(
      driver.check("cuStreamWaitEvent", driver.waitInStream(copies, freed, 0)));
  SINTER_TRY(
      driver.check("copy in", driver.copyIn(to, from.memory, bytes, copies)));
  SINTER_TRY(
      driver.check("cuEventRecord", driver.recordEvent(from.taken, copies)));
  from.isQueued = true;
  SINTER_TRY(driver.check("cuStreamWaitEvent",
                          driver.waitInStream(work, from.taken, 0)));
  return buffer;
}

Result<std::unique_ptr<Upload>> UploadPool::begin(Device &device,
                                                  size_t bytes) {
  SINTER_TRY(driver.check("cuCtxSetCurrent", driver.setContext(context)));
  std::lock_guard lock(mutex);
  SINTER_TRY(driver.check("cuStreamCreate", open()));
  Pinned room;
  SINTER_TRY(driver.check("cuMemHostAlloc", takePinned(bytes, room)));
  return std::unique_ptr<Upload>(
      std::make_unique<CudaUpload>(*this, device, room, bytes));
}

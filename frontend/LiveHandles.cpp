/// Handles: their blocks, and the sharded list that they stand in.
#include "frontend/LiveHandles.h"

#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace sinter::detail {

namespace {
/// A lock for a few instructions, almost never contended.
class SpinLock {
public:
  void lock() {
    while (flag.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
  }
  void unlock() { flag.clear(std::memory_order_release); }

private:
  std::atomic_flag flag;
};

struct alignas(64) Shard {
  SpinLock lock;
  Handle *first = nullptr;
};

constexpr uint32_t numShards = 32;

/// Free blocks that ended threads left behind.
struct Spares {
  std::mutex mutex;
  std::vector<void *> blocks;
};

/// The calling thread's free blocks and shard.
struct ThreadBlocks {
  std::vector<void *> blocks;
  uint32_t shard;
  ThreadBlocks();
  ~ThreadBlocks();
  void *take();
};
} // namespace

static Shard *shards() {
  static Shard *all = new Shard[numShards]; // outlives static tensors
  return all;
}

static Spares &spares() {
  static Spares *all = new Spares;
  return *all;
}

static constexpr size_t blocksPerSlab = 128;

ThreadBlocks::ThreadBlocks() {
  static std::atomic<uint32_t> threads{0};
  shard = threads.fetch_add(1, std::memory_order_relaxed) % numShards;
}

/// Set when the thread's blocks are gone: a tensor of static storage may be
/// released later.
static thread_local bool threadEnded = false;

ThreadBlocks::~ThreadBlocks() {
  threadEnded = true;
  Spares &all = spares();
  std::lock_guard lock(all.mutex);
  all.blocks.insert(all.blocks.end(), blocks.begin(), blocks.end());
}

void *ThreadBlocks::take() {
  if (blocks.empty()) {
    Spares &all = spares();
    std::lock_guard lock(all.mutex);
    size_t count = std::min(all.blocks.size(), blocksPerSlab);
    blocks.assign(all.blocks.end() - count, all.blocks.end());
    all.blocks.resize(all.blocks.size() - count);
  }
  if (blocks.empty()) {
    auto *slab = static_cast<std::byte *>(
        ::operator new(blocksPerSlab * sizeof(Handle)));
    for (size_t i = 0; i < blocksPerSlab; ++i)
      blocks.push_back(slab + i * sizeof(Handle));
  }
  void *block = blocks.back();
  blocks.pop_back();
  return block;
}

static ThreadBlocks &threadBlocks() {
  static thread_local ThreadBlocks blocks;
  return blocks;
}

Handle *LiveHandles::add(graph::NodeRef node) {
  Handle *handle;
  if (threadEnded) {
    handle = new (::operator new(sizeof(Handle))) Handle;
  } else {
    ThreadBlocks &mine = threadBlocks();
    handle = new (mine.take()) Handle;
    handle->shard = mine.shard;
  }
  handle->node = std::move(node);
  Shard &shard = shards()[handle->shard];
  std::lock_guard lock(shard.lock);
  handle->next = shard.first;
  if (shard.first)
    shard.first->previous = handle;
  shard.first = handle;
  return handle;
}

void LiveHandles::remove(Handle *handle) {
  Shard &shard = shards()[handle->shard];
  {
    std::lock_guard lock(shard.lock);
    if (handle->previous)
      handle->previous->next = handle->next;
    else
      shard.first = handle->next;
    if (handle->next)
      handle->next->previous = handle->previous;
  }
  handle->~Handle();
  if (!threadEnded) {
    threadBlocks().blocks.push_back(handle);
    return;
  }
  Spares &all = spares();
  std::lock_guard lock(all.mutex);
  all.blocks.push_back(handle);
}

void LiveHandles::forEach(
    const std::function<void(const graph::NodeRef &)> &visit) {
  for (uint32_t i = 0; i < numShards; ++i) {
    Shard &shard = shards()[i];
    std::lock_guard lock(shard.lock);
    for (Handle *handle = shard.first; handle; handle = handle->next)
      visit(handle->node);
  }
}

HandleRef::HandleRef(graph::NodeRef node)
    : pointer(LiveHandles::add(std::move(node))) {}

void HandleRef::destroy(Handle *handle) { LiveHandles::remove(handle); }

} // namespace sinter::detail

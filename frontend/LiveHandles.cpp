/// Handles: their blocks, and the sharded list that they stand in.
#include "frontend/LiveHandles.h"

#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <mutex>
#include <new>
#include <thread>
#include <utility>

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

/// A block without a handle. The first of a batch that a thread gave up says
/// how many there are, and which batch was given up before: giving up takes no
/// memory.
struct FreeBlock {
  FreeBlock *next;
  FreeBlock *olderBatch;
  size_t count;
};
static_assert(sizeof(FreeBlock) <= sizeof(Handle));

struct Batch {
  FreeBlock *first = nullptr;
  size_t count = 0;

  void push(void *block) {
    auto *free = static_cast<FreeBlock *>(block);
    free->next = first;
    first = free;
    ++count;
  }
  void *pop() {
    --count;
    return std::exchange(first, first->next);
  }
};
constexpr size_t batchSize = 256;

/// Blocks that threads have given up.
struct Spares {
  ForkMutex mutex;
  FreeBlock *newest = nullptr; ///< the first block of a batch
};

/// The calling thread's free blocks and shard. Two batches, so that a thread
/// that makes and releases by turns keeps to itself; a thread that only
/// releases what others made passes the blocks on.
struct ThreadBlocks {
  Batch batch, full;
  uint32_t shard;
  ThreadBlocks();
  ~ThreadBlocks();
  void *take() {
    if (!batch.count) [[unlikely]]
      refill();
    return batch.pop();
  }
  void give(void *block) {
    batch.push(block);
    if (batch.count == batchSize) [[unlikely]]
      passOn();
  }
  void refill();
  void passOn();
};
} // namespace

/// Never destroyed: outlives static tensors.
constinit static Shard shards[numShards];

static Spares &spares() {
  static Spares *all = new Spares;
  return *all;
}

ThreadBlocks::ThreadBlocks() {
  static std::atomic<uint32_t> threads{0};
  shard = threads.fetch_add(1, std::memory_order_relaxed) % numShards;
}

namespace {
/// What a thread has; of constant initialization, so that reaching it is quick.
struct ThreadState {
  ThreadBlocks *blocks = nullptr;
  /// A tensor of static storage may be released after its thread's blocks.
  bool ended = false;
};
} // namespace
static SINTER_THREAD_LOCAL ThreadState threadState;

static void spare(const Batch &batch) {
  if (!batch.count)
    return;
  Spares &all = spares();
  std::lock_guard lock(all.mutex);
  batch.first->count = batch.count;
  batch.first->olderBatch = std::exchange(all.newest, batch.first);
}

ThreadBlocks::~ThreadBlocks() {
  threadState = {nullptr, true};
  spare(batch);
  spare(full);
}

void ThreadBlocks::passOn() {
  spare(full);
  full = std::exchange(batch, {});
}

void ThreadBlocks::refill() {
  batch = std::exchange(full, {});
  if (batch.count)
    return;
  Spares &all = spares();
  {
    std::lock_guard lock(all.mutex);
    if (FreeBlock *first = all.newest) {
      all.newest = first->olderBatch;
      batch = {first, first->count};
      return;
    }
  }
  constexpr size_t slabSize = 128;
  auto *slab =
      static_cast<std::byte *>(::operator new(slabSize * sizeof(Handle)));
  for (size_t i = slabSize; i > 0; --i)
    batch.push(slab + (i - 1) * sizeof(Handle));
}

/// Null after the thread's end.
static ThreadBlocks *threadBlocks() {
  if (!threadState.blocks && !threadState.ended) [[unlikely]] {
    static thread_local ThreadBlocks blocks;
    threadState.blocks = &blocks;
  }
  return threadState.blocks;
}

Handle *LiveHandles::add(graph::NodeRef node) {
  Handle *handle;
  if (ThreadBlocks *mine = threadBlocks()) [[likely]] {
    handle = new (mine->take()) Handle;
    handle->shard = mine->shard;
  } else {
    handle = new (::operator new(sizeof(Handle))) Handle;
  }
  handle->node = std::move(node);
  Shard &shard = shards[handle->shard];
  std::lock_guard lock(shard.lock);
  handle->next = shard.first;
  if (shard.first)
    shard.first->previous = handle;
  shard.first = handle;
  return handle;
}

void LiveHandles::remove(Handle *handle) {
  Shard &shard = shards[handle->shard];
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
  if (ThreadBlocks *mine = threadBlocks()) [[likely]]
    return mine->give(handle);
  Batch one;
  one.push(handle);
  spare(one);
}

void LiveHandles::forEach(
    const std::function<void(const graph::NodeRef &)> &visit) {
  for (uint32_t i = 0; i < numShards; ++i) {
    Shard &shard = shards[i];
    std::lock_guard lock(shard.lock);
    for (Handle *handle = shard.first; handle; handle = handle->next)
      visit(handle->node);
  }
}

HandleRef::HandleRef(graph::NodeRef node)
    : pointer(LiveHandles::add(std::move(node))) {}

void HandleRef::destroy(Handle *handle) { LiveHandles::remove(handle); }

} // namespace sinter::detail

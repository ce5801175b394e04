/// Slabs of node blocks: a thread frees its own blocks without atomics and
/// hands the others back through their owner's list.
#include "runtime/graph/NodeHeap.h"

#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace sinter::graph {

#if defined(__SANITIZE_ADDRESS__)

// The sanitizer sees each block by itself.
void *allocateNodeBlock(uint32_t bytes) { return ::operator new(bytes); }
void freeNodeBlock(void *block, uint32_t) { ::operator delete(block); }

#else

namespace {
constexpr uint32_t grain = 32;
constexpr uint32_t largestBlock = 1024;
constexpr uint32_t slabBytes = 64 * 1024;

struct FreeBlock {
  FreeBlock *next;
  uint32_t sizeClass;
};

class Heap;

/// Stands at the start of each slab, which is aligned to its size.
struct alignas(64) SlabHeader {
  Heap *owner;
};

/// Used by one thread at a time; never destroyed, so that a block may be freed
/// after its thread ended.
class Heap {
public:
  void *allocate(uint32_t sizeClass) {
    FreeBlock *&list = lists[sizeClass];
    if (!list)
      takeRemote();
    if (!list)
      return carve(sizeClass);
    FreeBlock *block = list;
    list = block->next;
    return block;
  }
  void freeOwn(void *memory, uint32_t sizeClass) {
    lists[sizeClass] = new (memory) FreeBlock{lists[sizeClass], sizeClass};
  }
  /// From any thread.
  void freeRemote(void *memory, uint32_t sizeClass) {
    auto *block = new (memory) FreeBlock{nullptr, sizeClass};
    FreeBlock *head = remote.load(std::memory_order_relaxed);
    do
      block->next = head;
    while (!remote.compare_exchange_weak(head, block, std::memory_order_release,
                                         std::memory_order_relaxed));
  }

private:
  void takeRemote() {
    if (!remote.load(std::memory_order_relaxed))
      return;
    FreeBlock *block = remote.exchange(nullptr, std::memory_order_acquire);
    while (block) {
      FreeBlock *next = block->next;
      freeOwn(block, block->sizeClass);
      block = next;
    }
  }
  void *carve(uint32_t sizeClass) {
    uint32_t bytes = sizeClass * grain;
    if (size_t(end - position) < bytes) {
      auto *slab =
          static_cast<char *>(std::aligned_alloc(slabBytes, slabBytes));
      if (!slab)
        throw std::bad_alloc();
      new (slab) SlabHeader{this};
      position = slab + sizeof(SlabHeader);
      end = slab + slabBytes;
    }
    void *block = position;
    position += bytes;
    return block;
  }

public:
  Heap *nextIdle = nullptr; ///< under the lock of the idle ones

private:
  std::array<FreeBlock *, largestBlock / grain + 1> lists{};
  char *position = nullptr;
  char *end = nullptr;
  alignas(64) std::atomic<FreeBlock *> remote{nullptr};
};

/// Heaps of threads that ended, for threads to come.
struct IdleHeaps {
  ForkMutex mutex;
  Heap *first = nullptr;
};
} // namespace

static IdleHeaps &idleHeaps() {
  static IdleHeaps *instance = new IdleHeaps; // outlives static tensors
  return *instance;
}

static SINTER_THREAD_LOCAL Heap *current;

namespace {
/// Gives the thread's heap back when the thread ends.
struct HeapHolder {
  bool armed = false;
  ~HeapHolder() {
    if (!current)
      return;
    IdleHeaps &idle = idleHeaps();
    std::lock_guard lock(idle.mutex);
    current->nextIdle = idle.first;
    idle.first = std::exchange(current, nullptr);
  }
};
} // namespace

[[gnu::noinline]] static Heap *acquireHeap() {
  thread_local HeapHolder holder;
  holder.armed = true;
  IdleHeaps &idle = idleHeaps();
  std::lock_guard lock(idle.mutex);
  if (!idle.first)
    return current = new Heap;
  current = idle.first;
  idle.first = current->nextIdle;
  return current;
}

static uint32_t sizeClassOf(uint32_t bytes) {
  return (bytes + grain - 1) / grain;
}

void *allocateNodeBlock(uint32_t bytes) {
  if (bytes > largestBlock)
    return ::operator new(bytes);
  Heap *heap = current ? current : acquireHeap();
  return heap->allocate(sizeClassOf(bytes));
}

void freeNodeBlock(void *block, uint32_t bytes) {
  if (bytes > largestBlock)
    return ::operator delete(block);
  auto address = reinterpret_cast<uintptr_t>(block);
  auto *slab =
      reinterpret_cast<SlabHeader *>(address & ~uintptr_t(slabBytes - 1));
  if (slab->owner == current)
    slab->owner->freeOwn(block, sizeClassOf(bytes));
  else
    slab->owner->freeRemote(block, sizeClassOf(bytes));
}

#endif

} // namespace sinter::graph

#include "runtime/memory/CachingAllocator.h"

#include "runtime/device/Device.h"
#include "runtime/support/Sites.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Host memory that counts, and refuses when told to.
class CountingMemory : public MemorySource {
public:
  void *acquire(size_t bytes) override {
    if (refuse)
      return nullptr;
    ++acquired;
    return host.acquire(bytes);
  }
  void release(void *block) override {
    ++released;
    host.release(block);
  }
  HostMemory host;
  bool refuse = false;
  int acquired = 0;
  int released = 0;
};

/// Buffers need a device to name; these are freed by hand, not through it.
Device &anyDevice() { return **getDevice({DeviceKind::null, 0}); }

/// Ends a buffer of `allocator` that nobody else refers to.
void freeTo(CachingAllocator &allocator, BufferRef &ref) {
  Buffer *buffer = ref.get();
  buffer->retain(); // so that the reference does not free it
  ref = {};
  allocator.free(buffer);
}

} // namespace

TEST(CachingAllocator, reusesFreedBlocks) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  for (int i = 0; i < 100; ++i) {
    auto buffer = allocator.allocate(anyDevice(), 1000);
    ASSERT_TRUE(buffer);
    EXPECT_EQ((*buffer)->bytes(), 1000u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 256, 0u);
    freeTo(allocator, *buffer);
  }
  EXPECT_EQ(memory.acquired, 1);
  EXPECT_EQ(allocator.usage().inUse, 0u);
  EXPECT_EQ(allocator.usage().cached, 1024u);
  EXPECT_EQ(allocator.usage().peak, 1024u);
  allocator.trim();
  EXPECT_EQ(memory.released, 1);
  EXPECT_EQ(allocator.usage().cached, 0u);
}

TEST(CachingAllocator, keepsWhatIsInTurn) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  auto use = [&](size_t bytes) {
    auto buffer = allocator.allocate(anyDevice(), bytes);
    ASSERT_TRUE(buffer);
    freeTo(allocator, *buffer);
  };
  use(4096);
  use(2048); // in place of the 4096 that were kept
  EXPECT_EQ(memory.released, 1);
  for (int i = 0; i < 100; ++i) {
    use(2048);
    use(1024);
  }
  EXPECT_EQ(memory.acquired, 3);
  EXPECT_EQ(memory.released, 1);
  EXPECT_EQ(allocator.usage().cached, 3072u);
  EXPECT_EQ(allocator.usage().peak, 4096u);
}

TEST(CachingAllocator, keepsAllWhereReleaseWaits) {
  class Waiting final : public CountingMemory {
    bool waitsOnRelease() const override { return true; }
  } memory;
  CachingAllocator allocator(memory, "test", 8192);
  for (size_t bytes : {4096, 2048, 1024, 4096, 2048, 1024}) {
    auto buffer = allocator.allocate(anyDevice(), bytes);
    ASSERT_TRUE(buffer);
    freeTo(allocator, *buffer);
  }
  EXPECT_EQ(memory.acquired, 3);
  EXPECT_EQ(memory.released, 0);
  auto larger = allocator.allocate(anyDevice(), 5120);
  ASSERT_TRUE(larger);
  EXPECT_EQ(memory.released, 3);
  freeTo(allocator, *larger);
}

TEST(CachingAllocator, roundsLittle) {
  for (size_t bytes = 0; bytes < 100000; bytes += 37) {
    size_t block = CachingAllocator::blockBytes(bytes);
    EXPECT_GE(block, std::max<size_t>(bytes, 1));
    EXPECT_EQ(block % 256, 0u);
    EXPECT_LE(block, std::max<size_t>(256, bytes + bytes / 8 + 256));
  }
  // Blocks of one size are whole classes: no two classes share a size.
  std::set<size_t> sizes;
  size_t last = 0;
  for (size_t bytes = 1; bytes < (size_t(1) << 30); bytes += bytes / 16 + 1) {
    size_t block = CachingAllocator::blockBytes(bytes);
    EXPECT_GE(block, last);
    last = block;
    sizes.insert(block);
  }
  EXPECT_LT(sizes.size(), 200u);
}

TEST(CachingAllocator, keepsToItsLimit) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 4096);
  auto first = allocator.allocate(anyDevice(), 2048);
  auto second = allocator.allocate(anyDevice(), 2048);
  ASSERT_TRUE(first && second);
  auto third = allocator.allocate(anyDevice(), 1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::out_of_memory);
  EXPECT_EQ(third.error().message,
            "test: cannot allocate 1 bytes, 4096 are in use and the limit is "
            "4096 bytes; the largest: 2048 bytes, 2048 bytes");
  // A cached block of another size makes room.
  freeTo(allocator, *first);
  third = allocator.allocate(anyDevice(), 1);
  ASSERT_TRUE(third);
  EXPECT_EQ(memory.released, 1);
  freeTo(allocator, *second);
  freeTo(allocator, *third);
}

TEST(CachingAllocator, listsTheLargestBuffersWithTheirLines) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 1 << 20);
  std::vector<BufferRef> live;
  for (uint32_t i = 1; i <= 8; ++i) {
    live.push_back(*allocator.allocate(anyDevice(), i * 1000));
    live.back()->setOrigin({DType::f32, internSite("model.cpp", i)});
  }
  live[7]->setOrigin({DType::i64, 0}); // the first one stays
  live.push_back(*allocator.allocate(anyDevice(), 7500));
  live.push_back(*allocator.allocate(anyDevice(), 6500));
  live.back()->setOrigin({DType::bf16, 0});
  freeTo(allocator, live[6]);
  freeTo(allocator, live[0]);
  auto failed = allocator.allocate(anyDevice(), 2 << 20);
  ASSERT_FALSE(failed);
  std::string message = failed.error().message;
  EXPECT_EQ(message.substr(message.find(';')),
            "; the largest: 8000 bytes of f32 made at model.cpp:8, 7500 bytes, "
            "6500 bytes of bf16, 6000 bytes of f32 made at model.cpp:6, 5000 "
            "bytes of f32 made at model.cpp:5");
  for (BufferRef &buffer : live)
    if (buffer)
      freeTo(allocator, buffer);
  EXPECT_EQ(allocator.usage().inUse, 0u);
  message = allocator.allocate(anyDevice(), 2 << 20).error().message;
  EXPECT_EQ(message.find(';'), std::string::npos) << message;
}

TEST(CachingAllocator, saysWhenTheSourceIsEmpty) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  memory.refuse = true;
  auto buffer = allocator.allocate(anyDevice(), 1000);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, ErrorKind::out_of_memory);
  EXPECT_FALSE(allocator.allocate(anyDevice(), SIZE_MAX));
  EXPECT_EQ(allocator.usage().inUse, 0u);
  memory.refuse = false;
  buffer = allocator.allocate(anyDevice(), 1000);
  ASSERT_TRUE(buffer);
  freeTo(allocator, *buffer);
}

TEST(CachingAllocator, takesManyThreads) {
  Device &device = anyDevice();
  size_t before = device.memoryInfo().inUse;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 500; ++i) {
        auto buffer = device.allocate((i * 37 + size_t(t) * 101) % 5000);
        ASSERT_TRUE(buffer);
        BufferRef copy = *buffer;
        EXPECT_EQ(copy->useCount(), 2u);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(device.memoryInfo().inUse, before);
}

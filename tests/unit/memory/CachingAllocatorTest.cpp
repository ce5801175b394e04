#include "runtime/memory/CachingAllocator.h"

#include "runtime/device/Device.h"
#include "runtime/support/Sites.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Host memory that counts, and refuses when told to.
class CountingMemory : public MemorySource {
public:
  void *acquire(size_t bytes) override {
    if (refuse || bytes > most)
      return nullptr;
    ++acquired;
    held += bytes;
    void *block = host.acquire(bytes);
    sizes[block] = bytes;
    return block;
  }
  void release(void *block) override {
    ++released;
    held -= sizes.at(block);
    sizes.erase(block);
    host.release(block);
  }
  size_t mostBytes() const override { return most; }
  size_t most = size_t(1) << 40;
  HostMemory host;
  std::map<void *, size_t> sizes; ///< of what was not released
  size_t held = 0;                ///< their sum
  bool refuse = false;
  int acquired = 0;
  int released = 0;
};

/// The same as memory of a GPU, which is given back late.
class WaitingMemory final : public CountingMemory {
  bool waitsOnRelease() const override { return true; }
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

/// Sizes are rounded up, but not beyond what the source gives at once: drivers
/// of Vulkan give a little less than 4 GiB.
TEST(CachingAllocator, takesTheMostOfASource) {
  WaitingMemory memory;
  memory.most = 16 * 4096 - 512; // between two rounded sizes
  CachingAllocator allocator(memory, "test", 0);
  for (size_t bytes : {memory.most - 1000, memory.most, memory.most - 300}) {
    auto buffer = allocator.allocate(anyDevice(), bytes);
    ASSERT_TRUE(buffer) << bytes;
    EXPECT_EQ((*buffer)->bytes(), bytes);
    EXPECT_EQ(allocator.usage().inUse, memory.most);
    freeTo(allocator, *buffer);
  }
  EXPECT_EQ(memory.acquired, 1);
  EXPECT_FALSE(allocator.allocate(anyDevice(), memory.most + 1));
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
  use(2048); // a part of the 4096 that were kept
  EXPECT_EQ(memory.acquired, 1);
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
  WaitingMemory memory;
  CachingAllocator allocator(memory, "test", 8192);
  for (size_t bytes : {4096, 2048, 1024, 4096, 2048, 1024}) {
    auto buffer = allocator.allocate(anyDevice(), bytes);
    ASSERT_TRUE(buffer);
    freeTo(allocator, *buffer);
  }
  EXPECT_EQ(memory.acquired, 1);
  EXPECT_EQ(memory.released, 0);
  auto larger = allocator.allocate(anyDevice(), 5120);
  ASSERT_TRUE(larger);
  EXPECT_EQ(memory.released, 1);
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

TEST(CachingAllocator, joinsWhatItCut) {
  WaitingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  auto whole = allocator.allocate(anyDevice(), 8192);
  freeTo(allocator, *whole);
  for (const std::vector<int> &order :
       {std::vector{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}}) {
    std::vector<BufferRef> parts;
    for (int i = 0; i < 4; ++i)
      parts.push_back(*allocator.allocate(anyDevice(), 2048));
    EXPECT_EQ(allocator.usage().cached, 0u);
    for (int each : order)
      freeTo(allocator, parts[size_t(each)]);
    whole = allocator.allocate(anyDevice(), 8192);
    freeTo(allocator, *whole);
  }
  EXPECT_EQ(memory.acquired, 1);
}

TEST(CachingAllocator, cutsNoLargeSegmentForWhatIsSmall) {
  for (bool waits : {false, true}) {
    CountingMemory cheap;
    WaitingMemory waiting;
    CountingMemory &memory = waits ? waiting : cheap;
    CachingAllocator allocator(memory, "test", 8 << 20);
    auto large = allocator.allocate(anyDevice(), 4 << 20);
    freeTo(allocator, *large);
    auto small = allocator.allocate(anyDevice(), 1000);
    EXPECT_EQ(memory.acquired, 2);
    allocator.trim();
    EXPECT_EQ(memory.held, 1024u);
    freeTo(allocator, *small);
  }
}

// Where there is no other memory, what is free anywhere is taken.
TEST(CachingAllocator, cutsWhatThereIsBeforeItFails) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 8192);
  auto first = allocator.allocate(anyDevice(), 8192);
  freeTo(allocator, *first);
  first = allocator.allocate(anyDevice(), 4096); // half of it
  auto second = allocator.allocate(anyDevice(), 256);
  ASSERT_TRUE(second);
  EXPECT_EQ(memory.acquired, 1);
  auto third = allocator.allocate(anyDevice(), 4096);
  EXPECT_FALSE(third);
  freeTo(allocator, *second);
  freeTo(allocator, *first);
}

TEST(CachingAllocator, sizesThatGrowLeaveNothingBehind) {
  WaitingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  for (size_t mebi = 1; mebi <= 40; ++mebi) {
    auto buffer = allocator.allocate(anyDevice(), mebi << 20);
    freeTo(allocator, *buffer);
    EXPECT_LE(memory.held, CachingAllocator::blockBytes(mebi << 20) * 2);
  }
}

TEST(CachingAllocator, beginsItsPeakAgain) {
  CountingMemory memory;
  CachingAllocator allocator(memory, "test", 0);
  auto large = allocator.allocate(anyDevice(), 1 << 20);
  auto small = allocator.allocate(anyDevice(), 4096);
  freeTo(allocator, *large);
  EXPECT_EQ(allocator.usage().peak, (1u << 20) + 4096);
  allocator.resetPeak();
  EXPECT_EQ(allocator.usage().peak, 4096u);
  large = allocator.allocate(anyDevice(), 8192);
  EXPECT_EQ(allocator.usage().peak, 3 * 4096u);
  freeTo(allocator, *large);
  freeTo(allocator, *small);
}

// Random sizes in a random order: nobody's bytes are another's, what is counted
// is what there is, and at the end everything can be given back.
TEST(CachingAllocator, keepsBuffersApart) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    CountingMemory cheap;
    WaitingMemory waiting;
    CountingMemory &memory = seed % 2 ? waiting : cheap;
    CachingAllocator allocator(memory, "test", size_t(24) << 20);
    std::vector<std::pair<BufferRef, unsigned char>> live;
    auto end = [&](size_t which) {
      auto &[buffer, mark] = live[which];
      const auto *bytes = static_cast<const unsigned char *>(buffer->data());
      for (size_t i = 0; i < buffer->bytes(); i += 97)
        ASSERT_EQ(bytes[i], mark) << seed;
      freeTo(allocator, buffer);
      live.erase(live.begin() + ptrdiff_t(which));
    };
    for (unsigned step = 0; step < 600; ++step) {
      if (!live.empty() && random() % 5 < 2) {
        end(random() % live.size());
      } else {
        size_t bytes = random() % (size_t(256) << random() % 14);
        auto buffer = allocator.allocate(anyDevice(), bytes);
        if (!buffer) {
          EXPECT_EQ(buffer.error().kind, ErrorKind::out_of_memory);
          EXPECT_GT(allocator.usage().inUse, size_t(2) << 20);
          continue;
        }
        live.emplace_back(*buffer, static_cast<unsigned char>(random()));
        std::memset((*buffer)->data(), live.back().second, bytes);
      }
      CachingAllocator::Usage usage = allocator.usage();
      size_t inUse = 0;
      for (const auto &[buffer, mark] : live)
        inUse += CachingAllocator::blockBytes(buffer->bytes());
      ASSERT_EQ(usage.inUse, inUse) << seed;
      ASSERT_EQ(usage.inUse + usage.cached, memory.held) << seed;
      ASSERT_LE(memory.held, usage.limit) << seed;
    }
    while (!live.empty())
      end(random() % live.size());
    allocator.trim();
    EXPECT_EQ(memory.held, 0u) << seed;
  }
}

// Steps that take other sizes in turn, as batches of other lengths do: after a
// few rounds the source is asked for next to nothing any more.
TEST(CachingAllocator, staysFlatOverSizesInTurn) {
  size_t before = 0, after = 0;
  int grown = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    WaitingMemory memory;
    CachingAllocator allocator(memory, "test", 0);
    std::vector<BufferRef> parameters;
    for (int i = 0; i < 30; ++i)
      parameters.push_back(
          *allocator.allocate(anyDevice(), random() % (1 << 16)));
    std::vector<std::vector<size_t>> shapes(2 + random() % 4);
    for (auto &sizes : shapes)
      for (unsigned i = 0; i < 1 + random() % 12; ++i) {
        unsigned bits = 10 + random() % 13; // drawn first by every compiler
        sizes.push_back(random() % (size_t(1) << bits));
      }
    auto step = [&](const std::vector<size_t> &sizes, unsigned number) {
      std::vector<BufferRef> own;
      for (size_t bytes : sizes)
        own.push_back(*allocator.allocate(anyDevice(), bytes));
      // Some of the parameters have new values in new memory.
      for (size_t i = number % 3; i < parameters.size(); i += 3) {
        auto next = allocator.allocate(anyDevice(), parameters[i]->bytes());
        freeTo(allocator, parameters[i]);
        parameters[i] = *next;
      }
      while (!own.empty()) {
        freeTo(allocator, own.back());
        own.pop_back();
      }
    };
    unsigned number = 0;
    size_t held = 0;
    for (unsigned round = 0; round < 200; ++round) {
      for (const auto &sizes : shapes)
        step(sizes, number++);
      if (round == 20)
        held = memory.held;
    }
    // What is small moves around, so that now and then there is no place.
    before += held;
    after += memory.held;
    grown += memory.held > held + held / 10;
    EXPECT_LE(memory.held, 3 * allocator.usage().peak) << seed;
    for (BufferRef &each : parameters)
      freeTo(allocator, each);
  }
  EXPECT_LE(after, before + before / 25);
  EXPECT_LE(grown, 10);
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

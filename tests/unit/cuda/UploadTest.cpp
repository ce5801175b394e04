/// New buffers that are filled beside the work of a GPU.
#include "tests/unit/cuda/CudaPrograms.h"

#include <numeric>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

std::vector<uint32_t> countedFrom(uint32_t first, size_t count = 5000) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// A buffer with these values; nothing is waited for.
BufferRef uploaded(const std::vector<uint32_t> &values) {
  auto upload = gpu().upload(4 * values.size());
  EXPECT_TRUE(upload);
  std::span<std::byte> room = (*upload)->room();
  EXPECT_EQ(room.size(), 4 * values.size());
  std::ranges::copy(std::as_bytes(std::span(values)), room.begin());
  auto buffer = (*upload)->send();
  EXPECT_TRUE(buffer);
  return *buffer;
}

BufferRef emptyBuffer(size_t bytes) {
  auto buffer = gpu().allocate(bytes);
  EXPECT_TRUE(buffer);
  return *buffer;
}

} // namespace

TEST(CudaUpload, whatIsQueuedBehindSeesTheBytes) {
  ASSERT_TRUE(gpu().synchronize());
  std::vector<uint32_t> values = countedFrom(7);
  uint64_t waits = driver().waits;
  BufferRef from = uploaded(values), to = emptyBuffer(20000);
  ASSERT_TRUE(gpu().copy(*to, *from, 20000));
  EXPECT_EQ(driver().waits, waits) << "the host waited";
  EXPECT_EQ(valuesOf<uint32_t>(*to), values);
  EXPECT_EQ(from->bytes(), 20000u);
  EXPECT_TRUE(from->isBorrowed()) << "no program may write there";
}

TEST(CudaUpload, theCopyDoesNotWaitForQueuedWork) {
  BufferRef warm = uploaded(countedFrom(0));
  warm = {}; // its memory is taken again below
  ASSERT_TRUE(gpu().synchronize());
  BufferRef a = emptyBuffer(4), b = emptyBuffer(4);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(gpu().copy(*a, *b, 4));
  EXPECT_EQ(driver().queued, 3u);
  std::vector<uint32_t> values = countedFrom(9);
  BufferRef buffer = uploaded(values);
  // The copies' stream runs where its memory is wanted back; the work's stays.
  uint64_t queued = driver().queued;
  ASSERT_EQ(queued, 6u) << "a wait, the copy, and the wait of the work";
  sinter::test::runFakeCopies();
  EXPECT_EQ(driver().queued, 4u);
  EXPECT_EQ(0, std::memcmp(buffer->data(), values.data(), 20000));
  ASSERT_TRUE(gpu().synchronize());
  EXPECT_EQ(driver().queued, 0u);
}

TEST(CudaUpload, memoryIsWrittenAgainWhenItsWorkIsDone) {
  std::vector<uint32_t> first = countedFrom(100), second = countedFrom(900);
  std::vector<BufferRef> copies;
  for (int round = 0; round < 30; ++round) {
    BufferRef from = uploaded(round % 2 ? second : first);
    copies.push_back(emptyBuffer(20000));
    ASSERT_TRUE(gpu().copy(*copies.back(), *from, 20000));
    // Its last reference: the queued copy still reads it.
  }
  sinter::test::runFakeCopies();
  for (size_t round = 0; round < copies.size(); ++round)
    EXPECT_EQ(valuesOf<uint32_t>(*copies[round]), round % 2 ? second : first);
}

TEST(CudaUpload, memoryGoesRound) {
  ASSERT_TRUE(gpu().synchronize());
  for (int round = 0; round < 3; ++round) {
    uploaded(countedFrom(0));
    ASSERT_TRUE(gpu().synchronize());
  }
  uint64_t pinned = driver().livePinned;
  size_t reserved = gpu().memoryInfo().reserved;
  for (int round = 0; round < 50; ++round) {
    BufferRef buffer = uploaded(countedFrom(uint32_t(round)));
    EXPECT_EQ(valuesOf<uint32_t>(*buffer), countedFrom(uint32_t(round)));
  }
  EXPECT_EQ(driver().livePinned, pinned);
  EXPECT_EQ(gpu().memoryInfo().reserved, reserved);
}

TEST(CudaUpload, whatIsNotSentIsNoBuffer) {
  uint64_t pinned = driver().livePinned;
  for (int round = 0; round < 3; ++round) {
    auto upload = gpu().upload(300000);
    ASSERT_TRUE(upload);
  }
  EXPECT_LE(driver().livePinned, pinned + 1);
  auto none = gpu().upload(0);
  ASSERT_TRUE(none);
  EXPECT_TRUE((*none)->room().empty());
  EXPECT_TRUE((*none)->send());
}

TEST(CudaUpload, failuresAreErrors) {
  for (const char *call : {"cuMemHostAlloc", "cuMemcpyHtoDAsync",
                           "cuStreamWaitEvent", "cuEventRecord"}) {
    driver().failing = call;
    auto upload = gpu().upload(777000);
    bool sent = upload && (*upload)->send();
    EXPECT_FALSE(sent) << call;
    driver().failing = "";
  }
  EXPECT_EQ(valuesOf<uint32_t>(*uploaded(countedFrom(3))), countedFrom(3));
}

#include "tests/unit/cuda/CudaPrograms.h"

#include <numeric>

#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

TEST(CudaCopy, leavesTheHostItsBytes) {
  for (size_t size : {100, 4096, 4097, 100000}) {
    auto buffer = gpu().allocate(size);
    ASSERT_TRUE(buffer);
    std::vector<std::byte> bytes(size, std::byte(1));
    ASSERT_TRUE(gpu().synchronize());
    uint64_t waits = driver().waits;
    ASSERT_TRUE(gpu().copyIn(**buffer, 0, bytes));
    EXPECT_EQ(driver().waits, waits);
    EXPECT_EQ(driver().queued, 1u);
    std::ranges::fill(bytes, std::byte(2)); // the caller's again
    EXPECT_EQ(valuesOf<uint8_t>(**buffer), std::vector<uint8_t>(size, 1));
  }
}

TEST(CudaCopy, goesRoundTheRing) {
  constexpr size_t bytes = size_t(11) << 20; // of a ring of 16
  std::vector<std::vector<uint32_t>> contents;
  std::vector<BufferRef> buffers;
  for (uint32_t i = 0; i < 5; ++i) {
    std::vector<uint32_t> values(bytes / 4);
    std::iota(values.begin(), values.end(), i << 24);
    buffers.push_back(bufferOf(gpu(), values));
    contents.push_back(std::move(values));
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    EXPECT_EQ(valuesOf<uint32_t>(*buffers[i]), contents[i]);
}

TEST(CudaCopy, betweenBuffersIsQueued) {
  std::vector<float> values = {1, 2, 3};
  BufferRef from = bufferOf(gpu(), values), to = bufferOf(gpu(), values);
  std::vector<float> others = {4, 5, 6};
  ASSERT_TRUE(gpu().copyIn(*from, 0, std::as_bytes(std::span(others))));
  uint64_t waits = driver().waits;
  ASSERT_TRUE(gpu().copy(*to, *from, 12));
  EXPECT_EQ(driver().waits, waits);
  EXPECT_EQ(valuesOf<float>(*to), others);
}

TEST(CudaCopy, acrossDevicesFollowsBothStreams) {
  std::vector<float> first = {1, 2, 3}, second = {4, 5, 6};
  for (bool sourceIsFirst : {true, false}) {
    BufferRef from = bufferOf(gpu(0), first), to = bufferOf(gpu(1), first);
    ASSERT_TRUE(gpu(0).synchronize());
    ASSERT_TRUE(gpu(1).synchronize());
    ASSERT_TRUE(gpu(0).copyIn(*from, 0, std::as_bytes(std::span(second))));
    uint64_t waits = driver().waits, version = to->version();
    ASSERT_TRUE(gpu(1).copyAcross(*to, *from, 12));
    ASSERT_TRUE(gpu(0).copyIn(*from, 0, std::as_bytes(std::span(first))));
    EXPECT_EQ(driver().waits, waits);
    EXPECT_GT(to->version(), version);
    // The source's own work must leave what the copy reads, and the copy must
    // not read before it.
    if (sourceIsFirst) {
      EXPECT_EQ(valuesOf<float>(*from), first);
    }
    EXPECT_EQ(valuesOf<float>(*to), second);
    EXPECT_EQ(valuesOf<float>(*from), first);
  }
}

TEST(CudaCopy, acrossDevicesOpensTheWayOnce) {
  BufferRef from = bufferOf(gpu(0), std::vector<float>{1});
  BufferRef to = bufferOf(gpu(1), std::vector<float>{2});
  ASSERT_TRUE(gpu(1).copyAcross(*to, *from, 4));
  uint32_t reached = driver().reached;
  EXPECT_GT(reached, 0u);
  ASSERT_TRUE(gpu(1).copyAcross(*to, *from, 4));
  EXPECT_EQ(driver().reached, reached);
  EXPECT_EQ(valuesOf<float>(*to), std::vector<float>{1});
}

TEST(CudaCopy, eventsMarkTheStream) {
  ASSERT_TRUE(gpu().synchronize());
  BufferRef buffer = bufferOf(gpu(), std::vector<float>{1});
  auto event = gpu().record();
  ASSERT_TRUE(event);
  EXPECT_FALSE((*event)->done());
  EXPECT_TRUE((*event)->wait());
  EXPECT_TRUE((*event)->done());
}

// What an allocator keeps would be there, though its driver is not.
TEST(CudaCopy, AChildAllocatesNothing) {
  Device &device = gpu();
  ASSERT_TRUE(device.allocate(4096)) << "which is kept";
  pid_t child = fork();
  if (child == 0) {
    auto buffer = device.allocate(4096);
    _exit(!buffer && buffer.error().kind == ErrorKind::device ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

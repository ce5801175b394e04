#include "tests/unit/cuda/CudaPrograms.h"

#include <numeric>

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

TEST(CudaCopy, eventsMarkTheStream) {
  ASSERT_TRUE(gpu().synchronize());
  BufferRef buffer = bufferOf(gpu(), std::vector<float>{1});
  auto event = gpu().record();
  ASSERT_TRUE(event);
  EXPECT_FALSE((*event)->done());
  EXPECT_TRUE((*event)->wait());
  EXPECT_TRUE((*event)->done());
}

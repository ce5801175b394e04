#include "runtime/memory/Borrowed.h"

#include "runtime/device/Device.h"

#include <gtest/gtest.h>

using namespace sinter::runtime;

TEST(Borrowed, tellsWhenItEnds) {
  Device &cpu = **getDevice({sinter::DeviceKind::cpu, 0});
  size_t inUse = cpu.memoryInfo().inUse;
  float memory[4] = {};
  int ended = 0;
  {
    BufferRef buffer =
        borrowBuffer(cpu, memory, sizeof(memory), [&] { ++ended; });
    EXPECT_EQ(buffer->data(), memory);
    EXPECT_EQ(buffer->bytes(), sizeof(memory));
    EXPECT_EQ(&buffer->device(), &cpu);
    BufferRef second = buffer;
    buffer = {};
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(second->useCount(), 1u);
  }
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(cpu.memoryInfo().inUse, inUse);
  borrowBuffer(cpu, memory, 0); // nobody is told
}

TEST(Borrowed, hasANumberOfItsOwn) {
  Device &cpu = **getDevice({sinter::DeviceKind::cpu, 0});
  float memory = 0;
  uint64_t first = borrowBuffer(cpu, &memory, 4)->id();
  EXPECT_NE(borrowBuffer(cpu, &memory, 4)->id(), first);
}

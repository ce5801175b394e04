/// Programs that tests run on the cpu and on the fake GPU.
#pragma once

#include "tests/unit/cuda/FakeDriver.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace sinter::runtime::test {

inline Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }
inline Device &gpu(uint8_t index = 0) {
  auto opened = getDevice({DeviceKind::cuda, index});
  EXPECT_TRUE(opened) << opened.error().message;
  return **opened;
}
inline sinter::test::FakeDriver &driver() {
  return *sinter::test::fakeDriver();
}

inline std::shared_ptr<const Program>
loadOn(Device &device, ProgramBuilder builder,
       const std::string &ptx = sinter::test::fakePtx) {
  if (device.id().kind == DeviceKind::cuda)
    builder.targetCuda(ptx);
  auto program = Program::load(builder.file(), device);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : nullptr;
}

/// Two chains over temporaries that share memory, x and y of n elements:
/// 2x + s, x + ... see the launches.
inline ProgramBuilder branchesProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), bytes = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {n}), y = b.input("y", {n});
  uint32_t s = b.input("s", {}, graph::InputKind::scalar);
  uint32_t first = b.output({n}), second = b.output({n}), third = b.output({n});
  uint32_t a = b.temp(bytes, 0, 2), c = b.temp(bytes, 1, 2);
  uint32_t d = b.temp(bytes, 3, 5), e = b.temp(bytes, 4, 5);
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(scale, {x, s, a}, {n});
  b.launch(scale, {y, s, c}, {n});
  b.launch(add, {a, c, first}, {n});
  b.launch(add, {x, y, d}, {n}); // in the memory of a and c
  b.launch(scale, {x, s, e}, {n});
  b.launch(add, {d, e, second}, {n});
  b.copy(second, third, bytes);
  return b;
}

/// state' = state + x[index] in place; the gather may fail.
inline ProgramBuilder updateProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t state = b.input("state", {n});
  uint32_t x = b.input("x", {n});
  uint32_t index = b.input("index", {n}, graph::InputKind::data, DType::i64);
  uint32_t next = b.output({n});
  uint32_t doubled = b.output({n});
  uint32_t picked = b.temp(bytes, 0, 2);
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(gather, {x, index, picked}, {n, n}, /*errorNode=*/5);
  b.launch(add, {picked, picked, doubled}, {n});
  b.launch(add, {state, picked, next}, {n});
  b.mayAlias(0, 0);
  return b;
}

} // namespace sinter::runtime::test

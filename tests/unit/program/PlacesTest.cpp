/// Outputs in memory of the caller's.
#include "runtime/memory/Borrowed.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

/// One place, of dims if given.
Place at(BufferRef buffer) { return {.buffer = std::move(buffer)}; }

/// The run's error, or nothing.
std::string errorOf(const Program &program, std::vector<Binding> inputs,
                    std::vector<Place> places) {
  auto outputs = run(program, inputs, nullptr, nullptr, places);
  if (outputs)
    return "";
  EXPECT_EQ(outputs.error().kind, ErrorKind::invalid_argument);
  return outputs.error().message;
}

} // namespace

TEST(Places, takeWhatARunMakes) {
  auto program = *Program::load(fullProgram().file(), cpu());
  BufferRef x = bufferOf(cpu(), std::vector<float>{1, 2, 3});
  BufferRef first = bufferOf(cpu(), std::vector<float>(3));
  std::vector<Binding> inputs = {bind(x, {3}), bindScalar(2)};
  std::vector<int64_t> dims = {3};
  std::vector<Place> places = {{.buffer = first, .dims = dims}, {}};
  auto outputs = run(*program, inputs, nullptr, nullptr, places);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].buffer, first);
  EXPECT_NE((*outputs)[1].buffer, first);
  EXPECT_EQ(valuesOf<float>(*first), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(valuesOf<float>(*(*outputs)[1].buffer),
            (std::vector<float>{3, 6, 9}));
}

/// Who says where an output goes does not want it in an input's memory.
TEST(Places, areNotGrantedInputs) {
  auto program = *Program::load(fullProgram().file(), cpu());
  BufferRef x = bufferOf(cpu(), std::vector<float>{1, 2, 3});
  BufferRef first = bufferOf(cpu(), std::vector<float>(3));
  std::vector<Binding> inputs = {bind(x, {3}, /*donate=*/true), bindScalar(2)};
  std::vector<Place> places = {at(first), {}};
  RunCounters counters;
  auto outputs = run(*program, inputs, &counters, nullptr, places);
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].buffer, first);
  EXPECT_EQ(counters.donated, 0u);
  EXPECT_EQ(valuesOf<float>(*x), (std::vector<float>{1, 2, 3}));
}

TEST(Places, areChecked) {
  auto program = *Program::load(fullProgram().file(), cpu());
  Device &null = **getDevice({DeviceKind::null, 0});
  std::vector<float> values(64, 1);
  BufferRef x = bufferOf(cpu(), values), other = bufferOf(null, values);
  BufferRef small = bufferOf(cpu(), std::vector<float>(63));
  BufferRef good = bufferOf(cpu(), values);
  std::vector<Binding> inputs = {bind(x, {64}), bindScalar(2)};
  EXPECT_EQ(errorOf(*program, inputs, {at(good)}),
            "the program gives 2 outputs, got places for 1");
  EXPECT_EQ(errorOf(*program, inputs, {at(other), {}}),
            "output 0: its place is on null, the program runs on cpu");
  EXPECT_EQ(errorOf(*program, inputs, {{}, at(small)}),
            "output 1: f32[s0] needs 256 bytes, its place has 252");
  EXPECT_EQ(errorOf(*program, inputs, {at(x), {}}),
            "output 0: its place has a part in input 'x'");
  EXPECT_EQ(errorOf(*program, inputs, {at(good), at(good)}),
            "output 1: its place has a part in that of output 0");
  BufferRef tail =
      borrowBuffer(cpu(), static_cast<float *>(good->data()) + 63, 256);
  EXPECT_EQ(errorOf(*program, inputs, {at(good), at(tail)}),
            "output 1: its place has a part in that of output 0");
  std::vector<int64_t> dims = {8, 8};
  EXPECT_EQ(errorOf(*program, inputs, {{.buffer = good, .dims = dims}, {}}),
            "output 0: it is f32[64], its place is for [8,8]");
  EXPECT_EQ(errorOf(*program, inputs, {{.dims = dims}, {}}),
            "output 0: it is f32[64], its place is for [8,8]");
  EXPECT_EQ(errorOf(*program, inputs, {at(good), {}}), "");
}

#include "tests/unit/program/ProgramBuilder.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <numeric>
#include <type_traits>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

std::shared_ptr<const Program> load(const ProgramBuilder &builder) {
  auto program = Program::load(builder.file(), cpu());
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : nullptr;
}

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// state' = state + x[index] through a temporary; the gather may fail.
ProgramBuilder updateProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t four = b.constant(4);
  uint32_t bytes = b.times(n, four);
  uint32_t state = b.input("state", {n});
  uint32_t x = b.input("x", {n});
  uint32_t index = b.input("index", {n}, graph::InputKind::data, DType::i64);
  uint32_t next = b.output({n});
  uint32_t picked = b.temp(bytes, 0, 1);
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(gather, {x, index, picked}, {n, n}, /*errorNode=*/5);
  b.launch(add, {state, picked, next}, {n});
  b.mayAlias(0, 0);
  return b;
}

} // namespace

TEST(Run, computesForEverySize) {
  auto program = load(scaleProgram());
  for (int64_t n : {0, 1, 255, 256, 257, 5000, 1}) {
    std::vector<float> x = counting(size_t(n));
    RunCounters counters;
    std::vector<Binding> inputs = {bind(bufferOf(cpu(), x), {n}),
                                   bindScalar(3)};
    auto outputs = run(*program, inputs, &counters);
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), 1u);
    EXPECT_EQ((*outputs)[0].dims, std::vector<int64_t>{n});
    for (float &value : x)
      value *= 3;
    EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer), x);
    EXPECT_EQ(counters.launches, n == 0 ? 0u : 1u);
    EXPECT_EQ(counters.bytesRead, uint64_t(n));
  }
}

TEST(Run, namesInputAndTypesInErrors) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), width = b.constant(64);
  uint32_t x = b.input("x", {n, width});
  uint32_t y = b.input("", {n, width});
  uint32_t out = b.output({n, width});
  uint32_t size = b.times(n, width);
  b.launch(b.kernel("map_add", 2, 1, 1, {"add"}), {x, y, out}, {size});
  auto program = load(b);
  auto message = [&](std::vector<Binding> inputs) {
    auto outputs = run(*program, inputs);
    EXPECT_FALSE(outputs);
    EXPECT_EQ(outputs.error().kind, ErrorKind::invalid_argument);
    return outputs.error().message;
  };
  BufferRef small = bufferOf(cpu(), counting(128));
  BufferRef large = bufferOf(cpu(), counting(192));
  EXPECT_EQ(message({bind(small, {3, 5}), bind(small, {3, 5})}),
            "input 'x': expected f32[s0,64], got f32[3,5]");
  EXPECT_EQ(message({bind(small, {64}), bind(small, {2, 64})}),
            "input 'x': expected f32[s0,64], got f32[64]");
  EXPECT_EQ(message({bind(small, {2, 64}), bind(large, {3, 64})}),
            "input 1: expected f32[s0,64], got f32[3,64]");
  EXPECT_EQ(message({bind(small, {3, 64}), bind(large, {3, 64})}),
            "input 'x': f32[s0,64] needs 768 bytes, the buffer has 512");
  EXPECT_EQ(message({bind(small, {2, 64})}),
            "the program takes 2 inputs, got 1");
  EXPECT_EQ(message({bind({}, {2, 64}), bind(small, {2, 64})}),
            "input 'x': no buffer is bound");
  Device &null = **getDevice({DeviceKind::null, 0});
  EXPECT_EQ(message({bind(bufferOf(null, counting(128)), {2, 64}),
                     bind(small, {2, 64})}),
            "input 'x': it lives on null, the program runs on cpu");
  EXPECT_FALSE(
      run(*program, std::vector{bind(small, {-1, 64}), bind(small, {-1, 64})}));
}

TEST(Run, solvesCompoundDims) {
  // x[2*s0+1], y[s0*s1] with s0 known from x.
  ProgramBuilder b;
  uint32_t s0 = b.symbol(0), s1 = b.symbol(1);
  uint32_t two = b.constant(2), one = b.constant(1);
  uint32_t length = b.expr(ExprOp::add, b.times(two, s0), one);
  uint32_t area = b.times(s0, s1);
  b.input("y", {area});
  uint32_t x = b.input("x", {length});
  uint32_t out = b.output({s1});
  b.copy(x, out, b.times(s1, b.constant(4)));
  auto program = load(b);
  BufferRef seven = bufferOf(cpu(), counting(7));
  BufferRef twelve = bufferOf(cpu(), counting(12));
  auto outputs =
      run(*program, std::vector{bind(twelve, {12}), bind(seven, {7})});
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].dims, std::vector<int64_t>{4});
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer), counting(4));
  EXPECT_FALSE(
      run(*program, std::vector{bind(twelve, {11}), bind(seven, {7})}));
  EXPECT_FALSE(
      run(*program, std::vector{bind(twelve, {12}), bind(seven, {6})}));
}

TEST(Run, checksGuards) {
  ProgramBuilder b = scaleProgram();
  b.guard(b.expr(ExprOp::mod, 0, b.constant(2)), b.constant(0));
  auto program = load(b);
  BufferRef x = bufferOf(cpu(), counting(4));
  EXPECT_TRUE(run(*program, std::vector{bind(x, {4}), bindScalar(1)}));
  auto odd = run(*program, std::vector{bind(x, {3}), bindScalar(1)});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(odd.error().message, "dims do not fit together: mod(s0,2) has to "
                                 "equal 0, they are 1 and 0");
  ProgramBuilder larger = scaleProgram();
  larger.guard(0, larger.constant(7));
  program = load(larger);
  EXPECT_FALSE(run(*program, std::vector{bind(x, {4}), bindScalar(1)}));
  ProgramBuilder smaller = scaleProgram();
  smaller.guard(0, smaller.constant(3));
  program = load(smaller);
  EXPECT_FALSE(run(*program, std::vector{bind(x, {4}), bindScalar(1)}));
}

/// Dims whose product wraps, and those of nothing.
TEST(Run, checksEveryDim) {
  ProgramBuilder b;
  uint32_t s0 = b.symbol(0), s1 = b.symbol(1);
  uint32_t x = b.input("x", {s0, s1}), out = b.output({s0, s1});
  b.copy(x, out, b.constant(0));
  auto program = load(b);
  BufferRef none = bufferOf(cpu(), std::vector<float>());
  auto runs = [&](int64_t first, int64_t second) {
    return run(*program, std::vector{bind(none, {first, second})}).ok();
  };
  EXPECT_TRUE(runs(0, 5));
  EXPECT_FALSE(runs(0, int64_t(1) << 31));
  EXPECT_FALSE(runs(int64_t(1) << 30, int64_t(1) << 34));
  EXPECT_FALSE(runs(0, -1));
  // Of an output, which nobody gives.
  ProgramBuilder made;
  uint32_t n = made.symbol(0);
  x = made.input("x", {n});
  out = made.output({made.times(n, made.constant(int64_t(1) << 30)),
                     made.times(n, made.constant(int64_t(1) << 34))});
  made.copy(x, out, made.constant(0));
  program = load(made);
  BufferRef one = bufferOf(cpu(), counting(1));
  EXPECT_FALSE(run(*program, std::vector{bind(one, {1})}));
}

TEST(Run, runsPhasesThroughWorkspaces) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t chunks = b.expr(ExprOp::ceilDiv, n, b.constant(256));
  uint32_t x = b.input("x", {n});
  uint32_t out = b.output({});
  uint32_t partials = b.temp(b.times(chunks, b.constant(4)), 0, 0);
  uint32_t sum = b.kernel("reduce_sum", 1, 1, 1, {"sum_partials", "sum_total"});
  b.launch(sum, {x, out, partials}, {n});
  auto program = load(b);
  RunCounters counters;
  BufferRef ones = bufferOf(cpu(), std::vector<float>(100000, 1));
  auto outputs = run(*program, std::vector{bind(ones, {100000})}, &counters);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer)[0], 100000);
  EXPECT_EQ(counters.launches, 2u);
  EXPECT_GT(counters.arenaBytes, 0u);
}

namespace {

/// out = the sum of x[n], whose partial sums are a prepared workspace.
ProgramBuilder preparedSum() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t chunks = b.expr(ExprOp::ceilDiv, n, b.constant(256));
  uint32_t x = b.input("x", {n});
  uint32_t out = b.output({});
  uint32_t partials = b.temp(b.times(chunks, b.constant(4)), 0, 0);
  uint32_t sum = b.kernel("reduce_sum", 1, 1, 1, {"sum_partials", "sum_total"});
  b.program.kernels[sum]->phases[0]->prepares = 0;
  b.launch(sum, {x, out, partials}, {n});
  return b;
}

/// Runs it; expects the sum, and whether the partial sums were there already.
void expectSum(const Program &program, const BufferRef &x, int64_t count,
               float sum, bool prepared, bool donate = false) {
  RunCounters counters;
  auto outputs = run(program, std::vector{bind(x, {count}, donate)}, &counters);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer)[0], sum);
  EXPECT_EQ(counters.phasesSkipped, prepared ? 1u : 0u);
  EXPECT_EQ(counters.launches, prepared ? 1u : 2u);
}

} // namespace

TEST(Run, keepsWhatIsPreparedFromAnInputThatStays) {
  auto program = load(preparedSum());
  BufferRef ones = bufferOf(cpu(), std::vector<float>(1000, 1));
  expectSum(*program, ones, 1000, 1000, false);
  expectSum(*program, ones, 1000, 1000, false);
  expectSum(*program, ones, 1000, 1000, true);
  expectSum(*program, ones, 1000, 1000, true);
}

TEST(Run, preparesAgainAfterAWrite) {
  auto program = load(preparedSum());
  BufferRef x = bufferOf(cpu(), std::vector<float>(1000, 1));
  for (int i = 0; i < 3; ++i)
    expectSum(*program, x, 1000, 1000, i == 2);
  std::vector<float> twos(1000, 2);
  ASSERT_TRUE(cpu().copyIn(*x, 0, std::as_bytes(std::span(twos))));
  for (int i = 0; i < 3; ++i)
    expectSum(*program, x, 1000, 2000, i == 2);
  expectSum(*program, x, 500, 1000, false); // the same buffer, other dims
  expectSum(*program, x, 1000, 2000, false, /*donate=*/true);
}

TEST(Run, preparesForEveryBuffer) {
  auto program = load(preparedSum());
  // Freed and taken again, most likely at one address.
  for (int value = 1; value < 4; ++value) {
    BufferRef x = bufferOf(cpu(), std::vector<float>(1000, float(value)));
    for (int i = 0; i < 3; ++i)
      expectSum(*program, x, 1000, float(1000 * value), i == 2);
  }
}

TEST(Run, readsConstants) {
  ProgramBuilder b;
  uint32_t two = b.constant(2);
  std::vector<float> pool(66);
  pool[64] = 5, pool[65] = 7;
  auto bytes = std::as_bytes(std::span(pool));
  b.constants.assign(bytes.begin(), bytes.end());
  uint32_t constant = b.constantData(256, 8);
  uint32_t x = b.input("x", {two});
  uint32_t out = b.output({two});
  b.launch(b.kernel("map_add", 2, 1, 1, {"add"}), {x, constant, out}, {two});
  auto program = load(b);
  BufferRef x2 = bufferOf(cpu(), counting(2));
  auto outputs = run(*program, std::vector{bind(x2, {2})});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer), (std::vector<float>{6, 9}));
}

TEST(Run, writesDonatedMemory) {
  auto program = load(updateProgram());
  BufferRef state = bufferOf(cpu(), counting(300));
  BufferRef x = bufferOf(cpu(), counting(300));
  std::vector<int64_t> order(300);
  std::iota(order.begin(), order.end(), 0);
  BufferRef index = bufferOf(cpu(), order);
  RunCounters counters;
  std::vector<Binding> inputs = {bind(state, {300}, /*donate=*/true),
                                 bind(x, {300}), bind(index, {300})};
  uint64_t version = state->version();
  auto outputs = run(*program, inputs, &counters);
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].buffer, state);
  EXPECT_EQ(counters.donated, 1u);
  EXPECT_EQ(state->version(), version + 1);
  EXPECT_EQ(valuesOf<float>(*state)[299], 600);

  // Not offered, or read by another input too: own memory.
  inputs[0].donate = false;
  outputs = run(*program, inputs, &counters);
  ASSERT_TRUE(outputs);
  EXPECT_FALSE((*outputs)[0].buffer == state);
  EXPECT_EQ(counters.donated, 0u);
  inputs[0].donate = true;
  inputs[1].buffer = state;
  outputs = run(*program, inputs, &counters);
  ASSERT_TRUE(outputs);
  EXPECT_FALSE((*outputs)[0].buffer == state);
}

TEST(Run, keepsDonatedMemoryOnIndexErrors) {
  auto program = load(updateProgram());
  std::vector<float> before = counting(1000);
  BufferRef state = bufferOf(cpu(), before);
  std::vector<int64_t> indices(1000, 3);
  indices[999] = -1;
  indices[700] = 1000;
  std::vector<Binding> inputs = {bind(state, {1000}, /*donate=*/true),
                                 bind(bufferOf(cpu(), before), {1000}),
                                 bind(bufferOf(cpu(), indices), {1000})};
  RunFailure failure;
  uint64_t version = state->version();
  auto outputs = run(*program, inputs, nullptr, &failure);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(outputs.error().message,
            "gather_rows: index out of range at element 700");
  EXPECT_EQ(failure.node, 5u);
  EXPECT_EQ(valuesOf<float>(*state), before);
  EXPECT_EQ(state->version(), version);
}

TEST(Run, refusesDonationBeforeTheLastReport) {
  // state' is written first, the gather that may fail runs after it.
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t state = b.input("state", {n});
  uint32_t index = b.input("index", {n}, graph::InputKind::data, DType::i64);
  uint32_t next = b.output({n}), picked = b.output({n});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  b.launch(add, {state, state, next}, {n});
  b.launch(gather, {next, index, picked}, {n, n}, /*errorNode=*/2);
  b.mayAlias(0, 0);
  auto program = load(b);
  BufferRef buffer = bufferOf(cpu(), counting(2));
  std::vector<Binding> inputs = {
      bind(buffer, {2}, true),
      bind(bufferOf(cpu(), std::vector<int64_t>{9, 0}), {2})};
  EXPECT_FALSE(run(*program, inputs));
  EXPECT_EQ(valuesOf<float>(*buffer), counting(2));
}

/// An input that the program reads once more after the output is written.
TEST(Run, refusesDonationOfWhatIsReadLater) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t state = b.input("state", {n});
  uint32_t twice = b.output({n}), thrice = b.output({n});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(add, {state, state, twice}, {n});
  b.launch(add, {state, twice, thrice}, {n});
  b.mayAlias(0, 0);
  b.mayAlias(0, 1);
  auto program = load(b);
  BufferRef buffer = bufferOf(cpu(), counting(300));
  auto outputs = run(*program, std::vector{bind(buffer, {300}, true)});
  ASSERT_TRUE(outputs);
  EXPECT_FALSE((*outputs)[0].buffer == buffer);
  EXPECT_EQ((*outputs)[1].buffer, buffer); // written last
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer)[299], 600);
  EXPECT_EQ(valuesOf<float>(*buffer)[299], 900);
}

/// A number has no memory to give.
TEST(Run, refusesDonationOfNumbers) {
  ProgramBuilder b = scaleProgram();
  b.mayAlias(1, 0);
  auto program = load(b);
  BufferRef x = bufferOf(cpu(), counting(1));
  Binding number = bindScalar(2);
  number.donate = true;
  RunCounters counters;
  auto outputs = run(*program, std::vector{bind(x, {1}), number}, &counters);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(counters.donated, 0u);
  ASSERT_TRUE((*outputs)[0].buffer);
}

TEST(Run, foreseesPeakBytes) {
  auto program = load(updateProgram());
  BufferRef x = bufferOf(cpu(), counting(64));
  BufferRef index = bufferOf(cpu(), std::vector<int64_t>(64));
  auto peak = peakBytes(
      *program, std::vector{bind(x, {64}), bind(x, {64}), bind(index, {64})});
  ASSERT_TRUE(peak);
  EXPECT_EQ(*peak, 64u * (4 + 4 + 8 + 4 + 4));
}

// Generated code relies on these.
TEST(KernelAbi, layoutIsFrozen) {
  EXPECT_EQ(kernelAbiVersion, 1u);
  EXPECT_EQ(offsetof(KernelBlock, version), 0u);
  EXPECT_EQ(offsetof(KernelBlock, launch), 4u);
  EXPECT_EQ(offsetof(KernelBlock, error), 8u);
  EXPECT_EQ(offsetof(KernelBlock, dims), 16u);
  EXPECT_EQ(offsetof(KernelBlock, buffers), 24u);
  EXPECT_EQ(sizeof(ErrorWord), 8u);
  EXPECT_TRUE(
      (std::is_same_v<KernelFunction, void (*)(const KernelBlock *, char *,
                                               int64_t, int64_t)>));
}

// Files name these numbers.
TEST(ProgramSchema, codesAreFrozen) {
  EXPECT_EQ(int(ExprOp::mod), 6);
  EXPECT_EQ(int(DType::boolean), 9);
  EXPECT_EQ(int(DType::u64), 19);
  EXPECT_EQ(int(graph::InputKind::scalar), 2);
  EXPECT_EQ(int(fb::BufferKind::constant), 3);
  EXPECT_EQ(int(fb::Step::Launch), 1);
  EXPECT_EQ(int(fb::Step::Copy), 2);
  EXPECT_EQ(sizeof(fb::Expr), 24u);
  EXPECT_EQ(fb::Program::VT_COMPILER, 34);
}

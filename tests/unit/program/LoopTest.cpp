/// Loops of a program: run, and refused.
#include "tests/unit/program/ProgramBuilder.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

using B = ProgramBuilder;

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

fb::LoopT &loopOf(B &b) { return *b.program.steps[0]->step.AsLoop(); }

/// The message with which a changed program is refused; empty when it loads.
std::string refusal(const std::function<void(B &)> &change) {
  B b = loopProgram();
  change(b);
  auto program = Program::load(b.file(), cpu());
  if (program)
    return {};
  EXPECT_EQ(program.error().kind, ErrorKind::io) << program.error().message;
  return program.error().message;
}

/// The same where it loads and cannot be bound.
std::string bindFailure(const std::function<void(B &)> &change) {
  B b = loopProgram();
  change(b);
  auto program = Program::load(b.file(), cpu());
  if (!program)
    return "does not load: " + program.error().message;
  std::vector<Binding> inputs = {bind({}, {3, 8}), bind({}, {8})};
  auto bytes = peakBytes(**program, inputs);
  return bytes ? "" : bytes.error().message;
}

struct Sums {
  std::vector<float> last, all;
  RunCounters counters;
};

Sums runLoop(int64_t steps, bool reverse = false) {
  B b = loopProgram();
  loopOf(b).reverse = reverse;
  auto program = Program::load(b.file(), cpu());
  EXPECT_TRUE(program) << program.error().message;
  std::vector<float> xs;
  for (int64_t step = 0; step < steps; ++step)
    xs.insert(xs.end(), 300, float(1 + step));
  std::vector<Binding> inputs = {
      bind(bufferOf(cpu(), xs), {steps, 300}),
      bind(bufferOf(cpu(), std::vector<float>(300, 0.5f)), {300})};
  Sums sums;
  auto outputs = run(**program, inputs, &sums.counters);
  EXPECT_TRUE(outputs) << outputs.error().message;
  sums.last = valuesOf<float>(*(*outputs)[0].buffer);
  sums.all = valuesOf<float>(*(*outputs)[1].buffer);
  return sums;
}

} // namespace

TEST(Loop, RunsItsBodyOnceAStep) {
  for (int64_t steps : {1, 2, 5}) {
    Sums sums = runLoop(steps);
    for (float value : sums.last)
      EXPECT_EQ(value, 0.5f + float(steps * (steps + 1)) / 2);
    for (int64_t t = 0; t < steps; ++t)
      EXPECT_EQ(sums.all[t * 300 + 299], 0.5f + float((t + 1) * (t + 2)) / 2);
    EXPECT_EQ(sums.counters.launches, uint64_t(steps));
    EXPECT_EQ(sums.counters.bytesRead, uint64_t(steps) * (300 + 1200));
  }
}

TEST(Loop, RunsBackwards) {
  Sums sums = runLoop(3, true);
  EXPECT_EQ(sums.all[600], 3.5f);
  EXPECT_EQ(sums.all[300], 5.5f);
  EXPECT_EQ(sums.all[0], 6.5f);
  EXPECT_EQ(sums.last[0], 6.5f);
}

TEST(Loop, OfNoStepsGivesWhatItBeganWith) {
  Sums sums = runLoop(0);
  EXPECT_EQ(sums.last, std::vector<float>(300, 0.5f));
  EXPECT_EQ(sums.counters.launches, 0u);
}

/// What a body reads is read until the loop ends, not until its step.
TEST(Loop, KeepsWhatItsNextStepReads) {
  // Each step doubles what the one before left, and writes x + x as well.
  B b;
  uint32_t n = b.symbol(0), t = b.symbol(1);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {n}), init = b.input("init", {n});
  b.input("steps", {t});
  uint32_t sum = b.output({n}), twice = b.output({n});
  uint32_t spare = b.temp(bytes, 0, 2);
  uint32_t carry = b.moving(bytes, 0), next = b.moving(bytes, 0);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.loop(t, 2, {{carry, init, next, sum, spare}}, {});
  b.launch(add, {carry, x, next}, {n});
  b.launch(add, {x, x, twice}, {n});
  b.mayAlias(0, 1);
  auto program = Program::load(b.file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  BufferRef ones = bufferOf(cpu(), std::vector<float>(300, 1));
  std::vector<Binding> inputs = {
      bind(ones, {300}, /*donate=*/true),
      bind(bufferOf(cpu(), std::vector<float>(300, 0.5f)), {300}),
      bind(bufferOf(cpu(), std::vector<float>(4)), {4})};
  auto outputs = run(**program, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer)[299], 4.5f);
  EXPECT_EQ(valuesOf<float>(*(*outputs)[1].buffer)[299], 2);
  EXPECT_FALSE((*outputs)[1].buffer == ones);
}

/// Nor may state be written in a loop that can still report.
TEST(Loop, ReportsUntilItEnds) {
  B b;
  uint32_t n = b.symbol(0), t = b.symbol(1);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t state = b.input("state", {n}), x = b.input("x", {n});
  uint32_t index = b.input("index", {t, n}, graph::InputKind::data, DType::i64);
  uint32_t next = b.output({n});
  uint32_t taken = b.moving(b.times(n, b.constant(8)), 0);
  uint32_t picked = b.temp(bytes, 0, 2);
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.loop(t, 2, {}, {{taken, index}});
  b.launch(gather, {x, taken, picked}, {n, n}, /*errorNode=*/2);
  b.launch(add, {state, picked, next}, {n});
  b.mayAlias(0, 0);
  auto program = Program::load(b.file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  BufferRef kept = bufferOf(cpu(), std::vector<float>{1, 2});
  // The second step fails, when the first has written.
  std::vector<Binding> inputs = {
      bind(kept, {2}, /*donate=*/true),
      bind(bufferOf(cpu(), std::vector<float>{3, 4}), {2}),
      bind(bufferOf(cpu(), std::vector<int64_t>{0, 1, 0, 7}), {2, 2})};
  EXPECT_FALSE(run(**program, inputs));
  EXPECT_EQ(valuesOf<float>(*kept), (std::vector<float>{1, 2}));
}

TEST(Loop, ChecksItsBody) {
  EXPECT_EQ(refusal([](B &) {}), "");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).steps = 3; }),
            "model file: a loop at step 0 has 3 of 3 steps");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).steps = ~0u; }),
            "model file: a loop at step 0 has 4294967295 of 3 steps");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).count = 99; }),
            "model file: loop count: expr 99 of 4");
  EXPECT_EQ(refusal([](B &b) { b.loop(0, 0, {}, {}); }), "");
  EXPECT_EQ(refusal([](B &b) {
              loopOf(b).steps = 3;
              b.program.buffers[4]->last = 3;
              b.loop(0, 0, {}, {});
            }),
            "");
  EXPECT_EQ(refusal([](B &b) {
              loopOf(b).steps = 3;
              b.loop(0, 1, {}, {});
              b.loop(0, 0, {}, {});
            }),
            "model file: a loop at step 3 ends after the one at step 0, which "
            "it is in");
  auto nested = [](uint32_t depth) {
    return refusal([&](B &b) {
      for (uint32_t left = depth; left-- > 0;)
        b.loop(0, left, {}, {});
    });
  };
  EXPECT_EQ(nested(16), "");
  EXPECT_EQ(nested(17), "model file: a loop at step 19 is in 16 others");
}

// Buffers: xs 0, init 1, sum 2, sums 3, spare 4, carry 5, next 6, x 7, y 8.
TEST(Loop, ChecksWhatItMoves) {
  auto carry = [](std::vector<uint32_t> c) {
    return refusal(
        [&](B &b) { loopOf(b).carries = {{c[0], c[1], c[2], c[3], c[4]}}; });
  };
  EXPECT_EQ(carry({5, 1, 6, 2, 40}), "model file: a loop names buffer 40 of 9");
  EXPECT_EQ(carry({1, 1, 6, 2, 4}),
            "model file: the loop at step 0 cannot move buffer 1");
  EXPECT_EQ(carry({5, 1, 5, 2, 4}),
            "model file: the loop at step 0 cannot move buffer 5");
  EXPECT_EQ(carry({5, 1, 6, 1, 4}),
            "model file: the loop at step 0 cannot keep a carry in buffer 1");
  EXPECT_EQ(carry({5, 1, 6, 2, 2}),
            "model file: the loop at step 0 cannot keep a carry in buffer 2");
  EXPECT_EQ(carry({6, 1, 5, 2, 4}),
            "model file: the loop at step 0 never writes buffer 5");
  EXPECT_EQ(carry({5, 7, 6, 2, 4}),
            "model file: step 0 uses buffer 7 of the loop at step 0");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).slices = {{7, 0}, {7, 0}, {8, 3}}; }),
            "model file: the loop at step 0 cannot move buffer 7");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).slices = {{7, 0}, {8, 0}}; }),
            "model file: step 0 writes buffer 0, which is read only");
  EXPECT_EQ(refusal([](B &b) { loopOf(b).slices = {{8, 3}}; }),
            "model file: step 1 uses buffer 7, which no loop moves");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[4]->last = 1; }),
            "model file: step 2 uses buffer 4, which lives in steps 0 to 1");
  EXPECT_EQ(refusal([](B &b) { b.copy(6, 3, 2); }),
            "model file: step 3 uses buffer 6 of the loop at step 0");
}

TEST(Loop, ChecksSizesWhenDimsAreKnown) {
  EXPECT_EQ(bindFailure([](B &) {}), "");
  EXPECT_EQ(bindFailure([](B &b) {
              b.program.buffers[5]->bytes = b.program.buffers[6]->bytes =
                  b.constant(64);
            }),
            "a carry of 64 bytes is larger than its buffers");
  EXPECT_EQ(
      bindFailure([](B &b) { b.program.buffers[7]->bytes = b.constant(33); }),
      "3 slices of 33 bytes are larger than their buffer");
  EXPECT_EQ(bindFailure([](B &b) { loopOf(b).count = b.constant(-1); }),
            "a loop of -1 steps does not fit");
  EXPECT_EQ(bindFailure([](B &b) {
              loopOf(b).count = b.constant((int64_t(1) << 31) - 1);
            }),
            "2147483647 slices of 32 bytes are larger than their buffer");
}

//===- Conditions ---------------------------------------------------------===//

namespace {

struct Added {
  std::vector<float> sum;
  RunCounters counters;
  std::string error;
};

Added runConditional(const B &b, bool first, bool follows) {
  auto program = Program::load(b.file(), cpu());
  EXPECT_TRUE(program) << program.error().message;
  auto flag = [](bool value) {
    return bind(bufferOf(cpu(), std::vector<uint8_t>{value}), {});
  };
  std::vector<Binding> inputs = {
      bind(bufferOf(cpu(), std::vector<float>(300, 2)), {300}),
      bind(bufferOf(cpu(), std::vector<float>(300, 1)), {300}), flag(first),
      flag(follows)};
  Added added;
  auto outputs = run(**program, inputs, &added.counters);
  if (outputs)
    added.sum = valuesOf<float>(*(*outputs)[0].buffer);
  else
    added.error = outputs.error().message;
  return added;
}

} // namespace

TEST(Loop, EndsWhenItsConditionSaysSo) {
  auto rounds = [](const B &b, bool first, bool follows) {
    Added added = runConditional(b, first, follows);
    EXPECT_EQ(added.sum, std::vector<float>(300, added.sum.front()));
    auto count = uint64_t(added.sum.front() - 1) / 2;
    EXPECT_EQ(added.counters.launches, count);
    EXPECT_EQ(added.counters.bytesWritten, count * 301);
    return count;
  };
  B whileTrue = conditionalProgram(2), whileFalse = conditionalProgram(-2);
  EXPECT_EQ(rounds(whileTrue, false, true), 0u);
  EXPECT_EQ(rounds(whileTrue, true, false), 1u);
  EXPECT_EQ(rounds(whileTrue, true, true), 3u);
  EXPECT_EQ(rounds(whileFalse, true, true), 0u);
  EXPECT_EQ(rounds(whileFalse, false, true), 1u);
  EXPECT_EQ(rounds(whileFalse, false, false), 3u);
  EXPECT_EQ(rounds(conditionalProgram(2, 0), true, true), 0u);
  EXPECT_EQ(rounds(conditionalProgram(2, 4), true, true), 4u);
}

/// State may not be written where a loop can still fail.
TEST(Loop, WithAConditionKeepsWhatWasGivenUp) {
  B b = conditionalProgram();
  auto program = Program::load(b.file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  auto flag = [] { return bind(bufferOf(cpu(), std::vector<uint8_t>{1}), {}); };
  BufferRef kept = bufferOf(cpu(), std::vector<float>(300, 1));
  std::vector<Binding> inputs = {
      bind(bufferOf(cpu(), std::vector<float>(300, 2)), {300}),
      bind(kept, {300}, /*donate=*/true), flag(), flag()};
  auto outputs = run(**program, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_FALSE((*outputs)[0].buffer == kept);
}

/// A loop whose inner loop adds x so often as the outer one has rounds left.
static B nestedProgram() {
  B b;
  uint32_t n = b.symbol(0), t = b.symbol(1), u = b.symbol(2);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {t, n}), init = b.input("init", {n});
  b.input("steps", {u});
  uint32_t sum = b.output({n}), spare = b.temp(bytes, 0, 3);
  uint32_t inner = b.temp(bytes, 1, 3), innerSpare = b.temp(bytes, 1, 3);
  uint32_t carry = b.moving(bytes, 0), next = b.moving(bytes, 0);
  uint32_t row = b.moving(bytes, 0);
  uint32_t own = b.moving(bytes, 1), ownNext = b.moving(bytes, 1);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.loop(t, 3, {{carry, init, next, sum, spare}}, {{row, x}});
  b.loop(u, 1, {{own, carry, ownNext, inner, innerSpare}}, {});
  b.launch(add, {own, row, ownNext}, {n});
  b.copy(inner, next, bytes);
  return b;
}

TEST(Loop, RunsLoopsInIt) {
  auto program = Program::load(nestedProgram().file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  for (int64_t t : {0, 1, 3})
    for (int64_t u : {0, 1, 2, 5}) {
      std::vector<float> xs;
      for (int64_t step = 0; step < t; ++step)
        xs.insert(xs.end(), 300, float(1 + step));
      std::vector<Binding> inputs = {
          bind(bufferOf(cpu(), xs), {t, 300}),
          bind(bufferOf(cpu(), std::vector<float>(300, 0.5f)), {300}),
          bind(bufferOf(cpu(), std::vector<float>(size_t(u))), {u})};
      RunCounters counters;
      auto outputs = run(**program, inputs, &counters);
      ASSERT_TRUE(outputs) << outputs.error().message;
      EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
                std::vector<float>(300, 0.5f + float(u * t * (t + 1)) / 2));
      EXPECT_EQ(counters.launches, uint64_t(t * u));
    }
}

TEST(Loop, ChecksWhatInnerLoopsWrite) {
  auto refused = [](const std::function<void(B &)> &change) {
    B b = nestedProgram();
    change(b);
    auto program = Program::load(b.file(), cpu());
    return program ? "" : program.error().message;
  };
  auto loopAt = [](B &b, size_t step) -> fb::LoopT & {
    return *b.program.steps[step]->step.AsLoop();
  };
  // Buffers: x 0, init 1, sum 3, spare 4, inner 5, carry 7, next 8, row 9,
  // own 10, ownNext 11.
  EXPECT_EQ(refused([&](B &b) { loopAt(b, 1).slices = {{11, 7}}; }),
            "model file: the loop at step 1 cannot move buffer 11");
  EXPECT_EQ(refused([&](B &b) { loopAt(b, 1).carries = {{10, 7, 11, 8, 6}}; }),
            "model file: the loop at step 1 cannot keep a carry in buffer 8");
  // What the inner loop writes is a part of what the outer one only reads.
  auto writing = [&](uint32_t whole) {
    return refused([&](B &b) {
      uint32_t part = b.moving(b.program.buffers[11]->bytes, 1);
      loopAt(b, 1).slices = {{part, whole}};
      loopAt(b, 1).carries.clear();
      b.program.steps[2]->step.AsLaunch()->buffers = {9, 9, part};
      b.program.steps[3]->step.AsCopy()->from = 1;
    });
  };
  EXPECT_EQ(writing(5), "");
  EXPECT_EQ(writing(7),
            "model file: step 0 writes buffer 7, which is read only");
  EXPECT_EQ(writing(9),
            "model file: step 0 writes buffer 0, which is read only");
}

TEST(Loop, ChecksItsCondition) {
  auto refused = [](int32_t condition) {
    auto program = Program::load(conditionalProgram(condition).file(), cpu());
    return program ? "" : program.error().message;
  };
  EXPECT_EQ(refused(1), "");
  EXPECT_EQ(refused(3),
            "model file: the loop at step 0 has condition 3 and 2 carries");
  EXPECT_EQ(refused(-3),
            "model file: the loop at step 0 has condition -3 and 2 carries");
  EXPECT_EQ(refused(std::numeric_limits<int32_t>::min()),
            "model file: the loop at step 0 has condition -2147483648 and 2 "
            "carries");
  EXPECT_EQ(runConditional(conditionalProgram(1), true, true).error,
            "a loop's condition of 1200 bytes is no flag");
}

/// Slices whose starts programs are given: values, gradients, programs made.
#include "tests/unit/frontend/Counting.h"

#include <functional>
#include <vector>

namespace sn = sinter;
using sn::ErrorKind;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

namespace {

Floats read(const sn::Tensor &x) { return x.to_vector<float>(); }

/// 0, 1, 2, ... on the way to no program but a copy.
sn::Tensor counted(std::vector<int64_t> shape) {
  int64_t count = 1;
  sn::Dims dims;
  for (int64_t extent : shape) {
    count *= extent;
    dims.push_back(extent);
  }
  Floats values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float(i) / 3;
  return sn::tensor(values, dims);
}

/// The start as a tensor of the program.
sn::Tensor number(int64_t start) { return sn::tensor(Ints{start}); }

/// How many programs `step` makes for each of some starts.
uint64_t programsFor(const std::function<void(int64_t)> &step,
                     std::initializer_list<int64_t> starts) {
  uint64_t before = programsMade();
  for (int64_t start : starts)
    step(start);
  return programsMade() - before;
}

} // namespace

TEST(Slicing, ANarrowOfEachBatchMakesTwoPrograms) {
  sn::Tensor x = counted({640, 4});
  auto step = [&](int64_t i) {
    float sum = 0;
    for (int64_t at = i * 4; at < (i + 64) * 4; ++at)
      sum += float(at) / 3;
    float found = sn::sum(sn::narrow(x, 0, i, 64)).item<float>();
    EXPECT_NEAR(found, sum, 1e-4f * sum) << i;
  };
  EXPECT_LE(programsFor(step, {0, 64, 128, 192, 256, 320, 384, 448, 512, 576}),
            2u);
}

TEST(Slicing, EveryWayToWriteAStartIsAnArgument) {
  sn::Tensor x = counted({40, 6});
  auto expectRow = [&](const sn::Tensor &row, int64_t i) {
    EXPECT_EQ(row.to_vector<float>()[0], float(6 * i) / 3);
  };
  std::initializer_list<int64_t> starts{3, 5, 0, 39, 1, 2, 17};
  EXPECT_LE(programsFor([&](int64_t i) { expectRow(sn::select(x, 0, i), i); },
                        starts),
            2u);
  EXPECT_LE(programsFor(
                [&](int64_t i) {
                  expectRow(sn::slice(x, {i, 0}, {i + 1, 6}, {1, 1}), i);
                },
                starts),
            2u);
  EXPECT_LE(programsFor(
                [&](int64_t i) { expectRow(sn::slice(x, {i, 0}, {1, 6}), i); },
                starts),
            2u);
  EXPECT_LE(
      programsFor([&](int64_t i) { expectRow(sn::roll(x, {-i}, {0}), i); },
                  starts),
      2u);
  EXPECT_LE(programsFor(
                [&](int64_t i) {
                  expectRow(sn::slice(x, {number(i), 0}, {1, 6}), i);
                },
                starts),
            1u);
  EXPECT_LE(
      programsFor(
          [&](int64_t i) { expectRow(sn::narrow(x, 0, sn::scalar(i), 1), i); },
          starts),
      1u);
}

TEST(Slicing, WithStepsAndFromTheEnd) {
  sn::Tensor x = sn::arange(10, {sn::DType::f32, {}});
  for (int64_t start : {0, 3, 1}) {
    float first = float(start);
    EXPECT_EQ(read(sn::slice(x, {start}, {start + 6}, {2})),
              (Floats{first, first + 2, first + 4}));
  }
  EXPECT_EQ(read(sn::slice(x, {-3}, {-1}, {1})), (Floats{7, 8}));
  EXPECT_EQ(read(sn::narrow(x, 0, -2, 2)), (Floats{8, 9}));
  EXPECT_EQ(sn::select(x, 0, -1).item<float>(), 9);
  EXPECT_EQ(read(sn::slice(x, {-3}, {2})), (Floats{7, 8}));
}

// A loop that one program holds keeps its starts: the second time it is the
// same program, with slices that know where they begin.
TEST(Slicing, AnUnrolledLoopKeepsItsStarts) {
  sn::Tensor x = sn::tensor(Floats{1, 2, 3, 4, 5, 6}, {3, 2});
  uint64_t before = programsMade();
  for (int repeat = 0; repeat < 3; ++repeat) {
    sn::Tensor sum = sn::zeros({2});
    for (int64_t i = 0; i < 3; ++i)
      sum = sum + sn::select(x, 0, i);
    EXPECT_EQ(read(sum), (Floats{9, 12}));
  }
  EXPECT_LE(programsMade() - before, 1u);
}

TEST(Slicing, AssignsAtAPosition) {
  sn::Tensor cache = sn::zeros({1, 6, 2});
  cache.eval();
  uint64_t before = programsMade();
  for (int64_t i = 0; i < 6; ++i) {
    sn::Tensor row = sn::tensor(Floats{float(i), float(-i)}, {1, 1, 2});
    cache = sn::slice_assign(cache, row, {0, i, 0});
    cache.eval();
  }
  EXPECT_EQ(read(cache), (Floats{0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5}));
  EXPECT_LE(programsMade() - before, 2u);

  sn::Tensor again = sn::zeros({1, 6, 2});
  again.eval();
  before = programsMade();
  for (int64_t i = 0; i < 6; ++i) {
    sn::Tensor row = sn::tensor(Floats{float(i), float(-i)}, {1, 1, 2});
    again = sn::slice_assign(again, row, {0, number(i), 0});
    again.eval();
  }
  EXPECT_EQ(read(again), read(cache));
  EXPECT_LE(programsMade() - before, 1u);
}

TEST(Slicing, AssignsWithSteps) {
  sn::Tensor x = sn::zeros({8});
  for (int64_t start : {0, 2, 1}) {
    sn::Tensor y = sn::slice_assign(x, sn::tensor(Floats{1, 2}), {start},
                                    {start + 5}, {3});
    Floats expected(8);
    expected[start] = 1;
    expected[start + 3] = 2;
    EXPECT_EQ(read(y), expected);
  }
}

namespace {
/// The gradient of what `cut` makes of x, weighted.
Floats gradientOf(const std::function<sn::Tensor(const sn::Tensor &)> &cut) {
  sn::Tensor x = counted({5, 7});
  x.require_grad();
  sn::Tensor y = cut(x);
  sn::Tensor weights = sn::iota(y.shape(), y.rank() - 1, {sn::DType::f32, {}});
  sn::Tensor slope = sn::grad(sn::sum(y * y * (weights + 1.5)), {x})[0];
  // Of second order too.
  sn::Tensor curve = sn::grad(sn::sum(slope * slope), {x})[0];
  Floats both = read(slope), second = read(curve);
  both.insert(both.end(), second.begin(), second.end());
  return both;
}
} // namespace

TEST(Slicing, GradientsAreThoseOfFixedStarts) {
  for (int64_t start : {0, 2, 3}) {
    Floats fixed = gradientOf([&](const sn::Tensor &x) {
      return sn::split(x, {start, 2, 3 - start})[1];
    });
    EXPECT_EQ(gradientOf([&](const sn::Tensor &x) {
                return sn::narrow(x, 0, number(start), 2);
              }),
              fixed);
    auto assigned = [&](const sn::Arg &at) {
      return gradientOf([&](const sn::Tensor &x) {
        return sn::slice_assign(x, sn::narrow(x, 1, 0, 2) * 2.0, {0, at});
      });
    };
    EXPECT_EQ(assigned(number(start)), assigned(start));
    auto rolled = [&](int64_t shift) {
      return gradientOf(
          [&](const sn::Tensor &x) { return sn::roll(x, {shift}, {1}); });
    };
    // The second shift at that line is an argument.
    Floats moved = rolled(start);
    EXPECT_EQ(rolled(start + 7), moved);
  }
}

TEST(Slicing, StartsAreChecked) {
  sn::Tensor x = counted({4, 3});
  for (int64_t start : {0, 1})
    sn::narrow(x, 0, start, 3).eval();
  for (int64_t start : {2, -5})
    expectError(ErrorKind::invalid_argument, "are not in axis 0",
                [&] { sn::narrow(x, 0, start, 3); });
  expectError(ErrorKind::invalid_argument, "index 4 is out of range",
              [&] { sn::select(x, 0, 4); });
  for (int64_t start : {2, -1})
    expectError(ErrorKind::invalid_argument, "not in [0,2)",
                [&] { read(sn::narrow(x, 0, number(start), 3)); });
  expectError(ErrorKind::invalid_argument, "a start is an integer",
              [&] { sn::narrow(x, 0, sn::tensor({1.f}), 3); });
  expectError(ErrorKind::invalid_argument, "a start must be an integer",
              [&] { sn::narrow(x, 0, 1.5, 3); });
  expectError(ErrorKind::invalid_argument, "a start and a size for each axis",
              [&] { sn::slice(x, {number(0)}, {3}); });
  expectError(ErrorKind::invalid_argument, "beyond the end",
              [&] { sn::slice(x, {1, 0}, {5, 3}, {1, 1}); });
}

TEST(Slicing, AStartMayBeComputedInTheProgram) {
  sn::Tensor x = counted({6, 2});
  for (int64_t best : {4, 1, 2}) {
    Floats scores(6);
    scores[best] = 1;
    sn::Tensor at = sn::argmax(sn::tensor(scores), 0);
    EXPECT_EQ(read(sn::select(x, 0, at)),
              (Floats{float(2 * best) / 3, float(2 * best + 1) / 3}));
  }
}

TEST(Slicing, InAFunctionThatIsRecordedOnce) {
  auto cut = sn::jit([](const sn::Tensor &x, const sn::Tensor &at) {
    return sn::sum(sn::narrow(x, 0, at, 2));
  });
  sn::Tensor x = sn::arange(8, {sn::DType::f32, {}});
  uint64_t before = programsMade();
  for (int64_t start : {0, 3, 6})
    EXPECT_EQ(cut(x, number(start)).item<float>(), float(2 * start + 1));
  EXPECT_LE(programsMade() - before, 2u);
}

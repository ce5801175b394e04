/// Programs that repeat a step: what is compiled grows as they do.
///
/// A step that reads its argument in several places would be written out once
/// for each path through all steps, were it all one kernel.
#include "tests/property/Watch.h"

#include <sinter/Basic.h>
#include <sinter/Ops.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace sn = sinter;
using sn::Tensor;
namespace property = sinter::property;

namespace {

constexpr int64_t length = 64;
constexpr int64_t side = 8;

struct Recurrence {
  std::string name;
  sn::Dims shape;
  std::function<Tensor(const Tensor &, int)> step;
};

Tensor part(const Tensor &x, int64_t from, int64_t to, int64_t step = 1) {
  return sn::slice(x, {from}, {to}, {step});
}

Tensor stencil(const Tensor &x, int) {
  Tensor middle = part(x, 1, length - 1);
  Tensor sides = part(x, 0, length - 2) + part(x, 2, length);
  return sn::pad(middle + 0.1 * (sides - 2 * middle), {{0, 1, 1}});
}

Tensor stencil2d(const Tensor &x, int) {
  auto at = [&](int64_t row, int64_t column) {
    return sn::slice(x, {row, column}, {row + side - 2, column + side - 2},
                     {1, 1});
  };
  Tensor sum = at(0, 1) + at(1, 0) + at(1, 2) + at(2, 1);
  return sn::pad(0.25 * sum + at(1, 1), {{0, 1, 1}, {1, 1, 1}});
}

// Padded first, then every place around.
Tensor blur2d(const Tensor &x, int) {
  Tensor wide = sn::pad(x, {{0, 1, 1}, {1, 1, 1}});
  Tensor sum;
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t column = 0; column < 3; ++column) {
      Tensor one =
          sn::slice(wide, {row, column}, {row + side, column + side}, {1, 1});
      sum = row + column == 0 ? one : sum + one;
    }
  return sum / 9.0;
}

Tensor butterfly(const Tensor &x, int) {
  Tensor even = part(x, 0, length, 2), odd = part(x, 1, length, 2);
  return sn::concat({even + odd, even - odd}, 0);
}

Tensor butterflyOfHalves(const Tensor &x, int) {
  Tensor low = part(x, 0, length / 2), high = part(x, length / 2, length);
  return sn::concat({low + high, low - high}, 0);
}

// Hillis and Steele: x + x shifted by 1, 2, 4, ...
Tensor scanByPad(const Tensor &x, int number) {
  int64_t by = int64_t(1) << (number % 6);
  return x + sn::pad(part(x, 0, length - by), {{0, by, 0}});
}

Tensor scanByConcat(const Tensor &x, int number) {
  int64_t by = int64_t(1) << (number % 6);
  Tensor rest = part(x, by, length) + part(x, 0, length - by);
  return sn::concat({part(x, 0, by), rest}, 0);
}

Tensor rollBy(const Tensor &x, int) { return sn::roll(x, {1}, {0}); }

Tensor rollByMore(const Tensor &x, int number) {
  return sn::roll(x, {number % 7 + 1}, {0});
}

Tensor twoRolls(const Tensor &x, int) {
  Tensor left = sn::roll(x, {1}, {0}), right = sn::roll(x, {-1}, {0});
  return sn::where(left > 0.5, left, right);
}

Tensor shifts2d(const Tensor &x, int) {
  return 0.25 * (sn::roll(x, {1}, {0}) + sn::roll(x, {-1}, {0}) +
                 sn::roll(x, {1}, {1}) + sn::roll(x, {-1}, {1}));
}

Tensor rollBothAxes(const Tensor &x, int) {
  return sn::roll(x, {1, 2}, {0, 1});
}

Tensor nestedPads(const Tensor &x, int) {
  Tensor wide = sn::pad(sn::pad(x, {{0, 2, 1}}), {{0, 1, 2}});
  return part(wide, 2, length + 2) + part(wide, 4, length + 4);
}

Tensor padOfPad(const Tensor &x, int) {
  return part(sn::pad(x, {{0, 1, 0}}), 0, length) * 0.5 +
         part(sn::pad(x, {{0, 0, 1}}), 1, length + 1);
}

Tensor flips(const Tensor &x, int) {
  Tensor back = sn::flip(part(x, 0, length, 2), {0});
  return sn::concat({back, part(x, 1, length, 2)}, 0);
}

Tensor flipAndAdd(const Tensor &x, int) { return x * 0.5 + sn::flip(x, {0}); }

Tensor turns(const Tensor &x, int) { return x * 0.5 + sn::permute(x, {1, 0}); }

Tensor rotary(const Tensor &x, int) {
  Tensor low = part(x, 0, length / 2), high = part(x, length / 2, length);
  Tensor c = sn::full({length / 2}, 0.8), s = sn::full({length / 2}, 0.6);
  return sn::concat({low * c - high * s, low * s + high * c}, 0);
}

Tensor taken(const Tensor &x, int) {
  Tensor index = sn::remainder(sn::arange(0, length) * 5, length);
  return x * 0.5 + sn::index_select(x, index, 0);
}

// No view at all, but each step reads the one before twice.
Tensor logistic(const Tensor &x, int) { return x * (2.0 - x); }

Tensor logisticWithRows(const Tensor &x, int) {
  return x * (2.0 - x) +
         sn::expand(sn::slice(x, {0, 0}, {1, side}, {1, 1}), {side, side});
}

std::vector<Recurrence> recurrences() {
  sn::Dims line{length}, square{side, side};
  return {{"stencil", line, stencil},
          {"stencil2d", square, stencil2d},
          {"blur2d", square, blur2d},
          {"butterfly", line, butterfly},
          {"butterflyOfHalves", line, butterflyOfHalves},
          {"scanByPad", line, scanByPad},
          {"scanByConcat", line, scanByConcat},
          {"roll", line, rollBy},
          {"rollByMore", line, rollByMore},
          {"twoRolls", line, twoRolls},
          {"shifts2d", square, shifts2d},
          {"rollBothAxes", square, rollBothAxes},
          {"nestedPads", line, nestedPads},
          {"padOfPad", line, padOfPad},
          {"flips", line, flips},
          {"flipAndAdd", line, flipAndAdd},
          {"turns", square, turns},
          {"rotary", line, rotary},
          {"taken", line, taken},
          {"logistic", line, logistic},
          {"logistic2d", square, logistic},
          {"logisticWithRows", square, logisticWithRows}};
}

/// A step that is drawn: branches of views of its argument, put together. All
/// steps have the same ops; those that move do so by other distances, so that
/// no two kernels are equal.
class DrawnStep {
public:
  DrawnStep(unsigned seed, bool moves) : seed(seed), moves(moves) {}

  Tensor operator()(const Tensor &x, int number) const {
    std::mt19937 draws(seed);
    unsigned moved = moves ? unsigned(number) : 0;
    Tensor result = branch(x, draws, moved);
    for (uint32_t more = 1 + draws() % 3; more > 0; --more) {
      Tensor other = branch(x, draws, moved);
      result = joined(result, other, draws() % 5);
    }
    return result;
  }

private:
  static Tensor branch(Tensor x, std::mt19937 &draws, unsigned moved) {
    for (uint32_t views = draws() % 3; views > 0; --views) {
      uint32_t kind = draws() % 6;
      x = viewed(x, kind, int64_t(2 + (draws() + moved) % 29));
    }
    return x;
  }

  static Tensor viewed(const Tensor &x, uint32_t kind, int64_t by) {
    switch (kind) {
    case 0:
      return sn::roll(x, {by}, {0});
    case 1:
      return sn::pad(part(x, 0, length - by), {{0, by, 0}});
    case 2:
      return sn::pad(part(x, by, length), {{0, by / 2, by - by / 2}});
    case 3:
      return sn::flip(x, {0});
    case 4:
      return sn::concat({part(x, 1, length, 2), part(x, 0, length, 2)}, 0);
    default:
      return sn::flatten(sn::permute(sn::reshape(x, {side, side}), {1, 0}));
    }
  }

  static Tensor joined(const Tensor &a, const Tensor &b, uint32_t kind) {
    switch (kind) {
    case 0:
      return a + b;
    case 1:
      return a * 0.5 - b * b;
    case 2:
      return sn::where(a > b, a, b * 0.25);
    case 3:
      return sn::concat({part(a, 0, length / 2), part(b, 0, length / 2)}, 0);
    default:
      return sn::maximum(sn::sin(a), b);
    }
  }

  unsigned seed;
  bool moves;
};

/// What a program's kernels are written out to.
struct Size {
  size_t instructions = 0;
  size_t elements = 0;
  size_t ops = 0;
  double mostPerOp = 0; ///< elements for each op, of the worst kernel
};

/// The number behind `mark` in a line, if it is there.
std::optional<size_t> numberAfter(const std::string &line,
                                  const std::string &mark) {
  size_t at = line.find(mark);
  if (at == std::string::npos)
    return std::nullopt;
  return std::stoul(line.substr(at + mark.size()));
}

Size sizeOf(const std::vector<Tensor> &results) {
  property::Watch watch("inspect");
  std::istringstream text(sn::inspect(results, "lower"));
  Size size;
  size_t ops = 0, elements = 0; // of the kernel at hand
  for (std::string line; std::getline(text, line);) {
    if (auto number = numberAfter(line, "// of ")) {
      ops = *number;
      elements = 0;
      size.ops += ops;
    }
    if (auto number = numberAfter(line, "sinter.elements = ")) {
      elements += *number;
      size.elements += *number;
      size.mostPerOp = std::max(size.mostPerOp, double(elements) / double(ops));
    }
    size_t first = line.find_first_not_of(' ');
    bool isInstruction =
        first != std::string::npos && line[first] != '}' && line[first] != '/';
    size.instructions += isInstruction;
  }
  return size;
}

Tensor start(const sn::Dims &shape) {
  std::vector<float> values(length);
  for (int64_t i = 0; i < length; ++i)
    values[size_t(i)] = float(i % 13) / 16.f;
  return sn::tensor(values, shape);
}

/// The argument after so many steps, and before each of them.
std::vector<Tensor> repeated(const Recurrence &recurrence, int steps) {
  std::vector<Tensor> all{start(recurrence.shape)};
  for (int number = 0; number < steps; ++number)
    all.push_back(recurrence.step(all.back(), number));
  return all;
}

using Finish = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

std::vector<Tensor> last(const std::vector<Tensor> &all) {
  return {all.back()};
}

constexpr double mostPerOp = 20;
constexpr double mostGrowth = 2.2;

/// Twice the steps are at most mostGrowth times the instructions, for numbers
/// of steps from 4 to 64.
void expectLinear(const Recurrence &recurrence, const Finish &finish,
                  std::initializer_list<int> starts = {4, 5}) {
  for (int first : starts) {
    Size before;
    for (int steps = first; steps <= 64; steps *= 2) {
      Size size = sizeOf(finish(repeated(recurrence, steps)));
      std::string where = recurrence.name + ", " + std::to_string(steps);
      EXPECT_GT(size.ops, 0u) << where;
      EXPECT_LE(size.mostPerOp, mostPerOp) << where;
      double most = mostGrowth * double(before.instructions);
      if (steps > first) {
        EXPECT_LE(double(size.instructions), most)
            << where << ": " << size.elements << " elements after "
            << before.elements;
      }
      before = size;
    }
  }
}

class Recurrences : public testing::TestWithParam<Recurrence> {};

TEST_P(Recurrences, AreWrittenOutInLinearSize) {
  expectLinear(GetParam(), last);
}

// Every step is a result too.
TEST_P(Recurrences, WithAllStepsStored) {
  expectLinear(GetParam(),
               [](const std::vector<Tensor> &all) {
                 return std::vector<Tensor>(all.begin() + 1, all.end());
               },
               {4});
}

class RecurrencesOfOthers : public testing::TestWithParam<Recurrence> {};

TEST_P(RecurrencesOfOthers, AreWrittenOutInLinearSize) {
  Finish finishes[] = {
      [](const auto &all) { return std::vector{sn::sum(all.back())}; },
      [](const auto &all) {
        return std::vector{sn::softmax(sn::reshape(all.back(), {4, 16}), -1)};
      },
      [](const auto &all) {
        Tensor square = sn::reshape(all.back(), {side, side});
        return std::vector{sn::matmul(square, square)};
      },
      [](const auto &all) {
        return std::vector{sn::cumsum(sn::flatten(all.back()), 0)};
      },
      [](const auto &all) {
        Tensor whole = sn::cast(all.back() * 7.0, sn::DType::i64);
        Tensor places = sn::remainder(whole, 8);
        return std::vector{sn::take(sn::arange(0, 8) * 2, places)};
      },
      [](const auto &all) {
        return std::vector{sn::sort(all.back(), 0).values};
      }};
  for (const Finish &finish : finishes)
    expectLinear(GetParam(), finish, {4});
}

INSTANTIATE_TEST_SUITE_P(ByHand, Recurrences, testing::ValuesIn(recurrences()),
                         [](const auto &about) { return about.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Operands, RecurrencesOfOthers,
    testing::Values(Recurrence{"stencil", {length}, stencil},
                    Recurrence{"butterfly", {length}, butterfly},
                    Recurrence{"twoRolls", {length}, twoRolls},
                    Recurrence{"shifts2d", {side, side}, shifts2d}),
    [](const auto &about) { return about.param.name; });

std::vector<Recurrence> drawnRecurrences() {
  std::vector<Recurrence> all;
  for (unsigned seed = 1; seed <= 12; ++seed)
    for (bool moves : {false, true})
      all.push_back({(moves ? "moving" : "seed") + std::to_string(seed),
                     {length},
                     DrawnStep(seed, moves)});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Drawn, Recurrences,
                         testing::ValuesIn(drawnRecurrences()),
                         [](const auto &about) { return about.param.name; });

} // namespace

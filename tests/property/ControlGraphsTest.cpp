/// Random programs with branches and loops that values decide about: what is
/// compiled agrees with the reference, gradients included.
///
/// Only integers decide, so that both take the same way.
#include <sinter/Basic.h>
#include <sinter/generated/functions/Math.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace sn = sinter;
using sn::Tensor;
using List = std::vector<Tensor>;
using Tensors = std::span<const Tensor>;

namespace {

constexpr int64_t rows = 3, columns = 4;

/// Values of a program: matrices of f32, and single numbers of i64.
struct Values {
  List floats, integers;
};

/// Draws one program. The same seed draws the same one.
class Program {
public:
  Program(unsigned seed, bool loops) : draws(seed), loops(loops) {}

  /// What the program makes of its arguments.
  Values operator()(Values values) {
    for (int step = 0; step < 5; ++step)
      extend(values);
    return values;
  }

private:
  int64_t below(int64_t count) { return int64_t(draws() % uint64_t(count)); }
  const Tensor &oneOf(const List &list) {
    return list[size_t(below(int64_t(list.size())))];
  }
  Tensor matrix(const Values &from);
  Tensor number(const Values &from);
  Tensor flag(const Values &from);
  List results(Values from, Tensors arguments);
  void extend(Values &values);
  void addCond(Values &values);
  void addWhile(Values &values);

  std::mt19937 draws;
  bool loops;
};

} // namespace

Tensor Program::matrix(const Values &from) {
  Tensor a = oneOf(from.floats), b = oneOf(from.floats);
  switch (below(7)) {
  case 0:
    return sn::tanh(a * 0.5 + b * 0.25);
  case 1:
    return sn::tanh(sn::matmul(sn::matmul(a, sn::permute(b, {1, 0})), a));
  case 2:
    return sn::sin(a) * 0.5;
  case 3:
    return sn::tanh(a + sn::sum(b) * 0.05);
  case 4:
    return sn::softmax(a, -1) - b * 0.125;
  case 5:
    return a * 0.5 + sn::roll(b, {1}, {1}) * 0.5;
  default:
    return sn::cos(a * number(from).to(sn::DType::f32) * 0.25);
  }
}

/// Small, so that products stay exact in f32.
Tensor Program::number(const Values &from) {
  Tensor a = oneOf(from.integers);
  return sn::remainder(a * (1 + below(4)) + below(5), 7);
}

Tensor Program::flag(const Values &from) {
  return sn::remainder(oneOf(from.integers), 2 + below(2)) < 1 + below(2);
}

/// Two results of a branch or a body.
List Program::results(Values from, Tensors arguments) {
  for (const Tensor &argument : arguments)
    (argument.dtype() == sn::DType::f32 ? from.floats : from.integers)
        .push_back(argument);
  for (int64_t more = below(3); more > 0; --more)
    from.floats.push_back(matrix(from));
  switch (below(5)) {
  case 0: // what is not computed
    return {oneOf(from.floats), number(from)};
  case 1:
    return {sn::full({rows, columns}, 0.25), oneOf(from.integers)};
  default:
    return {matrix(from), number(from)};
  }
}

void Program::addCond(Values &values) {
  Tensor taken = flag(values);
  List operands{oneOf(values.floats), oneOf(values.integers)};
  auto branch = [&](Tensors arguments) { return results(values, arguments); };
  List found = sn::cond(taken, branch, branch, operands);
  values.floats.push_back(found[0]);
  values.integers.push_back(found[1]);
}

void Program::addWhile(Values &values) {
  int64_t most = below(5);
  List init{oneOf(values.floats), oneOf(values.integers),
            sn::zeros({}, {sn::DType::i64})};
  List found = sn::while_loop([&](Tensors c) { return c[2] < most; },
                              [&](Tensors c) {
                                List next = results(values, c.first(2));
                                next.push_back(c[2] + 1);
                                return next;
                              },
                              init);
  values.floats.push_back(found[0]);
  values.integers.push_back(found[1]);
  values.integers.push_back(found[2]);
}

void Program::extend(Values &values) {
  int64_t kind = below(4);
  if (kind == 0)
    values.floats.push_back(matrix(values));
  else if (kind == 1 && loops)
    addWhile(values);
  else
    addCond(values);
}

namespace {

Values argumentsOf(unsigned seed) {
  std::mt19937 draws(seed * 7919 + 1);
  Values values;
  for (int i = 0; i < 3; ++i) {
    std::vector<float> elements;
    for (int64_t k = 0; k < rows * columns; ++k)
      elements.push_back(float(draws() % 2001) / 1000.f - 1);
    values.floats.push_back(sn::tensor(elements, {rows, columns}));
    auto number = int64_t(draws() % 9);
    values.integers.push_back(
        sn::tensor(std::vector<int64_t>{number}, {1}).reshape({}).eval());
  }
  return values;
}

/// All results as numbers, and the gradients of the arguments if asked for.
std::vector<double> evaluated(const char *device, unsigned seed, bool loops,
                              bool gradients) {
  sn::DeviceId before = sn::default_device();
  sn::set_default_device(device);
  Values arguments = argumentsOf(seed);
  for (Tensor &each : arguments.floats)
    if (gradients)
      each.require_grad();
  Values values = Program(seed, loops)(arguments);
  List all = values.floats;
  if (gradients) {
    Tensor loss = sn::sum(all.back() * all.back());
    for (size_t i = 3; i + 1 < all.size(); ++i)
      loss = loss + sn::sum(all[i]) * (0.1 * double(i));
    sn::Gradients found = loss.backward();
    for (const Tensor &each : arguments.floats)
      if (const Tensor *gradient = found.find(each))
        all.push_back(*gradient);
  }
  for (const Tensor &each : values.integers)
    all.push_back(each.to(sn::DType::f32));
  std::vector<double> numbers;
  for (const Tensor &each : all)
    for (float element : each.to_vector<float>())
      numbers.push_back(double(element));
  sn::set_default_device(before);
  return numbers;
}

const char *testDevice() {
  const char *device = std::getenv("SINTER_TEST_DEVICE");
  return device ? device : "cpu";
}

unsigned graphs() {
  const char *count = std::getenv("SINTER_TEST_GRAPHS");
  return count ? unsigned(std::atoi(count)) : 40;
}

void expectEqual(unsigned seed, bool loops, bool gradients) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto got = evaluated(testDevice(), seed, loops, gradients);
  auto expected = evaluated("null", seed, loops, gradients);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 1e-4 * (1 + std::abs(expected[i])))
        << "number " << i << " of " << got.size();
}

} // namespace

TEST(ControlGraphs, AgreeWithTheReference) {
  for (unsigned seed = 0; seed < graphs(); ++seed)
    expectEqual(seed, true, false);
}

TEST(ControlGraphs, HaveTheGradientsOfTheReference) {
  for (unsigned seed = 0; seed < graphs(); ++seed)
    expectEqual(1000 + seed, false, true);
}

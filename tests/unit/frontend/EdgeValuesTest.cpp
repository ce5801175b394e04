/// What docs/semantics.md says of values that composed functions have at the
/// edges: NaN, infinities, equal and missing elements, numbers without an axis.
/// In each mode of numerics.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Arithmetic.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <cmath>
#include <functional>
#include <limits>

namespace sn = sinter;
using Values = std::vector<float>;
using Positions = std::vector<int64_t>;

static constexpr float inf = std::numeric_limits<float>::infinity();
static const float aNan = std::nanf("");

static void inEachMode(const std::function<void()> &body) {
  for (auto mode :
       {sn::Numerics::standard, sn::Numerics::exact, sn::Numerics::fast}) {
    SCOPED_TRACE(int(mode));
    sn::numerics_scope scope(mode);
    body();
  }
}

/// Equal, where NaN equals NaN.
static void expectSame(const sn::Tensor &found, const Values &wanted) {
  Values values = found.to_vector<float>();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(values[i] == wanted[i] ||
                (std::isnan(values[i]) && std::isnan(wanted[i])))
        << i << ": " << values[i] << " is not " << wanted[i];
}

static void expectFinite(const sn::Tensor &found) {
  for (float value : found.to_vector<float>())
    EXPECT_TRUE(std::isfinite(value)) << value;
}

TEST(EdgeValues, ExtremesSoFarBehindNaN) {
  inEachMode([] {
    sn::Tensor x = sn::tensor({1.f, 3.f, 3.f, aNan, 9.f, aNan, 1.f});
    x.require_grad();
    auto most = sn::cummax(x, 0), least = sn::cummin(-x, 0);
    Positions at{0, 1, 2, 3, 3, 5, 5};
    EXPECT_EQ(most.indices.to_vector<int64_t>(), at);
    EXPECT_EQ(least.indices.to_vector<int64_t>(), at);
    expectSame(sn::sum(most.values).backward()(x), {1, 1, 1, 2, 0, 2, 0});
    expectSame(sn::sum(least.values).backward()(x), {-1, -1, -1, -2, 0, -2, 0});
    EXPECT_EQ(sn::cummax(sn::tensor({3, 1, 3}), 0).indices.to_vector<int64_t>(),
              (Positions{0, 0, 2}));
  });
}

/// n times the reciprocal of n is less than 1 for some.
TEST(EdgeValues, QuotientsOfWhichIntegersAreMadeAreDivided) {
  inEachMode([] {
    sn::Tensor n = sn::arange(1, 300).to(sn::DType::f32).reshape({-1, 1});
    sn::Tensor share = n / sn::amax(n, {1}, true);
    Values ones(299, 1);
    expectSame(sn::floor(share), ones);
    expectSame(sn::trunc(share * 1.f).to(sn::DType::i32).to(sn::DType::f32),
               ones);
    sn::Tensor many = sn::full({1000}, 49.f);
    Values all(1000, 1);
    expectSame(sn::floor(many / sn::amax(many)), all);
  });
}

TEST(EdgeValues, TheLargestNaNsShareTheGradient) {
  inEachMode([] {
    sn::Tensor x = sn::tensor({{1.f, aNan, 3.f, aNan}, {2.f, 5.f, 5.f, 1.f}});
    x.require_grad();
    Values wanted{0, 0.5, 0, 0.5, 0, 0.5, 0.5, 0};
    expectSame(sn::sum(sn::amax(x, 1)).backward()(x), wanted);
    expectSame(sn::sum(sn::amin(-x, 1)).backward()(x),
               {0, -0.5, 0, -0.5, 0, -0.5, -0.5, 0});
  });
}

TEST(EdgeValues, NoElementsLeftForAVariance) {
  inEachMode([] {
    sn::Tensor x = sn::tensor({1.f, 2.f, 3.f, 4.f, 5.f});
    for (double correction : {5., 6., 7.5}) {
      expectSame(sn::var(x, {}, correction), {inf});
      expectSame(sn::std(x, {}, correction), {inf});
    }
    expectSame(sn::var(sn::zeros({0, 2}), {0}), {aNan, aNan});
    expectSame(sn::var(sn::zeros({0, 2}), {0}, 0), {aNan, aNan});
    expectSame(sn::std(sn::zeros({2, 0}), {1}), {aNan, aNan});
    expectSame(sn::var(sn::tensor({2.f})), {aNan});
    expectSame(sn::cov(sn::tensor({{1.f, 2.f}}), 3), {inf});
    expectSame(sn::cov(sn::tensor({{1.f, 2.f}}), 1), {0.5});
    expectSame(sn::var_mean(sn::zeros({0}), {0}).second, {aNan});
  });
}

TEST(EdgeValues, EqualElementsVaryByNothing) {
  inEachMode([] {
    const Values numbers{1000.1f, 12345.678f, 1e6f + 0.7f, -3.3e-7f, 7e12f};
    auto count = int64_t(numbers.size());
    for (int64_t n : {1, 3, 5, 7, 100, 768, 4099}) {
      SCOPED_TRACE(n);
      sn::Tensor rows = sn::expand(sn::tensor(numbers, {count, 1}), {count, n});
      sn::Tensor columns = sn::transpose(rows, {1, 0});
      sn::Tensor images = sn::reshape(rows, {count, 1, n});
      std::vector<sn::Tensor> all{
          sn::layer_norm(rows, {n}), sn::var(rows, {1}, 0),
          sn::group_norm(images, 1), sn::instance_norm(images),
          sn::std(columns, {0}, 0),
      };
      if (n > 1)
        all.push_back(sn::batch_norm(columns).y);
      for (sn::Tensor &each : all)
        each = sn::reshape(sn::abs(each), {-1});
      sn::Tensor joined = sn::concat(std::span<const sn::Tensor>(all), 0);
      EXPECT_EQ(sn::amax(joined).item<float>(), 0);
    }
  });
}

TEST(EdgeValues, NormsOfLargeMeansKeepTheirDigits) {
  inEachMode([] {
    std::vector<float> values;
    for (int i = 0; i < 300; ++i)
      values.push_back(16384.f + float(i % 3));
    sn::Tensor x = sn::tensor(values, {1, 300});
    EXPECT_NEAR(sn::var(x, {1}, 0).item<float>(), 2.f / 3, 1e-6);
    Values y = sn::layer_norm(x, {300}).to_vector<float>();
    EXPECT_NEAR(y[0], -1.2247357, 1e-5);
    EXPECT_NEAR(y[1], 0, 1e-6);
    sn::BatchNormalized of = sn::batch_norm(sn::reshape(x, {300, 1}));
    EXPECT_NEAR(of.y.to_vector<float>()[2], 1.2247357, 1e-5);
    EXPECT_NEAR(of.var.item<float>(), 200.f / 299, 1e-5);
  });
}

TEST(EdgeValues, RootsOfNothingHaveNoSlope) {
  inEachMode([] {
    sn::Tensor x = sn::tensor({{2.f, 2.f, 2.f}, {1.f, 2.f, 3.f}});
    x.require_grad();
    expectSame(sn::sum(sn::std(x, {1})).backward()(x), {0, 0, 0, -0.5, 0, 0.5});
    sn::Tensor zero = sn::zeros({3}).require_grad();
    for (double p : {0.5, 1., 2., 3., double(inf)})
      expectSame(sn::norm(zero, p).backward()(zero), {0, 0, 0});
    sn::Tensor side = sn::zeros({1}).require_grad();
    expectSame(sn::sum(sn::hypot(side, side)).backward()(side), {0});
  });
}

TEST(EdgeValues, QueriesThatSeeNoKey) {
  inEachMode([] {
    sn::Tensor q = sn::sin(
                   sn::arange(24).reshape({1, 1, 6, 4}).to(sn::DType::f32)),
               k = sn::cos(
                   sn::arange(20).reshape({1, 1, 5, 4}).to(sn::DType::f32)),
               v = k * 2;
    for (sn::Tensor *x : {&q, &k, &v})
      *x = x->detach().require_grad();
    sn::Tensor seen = sn::iota({6, 5}, 0) != 2;
    for (bool causal : {false, true}) {
      sn::Tensor y = sn::scaled_dot_product_attention(
          q, k, v, {.mask = seen, .causal = causal});
      Values rows = y.to_vector<float>();
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(rows[8 + i], 0);
      EXPECT_NE(rows[4], 0);
      auto gradients = sn::grad(y, {q, k, v}, sn::ones_like(y));
      for (const sn::Tensor &gradient : gradients)
        expectFinite(gradient);
      Values ofQuery = gradients[0].to_vector<float>();
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(ofQuery[8 + i], 0);
    }
    // By hand it is what a softmax of such a row is.
    sn::Tensor scores = sn::matmul(q, sn::transpose(k, {0, 1, 3, 2}));
    Values byHand = sn::matmul(sn::softmax(sn::where(seen, scores, -inf)), v)
                        .to_vector<float>();
    EXPECT_TRUE(std::isnan(byHand[8]));
    EXPECT_FALSE(std::isnan(byHand[4]));
    sn::Tensor none = sn::zeros({1, 1, 0, 4});
    expectSame(sn::sum(sn::scaled_dot_product_attention(q, none, none)), {0});
  });
}

TEST(EdgeValues, BoundsThatADTypeDoesNotHold) {
  inEachMode([] {
    sn::Tensor u = sn::tensor(std::vector<uint8_t>{0, 100, 255});
    sn::Tensor i = sn::tensor(std::vector<int8_t>{-128, 0, 127});
    auto asInts = [](const sn::Tensor &x) {
      return x.to(sn::DType::i64).to_vector<int64_t>();
    };
    Positions all{0, 100, 255}, both{-128, 0, 127};
    EXPECT_EQ(asInts(sn::clamp(u, -5, 300)), all);
    EXPECT_EQ(asInts(sn::clamp(u, -1)), all);
    EXPECT_EQ(asInts(sn::clamp(i, -1000, 1000)), both);
    EXPECT_EQ(asInts(sn::clamp(u, -5, 99)), (Positions{0, 99, 99}));
    EXPECT_EQ(asInts(sn::maximum(u, -5)), all);
    EXPECT_EQ(asInts(sn::minimum(u, 300)), all);
    EXPECT_EQ(asInts(u < -1), (Positions{0, 0, 0}));
    EXPECT_EQ(asInts(u < 256), (Positions{1, 1, 1}));
    EXPECT_EQ(asInts(i != 128), (Positions{1, 1, 1}));
    EXPECT_EQ(asInts(u + 256), all); // wraps
    expectError(sn::ErrorKind::invalid_argument,
                "where: 300 is no number of u8",
                [&] { sn::where(u > 1, u, 300); });
  });
}

// In no place among integers does a number become another one.
TEST(EdgeValues, NumbersThatADTypeDoesNotHold) {
  struct Held {
    sn::DType dtype;
    std::vector<sn::Number> no, yes;
  };
  double most = 9223372036854775808.0;
  const Held cases[] = {
      {sn::DType::i8,
       {128, -129, 300.5, -129.0, aNan, inf},
       {127, -128, 127.9}},
      {sn::DType::u8, {256, -1, 256.0, -1.0}, {255, 0, 255.5, -0.5}},
      {sn::DType::i32, {int64_t(1) << 31, 1e20}, {(int64_t(1) << 31) - 1}},
      {sn::DType::i64, {most, -inf}, {-most, INT64_MAX}},
  };
  sn::Tensor at = sn::tensor(std::vector<int64_t>{1});
  for (const Held &held : cases) {
    sn::Tensor x = sn::zeros({3}, {.dtype = held.dtype});
    using Place = std::function<sn::Tensor(const sn::Arg &)>;
    const std::pair<const char *, Place> places[] = {
        {"index_put", [&](auto &n) { return sn::index_put(x, {at}, n); }},
        {"index_put", [&](auto &n) { return sn::index_put(x, {at}, n, true); }},
        {"index_put", [&](auto &n) { return sn::index_put(x, {x == 0}, n); }},
        {"slice_assign",
         [&](auto &n) { return sn::slice_assign(x, n, {1}, {2}, {1}); }},
        {"full", [&](auto &n) { return sn::full({2}, n, {held.dtype}); }},
        {"full", [&](auto &n) { return sn::full_like(x, n); }},
    };
    for (const auto &[name, place] : places) {
      auto argOf = [](sn::Number number) {
        return number.isReal ? sn::Arg(number.real) : sn::Arg(number.integer);
      };
      for (sn::Number number : held.no)
        expectError(sn::ErrorKind::invalid_argument, std::string(name) + ": ",
                    [&] { place(argOf(number)); });
      for (sn::Number number : held.yes)
        place(argOf(number));
    }
  }
  auto values = [](const sn::Tensor &x) {
    return x.to(sn::DType::i64).to_vector<int64_t>();
  };
  sn::Tensor u = sn::zeros({2}, {.dtype = sn::DType::u8});
  EXPECT_EQ(values(sn::index_put(u, {at}, 255.9)), (Positions{0, 255}));
  EXPECT_EQ(values(sn::slice_assign(u, 7, {0}, {1}, {1})), (Positions{7, 0}));
  auto pad = [&](double value) {
    return sn::pad(u, {{0, 1, 0}}, sn::PadMode::constant, value);
  };
  EXPECT_EQ(values(pad(255)), (Positions{255, 0, 0}));
  expectError(sn::ErrorKind::invalid_argument, "pad: 256 is no number of u8",
              [&] { pad(256); });
}

TEST(EdgeValues, NaNComesLast) {
  inEachMode([] {
    sn::Tensor sorted = sn::tensor({1.f, 2.f, 2.f, 3.f, aNan, aNan});
    sn::Tensor wanted = sn::tensor({aNan, 2.f, inf});
    EXPECT_EQ(sn::searchsorted(sorted, wanted).to_vector<int64_t>(),
              (Positions{4, 1, 4}));
    EXPECT_EQ(sn::searchsorted(sorted, wanted, true).to_vector<int64_t>(),
              (Positions{6, 3, 4}));
    sn::Tensor x = sn::tensor({{1.f, aNan, 2.f}, {3.f, 1.f, 2.f}});
    x.require_grad();
    auto middle = sn::median(x, 1);
    expectSame(middle.values, {aNan, 2});
    EXPECT_EQ(middle.indices.to_vector<int64_t>(), (Positions{1, 2}));
    expectSame(sn::sum(middle.values).backward()(x), {0, 1, 0, 0, 0, 1});
  });
}

TEST(EdgeValues, LossesOfCertainProbabilities) {
  inEachMode([] {
    sn::Tensor p = sn::tensor({0.f, 1.f, 0.5f, 0.f}).require_grad();
    sn::Tensor loss = sn::binary_cross_entropy(
        p, sn::tensor({1.f, 0.f, 1.f, 0.f}), {.reduction = sn::Reduction::sum});
    EXPECT_NEAR(loss.item<float>(), 200.6931472, 1e-3);
    Values slopes = loss.backward()(p).to_vector<float>();
    EXPECT_FLOAT_EQ(slopes[0], -1e12f);
    EXPECT_FLOAT_EQ(slopes[1], 1e12f);
    EXPECT_FLOAT_EQ(slopes[2], -2);
    EXPECT_EQ(slopes[3], 0);
  });
}

TEST(EdgeValues, NumbersHaveAnAxisOfOneElement) {
  sn::Tensor x = sn::tensor(std::vector<float>{3}, sn::Dims{});
  sn::Tensor zero = sn::tensor(std::vector<int64_t>{0}, sn::Dims{});
  using Of = std::function<sn::Tensor(int64_t axis)>;
  std::vector<std::pair<Of, float>> functions = {
      {[&](int64_t a) { return sn::softmax(x, a); }, 1},
      {[&](int64_t a) { return sn::log_softmax(x, a); }, 0},
      {[&](int64_t a) { return sn::quiet_softmax(x, a); }, 0.95257413f},
      {[&](int64_t a) { return sn::softmin(x, a); }, 1},
      {[&](int64_t a) { return sn::cumsum(x, a); }, 3},
      {[&](int64_t a) { return sn::cumprod(x, a); }, 3},
      {[&](int64_t a) { return sn::logcumsumexp(x, a); }, 3},
      {[&](int64_t a) { return sn::cummax(x, a).values; }, 3},
      {[&](int64_t a) { return sn::cummin(x, a).indices; }, 0},
      {[&](int64_t a) { return sn::argmax(x, a); }, 0},
      {[&](int64_t a) { return sn::argmin(x, a, true); }, 0},
      {[&](int64_t a) { return sn::max(x, a).values; }, 3},
      {[&](int64_t a) { return sn::min(x, a).indices; }, 0},
      {[&](int64_t a) { return sn::median(x, a).values; }, 3},
      {[&](int64_t a) { return sn::sum(x, a); }, 3},
      {[&](int64_t a) { return sn::mean(x, a, true); }, 3},
      {[&](int64_t a) { return sn::var(x, a, 0); }, 0},
      {[&](int64_t a) { return sn::prod(x, a); }, 3},
      {[&](int64_t a) { return sn::amax(x, a); }, 3},
      {[&](int64_t a) { return sn::amin(x, a); }, 3},
      {[&](int64_t a) { return sn::logsumexp(x, a); }, 3},
      {[&](int64_t a) { return sn::l2_norm(x, a); }, 3},
      {[&](int64_t a) { return sn::norm(x, 3, a); }, 3},
      {[&](int64_t a) { return sn::all(x, a); }, 1},
      {[&](int64_t a) { return sn::any(x, a); }, 1},
      {[&](int64_t a) { return sn::count_nonzero(x, a); }, 1},
      {[&](int64_t a) { return sn::sort(x, a).values; }, 3},
      {[&](int64_t a) { return sn::argsort(x, a); }, 0},
      {[&](int64_t a) { return sn::topk(x, 1, a).values; }, 3},
      {[&](int64_t a) { return sn::gather(x, zero, a); }, 3},
      {[&](int64_t a) { return sn::scatter(x, zero, x * 2, a); }, 6},
      {[&](int64_t a) { return sn::scatter_add(x, zero, x, a); }, 6},
      {[&](int64_t a) { return sn::index_add(x, a, zero, x); }, 6},
      {[&](int64_t a) { return sn::flip(x, a); }, 3},
      {[&](int64_t a) { return sn::roll(x, 1, a); }, 3},
      {[&](int64_t a) { return sn::squeeze(x, a); }, 3},
      {[&](int64_t a) { return sn::swapaxes(x, a, 0); }, 3},
      {[&](int64_t a) { return sn::movedim(x, a, -1); }, 3},
      {[&](int64_t a) { return sn::normalize(x, 2, a); }, 1},
      {[&](int64_t a) { return sn::cosine_similarity(x, x, a); }, 1},
  };
  for (size_t i = 0; i < functions.size(); ++i)
    for (int64_t axis : {0, -1}) {
      SCOPED_TRACE(i);
      sn::Tensor y = functions[i].first(axis);
      EXPECT_EQ(y.rank(), 0);
      EXPECT_NEAR(y.to(sn::DType::f32).item<float>(), functions[i].second,
                  1e-6);
    }
  for (size_t i = 0; i < functions.size(); ++i)
    EXPECT_THROW(functions[i].first(1), sn::Error) << i;
  EXPECT_EQ(sn::unfold(x, 0, 1, 1).to_vector<float>(), (Values{3}));
  EXPECT_EQ(sn::repeat_interleave(x, 2, -1).to_vector<float>(), (Values{3, 3}));
  sn::Tensor wanted = sn::tensor(std::vector<float>{2}, sn::Dims{});
  wanted.require_grad();
  expectSame(sn::log_softmax(wanted, 0).backward()(wanted), {0});
  expectSame(sn::cumsum(wanted, -1).backward()(wanted), {1});
}

TEST(EdgeValues, LogarithmsOfNothingHaveFiniteSlopes) {
  inEachMode([] {
    sn::Tensor a = sn::tensor({-inf, -inf}).require_grad();
    expectSame(sn::logsumexp(a), {-inf});
    expectSame(sn::logsumexp(a).backward()(a), {0, 0});
    sn::Tensor b = sn::tensor({-inf, inf, -inf, 1.f}).require_grad();
    sn::Tensor c = sn::tensor({-inf, inf, 2.f, 1.f}).require_grad();
    auto slopes = sn::sum(sn::logaddexp(b, c)).backward();
    expectSame(slopes(b), {0.5, 0.5, 0, 0.5});
    expectSame(slopes(c), {0.5, 0.5, 1, 0.5});
  });
}

TEST(EdgeValues, LengthsOfVectorsThatMeet) {
  inEachMode([] {
    sn::Tensor a = sn::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
    sn::Tensor b = sn::tensor({{2.f, 2.f, 4.f}});
    auto near = [](const sn::Tensor &found, Values wanted) {
      Values values = found.to_vector<float>();
      ASSERT_EQ(values.size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(values[i], wanted[i], 1e-5);
    };
    near(sn::cosine_similarity(a, b, 1), {0.98198, 0.97701});
    near(sn::cosine_similarity(b, a, -1), {0.98198, 0.97701});
    near(sn::cosine_similarity(a, sn::tensor({{2.f}, {3.f}}), 1),
         {0.92582, 0.986928});
    near(sn::cosine_similarity(a, sn::tensor({2.f, 2.f, 4.f}), 1),
         {0.98198, 0.97701});
    EXPECT_THROW(sn::cosine_similarity(a, sn::ones({2})), sn::Error);
  });
}

// Of all pairs of such integers, the least one and the largest among them.
template <typename Int> static void divideAll(const std::vector<Int> &numbers) {
  std::vector<Int> left, right, floors, remainders, rests;
  constexpr Int least = std::numeric_limits<Int>::min();
  for (Int x : numbers)
    for (Int y : numbers) {
      if (y == 0)
        continue;
      bool wraps = std::is_signed_v<Int> && x == least && y == Int(-1);
      Int quotient = wraps ? least : Int(x / y), rest = wraps ? 0 : Int(x % y);
      bool differ = rest != 0 && (rest < 0) != (y < 0);
      left.push_back(x);
      right.push_back(y);
      floors.push_back(Int(quotient - differ));
      remainders.push_back(Int(differ ? rest + y : rest));
      rests.push_back(rest);
    }
  sn::Tensor x = sn::tensor(left), y = sn::tensor(right);
  EXPECT_EQ(sn::floor_divide(x, y).to_vector<Int>(), floors);
  EXPECT_EQ(sn::remainder(x, y).to_vector<Int>(), remainders);
  EXPECT_EQ(sn::fmod(x, y).to_vector<Int>(), rests);
}

TEST(EdgeValues, IntegersDivideToTheEnds) {
  std::vector<int8_t> narrow;
  std::vector<uint8_t> whole;
  for (int i = 0; i < 256; ++i) {
    narrow.push_back(int8_t(i - 128));
    whole.push_back(uint8_t(i));
  }
  divideAll(narrow);
  divideAll(whole);
  auto ends = []<typename Int>(Int) {
    using Limits = std::numeric_limits<Int>;
    return std::vector<Int>{
        Limits::min(), Limits::min() + 1, -1000,        -7, -2, -1, 0, 1, 2, 7,
        1000,          Limits::max() - 1, Limits::max()};
  };
  divideAll(ends(int16_t()));
  divideAll(ends(int32_t()));
  divideAll(ends(int64_t()));
}

// Odd functions of zeros, and what is rounded to a zero: few and many elements
// may be computed by other instructions.
TEST(EdgeValues, ZerosKeepTheirSign) {
  auto signsOf = [](int64_t pairs, sn::DType dtype) {
    auto filled = [&](double value) {
      Values values;
      for (int64_t i = 0; i < pairs; ++i)
        values.insert(values.end(), {float(value), -float(value)});
      return sn::cast(sn::tensor(values), dtype);
    };
    sn::Tensor x = filled(0), two = sn::ones_like(x) * 2;
    std::vector<sn::Tensor> zeros{
        sn::sin(x),   sn::tan(x),   sn::asin(x),  sn::atan(x),
        sn::sinh(x),  sn::tanh(x),  sn::asinh(x), sn::atanh(x),
        sn::erf(x),   sn::expm1(x), sn::log1p(x), sn::sqrt(x),
        sn::floor(x), sn::ceil(x),  sn::round(x), sn::trunc(x)};
    zeros.push_back(sn::round(filled(0.375)));
    zeros.push_back(sn::trunc(filled(0.75)));
    zeros.push_back(sn::fmod(filled(6), two));
    zeros.push_back(sn::atan2(x, two));
    zeros.push_back(sn::pow(x, two + 1));
    sn::Tensor all = sn::stack(std::span<const sn::Tensor>(zeros));
    // 1 and -1, or what is no zero.
    return sn::where(all == 0,
                     1 - 2 * sn::cast(sn::signbit(all), sn::DType::f32), 5);
  };
  inEachMode([&] {
    for (sn::DType dtype : {sn::DType::f32, sn::DType::f64, sn::DType::bf16})
      for (int64_t pairs : {1, 32}) {
        SCOPED_TRACE(testing::Message() << int(dtype) << " " << pairs);
        sn::Tensor signs = signsOf(pairs, dtype);
        Values wanted;
        for (int64_t i = 0; i < signs.numel(); ++i)
          wanted.push_back(i % 2 ? -1 : 1);
        expectSame(signs, wanted);
      }
  });
}

TEST(EdgeValues, EmptyBatches) {
  auto expectShape = [](const sn::Tensor &y, Positions shape) {
    Positions found;
    for (sn::Dim dim : y.shape())
      found.push_back(dim.value);
    EXPECT_EQ(found, shape);
    y.eval();
  };
  sn::Tensor x = sn::zeros({0, 4, 2}), image = sn::zeros({0, 4, 6, 6});
  expectShape(sn::group_norm(x, 2), {0, 4, 2});
  expectShape(sn::batch_norm(x).y, {0, 4, 2});
  expectShape(sn::instance_norm(x), {0, 4, 2});
  expectShape(sn::layer_norm(x, {2}), {0, 4, 2});
  expectShape(sn::rms_norm(x, {4, 2}), {0, 4, 2});
  expectShape(sn::local_response_norm(x, 2), {0, 4, 2});
  expectShape(sn::normalize(x), {0, 4, 2});
  sn::nn::BatchNorm norm(4);
  expectShape(norm(x), {0, 4, 2});
  EXPECT_EQ(norm.running_mean.tensor().to_vector<float>(), Values(4, 0.f));
  sn::Tensor weight = sn::zeros({8, 4, 3, 3});
  expectShape(sn::conv2d(image, weight, sn::zeros({8})), {0, 8, 4, 4});
  expectShape(sn::conv_transpose2d(image, sn::zeros({4, 2, 3, 3})),
              {0, 2, 8, 8});
  expectShape(sn::max_pool2d(image, 2), {0, 4, 3, 3});
  auto [most, places] = sn::max_pool_with_indices(image, {2, 2});
  expectShape(most, {0, 4, 3, 3});
  expectShape(places, {0, 4, 3, 3});
  expectShape(sn::max_unpool(most, places, {6, 6}), {0, 4, 6, 6});
  expectShape(sn::avg_pool2d(image, 2), {0, 4, 3, 3});
  expectShape(sn::adaptive_avg_pool(image, {4, 4}), {0, 4, 4, 4});
  expectShape(sn::adaptive_max_pool(image, {4, 4}), {0, 4, 4, 4});
  expectShape(sn::unfold(image, sn::Axes{2, 2}, {}), {0, 16, 25});
  expectShape(sn::interpolate(image, {.size = {3, 3}}), {0, 4, 3, 3});
  sn::Tensor rows = sn::zeros({0, 3}),
             labels = sn::zeros({0}, {sn::DType::i64, {}});
  expectSame(sn::cross_entropy(rows, labels), {aNan});
  expectSame(sn::mse_loss(rows, rows), {aNan});
  expectSame(sn::kl_div(rows, rows, {.reduction = sn::Reduction::batchmean}),
             {aNan});
  expectSame(sn::binary_cross_entropy(rows, rows), {aNan});
  sn::Tensor q = sn::zeros({0, 2, 3, 4});
  expectShape(sn::scaled_dot_product_attention(q, q, q), {0, 2, 3, 4});
  expectShape(sn::softmax(rows), {0, 3});
  expectShape(sn::cumsum(rows, 1), {0, 3});
  expectShape(sn::sort(rows, 1).values, {0, 3});
  expectShape(sn::median(rows, 1).values, {0});
}

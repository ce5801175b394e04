/// Param: lazy, a value when copied, shared only when tied.
#include <sinter/Basic.h>
#include <sinter/Param.h>

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace sn = sinter;

namespace {

using Values = std::vector<float>;

Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

sn::Param uniform(const sn::Dims &shape) {
  return sn::Param("w", shape, sn::init::uniform(-1, 1));
}

} // namespace

TEST(Param, KnowsItselfWithoutAValue) {
  bool made = false;
  sn::Param param("w", {3, 4},
                  [&](const sn::Dims &shape, sn::DType dtype, sn::Generator &) {
                    made = true;
                    return sn::zeros(shape, {.dtype = dtype});
                  },
                  {.dtype = sn::DType::f64});
  EXPECT_EQ(param.name(), "w");
  EXPECT_EQ(param.rank(), 2);
  EXPECT_EQ(param.numel(), 12);
  EXPECT_EQ(param.shape()[1].value, 4);
  EXPECT_EQ(param.dtype(), sn::DType::f64);
  EXPECT_EQ(param.device(), sn::default_device());
  EXPECT_TRUE(param.requires_grad());
  EXPECT_FALSE(made);
  EXPECT_EQ(param.tensor().to_vector<double>(), std::vector<double>(12, 0));
  EXPECT_TRUE(made);
}

TEST(Param, NumbersAreDecidedWhenMade) {
  sn::manual_seed(3);
  sn::Param a = uniform({8}), b = uniform({8});
  sn::manual_seed(3);
  sn::Param c = uniform({8}), d = uniform({8});
  Values dValues = valuesOf(d); // in another order than made
  EXPECT_EQ(dValues, valuesOf(b));
  EXPECT_EQ(valuesOf(c), valuesOf(a));
  EXPECT_NE(valuesOf(a), valuesOf(b));
}

TEST(Param, CopiesShareTheFirstValue) {
  sn::Param a = uniform({16});
  sn::Param b = a;
  EXPECT_NE(a.cell(), b.cell());
  EXPECT_EQ(a.record_id(), b.record_id());
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(valuesOf(b), valuesOf(a));
}

TEST(Param, CopiesChangeByThemselves) {
  sn::Param a("w", {2}, sn::init::ones());
  sn::Param b = a;
  b.set(b.tensor() * 3);
  sn::Param c = b; // with the update pending
  EXPECT_EQ(valuesOf(a), (Values{1, 1}));
  EXPECT_EQ(valuesOf(b), (Values{3, 3}));
  EXPECT_EQ(valuesOf(c), (Values{3, 3}));
  a.set(a.tensor() + 4);
  EXPECT_EQ(valuesOf(a), (Values{5, 5}));
  EXPECT_EQ(valuesOf(c), (Values{3, 3}));
  b = a;
  EXPECT_EQ(valuesOf(b), (Values{5, 5}));
  EXPECT_NE(a.cell(), b.cell());
}

TEST(Param, TieShares) {
  sn::Param a("a", {2}, sn::init::ones()), b("b", {2}, sn::init::zeros());
  b.tie(a);
  EXPECT_EQ(a.cell(), b.cell());
  b.set(b.tensor() + 1);
  EXPECT_EQ(valuesOf(a), (Values{2, 2}));
}

TEST(Param, TieRefusesOtherTypes) {
  sn::Param a("a", {2}, sn::init::ones()), b("b", {3}, sn::init::ones());
  try {
    b.tie(a);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_NE(error.message().find("f32[3]"), std::string::npos)
        << error.what();
    EXPECT_NE(error.message().find("f32[2]"), std::string::npos);
  }
  EXPECT_EQ(valuesOf(b), (Values{1, 1, 1}));
}

TEST(Param, SetRefusesOtherTypes) {
  sn::Param a("a", {2}, sn::init::ones());
  EXPECT_THROW(a.set(sn::ones({3})), sn::Error);
  EXPECT_THROW(a.set(sn::ones({2}, {.dtype = sn::DType::f64})), sn::Error);
  EXPECT_EQ(valuesOf(a), (Values{1, 1}));
}

TEST(Param, FromATensor) {
  sn::Tensor value = sn::tensor({1.f, 2.f}) * 2;
  sn::Param param(value, "w");
  value = value + 1;
  EXPECT_EQ(valuesOf(param), (Values{2, 4}));
  EXPECT_TRUE(param.requires_grad());
}

TEST(Param, FrozenGetsNoGradient) {
  sn::Param a("a", {2}, sn::init::ones()), b("b", {2}, sn::init::ones());
  a.require_grad(false);
  sn::Gradients grads = sn::sum(a * b).backward();
  EXPECT_FALSE(grads.contains(a));
  EXPECT_TRUE(grads.contains(b));
}

TEST(Param, RecordIdsDiffer) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 100; ++i)
    ids.insert(uniform({1}).record_id());
  EXPECT_EQ(ids.size(), 100u);
}

TEST(Param, BadInitIsAnErrorThatNamesTheType) {
  sn::Param param("w", {2},
                  [](auto &, auto, auto &) { return sn::zeros({5}); });
  try {
    valuesOf(param);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_NE(error.message().find("f32[5]"), std::string::npos)
        << error.what();
  }
}

TEST(Param, ManyThreadsMakeOneValue) {
  sn::Param param = uniform({64});
  std::vector<sn::Param> copies(8, param);
  std::vector<Values> values(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { values[i] = valuesOf(copies[i]); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Values &one : values)
    EXPECT_EQ(one, values[0]);
}

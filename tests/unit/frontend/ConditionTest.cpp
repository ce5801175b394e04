/// Tensors are no conditions: what compiles is elementwise.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace sn = sinter;

namespace {

template <typename T>
concept Condition = requires(T value) { value ? 1 : 0; };
template <typename T>
concept Contextual =
    std::is_constructible_v<bool, T> || std::is_convertible_v<T, bool>;

// Of every handle, empty or not: none says by itself what it means as a bool.
static_assert(!Condition<sn::Tensor> && !Contextual<sn::Tensor>);
static_assert(!Condition<sn::Param> && !Contextual<sn::Param>);
static_assert(!Condition<sn::Gradients> && !Contextual<sn::Gradients>);
static_assert(!Condition<sn::Generator> && !Contextual<sn::Generator>);
static_assert(!Condition<sn::HookHandle> && !Contextual<sn::HookHandle>);
static_assert(!Condition<sn::nn::Linear> && !Contextual<sn::nn::Linear>);
static_assert(!Condition<sn::Dim> && !Condition<sn::DeviceId>);

// Comparisons and logic are tensors, also of parameters and numbers.
template <typename A, typename B>
concept AllElementwise = requires(A a, B b) {
  { a == b } -> std::same_as<sn::Tensor>;
  { a != b } -> std::same_as<sn::Tensor>;
  { a < b } -> std::same_as<sn::Tensor>;
  { a >= b } -> std::same_as<sn::Tensor>;
  { a && b } -> std::same_as<sn::Tensor>;
  { a || b } -> std::same_as<sn::Tensor>;
};
static_assert(AllElementwise<sn::Tensor, sn::Tensor>);
static_assert(AllElementwise<sn::Tensor, bool>);
static_assert(AllElementwise<bool, sn::Tensor>);
static_assert(AllElementwise<sn::Param, sn::Tensor>);
static_assert(AllElementwise<sn::Param, sn::Param>);
static_assert(AllElementwise<const sn::Tensor &, int>);

template <typename T>
concept Negated = requires(T value) {
  { !value } -> std::same_as<sn::Tensor>;
};
static_assert(Negated<sn::Tensor> && Negated<sn::Param>);

std::vector<bool> bools(const sn::Tensor &tensor) {
  return tensor.to_vector<bool>();
}

} // namespace

TEST(Condition, DefinedSaysWhetherAHandleIsEmpty) {
  EXPECT_FALSE(sn::Tensor().defined());
  EXPECT_FALSE(sn::Param().defined());
  EXPECT_TRUE(sn::zeros({}).defined()) << "whatever the value";
  EXPECT_TRUE(sn::Param(sn::zeros({1})).defined());
}

TEST(Condition, LogicIsElementwise) {
  sn::Tensor a = sn::tensor({true, true, false, false});
  sn::Tensor b = sn::tensor({true, false, true, false});
  EXPECT_EQ(bools(a && b), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(bools(a || b), (std::vector<bool>{true, true, true, false}));
  EXPECT_EQ(bools(!a), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(bools(a && true), bools(a));
  EXPECT_EQ(bools(false || b), bools(b));
  sn::Tensor x = sn::tensor({-1.f, 0.f, 2.f, 3.f});
  EXPECT_EQ(bools(x > 0 && x < 3),
            (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(bools(!(x > 0) || x == 3),
            (std::vector<bool>{true, true, false, true}));
}

TEST(Condition, ANumberIsAskedForByName) {
  sn::Tensor loss = sn::full({}, 1.f);
  EXPECT_FALSE((loss > 5).item<bool>());
  EXPECT_TRUE((loss < 5).item<bool>());
}

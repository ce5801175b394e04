/// Functions that arrange, index and join elements, as a user calls them. That
/// they compute what they should is for the golden cases to say.
#include "tests/unit/frontend/Counting.h"

#include <limits>

namespace sn = sinter;
using sn::ErrorKind;
using Ints = std::vector<int64_t>;

static Ints read(const sn::Tensor &x) { return x.to_vector<int64_t>(); }

TEST(Shaping, SplitsAndJoins) {
  sn::Tensor x = sn::arange(10).reshape({2, 5});
  std::vector<sn::Tensor> parts = sn::split(x, 2, 1);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(read(parts[2]), (Ints{4, 9}));
  EXPECT_EQ(sn::chunk(x, 4, 1).size(), 3u); // of 2, 2 and 1
  EXPECT_EQ(read(sn::stack(sn::unbind(x), 1)),
            (Ints{0, 5, 1, 6, 2, 7, 3, 8, 4, 9}));
  expectError(ErrorKind::invalid_argument,
              "split: the sizes do not add up to 5",
              [&] { sn::split(x, Ints{2, 2}, 1); });
  expectError(ErrorKind::invalid_argument, "stack: the operands have different",
              [&] { sn::stack({x, sn::arange(3)}); });
  expectError(ErrorKind::invalid_argument, "select: index 5 is out of range",
              [&] { sn::select(x, 1, 5); });
}

TEST(Shaping, ErrorsNameTheUsersLine) {
  sn::Tensor x = sn::zeros({2, 3});
  int line = 0;
  try {
    line = __LINE__ + 1;
    sn::narrow(x, 1, 2, 2);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("ShapingTest.cpp:" + std::to_string(line)),
              std::string::npos)
        << error.what();
  }
}

TEST(Shaping, KeepsSymbols) {
  sn::Tensor x = sn::arange(12).reshape({4, 3});
  sn::Tensor rows = sn::tensor(read(x), {4, 3});
  rows.dynamic(0);
  EXPECT_FALSE(sn::flatten(rows).dim(0).isConstant());
  EXPECT_FALSE(sn::repeat(rows, {2, 1}).dim(0).isConstant());
  EXPECT_FALSE(sn::swapaxes(rows, 0, 1).dim(1).isConstant());
  EXPECT_EQ(read(sn::roll(rows, {1}, {1})),
            (Ints{2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10}));
}

TEST(Shaping, Diagonals) {
  sn::Tensor x = sn::arange(6).reshape({2, 3});
  EXPECT_EQ(read(sn::diagonal(x)), (Ints{0, 4}));
  EXPECT_EQ(read(sn::diagonal(x, 1)), (Ints{1, 5}));
  EXPECT_EQ(read(sn::diagonal(x, -1)), (Ints{3}));
  EXPECT_TRUE(read(sn::diagonal(x, 3)).empty());
  EXPECT_EQ(read(sn::tril(x)), (Ints{0, 0, 0, 3, 4, 0}));
  EXPECT_EQ(read(sn::diag_embed(sn::arange(2), 1)),
            (Ints{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(sn::trace(x).item<int64_t>(), 4);
}

TEST(Shaping, Pads) {
  sn::Tensor x = sn::arange(4);
  auto padded = [&](sn::PadMode mode) {
    return read(sn::pad(x, {{0, 2, 1}}, mode));
  };
  EXPECT_EQ(padded(sn::PadMode::constant), (Ints{0, 0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(padded(sn::PadMode::reflect), (Ints{2, 1, 0, 1, 2, 3, 2}));
  EXPECT_EQ(padded(sn::PadMode::replicate), (Ints{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(padded(sn::PadMode::circular), (Ints{2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(read(sn::pad(x, {{0, -1, -2}})), (Ints{1}));
  expectError(ErrorKind::invalid_argument, "pad: axis 0 is too short",
              [&] { sn::pad(x, {{0, 4, 0}}, sn::PadMode::reflect); });
}

TEST(Indexing, OutOfRangeIsAnError) {
  sn::Tensor x = sn::arange(6).reshape({2, 3});
  sn::Tensor i = sn::tensor(Ints{1, 0}), j = sn::tensor(Ints{-1, 1});
  EXPECT_EQ(read(sn::index(x, {i, j})), (Ints{5, 1}));
  EXPECT_EQ(read(sn::index_put(x, {i, j}, 9)), (Ints{0, 9, 2, 3, 4, 9}));
  // 0, 4 would be another element's place in the flat tensor.
  expectError(ErrorKind::invalid_argument, "gather",
              [&] { read(sn::index(x, {j, sn::tensor(Ints{4, 0})})); });
  expectError(ErrorKind::invalid_argument, "gather",
              [&] { read(sn::one_hot(sn::tensor(Ints{3}), 3)); });
}

TEST(Indexing, ScattersIntoAPart) {
  sn::Tensor x = sn::zeros({3, 3});
  sn::Tensor indices = sn::tensor({{2, 0}}).to(sn::DType::i64);
  EXPECT_EQ(read(sn::scatter(x, indices, sn::tensor({{5.f, 6.f}}), 1)),
            (Ints{6, 0, 5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(read(sn::gather(sn::arange(9).reshape({3, 3}), indices, 1)),
            (Ints{2, 0}));
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  sn::Tensor x = sn::zeros({2, 3}), y = sn::zeros({4, 5});
  auto record = [&](const char *equation) { sn::einsum(equation, {x, y}); };
  expectError(ErrorKind::invalid_argument, "einsum: an axis has sizes 3 and 4",
              [&] { record("ij,jk->ik"); });
  expectError(ErrorKind::invalid_argument, "einsum: there are not 2 operands",
              [&] { record("ij->ij"); });
  expectError(ErrorKind::invalid_argument,
              "einsum: \"ijk\" does not fit 2 axes",
              [&] { record("ijk,ab->a"); });
  expectError(ErrorKind::invalid_argument, "einsum: a label of the result",
              [&] { record("ij,kl->z"); });
  EXPECT_EQ(sn::einsum("...i,...j->...ij", {x, sn::zeros({5})}).numel(), 30);
}

TEST(Linalg, OfBetaZeroNothingOfXCounts) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  sn::Tensor x = sn::tensor({{nan, nan}}), a = sn::tensor({{2.f}}),
             b = sn::tensor({{3.f, 4.f}});
  EXPECT_EQ(read(sn::addmm(x, a, b, 0)), (Ints{6, 8}));
}

TEST(Linalg, NegativePowersAreNotSupported) {
  expectError(ErrorKind::unsupported, "matrix_power: negative powers",
              [] { sn::matrix_power(sn::eye(2, 2), -1); });
}

// A guard says that the symbolic [n, n] has as many elements as [n]: n is 1.
TEST(Shaping, ReshapesToSquaresOfOneElement) {
  sn::Tensor x = sn::tensor({{2.f}}), a = sn::tensor({3.f});
  x.dynamic(0);
  a.dynamic(0);
  x.require_grad();
  sn::Tensor y = x + sn::outer(a, a);
  sn::Tensor weights = sn::tensor({{5.f}});
  weights.dynamic(0);
  sn::Tensor gradient = sn::grad(sn::sum(y * weights), {x})[0];
  EXPECT_EQ(read(gradient * 2.0), (Ints{10}));
}

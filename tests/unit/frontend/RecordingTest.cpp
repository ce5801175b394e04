/// Promotion, broadcasting, shapes and lines of recorded ops.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;
using sn::DType;

static std::vector<int64_t> extents(const sn::Tensor &tensor) {
  std::vector<int64_t> result;
  for (sn::Dim dim : tensor.shape())
    result.push_back(dim.value);
  return result;
}
using Extents = std::vector<int64_t>;

TEST(Recording, RunsNothing) {
  uint64_t before = sn::stats().programs_run;
  sn::Tensor x = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  sn::Tensor y = sn::relu(sn::matmul(x, x) + x) * 2.0;
  EXPECT_EQ(y.dtype(), DType::f32);
  EXPECT_EQ(extents(y), (Extents{2, 2}));
  EXPECT_EQ(sn::stats().programs_run, before);
}

TEST(Recording, DTypesOfCreation) {
  EXPECT_EQ(sn::tensor({1, 2}).dtype(), DType::i32);
  EXPECT_EQ(sn::tensor({1.0, 2.0}).dtype(), DType::f64);
  EXPECT_EQ(sn::tensor(std::vector<int64_t>{1}).dtype(), DType::i64);
  EXPECT_EQ(sn::tensor({true, false}).dtype(), DType::boolean);
  EXPECT_EQ(sn::zeros({2}).dtype(), DType::f32);
  EXPECT_EQ(sn::arange(3).dtype(), DType::i64);
  EXPECT_EQ(sn::full({2}, 1).dtype(), DType::i64);
  EXPECT_EQ(sn::zeros({2}, {.dtype = DType::bf16}).dtype(), DType::bf16);
  EXPECT_EQ(sn::tensor({1.f}, {.dtype = DType::f64}).dtype(), DType::f64);
}

TEST(Recording, Promotes) {
  sn::Tensor i32 = sn::tensor({1, 2}), f32 = sn::tensor({1.f, 2.f});
  sn::Tensor f16 = f32.to(DType::f16), flag = sn::tensor({true, false});
  EXPECT_EQ((i32 + f32).dtype(), DType::f32);
  EXPECT_EQ((i32 + f16).dtype(), DType::f16);
  EXPECT_EQ((f16 * 2.0).dtype(), DType::f16);
  EXPECT_EQ((2.0 * f16).dtype(), DType::f16);
  EXPECT_EQ((i32 * 2).dtype(), DType::i32);
  EXPECT_EQ((i32 * 2.0).dtype(), DType::f32);
  EXPECT_EQ((flag + 1).dtype(), DType::i64);
  EXPECT_EQ((i32 / i32).dtype(), DType::f32);
  EXPECT_EQ(sn::exp(i32).dtype(), DType::f32);
  EXPECT_EQ((f32 < 1).dtype(), DType::boolean);
  EXPECT_EQ(sn::where(flag, f32, 0).dtype(), DType::f32);
  EXPECT_EQ((f16 * sn::scalar(3.7)).dtype(), DType::f16);
}

TEST(Recording, Broadcasts) {
  sn::Tensor a = sn::zeros({2, 1, 4}), b = sn::zeros({3, 1});
  EXPECT_EQ(extents(a + b), (Extents{2, 3, 4}));
  EXPECT_EQ(extents(a * 2.0), (Extents{2, 1, 4}));
  EXPECT_EQ(extents(sn::zeros({0, 4}) + sn::zeros({1, 4})), (Extents{0, 4}));
  EXPECT_EQ((sn::zeros({}) + 1.0).rank(), 0);
}

TEST(Recording, MatmulOfVectorsAndBatches) {
  sn::Tensor v = sn::zeros({3}), m = sn::zeros({3, 4});
  EXPECT_EQ(extents(sn::matmul(v, m)), (Extents{4}));
  EXPECT_EQ(extents(sn::matmul(m.transpose({1, 0}), v)), (Extents{4}));
  EXPECT_EQ(sn::matmul(v, v).rank(), 0);
  EXPECT_EQ(extents(sn::matmul(sn::zeros({5, 1, 2, 3}), sn::zeros({7, 3, 4}))),
            (Extents{5, 7, 2, 4}));
}

TEST(Recording, DimsCount) {
  sn::Tensor x = sn::zeros({2, 3, 4});
  EXPECT_EQ(x.dim(-1).value, 4);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.rank(), 3);
  EXPECT_EQ(extents(x.reshape({x.dim(0), -1})), (Extents{2, 12}));
  EXPECT_EQ(extents(sn::sum(x, {0, -1})), (Extents{3}));
  EXPECT_EQ(sn::sum(x).rank(), 0);
  EXPECT_EQ(extents(sn::mean(x, 1, true)), (Extents{2, 1, 4}));
}

TEST(Recording, ConcatSliceAndAssignment) {
  sn::Tensor x = sn::zeros({2, 3});
  EXPECT_EQ(extents(sn::concat({x, x, x}, 1)), (Extents{2, 9}));
  EXPECT_EQ(extents(x.slice({0, 0}, {2, 3}, {1, 2})), (Extents{2, 2}));
  x += 1.0;
  x *= x;
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(6, 1.f));
}

TEST(Recording, ErrorsNameOpShapesAndLine) {
  using sn::ErrorKind;
  sn::Tensor a = sn::zeros({4, 8}), b = sn::zeros({16, 2});
  expectError(ErrorKind::invalid_argument,
              "matmul: inner dimensions differ: f32[4,8] x f32[16,2]",
              [&] { sn::matmul(a, b); });
  expectError(ErrorKind::invalid_argument,
              "add: shapes do not broadcast: f32[4,8] x f32[16,2]",
              [&] { a + b; });
  expectError(ErrorKind::invalid_argument, "axis 2", [&] { sn::sum(a, 2); });
  expectError(ErrorKind::invalid_argument, "axis", [&] { a.dim(2); });
  expectError(ErrorKind::invalid_argument, "reshape",
              [&] { a.reshape({5, 5}); });
  expectError(ErrorKind::invalid_argument, "empty tensor",
              [&] { a + sn::Tensor(); });
  expectError(ErrorKind::invalid_argument, "one element",
              [&] { a.item<float>(); });
  expectError(ErrorKind::invalid_argument, "do not fill",
              [&] { sn::tensor(std::vector<float>{1, 2, 3}, {2, 2}); });
  expectError(ErrorKind::invalid_argument, "different lengths",
              [&] { sn::tensor({{1.f, 2.f}, {3.f}}); });
  expectError(ErrorKind::invalid_argument, "requires a gradient",
              [&] { sn::sum(a).backward(); });
  expectError(ErrorKind::invalid_argument, "cotangent", [&] {
    sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
    (x * x).backward();
  });
  expectError(ErrorKind::invalid_argument, "cross_entropy",
              [&] { sn::cross_entropy(a, sn::zeros({4})); });
  expectError(ErrorKind::device, "cuda:99", [&] {
    sn::zeros({2}, {.device = sn::device("cuda:99")}).eval();
  });
  // The next operation works.
  EXPECT_EQ((a + 1.0).to_vector<float>(), std::vector<float>(32, 1.f));
}

TEST(Recording, MixedDevicesNameBoth) {
  sn::Tensor here = sn::tensor({1.f}, {.device = sn::device("cpu")});
  sn::Tensor there = sn::tensor({1.f}, {.device = sn::device("null")});
  expectError(sn::ErrorKind::invalid_argument, "cpu and null",
              [&] { here + there; });
  EXPECT_EQ((here.to("null") + there).item<float>(), 2.f);
}

TEST(Recording, SymbolicLeafAtTheSecondExtent) {
  auto make = [](int64_t rows) {
    return sn::tensor(std::vector<float>(rows * 2), {rows, 2});
  };
  EXPECT_TRUE(make(4).dim(0).isConstant());
  EXPECT_TRUE(make(4).dim(0).isConstant());
  EXPECT_FALSE(make(3).dim(0).isConstant());
  EXPECT_FALSE(make(4).dim(0).isConstant());
  EXPECT_TRUE(make(4).dim(1).isConstant());
}

TEST(Recording, DynamicMarksALeaf) {
  sn::Tensor x = sn::zeros({4, 2}).eval();
  expectError(sn::ErrorKind::invalid_argument, "leaf", [&] { x.dynamic(0); });
  sn::Tensor leaf = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  leaf.dynamic(0);
  EXPECT_FALSE(leaf.dim(0).isConstant());
  EXPECT_EQ((leaf + leaf).to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
}

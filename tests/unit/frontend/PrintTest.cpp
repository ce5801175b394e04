/// How tensors are read and printed.
#include "tests/unit/frontend/Counting.h"

#include <cmath>
#include <sstream>

namespace sn = sinter;

static std::string printed(const sn::Tensor &tensor) {
  std::ostringstream stream;
  stream << tensor.to("cpu");
  return stream.str();
}

TEST(Print, Numbers) {
  EXPECT_EQ(printed(sn::tensor({1.f, -2.5f})), "tensor([ 1.0000, -2.5000])");
  EXPECT_EQ(printed(sn::tensor({1.f, 2.f})), "tensor([1., 2.])");
  EXPECT_EQ(printed(sn::tensor(std::vector<int64_t>{1, -20})),
            "tensor([  1, -20])");
  EXPECT_EQ(printed(sn::tensor({1, 2})), "tensor([1, 2], dtype=i32)");
  EXPECT_EQ(printed(sn::tensor({true, false})), "tensor([ true, false])");
  EXPECT_EQ(printed(sn::tensor({1e-9f, 1.f})),
            "tensor([1.0000e-09, 1.0000e+00])");
  EXPECT_EQ(printed(sn::tensor({1.f, INFINITY, NAN})),
            "tensor([ 1., inf, nan])");
}

TEST(Print, Shapes) {
  EXPECT_EQ(printed(sn::tensor({{1.f, 2.f}, {3.f, 4.f}})),
            "tensor([[1., 2.],\n        [3., 4.]])");
  EXPECT_EQ(printed(sn::zeros({})), "tensor(0.)");
  EXPECT_EQ(printed(sn::zeros({0})), "tensor([], dtype=f32)");
  EXPECT_EQ(printed(sn::zeros({0, 3})), "tensor([], shape=[0,3], dtype=f32)");
  EXPECT_NE(printed(sn::zeros({2000})).find("0., ..., 0."), std::string::npos);
  EXPECT_EQ(printed(sn::Tensor(sn::zeros({2, 1, 1}))),
            "tensor([[[0.]],\n\n        [[0.]]])");
}

TEST(Print, CountsAsAFlushOfItsOwn) {
  uint64_t before = flushesOf("print");
  std::ostringstream stream;
  stream << sn::zeros({2}) + 1.0;
  EXPECT_EQ(flushesOf("print"), before + 1);
}

TEST(Read, ConvertsToTheTypeAskedFor) {
  sn::Tensor x = sn::tensor({1.75f, -2.f, 300.f});
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, -2, 300}));
  EXPECT_EQ(x.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 255}));
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1.75, -2, 300}));
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(x.to(sn::DType::bf16).to_vector<float>(),
            (std::vector<float>{1.75, -2, 300}));
  EXPECT_EQ(x.to(sn::DType::f16).to_vector<float>(),
            (std::vector<float>{1.75, -2, 300}));
  EXPECT_EQ(sn::sum(x).item<float>(), 299.75f);
  EXPECT_TRUE((sn::sum(x) > 0).item<bool>());
}

TEST(Read, ExplainTellsTheStory) {
  sn::Tensor x = sn::tensor({1.f, 2.f});
  sn::Tensor y = x + x;
  EXPECT_NE(y.explain().find("pending"), std::string::npos);
  y.eval();
  EXPECT_NE(y.explain().find("reason: eval"), std::string::npos);
  EXPECT_NE(y.explain().find("PrintTest.cpp"), std::string::npos);
}

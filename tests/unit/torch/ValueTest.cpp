/// Tensors that are changed in place, and views of them.
#include "frontend/import/torch/Value.h"
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Error.h>

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::torch;

static View part(int64_t start, int64_t limit) {
  return {[=](const Tensor &base) { return sliceAxis(base, 0, start, limit); },
          [=](const Tensor &base, const Tensor &changed) {
            return putSlice(base, changed, 0, start, limit);
          }};
}

TEST(Stored, changesReachViewsAndBases) {
  auto base = std::make_shared<Stored>(tensor({1.f, 2.f, 3.f, 4.f}));
  auto middle = std::make_shared<Stored>(base, part(1, 3));
  auto inner = std::make_shared<Stored>(middle, part(0, 1));
  auto matrix = std::make_shared<Stored>(base, reshapedView({2, 2}));
  inner->write(tensor({9.f}));
  EXPECT_EQ(base->read().to_vector<float>(), (std::vector<float>{1, 9, 3, 4}));
  EXPECT_EQ(matrix->read().to_vector<float>(),
            (std::vector<float>{1, 9, 3, 4}));
  EXPECT_EQ(middle->read().to_vector<float>(), (std::vector<float>{9, 3}));
  matrix->write(matrix->read() * 2.0);
  EXPECT_EQ(inner->read().to_vector<float>(), (std::vector<float>{18}));
  EXPECT_EQ(base->version(), 2u);
  EXPECT_EQ(inner->version(), 2u);
}

TEST(Stored, aViewWithoutAWayBackIsNotWritten) {
  auto base = std::make_shared<Stored>(tensor({1.f}));
  auto wide = std::make_shared<Stored>(
      base, View{[](const Tensor &x) { return expand(x, {3}); }, {}});
  EXPECT_THROW(wide->write(tensor({1.f, 2.f, 3.f})), Error);
  EXPECT_EQ(base->version(), 0u);
}

TEST(Stored, chainsOfViewsHaveAnEnd) {
  auto stored = std::make_shared<Stored>(tensor({1.f}));
  auto grow = [&] {
    for (int i = 0; i < 1000; ++i)
      stored = std::make_shared<Stored>(stored, reshapedView({1}));
  };
  EXPECT_THROW(grow(), Error);
}

/// The message about an index out of range: which, where, and the range.
#include <sinter/Basic.h>
#include <sinter/generated/functions/Math.h>

#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

void expectMessage(const std::function<sn::Tensor()> &call,
                   const std::string &message) {
  try {
    call().eval();
    ADD_FAILURE() << "accepted: " << message;
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_TRUE(error.message().starts_with(message)) << error.message();
    EXPECT_NE(error.site().find("IndexErrorTest.cpp"), std::string::npos)
        << error.what();
  }
}

} // namespace

TEST(IndexError, OfAnEmbedding) {
  sn::nn::Embedding table(10, 4);
  expectMessage([&] { return table(sn::tensor<int64_t>({1, 12})); },
                "embedding: index 12 at position 1, not in [0,10)");
  expectMessage([&] { return table(sn::tensor<int64_t>({{1, 2}, {-1, 3}})); },
                "embedding: index -1 at position [1,0], not in [0,10)");
  expectMessage([&] { return table(sn::full({}, int64_t(10))); },
                "embedding: index 10, not in [0,10)");
  expectMessage([&] { return table(sn::tensor<int32_t>({3, 11})); },
                "embedding: index 11 at position 1, not in [0,10)");
}

TEST(IndexError, OfAnIndexThatIsComputed) {
  sn::nn::Embedding table(10, 4);
  sn::Tensor places = sn::tensor<int64_t>({1, 2, 9}) + 1;
  expectMessage([&] { return table(places); },
                "embedding: index 10 at position 2, not in [0,10)");
}

TEST(IndexError, OfGathersAndScatters) {
  sn::Tensor x = sn::zeros({3, 4});
  expectMessage(
      [&] { return sn::gather(x, sn::tensor<int64_t>({{0, 4}, {1, 1}}), 1); },
      "gather: index 4 at position [0,1], not in [0,4)");
  expectMessage(
      [&] { return sn::index_select(x, sn::tensor<int64_t>({0, 1, 3}), 0); },
      "index_select: index 3 at position 2, not in [0,3)");
  expectMessage(
      [&] {
        return sn::scatter_add(sn::zeros({3}), sn::tensor<int64_t>({0, -5}),
                               sn::ones({2}), 0);
      },
      "scatter_add: index -5 at position 1, not in [0,3)");
}

TEST(IndexError, OfLabels) {
  sn::Tensor scores = sn::zeros({3, 5});
  expectMessage(
      [&] { return sn::cross_entropy(scores, sn::tensor<int64_t>({0, 4, 5})); },
      "cross_entropy: index 5 at position 2, not in [0,5)");
}

TEST(IndexError, TheFirstOfSeveralIsNamed) {
  sn::nn::Embedding table(10, 4);
  expectMessage([&] { return table(sn::tensor<int64_t>({1, 12, 99, -4})); },
                "embedding: index 12 at position 1, not in [0,10)");
}

// The gradient of the table goes where rows came from: the error is of the line
// that took them.
TEST(IndexError, OfAStepWithGradients) {
  sn::nn::Embedding table(10, 4);
  sn::Tensor weights = sn::ones({4, 3});
  expectMessage(
      [&] {
        sn::Tensor rows = table(sn::tensor<int64_t>({1, 12}));
        sn::Tensor loss = sn::sum(sn::tanh(sn::matmul(rows, weights)));
        return sn::grad(loss, {table.weight.tensor()})[0];
      },
      "embedding: index 12 at position 1, not in [0,10)");
}

// Indices that cannot be out of range are not checked; one more is.
TEST(IndexError, OfPositionsThatAreCounted) {
  sn::nn::Embedding table(10, 4);
  table(sn::arange(10, {sn::DType::i64})).eval();
  expectMessage([&] { return table(sn::arange(11, {sn::DType::i64})); },
                "embedding: index 10 at position 10, not in [0,10)");
  sn::Tensor any = sn::tensor<int64_t>({-21, 4, 33});
  EXPECT_EQ(sn::index_select(sn::arange(10), sn::remainder(any, 10), 0)
                .to_vector<float>(),
            (std::vector<float>{9, 4, 3}));
  expectMessage(
      [&] {
        return sn::index_select(sn::arange(10), sn::remainder(any, 35), 0);
      },
      "index_select: index 14 at position 0, not in [0,10)");
}

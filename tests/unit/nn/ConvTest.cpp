/// Convolutions and their layers: PyTorch's names, shapes and meaning.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sn = sinter;

namespace {

using Values = std::vector<float>;

/// 0, 1, 2, ... in a shape.
sn::Tensor counting(const sn::Dims &shape) {
  int64_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  return sn::reshape(sn::iota({count}, 0, {sn::DType::f32, {}}), shape);
}

void expectError(auto call, const std::string &text) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << error.what();
  }
}

std::vector<std::string> namesOf(auto &module) {
  std::vector<std::string> names;
  module.visit([&](const std::string &path, const sn::Param &) {
    names.push_back(path);
  });
  return names;
}

} // namespace

TEST(Conv, OneAxis) {
  sn::Tensor x = counting({1, 1, 4}), w = sn::tensor({{{1.f, 10.f}}});
  EXPECT_EQ(sn::conv1d(x, w).to_vector<float>(), (Values{10, 21, 32}));
  EXPECT_EQ(sn::conv1d(x, w, {.stride = 2, .padding = 1}).to_vector<float>(),
            (Values{0, 21, 3}));
  EXPECT_EQ(sn::conv1d(x, w, {.dilation = 2}).to_vector<float>(),
            (Values{20, 31}));
  EXPECT_EQ(sn::conv1d(x, w, {.same = true}).to_vector<float>(),
            (Values{10, 21, 32, 3}));
}

TEST(Conv, AnImageWithoutABatch) {
  sn::Tensor x = counting({1, 4}), w = sn::tensor({{{1.f, 10.f}}});
  sn::Tensor y = sn::conv1d(x, w);
  EXPECT_EQ(y.rank(), 2);
  EXPECT_EQ(y.to_vector<float>(), (Values{10, 21, 32}));
}

TEST(Conv, LayoutsAgree) {
  for (int64_t groups : {1, 2, 4}) {
    sn::Tensor x = sn::uniform({2, 4, 5, 6});
    sn::Tensor w = sn::uniform({8, 4 / groups, 3, 2});
    sn::Tensor first =
        sn::conv2d(x, w, {.stride = {2, 1}, .padding = 1, .groups = groups});
    sn::Tensor last = sn::conv2d(x.transpose({0, 2, 3, 1}), w,
                                 {.stride = {2, 1},
                                  .padding = 1,
                                  .groups = groups,
                                  .layout = sn::Layout::channels_last});
    Values a = first.transpose({0, 2, 3, 1}).to_vector<float>();
    Values b = last.to_vector<float>();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-5) << "groups " << groups << " at " << i;
  }
}

namespace {
/// A result of windows over an image, and the gradients of the sum of its
/// squares.
std::vector<Values> resultsOf(const sn::Tensor &image, const sn::Tensor &weight,
                              auto &&function) {
  sn::Tensor x = image.detach(), w = weight.detach();
  x.require_grad();
  w.require_grad();
  sn::Tensor y = function(x, w);
  auto gradients = sn::sum(y * y).backward();
  return {y.to_vector<float>(), gradients(x).to_vector<float>(),
          gradients(w).to_vector<float>()};
}

/// A convolution of images of two sizes.
struct Spread {
  int64_t extent, dilation, padding, stride, size;
};

void expectAsPaddedBefore(const Spread &one, sn::Layout layout) {
  bool isLast = layout == sn::Layout::channels_last;
  sn::Dims shape{2, one.extent, one.extent + 2, 4};
  if (!isLast)
    shape = {2, 4, one.extent, one.extent + 2};
  int64_t space = isLast ? 1 : 2;
  sn::ConvOptions options{
      .stride = one.stride, .dilation = one.dilation, .layout = layout};
  sn::Tensor x = sn::uniform(shape);
  sn::Tensor w = sn::uniform({6, 4, one.size, one.size});
  auto before = resultsOf(x, w, [&](auto &image, auto &weight) {
    std::vector<sn::Padding> around;
    for (int64_t axis : {space, space + 1})
      around.push_back({axis, one.padding, one.padding});
    return sn::conv2d(sn::pad(image, around), weight, options);
  });
  options.padding = one.padding;
  auto inside = resultsOf(x, w, [&](auto &image, auto &weight) {
    return sn::conv2d(image, weight, options);
  });
  for (size_t part = 0; part < before.size(); ++part) {
    ASSERT_EQ(before[part].size(), inside[part].size());
    for (size_t i = 0; i < before[part].size(); ++i)
      ASSERT_NEAR(before[part][i], inside[part][i],
                  1e-5 * (1 + std::fabs(before[part][i])))
          << part << " of dilation " << one.dilation << " at " << i;
  }
}
} // namespace

/// Windows of which some taps stand outside of the image wherever they are.
TEST(Conv, TapsThatReadPaddingAlone) {
  for (Spread one : {Spread{4, 4, 4, 1, 3},
                     {4, 6, 6, 1, 3},
                     {3, 5, 6, 2, 3},
                     {5, 2, 8, 3, 5},
                     {4, 1, 3, 4, 2},
                     {2, 7, 7, 1, 2}})
    for (auto layout : {sn::Layout::channels_first, sn::Layout::channels_last})
      expectAsPaddedBefore(one, layout);
}

TEST(Conv, BiasStandsAtTheChannels) {
  sn::Tensor x = sn::zeros({1, 1, 2, 2}), w = sn::zeros({2, 1, 1, 1});
  sn::Tensor b = sn::tensor({1.f, 2.f});
  EXPECT_EQ(sn::conv2d(x, w, b).to_vector<float>(),
            (Values{1, 1, 1, 1, 2, 2, 2, 2}));
  sn::Tensor last = sn::conv2d(x.reshape({1, 2, 2, 1}), w, b,
                               {.layout = sn::Layout::channels_last});
  EXPECT_EQ(last.to_vector<float>(), (Values{1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(Conv, BiasAndActivationAreItsEpilogue) {
  sn::Tensor x = sn::uniform({2, 3, 8, 8}), w = sn::uniform({16, 3, 3, 3});
  sn::Tensor b = sn::uniform({16});
  x.eval();
  w.eval();
  b.eval();
  uint64_t before = sn::stats().launches;
  sn::relu(sn::conv2d(x, w, b, {.padding = 1})).eval();
  EXPECT_EQ(sn::stats().launches - before, 1u);
}

TEST(Conv, WrongChannelsAreAnError) {
  expectError(
      [] { sn::conv2d(sn::zeros({1, 3, 4, 4}), sn::zeros({8, 4, 3, 3})); },
      "conv: x has 3 channels");
  expectError(
      [] { sn::conv2d(sn::zeros({1, 4, 2, 4}), sn::zeros({8, 4, 3, 3})); },
      "does not fit");
  expectError(
      [] {
        sn::conv2d(sn::zeros({1, 4, 4, 4}), sn::zeros({8, 4, 3, 3}),
                   {.stride = {1, 1, 1}});
      },
      "stride has 3 entries for 2 axes");
}

TEST(ConvTranspose, OneAxis) {
  sn::Tensor x = sn::tensor({{{1.f, 2.f}}}), w = sn::tensor({{{1.f, 10.f}}});
  EXPECT_EQ(sn::conv_transpose1d(x, w).to_vector<float>(), (Values{1, 12, 20}));
  EXPECT_EQ(sn::conv_transpose1d(x, w, {.stride = 3, .output_padding = 1})
                .to_vector<float>(),
            (Values{1, 10, 0, 2, 20, 0}));
  expectError([&] { sn::conv_transpose1d(x, w, {.output_padding = 1}); },
              "output_padding");
}

// Zeros between elements, and windows of the reversed weight, are its meaning.
TEST(ConvTranspose, OfTwoAxes) {
  sn::Tensor x = sn::uniform({2, 7, 6, 24}), w = sn::uniform({24, 32, 3, 3});
  sn::Tensor last = sn::conv_transpose2d(x, w,
                                         {.stride = 2,
                                          .padding = 1,
                                          .output_padding = 1,
                                          .layout = sn::Layout::channels_last});
  sn::Tensor spread =
      sn::pad(x.reshape({2, 7, 1, 6, 1, 24}), {{2, 0, 1}, {4, 0, 1}})
          .reshape({2, 14, 12, 24});
  sn::Tensor padded = sn::pad(spread, {{1, 1, 1}, {2, 1, 1}});
  sn::Tensor expected =
      sn::conv2d(padded, sn::flip(w, {2, 3}).transpose({1, 0, 2, 3}),
                 {.layout = sn::Layout::channels_last});
  Values a = last.to_vector<float>(), b = expected.to_vector<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST(ConvLayers, NamesShapesAndFirstValues) {
  sn::nn::Conv2d conv(4, 6, {3, 5}, {.groups = 2});
  EXPECT_EQ(namesOf(conv), (std::vector<std::string>{"weight", "bias"}));
  std::vector<int64_t> shape;
  for (sn::Dim dim : conv.weight.shape())
    shape.push_back(dim.value);
  EXPECT_EQ(shape, (std::vector<int64_t>{6, 2, 3, 5}));
  Values weight = conv.weight.tensor().to_vector<float>();
  float bound = 1 / std::sqrt(2.f * 3 * 5);
  auto [low, high] = std::ranges::minmax(weight);
  EXPECT_GE(low, -bound);
  EXPECT_LT(high, bound);
  EXPECT_GT(high - low, bound);

  sn::nn::ConvTranspose2d transposed(4, 6, 3, {.stride = 2, .bias = false});
  EXPECT_FALSE(transposed.bias.defined());
  EXPECT_EQ(transposed.weight.shape()[0].value, 4);
  EXPECT_EQ(transposed(sn::zeros({1, 4, 5, 5})).dim(3).value, 11);

  sn::nn::ConvTranspose1d back(4, 6, 3, {.stride = 2, .groups = 2});
  EXPECT_EQ(namesOf(back), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(back.weight.shape()[1].value, 3);
  sn::Tensor signal = sn::uniform({2, 4, 5});
  EXPECT_EQ(back(signal).to_vector<float>(),
            sn::conv_transpose1d(signal, back.weight, back.bias,
                                 {.stride = 2, .groups = 2})
                .to_vector<float>());

  sn::nn::Conv1d one(3, 2, 3, {.padding = 1});
  EXPECT_EQ(one(sn::zeros({1, 3, 7})).dim(2).value, 7);
}

TEST(ConvLayers, Embedding) {
  sn::nn::Embedding table(5, 3);
  EXPECT_EQ(namesOf(table), (std::vector<std::string>{"weight"}));
  Values all = table.weight.tensor().to_vector<float>();
  Values rows = table(sn::tensor({int64_t(4), int64_t(0)})).to_vector<float>();
  EXPECT_EQ(rows[0], all[12]);
  EXPECT_EQ(rows[3], all[0]);
}

TEST(ConvLayers, DropoutInTrainingAndInUse) {
  sn::nn::Dropout layer(0.5);
  sn::Tensor x = sn::ones({1000});
  Values trained = layer(x).to_vector<float>();
  auto kept = std::ranges::count(trained, 2.f);
  EXPECT_EQ(kept + std::ranges::count(trained, 0.f), 1000);
  EXPECT_GT(kept, 400);
  EXPECT_LT(kept, 600);
  layer.eval();
  EXPECT_EQ(layer(x).to_vector<float>(), Values(1000, 1.f));
}

/// nms, roi_align and deform_conv2d beside torchvision 0.29's numbers.
#include "tests/unit/frontend/Counting.h"
#include "tests/unit/frontend/Sizes.h"

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;

/// sin(step * i), as the numbers beside were made of.
static sn::Tensor wave(const sn::Dims &dims, double step, double factor = 1) {
  int64_t count = 1;
  for (sn::Dim dim : dims)
    count *= dim.value;
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(float(std::sin(double(i) * step)) * factor));
  return sn::tensor(values, dims);
}

static void expectNear(const sn::Tensor &got, const Values &want,
                       double error = 2e-5) {
  Values values = got.to_vector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], error * (1 + std::fabs(want[i]))) << i;
}

//===- nms ----------------------------------------------------------------===//

TEST(Vision, OverlappingBoxesAreTakenOut) {
  sn::Tensor boxes = sn::tensor<float>({{0, 0, 10, 10},
                                        {1, 1, 11, 11},
                                        {0, 0, 5, 5},
                                        {20, 20, 30, 30},
                                        {21, 20, 31, 30},
                                        {0, 0, 10, 10.5F}});
  sn::Tensor scores = sn::tensor({.5F, .9F, .8F, .3F, .3F, .6F});
  using Positions = std::vector<int64_t>;
  EXPECT_EQ(sn::nms(boxes, scores, .5).to_vector<int64_t>(),
            (Positions{1, 2, 3}));
  EXPECT_EQ(sn::nms(boxes, scores, .7).to_vector<int64_t>(),
            (Positions{1, 2, 0, 3}));
  EXPECT_EQ(sn::nms(boxes * 2, scores + 1, .7).to_vector<int64_t>(),
            (Positions{1, 2, 0, 3}));
}

TEST(Vision, NoBoxesAreNoPositions) {
  sn::Tensor none = sn::nms(sn::zeros({0, 4}), sn::zeros({0}), .5);
  EXPECT_EQ(sizesOf(none), (Sizes{0}));
  EXPECT_EQ(none.dtype(), sn::DType::i64);
}

/// Of boxes without an area none hides another one; NaN comes first.
TEST(Vision, DegenerateBoxesStay) {
  sn::Tensor boxes = sn::tensor<float>({{1, 1, 1, 1}, {1, 1, 1, 1}});
  sn::Tensor scores = sn::tensor({1.F, NAN});
  EXPECT_EQ(sn::nms(boxes, scores, .1).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 0}));
}

TEST(Vision, NmsRefusesWhatIsNoBoxes) {
  expectError(sn::ErrorKind::invalid_argument, "nms: expects boxes [n, 4]",
              [] { sn::nms(sn::ones({2, 3}), sn::ones({2}), .5); });
  expectError(sn::ErrorKind::invalid_argument, "f32[2,4]",
              [] { sn::nms(sn::ones({2, 4}), sn::ones({3}), .5); });
}

//===- roi_align ----------------------------------------------------------===//

static sn::Tensor rois() {
  return sn::tensor<float>(
      {{.5F, .5F, 4.2F, 3.7F}, {1, -1, 7, 4.5F}, {2, 2, 2.5F, 2.2F}});
}
static sn::Tensor images() { return sn::tensor<int64_t>({0, 1, 0}); }

/// The second channel of each box.
static sn::Tensor aligned(bool isAligned, int64_t ratio) {
  sn::Tensor x = wave({2, 2, 5, 6}, .7);
  sn::Tensor y = sn::roi_align(x, rois(), images(),
                               {.size = {2, 3},
                                .spatial_scale = .9,
                                .sampling_ratio = ratio,
                                .aligned = isAligned});
  EXPECT_EQ(sizesOf(y), (Sizes{3, 2, 2, 3}));
  return sn::select(y, 1, 1);
}

TEST(Vision, RoiAlignIsTorchvisions) {
  expectNear(aligned(false, 2),
             {0.202466F, 0.431092F, 0.416275F, -0.209139F, -0.472009F,
              -0.468466F, 0.202271F, 0.465828F, 0.221912F, 0.0864543F,
              -0.109247F, -0.179113F, -0.50948F, -0.346495F, -0.169637F,
              -0.482977F, -0.485589F, -0.474608F});
  expectNear(aligned(true, 2),
             {0.424505F, 0.505393F, 0.295711F, -0.42536F, -0.3948F, -0.136169F,
              0.447259F, 0.549093F, -0.0306798F, 0.24477F, -0.00585892F,
              -0.247668F, 0.245082F, 0.294786F, 0.344489F, 0.0985351F,
              0.149447F, 0.200359F});
}

TEST(Vision, RoiAlignTakesAsManySamplesAsLieUnderABin) {
  expectNear(aligned(false, 0),
             {0.202466F, 0.431092F, 0.416275F, -0.209139F, -0.472009F,
              -0.468466F, 0.259841F, 0.383095F, 0.0937688F, 0.0991878F,
              -0.0942016F, -0.177831F, -0.58145F, -0.388879F, -0.187369F,
              -0.488803F, -0.485589F, -0.474608F});
  expectNear(aligned(true, 0),
             {0.424505F, 0.505393F, 0.295711F, -0.42536F, -0.3948F, -0.136169F,
              0.458766F, 0.552128F, -0.0398282F, 0.13529F, -0.0451468F,
              -0.168475F, 0.245082F, 0.294786F, 0.344489F, 0.0985352F,
              0.149447F, 0.200359F});
}

TEST(Vision, RoiAlignHasTheGradientOfItsImages) {
  sn::Tensor x = wave({2, 2, 5, 6}, .7);
  x.require_grad();
  sn::Tensor y =
      sn::roi_align(x, rois(), images(),
                    {.size = {2, 3}, .spatial_scale = .9, .aligned = true});
  sn::Tensor gradient = sn::sum(y * y).backward()(x);
  sn::Tensor last = sn::select(sn::select(gradient, 0, 1), 0, 1);
  expectNear(sn::select(last, 0, 0), {0.0536183F, 0.393201F, 0.418661F,
                                      0.47322F, 0.219542F, -0.0449976F});
  expectNear(sn::select(last, 0, 4), {0.000930117F, 0.00682085F, 0.00392635F,
                                      -0.00227615F, -0.00538504F, -0.0111965F});
}

TEST(Vision, RoiAlignRefusesWhatDoesNotFit) {
  sn::Tensor x = sn::ones({1, 2, 4, 4});
  expectError(sn::ErrorKind::invalid_argument, "roi_align: expects floats",
              [&] { sn::roi_align(x, sn::ones({2, 5}), sn::ones({2})); });
  expectError(sn::ErrorKind::invalid_argument, "the size must be",
              [&] { sn::roi_align(x, rois(), images(), {.size = {0, 2}}); });
}

TEST(Vision, RoiAlignRefusesMoreSamplesThanItTakes) {
  sn::Tensor x = sn::ones({1, 1, 4, 4}), image = sn::tensor<int64_t>({0});
  auto align = [&](float end, int64_t ratio) {
    return sn::roi_align(x, sn::tensor<float>({{0, 0, 2, end}}), image,
                         {.sampling_ratio = ratio});
  };
  for (float end : {7e4F, INFINITY, NAN})
    expectError(sn::ErrorKind::unsupported,
                "samples along an axis of a bin: at most 65536",
                [&] { align(end, 0); });
  expectError(sn::ErrorKind::unsupported,
              "roi_align: 70000 samples along an axis of a bin",
              [&] { align(2, 70000); });
}

//===- deform_conv2d ------------------------------------------------------===//

TEST(Vision, DeformConvIsTorchvisions) {
  sn::Tensor x = wave({1, 4, 5, 5}, .7), weight = wave({2, 2, 3, 3}, .3);
  sn::Tensor offset = wave({1, 36, 3, 3}, .37, 1.5);
  sn::Tensor mask = wave({1, 18, 3, 3}, .11), bias = sn::tensor({.5F, -1.F});
  for (sn::Tensor *each : {&x, &weight, &offset, &mask, &bias})
    each->require_grad();
  sn::Tensor y = sn::deform_conv2d(
      x, offset, weight,
      {.bias = bias, .mask = mask, .stride = 2, .padding = 1});
  expectNear(y,
             {0.291152F, 1.19545F, 0.576344F, 0.523586F, 0.331087F, 0.680172F,
              0.122491F, -1.09827F, -0.262242F, -1.90316F, -1.24375F, -1.89968F,
              -1.2316F, -0.86214F, -1.97435F, -1.1949F, -1.24773F, -0.923095F});
  sn::Gradients gradients = sn::sum(y * y).backward();
  expectNear(gradients(bias), {4.71954F, -24.9608F});
  expectNear(sn::select(sn::select(gradients(weight), 0, 0), 0, 1),
             {-0.452306F, 0.242187F, -0.396703F, -1.00621F, -1.07458F, 0.65124F,
              0.184668F, -0.675946F, -0.618979F});
  auto first = [&](const sn::Tensor &of, int64_t count) {
    return sn::narrow(sn::flatten(gradients(of)), 0, 0, count);
  };
  expectNear(first(offset, 12),
             {0, -0.100903F, -0.0192079F, 0, 0.0527112F, -0.370198F, 0,
              -0.276522F, -0.306781F, 0, 0.0225611F, 0.0687983F});
  expectNear(first(mask, 8), {0, -0.498569F, -0.0410495F, 0, -0.0237604F,
                              -0.0329685F, 0, -0.266691F});
  sn::Tensor second = sn::select(sn::select(gradients(x), 0, 0), 0, 1);
  expectNear(sn::select(second, 0, 0),
             {0.0523466F, 0.172332F, 0.012712F, -0.27477F, -0.535577F});
}

/// Without offsets it is a convolution.
TEST(Vision, DeformConvWithoutOffsetsIsConv) {
  sn::Tensor x = wave({2, 3, 6, 5}, .4), weight = wave({4, 3, 2, 3}, .9);
  sn::ConvOptions options{.stride = {2, 1}, .padding = 1, .dilation = {1, 2}};
  sn::Tensor want = sn::conv2d(x, weight, options);
  sn::Tensor offset = sn::zeros({2, 12, want.dim(2), want.dim(3)});
  sn::Tensor got = sn::deform_conv2d(
      x, offset, weight,
      {.stride = {2, 1}, .padding = {1, 1, 1, 1}, .dilation = {1, 2}});
  EXPECT_EQ(sizesOf(got), sizesOf(want));
  expectNear(got, want.to_vector<float>());
}

TEST(Vision, DeformConvRefusesWhatDoesNotFit) {
  sn::Tensor x = sn::ones({1, 4, 5, 5}), weight = sn::ones({2, 4, 3, 3});
  auto refused = [&](const char *what, const sn::Tensor &offset,
                     const sn::DeformConvOptions &options) {
    expectError(sn::ErrorKind::invalid_argument, what,
                [&] { sn::deform_conv2d(x, offset, weight, options); });
  };
  refused("the offset has 4 places along axis 2, the result 3",
          sn::ones({1, 18, 4, 4}), {});
  refused("an offset of 17 channels", sn::ones({1, 17, 3, 3}), {});
  refused("stride must be from 1", sn::ones({1, 18, 3, 3}), {.stride = 0});
  refused("the mask is f32[1]", sn::ones({1, 18, 3, 3}),
          {.mask = sn::ones({1})});
}

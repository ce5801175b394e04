/// interpolate, grid_sample and affine_grid beyond their golden cases.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;
using Values = std::vector<float>;

static sn::Tensor row(std::initializer_list<float> values) {
  return sn::tensor(values).reshape({1, 1, int64_t(values.size())});
}

TEST(Resample, NearestTakesWhatIsBelow) {
  sn::Tensor x = row({1, 2, 3});
  EXPECT_EQ(sn::interpolate(x, {.size = 5}).to_vector<float>(),
            (Values{1, 1, 2, 2, 3}));
  EXPECT_EQ(
      sn::interpolate(x, {.size = 5, .mode = sn::Interpolation::nearest_exact})
          .to_vector<float>(),
      (Values{1, 1, 2, 3, 3}));
  EXPECT_EQ(sn::interpolate(x, {.scale_factor = {2}}).to_vector<float>(),
            (Values{1, 1, 2, 2, 3, 3}));
}

TEST(Resample, LinearKeepsCornersOrBorders) {
  sn::Tensor x = row({0, 4});
  sn::InterpolateOptions options{.size = 4, .mode = sn::Interpolation::linear};
  EXPECT_EQ(sn::interpolate(x, options).to_vector<float>(),
            (Values{0, 1, 3, 4}));
  options = {
      .size = 5, .mode = sn::Interpolation::linear, .align_corners = true};
  EXPECT_EQ(sn::interpolate(x, options).to_vector<float>(),
            (Values{0, 1, 2, 3, 4}));
}

TEST(Resample, AreaIsTheMean) {
  sn::Tensor x = row({1, 3, 5, 9});
  EXPECT_EQ(sn::interpolate(x, {.size = 2, .mode = sn::Interpolation::area})
                .to_vector<float>(),
            (Values{2, 7}));
}

TEST(Resample, ASymbolicBatchCompilesOnce) {
  auto resized = [](int64_t batch) {
    std::vector<float> ones(size_t(batch) * 8, 1);
    sn::Tensor x = sn::tensor(ones, {batch, 2, 4}).dynamic(0);
    Values y = sn::interpolate(x, {.size = 6, .mode = sn::Interpolation::cubic})
                   .to_vector<float>();
    EXPECT_EQ(y.size(), size_t(batch) * 12);
    for (float value : y)
      EXPECT_NEAR(value, 1, 1e-6);
  };
  resized(3);
  uint64_t before = programsMade();
  resized(5);
  EXPECT_EQ(programsMade(), before);
}

TEST(Resample, IdentityGridGivesTheImage) {
  sn::Tensor x = sn::arange(12).to(sn::DType::f32).reshape({1, 1, 3, 4});
  sn::Tensor theta =
      sn::tensor({1.f, 0.f, 0.f, 0.f, 1.f, 0.f}).reshape({1, 2, 3});
  for (bool aligns : {true, false}) {
    sn::Tensor grid = sn::affine_grid(theta, {1, 1, 3, 4}, aligns);
    for (auto mode : {sn::Interpolation::nearest, sn::Interpolation::linear,
                      sn::Interpolation::cubic})
      for (auto padding : {sn::GridPadding::zeros, sn::GridPadding::border,
                           sn::GridPadding::reflection}) {
        Values y =
            sn::grid_sample(
                x, grid,
                {.mode = mode, .padding = padding, .align_corners = aligns})
                .to_vector<float>();
        for (size_t i = 0; i < y.size(); ++i)
          EXPECT_NEAR(y[i], float(i), 1e-4);
      }
  }
  sn::Tensor volume = sn::affine_grid(sn::ones({2, 3, 4}), {2, 1, 2, 3, 4});
  EXPECT_EQ(volume.rank(), 5);
  EXPECT_EQ(volume.dim(4).value, 3);
}

TEST(Resample, Refusals) {
  using enum sn::ErrorKind;
  sn::Tensor x = sn::zeros({1, 1, 4});
  expectError(invalid_argument,
              "interpolate: either a size or a scale factor is needed: "
              "f32[1,1,4]",
              [&] { sn::interpolate(x, {}); });
  expectError(invalid_argument, "interpolate: 2 entries for 1 axes",
              [&] { sn::interpolate(x, {.size = {2, 3}}); });
  expectError(invalid_argument, "grid_sample: expects floats",
              [&] { sn::grid_sample(x, x); });
  expectError(invalid_argument, "affine_grid: expects maps",
              [&] { sn::affine_grid(x, {1, 1, 4, 4}); });
}

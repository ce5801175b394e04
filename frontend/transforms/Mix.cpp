/// Batches whose images and labels are mixtures. The random numbers are data of
/// the recorded ops, so that every batch runs one program.
#include <sinter/data/Mix.h>

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/transforms/Draws.h"
#include "frontend/transforms/NewImage.h"

#include <sinter/Arguments.h>
#include <sinter/Basic.h>
#include <sinter/SourceScope.h>

#include <algorithm>
#include <cmath>

namespace sinter::data {

Mixing::Mixing(Kind kind, double alpha, int64_t classes,
               std::source_location where)
    : kind(kind), alpha(alpha), classes(classes), line(where) {
  detail::Arguments(kind == Kind::mixup ? "mixup" : "cutmix", where)
      .aboveZero("alpha", alpha)
      .positive("classes", classes);
}

namespace {

/// What an image keeps of itself.
struct Shares {
  Tensor ofPixels; ///< [1,1,1,1] or [1,1,h,w]
  double ofLabels;
};

} // namespace

static Shares cutOut(double share, int64_t height, int64_t width,
                     DeviceId device, Draws &draws) {
  double side = 0.5 * std::sqrt(1 - share);
  auto middleY = draws.below(height), middleX = draws.below(width);
  auto halfY = int64_t(side * double(height)),
       halfX = int64_t(side * double(width));
  int64_t top = std::max<int64_t>(middleY - halfY, 0),
          bottom = std::min(middleY + halfY, height);
  int64_t left = std::max<int64_t>(middleX - halfX, 0),
          right = std::min(middleX + halfX, width);
  std::vector<float> mask(size_t(height * width), 1.f);
  for (int64_t y = top; y < bottom; ++y)
    std::fill_n(mask.begin() + y * width + left, right - left, 0.f);
  double cut = double((bottom - top) * (right - left));
  return {detail::tableOf(mask, {1, 1, height, width}, {{}, device}),
          1 - cut / double(height * width)};
}

std::pair<Tensor, Tensor>
Mixing::operator()(const std::pair<Tensor, Tensor> &batch) const try {
  const char *call = kind == Kind::mixup ? "mixup" : "cutmix";
  const auto &[images, labels] = batch;
  if (images.rank() != 4 || labels.rank() != 1)
    detail::refuseImage(call, "images are no [n,c,h,w], or labels no [n]",
                        line);
  int64_t height = images.dim(2).value, width = images.dim(3).value;
  if (height < 1 || width < 1)
    detail::refuseImage(call, "images without pixels", line);
  detail::SourceScope scope(line);
  Draws draws;
  double one = draws.gamma(alpha), other = draws.gamma(alpha);
  double share = one + other > 0 ? one / (one + other) : 0.5;
  DeviceId device = images.device();
  auto number = [&](double value, const Dims &shape) {
    return detail::tableOf(std::vector<float>{float(value)}, shape,
                           {{}, device});
  };
  Shares kept = kind == Kind::mixup
                    ? Shares{number(share, {1, 1, 1, 1}), share}
                    : cutOut(share, height, width, device, draws);
  Tensor ofLabels = number(kept.ofLabels, {1, 1});
  Tensor classOf = one_hot(labels, classes).to(DType::f32);
  auto mixed = [](const Tensor &x, const Tensor &part) {
    return x * part + roll(x, {1}, {0}) * (1 - part);
  };
  return {mixed(images, kept.ofPixels), mixed(classOf, ofLabels)};
} catch (...) {
  detail::raiseExhausted(line);
}

Mixing mixup(double alpha, int64_t classes, std::source_location where) try {
  return {Mixing::Kind::mixup, alpha, classes, where};
} catch (...) {
  detail::raiseExhausted(where);
}

Mixing cutmix(double alpha, int64_t classes, std::source_location where) try {
  return {Mixing::Kind::cutmix, alpha, classes, where};
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data

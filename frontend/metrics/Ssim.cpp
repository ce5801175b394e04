/// Structural similarity of images.
#include "frontend/Leaves.h"
#include "frontend/metrics/MetricCall.h"

#include <sinter/BasicOps.h>
#include <sinter/Convolution.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/metrics/Regression.h>

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace sinter::metrics {

Ssim::Ssim(const SsimOptions &given, Where where) try
    : options(given), described{given.name, "", true}, sum("sum"),
      items("items", {}, DType::i64) {
  MetricCall call(described.name, where);
  if (options.size < 1 || options.size % 2 == 0 || options.size > 1001)
    call.fail(fmt::format("size is {}, not odd and in 1..1001", options.size));
  if (!(options.sigma > 0) || !(options.range > 0))
    call.fail(fmt::format("sigma and range are {} and {}, not above 0",
                          options.sigma, options.range));
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

static std::vector<float> gaussian(int64_t size, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  int64_t middle = size / 2;
  for (int64_t i = 0; i < size; ++i) {
    double place = static_cast<double>(i - middle) / sigma;
    weights.push_back(std::exp(-place * place / 2));
    sum += weights.back();
  }
  std::vector<float> scaled;
  for (double weight : weights)
    scaled.push_back(static_cast<float>(weight / sum));
  return scaled;
}

void Ssim::update(const NumberInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Tensor x = call.real(input.predictions, "predictions");
  Tensor y = call.real(input.targets, "targets");
  call.sameShape(x, "predictions", y, "targets");
  int64_t size = options.size;
  if (x.rank() != 4 || x.dim(2).value < size || x.dim(3).value < size)
    call.fail(fmt::format("expects images [n, channels, height, width] of {0} "
                          "by {0} pixels or more: {1}",
                          size, graph::typeString(*x.node())));
  if (input.mask.defined())
    call.fail("there are no masks of images");
  if (x.numel() == 0)
    return;
  // All that is to be blurred is one image each: five for a channel.
  Dim numImages = x.dim(0), channels = x.dim(1);
  Dims planes{numImages * channels, 1, x.dim(2), x.dim(3)};
  Tensor a = reshape(x, planes), b = reshape(y, planes);
  Tensor kernel =
      tensor(gaussian(size, options.sigma), {size}, {.device = x.device()});
  auto blur = [&](const Tensor &plane) {
    return conv2d(conv2d(plane, reshape(kernel, {1, 1, size, 1})),
                  reshape(kernel, {1, 1, 1, size}));
  };
  Tensor meanA = blur(a), meanB = blur(b);
  // Rounding must not make a variance negative.
  Tensor varA = maximum(blur(square(a)) - square(meanA), 0.f);
  Tensor varB = maximum(blur(square(b)) - square(meanB), 0.f);
  Tensor both = blur(a * b) - meanA * meanB;
  double c1 = std::pow(options.k1 * options.range, 2);
  double c2 = std::pow(options.k2 * options.range, 2);
  Tensor near = (2 * meanA * meanB + c1) * (2 * both + c2) /
                ((square(meanA) + square(meanB) + c1) * (varA + varB + c2));
  // Images of one batch are of one size: their means count the same.
  Tensor count = sinter::detail::sizeScalar(numImages, x.device(), where);
  Tensor part = mean(near) * count.to(DType::f32);
  sum.add(part, where);
  items.add(count_beside(count, part), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double Ssim::value() const try {
  double count = items.value();
  return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : sum.value() / count;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void Ssim::reset() {
  sum.reset();
  items.reset();
}

} // namespace sinter::metrics

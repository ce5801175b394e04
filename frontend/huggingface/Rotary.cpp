/// How fast the pairs of a head turn from word to word.
#include <sinter/hf/Rotary.h>

#include "frontend/ElementwiseFunctions.h"
#include "frontend/Leaves.h"

#include <sinter/BasicOps.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::hf {

/// Frequencies of the plain kind, as float32 as transformers has them.
static std::vector<float> plainFrequencies(double theta, int64_t size) {
  std::vector<float> frequencies;
  for (int64_t i = 0; i < size / 2; ++i)
    frequencies.push_back(
        static_cast<float>(1 / std::pow(theta, 2.0 * static_cast<double>(i) /
                                                   static_cast<double>(size))));
  return frequencies;
}

/// Longer texts stretch the base.
static double stretchedTheta(const RopeParameters &p, int64_t size,
                             int64_t positions, int64_t length) {
  double all = static_cast<double>(positions);
  double ratio = std::max(static_cast<double>(length), all) / all;
  double exponent = static_cast<double>(size) / static_cast<double>(size - 2);
  return p.theta * std::pow(p.factor * ratio - (p.factor - 1), exponent);
}

/// Long waves become longer by the factor, short ones stay, and those between
/// are between.
static double llama3Frequency(double frequency, const RopeParameters &p) {
  double context = static_cast<double>(p.original_max_position_embeddings);
  double wave = 2 * std::numbers::pi / frequency;
  if (wave > context / p.low_freq_factor)
    return frequency / p.factor;
  if (wave < context / p.high_freq_factor)
    return frequency;
  double smooth = (context / wave - p.low_freq_factor) /
                  (p.high_freq_factor - p.low_freq_factor);
  return (1 - smooth) * frequency / p.factor + smooth * frequency;
}

/// The pair that turns so often within the original length.
static double yarnPair(double turns, const RopeParameters &p, int64_t size) {
  double context = static_cast<double>(p.original_max_position_embeddings);
  return static_cast<double>(size) *
         std::log(context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(p.theta));
}

/// Pairs that turn slowly are interpolated, fast ones are not, with a ramp
/// between.
static void applyYarn(std::vector<float> &frequencies, const RopeParameters &p,
                      int64_t size) {
  double low = yarnPair(p.beta_fast, p, size);
  double high = yarnPair(p.beta_slow, p, size);
  if (p.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(size - 1));
  if (low == high)
    high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double ramp =
        std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    double own = frequencies[i];
    frequencies[i] =
        static_cast<float>(own / p.factor * ramp + own * (1 - ramp));
  }
}

std::vector<float> Rotary::frequencies(int64_t length) const {
  const RopeParameters &p = parameters;
  double theta = p.type == RopeType::dynamic
                     ? stretchedTheta(p, size, positions, length)
                     : p.theta;
  std::vector<float> all = plainFrequencies(theta, size);
  if (p.type == RopeType::yarn)
    applyYarn(all, p, size);
  for (float &frequency : all) {
    if (p.type == RopeType::linear)
      frequency /= static_cast<float>(p.factor);
    if (p.type == RopeType::llama3)
      frequency = static_cast<float>(llama3Frequency(frequency, p));
  }
  for (size_t i = 0; i < std::min(all.size(), p.divisors.size()); ++i)
    all[i] /= p.divisors[i];
  return all;
}

/// How much sharper attention has to be over texts that are longer by `factor`.
static double yarnScale(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

double Rotary::scale() const {
  const RopeParameters &p = parameters;
  if (p.type != RopeType::yarn)
    return 1;
  if (p.attention_factor)
    return *p.attention_factor;
  if (p.mscale.value_or(0) != 0 && p.mscale_all_dim.value_or(0) != 0)
    return yarnScale(p.factor, *p.mscale) /
           yarnScale(p.factor, *p.mscale_all_dim);
  return yarnScale(p.factor, 1);
}

RotaryAngles Rotary::at(const Tensor &places, int64_t length,
                        DType dtype) const {
  std::vector<float> steps = frequencies(length);
  Tensor step =
      detail::leafOf(std::as_bytes(std::span<const float>(steps)), DType::f32,
                     {Dim(static_cast<int64_t>(steps.size()))},
                     {.device = places.device()}, SourceLine::current());
  Tensor angles = unsqueeze(places, -1) * step;
  Tensor c = cos(angles), s = sin(angles);
  if (double factor = scale(); factor != 1) {
    c = c * factor;
    s = s * factor;
  }
  return {c.to(dtype), s.to(dtype)};
}

} // namespace sinter::hf

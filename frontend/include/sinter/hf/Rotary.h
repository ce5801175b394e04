/// RopeParameters: how fast the pairs of a head turn from word to word.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace sinter::hf {

enum class RopeType : uint8_t { plain, linear, dynamic, llama3, yarn };

/// `rope_parameters` of config.json, or `rope_theta` and `rope_scaling`.
struct RopeParameters {
  RopeType type = RopeType::plain;
  double theta = 10000;
  double factor = 1;
  /// Of `llama3` and `yarn`; 0: max_position_embeddings.
  int64_t original_max_position_embeddings = 0;
  double low_freq_factor = 1, high_freq_factor = 4; ///< of `llama3`
  double beta_fast = 32, beta_slow = 1;             ///< of `yarn`
  std::optional<double> attention_factor = {}, mscale = {},
                        mscale_all_dim = {}; ///< of `yarn`
  bool truncate = true;                      ///< of `yarn`
  /// What the frequency of each pair is divided by besides, as GGUF files say;
  /// empty: 1.
  std::vector<float> divisors = {};
};

/// Cosines and sines of words' angles: [..., position, size of a head / 2].
struct RotaryAngles {
  Tensor cos, sin;
};

/// Makes angles of positions, for heads of `size` elements in a model of
/// `positions`.
class Rotary {
public:
  Rotary() = default;
  Rotary(const RopeParameters &parameters, int64_t size, int64_t positions)
      : parameters(parameters), size(size), positions(positions) {}

  /// `places` are floats; `length` is one more than the largest.
  RotaryAngles at(const Tensor &places, int64_t length, DType dtype) const;
  /// Angles of one step, for texts of that length.
  std::vector<float> frequencies(int64_t length) const;
  /// What cosines and sines are multiplied by.
  double scale() const;

private:
  RopeParameters parameters;
  int64_t size = 2, positions = 0;
};

} // namespace sinter::hf

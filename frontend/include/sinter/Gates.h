/// Gates: activations with a part, a weight or positions of their own.
#pragma once

#include <sinter/BasicOps.h>

namespace sinter {

/// The first half of an axis times the sigmoid of the second.
Tensor glu(const Arg &x, int64_t axis = -1);

/// The first half of an axis, by silu, times the second.
Tensor swiglu(const Arg &x, int64_t axis = -1);

/// x from 0 on, below it weight * x. The weight has one element, or one for
/// each channel (axis 1).
Tensor prelu(const Arg &x, const Arg &weight);

/// softmax(-x).
Tensor softmin(const Arg &x, int64_t axis = -1);

/// Which elements of the last axis turn together.
enum class RotaryPairs : uint8_t {
  interleaved, ///< 0 and 1, 2 and 3, ...
  halves,      ///< i and i + size / 2
};

/// Turns pairs of x [..., t, size] by angles whose cosines and sines are
/// [t, size / 2], or broadcast to x without its second of each pair.
Tensor rotary_embedding(const Arg &x, const Arg &cos, const Arg &sin,
                        RotaryPairs pairs = RotaryPairs::interleaved);

} // namespace sinter

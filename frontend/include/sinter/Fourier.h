/// Fourier: discrete Fourier transforms. A complex number is a last axis of two
/// elements, real and imaginary part.
#pragma once

#include <sinter/Tensor.h>

#include <optional>

namespace sinter {

/// What results are divided by: the length in the inverse only, its square root
/// in both, or the length in the forward transform only.
enum class FourierNorm : uint8_t { backward, ortho, forward };

/// sum_j x[.., j] e^(-2 pi i j k / n) of complex x[.., n, 2], and its inverse.
/// The length is split in factors; a prime factor above 2048 is an error.
Tensor fft(const Arg &x, FourierNorm norm = FourierNorm::backward);
Tensor ifft(const Arg &x, FourierNorm norm = FourierNorm::backward);
/// The transform of real x[.., n]: its first n / 2 + 1 numbers.
Tensor rfft(const Arg &x, FourierNorm norm = FourierNorm::backward);
/// The real numbers [.., n] whose `rfft` x[.., m, 2] is; n is 2 (m - 1) unless
/// it is named. x is cut, or filled with 0, to n / 2 + 1 numbers.
Tensor irfft(const Arg &x, std::optional<int64_t> n = {},
             FourierNorm norm = FourierNorm::backward);

struct StftOptions {
  std::optional<int64_t> hop = {};   ///< a quarter of the length, unless named
  std::optional<Tensor> window = {}; ///< n_fft factors; 1 unless named
  /// Whether frames are centred at multiples of the hop, where x is mirrored at
  /// its ends; else the first one begins at 0.
  bool center = true;
};
/// `rfft` of the frames of x[.., t]: [.., n_fft / 2 + 1, frames, 2].
Tensor stft(const Arg &x, int64_t n_fft, const StftOptions &options = {});

} // namespace sinter

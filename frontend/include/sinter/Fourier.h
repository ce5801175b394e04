/// Fourier: discrete Fourier transforms, of any length.
///
/// Numbers are complex tensors (sinter/Complex.h). Where nothing but a norm is
/// given, floats [.., n, 2] are complex numbers, too: a last axis of real and
/// imaginary part, as in the result.
#pragma once

#include <sinter/Tensor.h>

#include <optional>
#include <vector>

namespace sinter {

/// What results are divided by: the length in the inverse only, its square root
/// in both, or the length in the forward transform only.
enum class FourierNorm : uint8_t { backward, ortho, forward };

/// sum_j x[.., j] e^(-2 pi i j k / n) along the last axis, and its inverse. Of
/// complex x[.., n], or of pairs x[.., n, 2], in pairs.
Tensor fft(const Arg &x, FourierNorm norm = FourierNorm::backward);
Tensor ifft(const Arg &x, FourierNorm norm = FourierNorm::backward);
/// The transform of real x[.., n]: its first n / 2 + 1 numbers, in pairs.
Tensor rfft(const Arg &x, FourierNorm norm = FourierNorm::backward);
/// The real numbers [.., n] whose `rfft` x is, [.., m] or pairs [.., m, 2]; n
/// is 2 (m - 1) unless it is named. x is cut, or filled with 0, to n / 2 + 1
/// numbers.
Tensor irfft(const Arg &x, std::optional<int64_t> n = {},
             FourierNorm norm = FourierNorm::backward);

/// As PyTorch's functions of torch.fft take them.
struct FourierOptions {
  std::optional<int64_t> n = {}; ///< x is cut, or filled with 0, to so many
  int64_t dim = -1;
  FourierNorm norm = FourierNorm::backward;
};
/// The same of complex or real numbers along an axis, to complex numbers.
Tensor fft(const Arg &x, const FourierOptions &options);
Tensor ifft(const Arg &x, const FourierOptions &options);
Tensor rfft(const Arg &x, const FourierOptions &options);
/// To real numbers; n is of these.
Tensor irfft(const Arg &x, const FourierOptions &options);

struct FourierAxes {
  std::vector<int64_t> s = {};   ///< lengths, one for each axis; as they are
  std::vector<int64_t> dim = {}; ///< all axes, or as many last ones as lengths
  FourierNorm norm = FourierNorm::backward;
};
/// Along several axes of complex or real numbers.
Tensor fftn(const Arg &x, const FourierAxes &axes = {});
Tensor ifftn(const Arg &x, const FourierAxes &axes = {});
/// Along the last two axes, unless others are named.
Tensor fft2(const Arg &x, const FourierAxes &axes = {});
Tensor ifft2(const Arg &x, const FourierAxes &axes = {});

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

/// Pooling: windows of an image brought to one number each, and windows
/// themselves, with PyTorch's meaning of every attribute.
#pragma once

#include <sinter/Convolution.h>

#include <utility>

namespace sinter {

/// Lists have one entry for each axis, or one for all.
struct PoolOptions {
  Axes stride = {}; ///< the kernel's size unless named
  Axes padding = 0;
  Axes dilation = 1;      ///< of max_pool only
  bool ceil_mode = false; ///< a last window may stand partly outside
  Layout layout = Layout::channels_first;
};
struct AvgPoolOptions {
  Axes stride = {}; ///< the kernel's size unless named
  Axes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
  double divisor = 0; ///< in place of the number of elements, unless 0
  Layout layout = Layout::channels_first;
};

/// Largest element of each window of x[n, c, space...], or x[c, space...].
Tensor max_pool1d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options = {});
Tensor max_pool2d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options = {});
Tensor max_pool3d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options = {});
/// The same, and where each stands in the space of its channel, counted in
/// row-major order. As many axes as `kernel` has entries.
std::pair<Tensor, Tensor>
max_pool_with_indices(const Arg &x, const Axes &kernel,
                      const PoolOptions &options = {});
/// Elements put back where `indices` say, in a space of `size`; 0 elsewhere.
/// An element that stands there twice, from windows that overlap, is not added
/// up; each of the two has the gradient of the place.
Tensor max_unpool(const Arg &x, const Arg &indices, const Dims &size);

/// Mean of each window.
Tensor avg_pool1d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options = {});
Tensor avg_pool2d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options = {});
Tensor avg_pool3d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options = {});
/// The p-norm of each window's elements.
Tensor lp_pool2d(const Arg &x, double p, const Axes &kernel,
                 const AvgPoolOptions &options = {});

/// Mean, or largest, of `size` windows that cover the space evenly; as many
/// axes as `size` has entries. A symbolic space is guarded to be what it is.
Tensor adaptive_avg_pool(const Arg &x, const Axes &size,
                         Layout layout = Layout::channels_first);
Tensor adaptive_max_pool(const Arg &x, const Axes &size,
                         Layout layout = Layout::channels_first);

/// The windows of x[n, c, space...] as columns: [n, c * sizes, positions].
Tensor unfold(const Arg &x, const Axes &kernel, const ConvOptions &options);
/// What `unfold` made of an image of `size`, each element added to its place.
Tensor fold(const Arg &x, const Dims &size, const Axes &kernel,
            const ConvOptions &options);

} // namespace sinter

/// Resample: images at other sizes, or at any places.
#pragma once

#include <sinter/Tensor.h>

#include <span>
#include <vector>

namespace sinter {

/// How an element between others is made of them.
enum class Interpolation : uint8_t {
  nearest,       ///< the one below, as PyTorch's `nearest`
  nearest_exact, ///< the one whose centre is closest
  linear,        ///< of two along each axis: PyTorch's bilinear, trilinear
  cubic,         ///< of four along each axis, with a = -0.75: its bicubic
  area,          ///< the mean of what lies under it
};

struct InterpolateOptions {
  /// The space that results, or by what the space is multiplied (and rounded
  /// down): one of both. One entry for each axis, or one for all.
  Axes size = {};
  std::vector<double> scale_factor = {};
  Interpolation mode = Interpolation::nearest;
  /// Whether the first and the last elements stay where they are; else the
  /// borders of the space do. Of linear and cubic.
  bool align_corners = false;
};

/// x[n, c, space...] at another size. With a scale factor the factor itself
/// says where elements are taken from, as in PyTorch. A symbolic space is
/// guarded to be what it is.
Tensor interpolate(const Arg &x, const InterpolateOptions &options);

/// What `grid_sample` finds outside of an image.
enum class GridPadding : uint8_t {
  zeros,
  border,     ///< the nearest element
  reflection, ///< the image mirrored at its border
};
struct GridSampleOptions {
  Interpolation mode = Interpolation::linear; ///< nearest, linear or cubic
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false; ///< -1 and 1 are centres of elements, or borders
};
/// x[n, c, h, w] at the places of grid[n, h', w', 2], given as (along w, along
/// h) in [-1, 1]: [n, c, h', w']. A symbolic space is guarded to be what it is.
Tensor grid_sample(const Arg &x, const Arg &grid,
                   const GridSampleOptions &options = {});
/// The grid of affine maps theta[n, d, d + 1] for images of `size`, [n, c,
/// space...]: [n, space..., d].
Tensor affine_grid(const Arg &theta, const Dims &size,
                   bool align_corners = false);

} // namespace sinter

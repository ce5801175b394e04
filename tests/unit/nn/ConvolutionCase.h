/// Cases of convolutions that are compared with others of the same numbers.
#pragma once

#include <sinter/Basic.h>

#include <ostream>

namespace sinter::test {

struct ConvolutionCase {
  Dims space;
  int64_t channels, results;
  Axes size;
  Axes stride = 1, padding = 0, dilation = 1;
  int64_t images = 8;
  enum Before { nothing, relu, cast } before = nothing;
  Layout layout = Layout::channels_last;
  DType dtype = DType::bf16;
  bool anyImages = false; ///< one program for any number of them

  /// The shape of what is convolved.
  Dims imageShape() const {
    Dims shape{images};
    if (layout == Layout::channels_first)
      shape.push_back(channels);
    shape.insert(shape.end(), space.begin(), space.end());
    if (layout == Layout::channels_last)
      shape.push_back(channels);
    return shape;
  }

  /// The shape of the weights.
  Dims weightShape() const {
    Dims shape{results, channels};
    for (size_t axis = 0; axis < space.size(); ++axis)
      shape.push_back(*(size.begin() + (size.size() > 1 ? axis : 0)));
    return shape;
  }

  Tensor convolve(const Tensor &x, const Tensor &w) const {
    ConvOptions options{.stride = stride,
                        .padding = padding,
                        .dilation = dilation,
                        .layout = layout};
    Tensor image = before == ConvolutionCase::relu ? sinter::relu(x) : x;
    if (space.size() == 1)
      return conv1d(image, w, options);
    return space.size() == 2 ? conv2d(image, w, options)
                             : conv3d(image, w, options);
  }
};

inline std::ostream &operator<<(std::ostream &out, const ConvolutionCase &c) {
  const char *before[] = {"", "relu, ", "cast, "};
  out << before[c.before] << c.images << (c.anyImages ? " (any)" : "")
      << " images of";
  for (const auto &extent : c.space)
    out << ' ' << extent.value;
  out << ", " << c.channels << " channels, windows";
  for (const Axes &axes : {c.size, c.stride, c.padding, c.dilation}) {
    out << " |";
    for (int64_t axis : axes)
      out << ' ' << axis;
  }
  return out << ", " << c.results << " results";
}

/// A tensor's shape as numbers, without symbols.
inline Dims sizesOf(const Tensor &tensor) {
  Dims sizes;
  for (Dim dim : tensor.shape())
    sizes.push_back(dim.value);
  return sizes;
}

} // namespace sinter::test

/// PyTorch's functions that take images at other places.
#include "tests/goldens/torch/TorchCall.h"

namespace sinter::goldens {

/// A size, or a factor for all axes.
static InterpolateOptions resized(const OpCall &c, Interpolation mode) {
  InterpolateOptions options{.mode = mode,
                             .align_corners = c.attrs.flag("align_corners")};
  if (c.attrs.has("size"))
    options.size = c.attrs.list("size");
  else
    options.scale_factor = {c.attrs.number("scale_factor")};
  return options;
}

/// The mode of the call is part of the function's name in PyTorch's samples.
template <Interpolation mode> static Tensors interpolateBy(const OpCall &c) {
  return {interpolate(c["x"], resized(c, mode))};
}

static Tensors upsampleBilinear(const OpCall &c) {
  InterpolateOptions options = resized(c, Interpolation::linear);
  options.align_corners = true;
  return {interpolate(c["x"], options)};
}

TorchTable torchImages() {
  std::string_view resize = "x size scale_factor mode align_corners";
  std::string_view upsample = "x size scale_factor";
  return {
      {"nn.functional.interpolate.nearest",
       {resize, interpolateBy<Interpolation::nearest>}},
      {"nn.functional.interpolate.linear",
       {resize, interpolateBy<Interpolation::linear>}},
      {"nn.functional.interpolate.bilinear",
       {resize, interpolateBy<Interpolation::linear>}},
      {"nn.functional.interpolate.trilinear",
       {resize, interpolateBy<Interpolation::linear>}},
      {"nn.functional.interpolate.bicubic",
       {resize, interpolateBy<Interpolation::cubic>}},
      {"nn.functional.interpolate.area",
       {resize, interpolateBy<Interpolation::area>}},
      {"nn.functional.upsample_nearest",
       {upsample, interpolateBy<Interpolation::nearest>}},
      {"nn.functional.upsample_bilinear", {upsample, upsampleBilinear}},
      {"nn.functional.grid_sample",
       {"x grid mode padding_mode align_corners", nullptr, "grid_sample"}},
  };
}

} // namespace sinter::goldens

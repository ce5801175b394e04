/// Operators of torchvision.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Vision.h>

#include <algorithm>
#include <limits>

namespace sinter::torch {

static void nmsRule(Call &call) {
  call.give(nms(call.tensor("dets"), call.tensor("scores"),
                call.real("iou_threshold")));
}

/// Boxes [k, 5]: the image of each stands first.
static void roiAlignRule(Call &call) {
  Tensor rois = call.tensor("rois");
  if (rois.rank() != 2 || fixed(rois.dim(1)) != 5)
    call.invalid("boxes are not rows of 5 numbers");
  RoiAlignOptions options;
  options.size = {call.integer("pooled_height"), call.integer("pooled_width")};
  options.spatial_scale = call.real("spatial_scale");
  options.sampling_ratio = std::max<int64_t>(call.integer("sampling_ratio"), 0);
  options.aligned = call.flag("aligned");
  call.give(roi_align(call.tensor("input"), sliceAxis(rois, 1, 1, 5),
                      select(rois, 1, 0).to(DType::i64), options));
}

/// Whether each of `extent` elements lies in each of `bins` bins between two
/// corners [k]: [k, bins, extent].
static Tensor binsOf(const Tensor &first, const Tensor &last, int64_t bins,
                     int64_t extent) {
  Tensor size = maximum(last - first + 1.0, 1.0) / double(bins);
  Options options{DType::i64, first.device()};
  Tensor bin = iota({1, bins, 1}, 1, options).to(first.dtype());
  Tensor place = iota({1, 1, extent}, 2, options).to(first.dtype());
  auto wide = [](const Tensor &x) { return reshape(x, {-1, 1, 1}); };
  Tensor start = floor(bin * wide(size)) + wide(first);
  Tensor end = ceil((bin + 1.0) * wide(size)) + wide(first);
  return logical_and(place >= start, place < end);
}

/// The largest element of each bin, 0 of an empty one: along w, then along h.
static void roiPoolRule(Call &call) {
  Tensor x = call.tensor("input"), rois = call.tensor("rois");
  if (rois.rank() != 2 || fixed(rois.dim(1)) != 5 || x.rank() != 4)
    call.invalid("boxes are not rows of 5 numbers");
  int64_t height = call.integer("pooled_height"),
          width = call.integer("pooled_width");
  if (height < 1 || width < 1)
    call.invalid("bins of no size");
  double scale = call.real("spatial_scale");
  // Halves go away from zero.
  auto corner = [&](int64_t i) {
    Tensor at = select(rois, 1, i) * scale;
    return trunc(at + copysign(full({}, 0.5, {at.dtype(), at.device()}), at));
  };
  Tensor across = binsOf(corner(1), corner(3), width, fixed(x.dim(3)));
  Tensor down = binsOf(corner(2), corner(4), height, fixed(x.dim(2)));
  Tensor own = index_select(x, select(rois, 1, 0).to(DType::i64), 0);
  Tensor none = full({}, -std::numeric_limits<double>::infinity(),
                     {x.dtype(), x.device()});
  Tensor lines =
      amax(where(unsqueeze(unsqueeze(across, 1), 1), unsqueeze(own, 3), none),
           -1); // [k, c, h, width]
  Tensor found = amax(where(unsqueeze(unsqueeze(swapaxes(down, 1, 2), 1), 4),
                            unsqueeze(lines, 3), none),
                      2); // [k, c, height, width]
  call.give(where(isinf(found), zeros_like(found), found));
  call.give(Value()); // where it stands: a backward pass of its own asks
}

/// Each bin takes a channel of its own: of all bins of all channels, those.
static void positionRoiRule(Call &call) {
  Tensor rois = call.tensor("rois"), x = call.tensor("input");
  if (rois.rank() != 2 || fixed(rois.dim(1)) != 5 || x.rank() != 4)
    call.invalid("boxes are not rows of 5 numbers");
  int64_t height = call.integer("pooled_height"),
          width = call.integer("pooled_width");
  requireFew(call, height, "rows of bins", mostOfList);
  requireFew(call, width, "columns of bins", mostOfList);
  int64_t channels = fixed(x.dim(1)), bins = height * width;
  if (bins < 1 || channels % bins != 0)
    call.invalid(std::to_string(channels) + " channels for " +
                 std::to_string(bins) + " bins");
  RoiAlignOptions options;
  options.size = {height, width};
  options.spatial_scale = call.real("spatial_scale");
  options.sampling_ratio = std::max<int64_t>(call.integer("sampling_ratio"), 0);
  options.aligned = true;
  Tensor all = roi_align(x, sliceAxis(rois, 1, 1, 5),
                         select(rois, 1, 0).to(DType::i64), options);
  Tensor apart = reshape(
      all, {rois.dim(0), channels / bins, height, width, height, width});
  // [k, c, width, width, height], and then [k, c, height, width].
  call.give(diagonal(diagonal(apart, 0, 2, 4), 0, 2, 3));
  call.give(Value()); // which channel it was: a backward pass of its own asks
}

static void deformConvRule(Call &call) {
  DeformConvOptions options;
  options.bias = call.optionalTensor("bias");
  if (call.flag("use_mask"))
    options.mask = call.tensor("mask");
  // The sizes of the operands say how many groups there are.
  call.ignore({"mask", "groups", "offset_groups"});
  options.stride = {call.integer("stride_h"), call.integer("stride_w")};
  options.padding = {call.integer("pad_h"), call.integer("pad_w")};
  options.dilation = {call.integer("dilation_h"), call.integer("dilation_w")};
  call.give(deform_conv2d(call.tensor("input"), call.tensor("offset"),
                          call.tensor("weight"), options));
}

/// No CUDA: what is asked for is a version of a library.
static void cudaVersionRule(Call &call) {
  call.give(Value::ofInteger(Dim(-1)));
}

static constexpr Operator rows[] = {
    {"torchvision.nms.default", nmsRule},
    {"torchvision.roi_align.default", roiAlignRule},
    {"torchvision.roi_pool.default", roiPoolRule},
    {"torchvision.ps_roi_align.default", positionRoiRule},
    {"torchvision.deform_conv2d.default", deformConvRule},
    {"torchvision._cuda_version.default", cudaVersionRule},
};

std::span<const Operator> visionRows() { return rows; }

} // namespace sinter::torch

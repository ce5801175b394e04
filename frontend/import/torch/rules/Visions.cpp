/// Operators of torchvision.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Vision.h>

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
    {"torchvision.deform_conv2d.default", deformConvRule},
    {"torchvision._cuda_version.default", cudaVersionRule},
};

std::span<const Operator> visionRows() { return rows; }

} // namespace sinter::torch

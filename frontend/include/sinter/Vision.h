/// Vision: what detectors are made of, with torchvision's meaning.
#pragma once

#include <sinter/BasicOps.h>

#include <optional>

namespace sinter {

/// The boxes [n, 4] that are left when each that overlaps one of a higher score
/// by more than a part of both is taken out, the highest score first: positions
/// of boxes, i64. Boxes are (x1, y1, x2, y2); of equal scores [n] the first
/// comes first. The number of boxes is read, so this evaluates the operands.
Tensor nms(const Arg &boxes, const Arg &scores, double iou_threshold);

/// What `roi_align` makes of the samples of one bin.
enum class RoiMode : uint8_t {
  mean,
  max, ///< the largest of each sample's four weighted elements, as in ONNX
};
struct RoiAlignOptions {
  Axes size = 1;            ///< bins along h and w; one number stands for both
  double spatial_scale = 1; ///< elements of x in one unit of the boxes
  /// Samples along each axis of a bin, at most 65536; 0: as many as elements
  /// lie under it, which evaluates the boxes.
  int64_t sampling_ratio = 0;
  bool aligned = false; ///< boxes are moved by half an element, and never grown
  RoiMode mode = RoiMode::mean;
};
/// The parts of images x[n, c, h, w] that lie under boxes [k, 4] (x1, y1, x2,
/// y2), each cut into bins: [k, c, size...]. images[k] (i64) says of which
/// image a box is. No gradient flows to the boxes.
Tensor roi_align(const Arg &x, const Arg &boxes, const Arg &images,
                 const RoiAlignOptions &options = {});

struct DeformConvOptions {
  std::optional<Tensor> bias = {}; ///< [c out]
  /// Factors of what is taken: [n, offset groups * kh * kw, h out, w out].
  std::optional<Tensor> mask = {};
  Axes stride = 1;
  /// Along h and w on both sides; four numbers are top, left, bottom, right.
  Axes padding = 0;
  Axes dilation = 1;
};
/// A convolution of x[n, c, h, w] with weight[c out, c / groups, kh, kw] that
/// takes elements beside their usual places, by offset[n, 2 * offset groups *
/// kh * kw, h out, w out] (along h, along w): between four elements, and 0
/// outside. The operands' sizes say how many groups there are.
Tensor deform_conv2d(const Arg &x, const Arg &offset, const Arg &weight,
                     const DeformConvOptions &options = {});

} // namespace sinter

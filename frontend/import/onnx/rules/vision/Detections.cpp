/// What detectors are made of.
#include "frontend/CountedRows.h"
#include "frontend/Suppression.h"
#include "frontend/import/onnx/rules/Windows.h"

#include <sinter/Vision.h>

namespace sinter::onnx {

//===- Boxes that are kept ------------------------------------------------===//

/// A number that may be left out, of one element.
static double numberOr(Call &call, size_t input, const char *what,
                       double otherwise) {
  return call.has(input) ? call.real(input, what) : otherwise;
}

static detail::Suppression suppressionOf(Call &call) {
  detail::Suppression suppression;
  suppression.areCentred = call.flag("center_point_box");
  suppression.most =
      call.has(2) ? call.integer(2, "the most boxes of a class") : 0;
  suppression.iouThreshold = numberOr(call, 3, "the threshold of overlap", 0);
  if (call.has(4))
    suppression.scoreThreshold = call.real(4, "the threshold of scores");
  return suppression;
}

/// (image, class, box) of each that is kept, image after image and class after
/// class.
static void nonMaxSuppressionRule(Call &call) {
  Tensor boxes = call.tensor(0), scores = call.tensor(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2).value != 4 ||
      boxes.dim(0).value != scores.dim(0).value ||
      boxes.dim(1).value != scores.dim(2).value || !isFloat(boxes.dtype()))
    call.invalid("the scores do not fit the boxes");
  call.mustCount(0, "the boxes");
  detail::Suppression suppression = suppressionOf(call);
  if (detail::leavesCountsOpen())
    return call.give(detail::recordedKeptBoxes(boxes, scores, suppression));
  eval({boxes, scores});
  std::vector<float> corners = boxes.to_vector<float>();
  std::vector<float> ranks = scores.to_vector<float>();
  auto count = size_t(boxes.dim(1).value);
  int64_t images = boxes.dim(0).value, classes = scores.dim(1).value;
  std::vector<int64_t> kept;
  for (int64_t image = 0; image < images; ++image)
    for (int64_t each = 0; each < classes; ++each) {
      auto row = size_t(image * classes + each);
      auto own = detail::keptBoxes<float>(
          std::span(corners).subspan(size_t(image) * count * 4, count * 4),
          std::span(ranks).subspan(row * count, count), suppression);
      for (int64_t box : own)
        kept.insert(kept.end(), {image, each, box});
    }
  call.give(hostIntegers(kept, {int64_t(kept.size()) / 3, 3}, call.device()));
}

//===- Parts of images ----------------------------------------------------===//

static void roiAlignRule(Call &call) {
  RoiAlignOptions options;
  options.size = {call.integer("output_height"), call.integer("output_width")};
  for (int64_t each : options.size)
    if (each < 1 || each > mostFactor)
      call.invalid("a result of " + std::to_string(each) + " bins");
  options.spatial_scale = call.real("spatial_scale");
  options.sampling_ratio = call.integer("sampling_ratio");
  if (options.sampling_ratio < 0 || options.sampling_ratio > mostFactor)
    call.invalid("sampling_ratio is " + std::to_string(options.sampling_ratio));
  if (options.sampling_ratio == 0)
    call.mustEvaluate(1, "the boxes");
  if (call.opset() >= 16) {
    std::string mode = call.text("coordinate_transformation_mode");
    options.aligned = mode == "half_pixel";
    if (!options.aligned && mode != "output_half_pixel")
      call.invalid("coordinate_transformation_mode '" + mode + "'");
  }
  std::string mode = call.text("mode");
  if (mode != "avg" && mode != "max")
    call.invalid("mode '" + mode + "'");
  options.mode = mode == "max" ? RoiMode::max : RoiMode::mean;
  call.give(roi_align(call.tensor(0), call.tensor(1), call.tensor(2), options));
}

//===- Convolutions beside their places -----------------------------------===//

static void deformConvRule(Call &call) {
  Tensor x = call.tensor(0), weight = call.tensor(1), offset = call.tensor(2);
  if (x.rank() != 4 || weight.rank() != 4)
    call.unsupported("images of " + std::to_string(x.rank() - 2) + " axes");
  std::vector<int64_t> sizes = numbersOf(weight);
  std::vector<int64_t> kernel = call.integers("kernel_shape");
  if (!kernel.empty() &&
      !std::equal(kernel.begin(), kernel.end(), sizes.begin() + 2, sizes.end()))
    call.invalid("kernel_shape is not the weight's");
  int64_t channels = fixed(x.dim(1));
  if (sizes[1] < 1 || channels / sizes[1] != call.integer("group"))
    call.invalid("the weight does not fit the groups");
  if (fixed(offset.rank() == 4 ? offset.dim(1) : Dim(0)) /
          std::max<int64_t>(2 * sizes[2] * sizes[3], 1) !=
      call.integer("offset_group"))
    call.invalid("the offset does not fit offset_group");
  DeformConvOptions options;
  options.stride = listOf(call, "strides", 2, 1);
  options.padding = listOf(call, "pads", 4, 0);
  options.dilation = listOf(call, "dilations", 2, 1);
  if (call.has(3))
    options.bias = call.tensor(3);
  if (call.has(4))
    options.mask = call.tensor(4);
  call.give(deform_conv2d(x, offset, weight, options));
}

static constexpr const char *deformed =
    "dilations:ints group:int=1 kernel_shape:ints offset_group:int=1 pads:ints "
    "strides:ints";

static constexpr Operator rows[] = {
    {"NonMaxSuppression", 10, 0, "center_point_box:int=0",
     nonMaxSuppressionRule},
    {"RoiAlign", 10, 15,
     "mode:string=avg output_height:int=1 output_width:int=1 "
     "sampling_ratio:int=0 spatial_scale:float=1.0",
     roiAlignRule},
    {"RoiAlign", 16, 0,
     "coordinate_transformation_mode:string=half_pixel mode:string=avg "
     "output_height:int=1 output_width:int=1 sampling_ratio:int=0 "
     "spatial_scale:float=1.0",
     roiAlignRule},
    {"DeformConv", 19, 0, deformed, deformConvRule},
};

std::span<const Operator> detectionRows() { return rows; }

} // namespace sinter::onnx

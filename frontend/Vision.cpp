/// nms, roi_align and deform_conv2d.
#include <sinter/Vision.h>

#include "frontend/Composed.h"
#include "frontend/CountedRows.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/Suppression.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Scan.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sinter {

using detail::asTensor;
using detail::Composed;

/// f16 and bf16 are computed in f32 and rounded once.
static DType wideOf(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

//===- nms as ops ---------------------------------------------------------===//

namespace detail {

namespace {
/// Boxes as their sides, each of the same shape.
struct Sides {
  Tensor left, top, right, bottom;

  Tensor area() const { return (right - left) * (bottom - top); }
};
} // namespace

/// Of [..., 4]: corners in any order, or a centre and a size.
static Sides sidesOf(const Tensor &boxes, bool areCentred) {
  std::array<Tensor, 4> b;
  for (int64_t i = 0; i < 4; ++i)
    b[size_t(i)] = select(boxes, -1, i);
  if (areCentred)
    return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  return {minimum(b[0], b[2]), minimum(b[1], b[3]), maximum(b[0], b[2]),
          maximum(b[1], b[3])};
}

/// Boxes without an area overlap nothing.
static Tensor overlap(const Sides &a, const Sides &b, double most) {
  Tensor width = minimum(a.right, b.right) - maximum(a.left, b.left);
  Tensor height = minimum(a.bottom, b.bottom) - maximum(a.top, b.top);
  Tensor common = width * height;
  Tensor all = a.area() + b.area() - common;
  return (width > 0) * (height > 0) * (all > 0) * (common / all > most);
}

/// One after the other, each box hides those of a lower score that it overlaps
/// with, unless it is hidden itself. All of [n, lists, ...], in the order of
/// their scores; which of them are kept.
static Tensor keptInOrder(const Tensor &boxes, const Tensor &isCandidate,
                          const Suppression &suppression) {
  Dim n = boxes.dim(0);
  Tensor places = arange(n, {DType::i64, boxes.device()});
  Sides all = sidesOf(boxes, suppression.areCentred);
  auto step = [&](std::span<const Tensor> carries, std::span<const Tensor> xs) {
    const Tensor &isLeft = carries[0];
    Tensor isHere = reshape(places == xs[1], {n, Dim(1)});
    Tensor isKept = any(isLeft * isHere, 0);
    Sides own = sidesOf(xs[0], suppression.areCentred);
    Tensor isHidden = overlap(own, all, suppression.iouThreshold) * isKept *
                      reshape(places > xs[1], {n, Dim(1)});
    return ScanStep{{where(isHidden, zeros_like(isLeft), isLeft)}, {isKept}};
  };
  return scan(step, {isCandidate}, {boxes, places}).ys[0];
}

Tensor recordedKeptBoxes(const Tensor &boxes, const Tensor &scores,
                         const Suppression &suppression) {
  Dim images = boxes.dim(0), classes = scores.dim(1), n = boxes.dim(1);
  Dim lists = images * classes;
  Tensor ranks = reshape(scores, {lists, n});
  Tensor order = argsort(ranks, 1, /*descending=*/true);
  Tensor ofClasses = broadcast(reshape(boxes, {images, Dim(1), n, Dim(4)}),
                               {images, classes, n, Dim(4)});
  Tensor sorted = gather(
      reshape(ofClasses, {lists, n, Dim(4)}),
      broadcast(reshape(order, {lists, n, Dim(1)}), {lists, n, Dim(4)}), 1);
  Tensor isCandidate = ones({lists, n}, {DType::boolean, boxes.device()});
  if (suppression.scoreThreshold)
    isCandidate = gather(ranks, order, 1) > *suppression.scoreThreshold;
  Tensor isKept =
      swapaxes(keptInOrder(swapaxes(sorted, 0, 1), swapaxes(isCandidate, 0, 1),
                           suppression),
               0, 1);
  isKept = isKept * (cumsum(isKept.to(DType::i64), 1) <= suppression.most);
  Tensor found = nonzero(reshape(isKept, {images, classes, n}));
  Tensor image = select(found, 1, 0), each = select(found, 1, 1),
         place = select(found, 1, 2);
  Tensor list = image * sizeTensor(classes, boxes.device()) + each;
  Tensor box = gather(reshape(order, {-1}),
                      list * sizeTensor(n, boxes.device()) + place, 0);
  return stack({image, each, box}, 1);
}

} // namespace detail

//===- nms ----------------------------------------------------------------===//

template <typename T>
static std::vector<int64_t> kept(const Tensor &boxes, const Tensor &scores,
                                 const detail::Suppression &suppression,
                                 std::source_location where) {
  std::vector<T> corners = boxes.to_vector<T>(where);
  std::vector<T> ranks = scores.to_vector<T>(where);
  return detail::keptBoxes<T>(corners, ranks, suppression);
}

Tensor nms(const Arg &boxes, const Arg &scores, double iou_threshold) try {
  Composed call("nms", boxes);
  Tensor ranks = asTensor(scores);
  if (call.x.rank() != 2 || call.x.dim(1).value != 4 || ranks.rank() != 1 ||
      ranks.dim(0).value != call.x.dim(0).value || !isFloat(call.x.dtype()) ||
      ranks.dtype() != call.x.dtype())
    call.fail("expects boxes [n, 4] and scores [n] of one dtype of floats");
  detail::Suppression suppression{.iouThreshold = iou_threshold};
  if (detail::leavesCountsOpen()) {
    Dim n = call.x.dim(0);
    Tensor kept = detail::recordedKeptBoxes(
        reshape(call.x, {Dim(1), n, Dim(4)}),
        reshape(ranks, {Dim(1), Dim(1), n}), suppression);
    return select(kept, 1, 2);
  }
  std::vector<int64_t> positions =
      call.x.dtype() == DType::f64
          ? kept<double>(call.x, ranks, suppression, boxes.where)
          : kept<float>(call.x, ranks, suppression, boxes.where);
  return tensor(positions, {int64_t(positions.size())},
                {DType::i64, call.x.device()});
} catch (...) {
  detail::raiseExhausted(boxes.where);
}

//===- roi_align ----------------------------------------------------------===//

namespace {

/// Samples of every bin along one axis of an image.
struct AxisSamples {
  int64_t bins = 1;
  int64_t most = 1; ///< samples of one bin of any box
  Tensor low, high; ///< elements below and above: [k, bins * most], i64
  Tensor share;     ///< how much of the one above
  Tensor weight;    ///< 0 of samples outside of the image
  Tensor exists;    ///< whether a box has this sample of a bin
  Tensor count;     ///< samples of one bin: [k, 1]
};

/// Where the boxes lie along one axis.
struct Extent {
  Tensor begin, end; ///< [k]
  int64_t size;      ///< of the image
  int64_t bins;
};

} // namespace

/// The samples that each box has in a bin, as a float.
static Tensor sampleCounts(const Tensor &bin, int64_t ratio) {
  return ratio > 0 ? full_like(bin, double(ratio)) : ceil(bin);
}

/// Most samples of a bin along one axis.
static constexpr int64_t mostSamples = 1 << 16;

[[noreturn]] static void failOfSamples(const Composed &call, double wanted) {
  call.fail(ErrorKind::unsupported,
            fmt::format("{} samples along an axis of a bin: at most {}", wanted,
                        mostSamples));
}

/// As many samples as the largest box has in a bin.
static int64_t largestOf(const Composed &call, const Tensor &counts,
                         std::source_location line) {
  double most = counts.numel() == 0 ? 1 : amax(counts).item<double>(line);
  // Not a number, if one of them is not.
  if (!(most <= double(mostSamples)))
    failOfSamples(call, most);
  return std::max<int64_t>(int64_t(most), 1);
}

static AxisSamples samplesOf(const Composed &call, const Extent &extent,
                             const RoiAlignOptions &options,
                             std::source_location line) {
  double offset = options.aligned ? 0.5 : 0;
  Tensor begin = extent.begin * options.spatial_scale - offset;
  Tensor length = extent.end * options.spatial_scale - offset - begin;
  if (!options.aligned)
    length = maximum(length, 1.0);
  Tensor bin = length / double(extent.bins);
  AxisSamples samples;
  samples.bins = extent.bins;
  samples.most = options.sampling_ratio;
  samples.count = unsqueeze(sampleCounts(bin, options.sampling_ratio), 1);
  if (options.sampling_ratio <= 0)
    samples.most = largestOf(call, samples.count, line);
  Options integers{DType::i64, bin.device()};
  Dims shape{1, extent.bins, samples.most};
  Tensor number = iota(shape, 2, integers).to(bin.dtype());
  Tensor which = iota(shape, 1, integers).to(bin.dtype());
  Tensor count = unsqueeze(samples.count, 2);
  Tensor size = reshape(bin, {-1, 1, 1});
  Tensor place = reshape(begin, {-1, 1, 1}) + which * size +
                 (number + 0.5) * size / maximum(count, 1.0);
  Dims flat{-1, extent.bins * samples.most};
  samples.exists = reshape(broadcast(number < count, place.shape()), flat);
  place = reshape(place, flat);
  double last = double(extent.size - 1);
  Tensor isInside = logical_and(place >= -1.0, place <= last + 1);
  samples.weight = isInside.to(bin.dtype());
  place = clamp(where(isInside, place, zeros_like(place)), 0.0, last);
  Tensor below = floor(place);
  samples.share = place - below;
  samples.low = below.to(DType::i64);
  samples.high = clamp(below + 1.0, 0.0, last).to(DType::i64);
  return samples;
}

/// One of the four neighbours of all samples: [k, rows, columns, c], weighted.
static Tensor neighbours(const Tensor &elements, const Tensor &first,
                         const AxisSamples &rows, const AxisSamples &columns,
                         bool isLower, bool isRight) {
  Dim boxes = first.dim(0);
  int64_t down = rows.bins * rows.most, across = columns.bins * columns.most;
  Tensor row = unsqueeze(isLower ? rows.high : rows.low, 2);
  Tensor column = unsqueeze(isRight ? columns.high : columns.low, 1);
  Tensor places = broadcast(first + row + column, {boxes, down, across});
  Tensor found = index_select(elements, reshape(places, {-1}), 0);
  Tensor y = (isLower ? rows.share : 1.0 - rows.share) * rows.weight;
  Tensor x = (isRight ? columns.share : 1.0 - columns.share) * columns.weight;
  return reshape(found, {boxes, down, across, elements.dim(1)}) *
         unsqueeze(unsqueeze(y, 2) * unsqueeze(x, 1), 3);
}

/// [k, rows, columns, c] in bins.
static Tensor pooled(const Tensor &values, const AxisSamples &rows,
                     const AxisSamples &columns, RoiMode mode) {
  Dims shape{values.dim(0), rows.bins,    rows.most,
             columns.bins,  columns.most, values.dim(3)};
  Tensor exists = unsqueeze(
      logical_and(unsqueeze(rows.exists, 2), unsqueeze(columns.exists, 1)), 3);
  if (mode == RoiMode::mean) {
    Tensor none = zeros_like(values);
    Tensor sums =
        sum(reshape(sinter::where(exists, values, none), shape), Axes{2, 4});
    Tensor count = maximum(rows.count * columns.count, 1.0);
    return sums / reshape(count, {-1, 1, 1, 1});
  }
  Tensor none = full_like(values, -std::numeric_limits<double>::infinity());
  Tensor most =
      amax(reshape(sinter::where(exists, values, none), shape), Axes{2, 4});
  // A box without samples gives 0.
  return sinter::where(isinf(most), zeros_like(most), most);
}

static void checkRois(const Composed &call, const Tensor &boxes,
                      const Tensor &images, const RoiAlignOptions &options) {
  if (call.x.rank() != 4 || boxes.rank() != 2 || boxes.dim(1).value != 4 ||
      images.rank() != 1 || images.dim(0).value != boxes.dim(0).value ||
      !isFloat(call.x.dtype()) || boxes.dtype() != call.x.dtype() ||
      isFloat(images.dtype()))
    call.fail("expects floats [n, c, h, w], boxes [k, 4] of the same dtype and "
              "k numbers of images");
  if (options.size.isAll() || options.size.size() > 2 ||
      *options.size.begin() < 1 || *(options.size.end() - 1) < 1)
    call.fail("the size must be one or two numbers of bins");
  if (call.x.dim(2).value < 1 || call.x.dim(3).value < 1)
    call.fail("the images are empty");
  if (options.sampling_ratio > mostSamples)
    failOfSamples(call, double(options.sampling_ratio));
}

Tensor roi_align(const Arg &x, const Arg &boxes, const Arg &images,
                 const RoiAlignOptions &options) try {
  Composed call("roi_align", x);
  Tensor rois = asTensor(boxes), which = asTensor(images);
  checkRois(call, rois, which, options);
  DType wide = wideOf(call.x.dtype());
  rois = rois.detach().to(wide);
  call.x = detail::withKnownLength(call.x, 2, 2);
  int64_t height = call.x.dim(2).value, width = call.x.dim(3).value;
  auto side = [&](int64_t at) { return select(rois, 1, at); };
  AxisSamples rows =
      samplesOf(call, {side(1), side(3), height, *options.size.begin()},
                options, x.where);
  AxisSamples columns =
      samplesOf(call, {side(0), side(2), width, *(options.size.end() - 1)},
                options, x.where);
  rows.low = rows.low * width;
  rows.high = rows.high * width;
  Tensor first = reshape(which.to(DType::i64) * (height * width), {-1, 1, 1});
  Tensor elements =
      reshape(permute(call.x.to(wide), {0, 2, 3, 1}), {-1, call.x.dim(1)});
  Tensor values;
  for (bool isLower : {false, true})
    for (bool isRight : {false, true}) {
      Tensor part =
          neighbours(elements, first, rows, columns, isLower, isRight);
      if (!values.defined())
        values = part;
      else
        values = options.mode == RoiMode::mean ? values + part
                                               : maximum(values, part);
    }
  Tensor result = pooled(values, rows, columns, options.mode);
  return permute(result, {0, 3, 1, 2}).to(call.x.dtype());
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- deform_conv2d ------------------------------------------------------===//

namespace {

/// The sizes of one call.
struct Deformed {
  int64_t channels = 0, height = 0, width = 0;
  std::array<int64_t, 2> kernel{}, stride{}, dilation{}, low{}, high{}, space{};
  int64_t groups = 1, offsetGroups = 1;

  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t places() const { return space[0] * space[1]; }
};

} // namespace

static std::array<int64_t, 2> pairOf(const Composed &call, const Axes &list,
                                     const char *name, int64_t least) {
  if (list.isAll() || list.size() > 2)
    call.fail(fmt::format("{} must be one or two numbers", name));
  std::array<int64_t, 2> pair{*list.begin(), *(list.end() - 1)};
  // Products of two such numbers do not overflow.
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  if (std::min(pair[0], pair[1]) < least || std::max(pair[0], pair[1]) > most)
    call.fail(fmt::format("{} must be from {} to {}", name, least, most));
  return pair;
}

/// Four numbers are both sides; others are the same on both.
static void setPadding(const Composed &call, const Axes &padding,
                       Deformed &sizes) {
  if (padding.isAll() || padding.size() != 4) {
    sizes.low = sizes.high = pairOf(call, padding, "padding", 0);
    return;
  }
  const int64_t *at = padding.begin();
  sizes.low = pairOf(call, Axes{at[0], at[1]}, "padding", 0);
  sizes.high = pairOf(call, Axes{at[2], at[3]}, "padding", 0);
}

static Deformed sizesOf(const Composed &call, const Tensor &offset,
                        const Tensor &weight,
                        const DeformConvOptions &options) {
  const Tensor &x = call.x;
  if (x.rank() != 4 || offset.rank() != 4 || weight.rank() != 4 ||
      !isFloat(x.dtype()) || offset.dtype() != x.dtype() ||
      weight.dtype() != x.dtype())
    call.fail("expects floats [n, c, h, w], an offset and a weight of four "
              "axes of the same dtype");
  Deformed sizes;
  sizes.channels = x.dim(1).value;
  sizes.height = x.dim(2).value;
  sizes.width = x.dim(3).value;
  sizes.kernel = {weight.dim(2).value, weight.dim(3).value};
  sizes.stride = pairOf(call, options.stride, "stride", 1);
  sizes.dilation = pairOf(call, options.dilation, "dilation", 1);
  setPadding(call, options.padding, sizes);
  int64_t inGroup = weight.dim(1).value, both = 2 * sizes.taps();
  if (inGroup < 1 || sizes.channels % inGroup != 0 || both == 0 ||
      weight.dim(0).value % (sizes.channels / inGroup) != 0)
    call.fail(fmt::format("a weight of {} does not fit {} channels",
                          graph::typeString(*weight.node()), sizes.channels));
  sizes.groups = sizes.channels / inGroup;
  sizes.offsetGroups = offset.dim(1).value / both;
  if (sizes.offsetGroups < 1 || offset.dim(1).value % both != 0 ||
      sizes.channels % sizes.offsetGroups != 0)
    call.fail(fmt::format("an offset of {} channels does not fit a kernel of "
                          "{} x {}",
                          offset.dim(1).value, sizes.kernel[0],
                          sizes.kernel[1]));
  std::array<int64_t, 2> extent{sizes.height, sizes.width};
  for (size_t i = 0; i < 2; ++i) {
    int64_t reach = (sizes.kernel[i] - 1) * sizes.dilation[i] + 1;
    int64_t room = extent[i] + sizes.low[i] + sizes.high[i] - reach;
    sizes.space[i] = room < 0 ? 0 : room / sizes.stride[i] + 1;
    if (offset.dim(int64_t(i) + 2).value != sizes.space[i] ||
        sizes.space[i] < 1 || extent[i] < 1)
      call.fail(fmt::format("the offset has {} places along axis {}, the "
                            "result {}",
                            offset.dim(int64_t(i) + 2).value, i + 2,
                            sizes.space[i]));
  }
  if (offset.dim(0).value != x.dim(0).value)
    call.fail("the offset has another batch");
  return sizes;
}

/// Where one axis of the taps lies without an offset: [1, taps, places].
static Tensor regular(const Deformed &sizes, size_t axis, DType dtype,
                      DeviceId device) {
  std::vector<double> at;
  for (int64_t i = 0; i < sizes.kernel[0]; ++i)
    for (int64_t j = 0; j < sizes.kernel[1]; ++j)
      for (int64_t r = 0; r < sizes.space[0]; ++r)
        for (int64_t c = 0; c < sizes.space[1]; ++c)
          at.push_back(double((axis == 0 ? r : c) * sizes.stride[axis] -
                              sizes.low[axis] +
                              (axis == 0 ? i : j) * sizes.dilation[axis]));
  return detail::tableOf(at, {1, sizes.taps(), sizes.places()},
                         {dtype, device});
}

/// The elements of images [b, c, h * w] at whole places [b, taps, places], 0
/// outside.
static Tensor elementsAt(const Tensor &images, const Deformed &sizes,
                         const Tensor &row, const Tensor &column) {
  double down = double(sizes.height - 1), across = double(sizes.width - 1);
  Tensor isInside = logical_and(logical_and(row >= 0.0, row <= down),
                                logical_and(column >= 0.0, column <= across));
  Tensor place = clamp(row, 0.0, down).to(DType::i64) * sizes.width +
                 clamp(column, 0.0, across).to(DType::i64);
  int64_t count = sizes.taps() * sizes.places();
  Tensor flat = reshape(place, {-1, 1, Dim(count)});
  Tensor found = gather(
      images, broadcast(flat, {flat.dim(0), images.dim(1), Dim(count)}), 2);
  return found * reshape(isInside, flat.shape()).to(images.dtype());
}

/// What the taps take: [n * offset groups, c / offset groups, taps * places].
static Tensor columnsOf(const Tensor &x, const Tensor &offset,
                        const Deformed &sizes) {
  int64_t each = sizes.channels / sizes.offsetGroups;
  Tensor images = reshape(x, {-1, Dim(each), Dim(sizes.height * sizes.width)});
  Tensor moved = reshape(offset, {-1, sizes.taps(), 2, Dim(sizes.places())});
  Tensor row = select(moved, 2, 0) + regular(sizes, 0, x.dtype(), x.device());
  Tensor column =
      select(moved, 2, 1) + regular(sizes, 1, x.dtype(), x.device());
  Tensor top = floor(row).detach(), left = floor(column).detach();
  Tensor down = row - top, across = column - left;
  Tensor columns;
  for (bool isLower : {false, true})
    for (bool isRight : {false, true}) {
      Tensor weight =
          (isLower ? down : 1.0 - down) * (isRight ? across : 1.0 - across);
      Tensor found = elementsAt(images, sizes, isLower ? top + 1.0 : top,
                                isRight ? left + 1.0 : left);
      Tensor part =
          found * reshape(weight, {-1, 1, Dim(sizes.taps() * sizes.places())});
      columns = columns.defined() ? columns + part : part;
    }
  return columns;
}

Tensor deform_conv2d(const Arg &x, const Arg &offset, const Arg &weight,
                     const DeformConvOptions &options) try {
  Composed call("deform_conv2d", x);
  Tensor moves = asTensor(offset), kernel = asTensor(weight);
  if (call.x.rank() == 4) // else an error
    call.x = detail::withKnownLength(call.x, 1, 3);
  Deformed sizes = sizesOf(call, moves, kernel, options);
  DType dtype = call.x.dtype(), wide = wideOf(dtype);
  Tensor columns = columnsOf(call.x.to(wide), moves.to(wide), sizes);
  if (options.mask) {
    Dims wanted{call.x.dim(0), sizes.offsetGroups * sizes.taps(),
                sizes.space[0], sizes.space[1]};
    if (!detail::sameValues(options.mask->shape(), wanted) ||
        options.mask->dtype() != dtype)
      call.fail("the mask is " + graph::typeString(*options.mask->node()));
    columns = columns * reshape(options.mask->to(wide),
                                {-1, 1, Dim(sizes.taps() * sizes.places())});
  }
  Dim batch = call.x.dim(0);
  int64_t outputs = kernel.dim(0).value;
  int64_t depth = sizes.channels / sizes.groups * sizes.taps();
  columns = reshape(
      columns, {batch, Dim(sizes.groups), Dim(depth), Dim(sizes.places())});
  Tensor rows =
      reshape(kernel.to(wide),
              {1, Dim(sizes.groups), Dim(outputs / sizes.groups), Dim(depth)});
  Tensor y =
      reshape(matmul(rows, columns),
              {batch, Dim(outputs), Dim(sizes.space[0]), Dim(sizes.space[1])});
  if (options.bias) {
    if (options.bias->rank() != 1 || options.bias->dim(0).value != outputs)
      call.fail("the bias is " + graph::typeString(*options.bias->node()));
    y = y + reshape(options.bias->to(wide), {1, Dim(outputs), 1, 1});
  }
  return y.to(dtype);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter

/// Suppression as ops: where a function is recorded for a file.
#include "frontend/CountedRows.h"
#include "frontend/Suppression.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Scan.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <array>
#include <utility>

namespace sinter::detail {

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
  Tensor found = nonzero(isKept); // of list and place in it
  Tensor list = select(found, 1, 0), place = select(found, 1, 1);
  Tensor count = sizeTensor(classes, boxes.device());
  Tensor box = gather(reshape(order, {-1}),
                      list * sizeTensor(n, boxes.device()) + place, 0);
  return stack({floor_divide(list, count), remainder(list, count), box}, 1);
}

} // namespace sinter::detail

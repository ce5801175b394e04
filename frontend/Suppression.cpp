/// Greedy suppression of boxes that overlap.
#include "frontend/Suppression.h"

#include <algorithm>
#include <cmath>

namespace sinter::detail {

namespace {

template <typename T> struct Box {
  T left, top, right, bottom;

  T area() const { return (right - left) * (bottom - top); }
};

/// Corners in any order, or a centre and a size.
template <typename T>
Box<T> boxAt(std::span<const T> boxes, int64_t i, bool c) {
  const T *b = boxes.data() + 4 * i;
  if (c)
    return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]),
          std::max(b[1], b[3])};
}

/// Boxes without an area overlap nothing.
template <typename T> bool overlap(const Box<T> &a, const Box<T> &b, T most) {
  T width = std::min(a.right, b.right) - std::max(a.left, b.left);
  T height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0))
    return false;
  T common = width * height;
  T all = a.area() + b.area() - common;
  return all > 0 && common / all > most;
}

} // namespace

/// By score, then by place; NaN counts as the largest, as in `sort`.
template <typename T>
static std::vector<int64_t> candidates(std::span<const T> scores,
                                       const Suppression &suppression) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!suppression.scoreThreshold ||
        scores[i] > T(*suppression.scoreThreshold))
      order.push_back(int64_t(i));
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    T left = scores[size_t(a)], right = scores[size_t(b)];
    return left > right || (std::isnan(left) && !std::isnan(right));
  });
  return order;
}

template <typename T>
std::vector<int64_t> keptBoxes(std::span<const T> boxes,
                               std::span<const T> scores,
                               const Suppression &suppression) {
  std::vector<int64_t> kept;
  std::vector<Box<T>> keptShapes;
  for (int64_t i : candidates(scores, suppression)) {
    if (int64_t(kept.size()) >= suppression.most)
      break;
    Box<T> box = boxAt(boxes, i, suppression.areCentred);
    bool isHidden = std::ranges::any_of(keptShapes, [&](const Box<T> &other) {
      return overlap(box, other, T(suppression.iouThreshold));
    });
    if (isHidden)
      continue;
    kept.push_back(i);
    keptShapes.push_back(box);
  }
  return kept;
}

template std::vector<int64_t> keptBoxes<float>(std::span<const float>,
                                               std::span<const float>,
                                               const Suppression &);
template std::vector<int64_t> keptBoxes<double>(std::span<const double>,
                                                std::span<const double>,
                                                const Suppression &);

} // namespace sinter::detail

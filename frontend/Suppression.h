/// Suppression: which of many boxes are left.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sinter::detail {

struct Suppression {
  double iouThreshold = 0;
  /// Boxes of no higher score are left out.
  std::optional<double> scoreThreshold = {};
  int64_t most = INT64_MAX; ///< that are kept
  /// Boxes are (x centre, y centre, width, height), not two corners.
  bool areCentred = false;
};

/// On the host: positions of the boxes (four numbers each) that are kept, the
/// one of the highest score first; one for each score. Areas are computed in T.
template <typename T>
std::vector<int64_t> keptBoxes(std::span<const T> boxes,
                               std::span<const T> scores,
                               const Suppression &suppression);

/// The same as ops, while counts stay open (CountedRows.h), of boxes
/// [images, n, 4] and scores [images, classes, n]: (image, class, box) of each
/// that is kept, one after the other.
Tensor recordedKeptBoxes(const Tensor &boxes, const Tensor &scores,
                         const Suppression &suppression);

} // namespace sinter::detail

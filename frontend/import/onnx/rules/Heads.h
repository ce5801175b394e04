/// Heads: what attention of several domains shares.
#pragma once

#include "frontend/import/onnx/rules/Rules.h"

namespace sinter::onnx {

/// [batch, length, heads * width] as [batch, heads, length, width], and back.
Tensor apart(Call &call, const Tensor &x, int64_t heads);
Tensor together(const Tensor &x);

/// Of shared heads (axis 1) one for each of the query's.
Tensor shared(Call &call, const Tensor &x, const Tensor &query);

/// Angles of positions.
struct Rotation {
  Tensor cosines, sines; ///< [positions, width / 2], or of each position
  Tensor positions;      ///< [batch, length] i64; empty: the caches are theirs
  int64_t width = 0;     ///< of each head that is turned; 0: all
  bool isInterleaved = false;
};
/// x[batch, heads, length, size] with the first elements of each head turned by
/// the angles of its position.
Tensor rotated(Call &call, const Tensor &x, const Rotation &rotation);

} // namespace sinter::onnx

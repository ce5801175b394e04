/// WarpgroupLayout: what fits in a block, and what a launch can say of maps.
#include "compiler/target/cuda/WarpgroupLayout.h"

using namespace mlir;

namespace sinter::compiler {

// Copies start at multiples of 16 bytes (CUDA Driver API,
// cuTensorMapEncodeTiled), and have at most five axes.
static constexpr int64_t alignedElements = 8;
static constexpr size_t mostAxes = 5;

WarpgroupLayout::WarpgroupLayout(const BlockUnit::Tile &tile, int64_t pieces,
                                 const MachineModel &machine)
    : consumers(tile.rows / rows), columns(tile.columns), blocks(tile.blocks),
      pieces(pieces), leftBytes(consumers * boxBytes),
      rightBytes(std::max(columns, boxColumns) * depth * 2),
      stageBytes(pieces * (leftBytes + rightBytes)) {
  int64_t out = consumers * boxesOut * boxBytes, most = 16;
  int64_t all = machine.sharedBytesOf(blocks) - out;
  stages = std::min(most, all / (stageBytes + 16));
}

static std::optional<runtime::LaunchNumber> launchNumber(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return runtime::LaunchNumber{number.getValue(), {}};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return runtime::LaunchNumber{1, {symbol.getPosition()}};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto a = launchNumber(binary.getLHS()), b = launchNumber(binary.getRHS());
  if (!a || !b)
    return std::nullopt;
  a->factor *= b->factor;
  llvm::append_range(a->dims, b->dims);
  return a;
}

std::optional<runtime::TensorMap> mapOf(const BlockUnit::Matrix &matrix,
                                        Type element, int64_t inner,
                                        int64_t outer) {
  runtime::TensorMap map;
  map.buffer = matrix.buffer;
  map.element = element.isF16() ? DType::f16 : DType::bf16;
  auto offset = launchNumber(matrix.offset);
  if (!offset)
    return std::nullopt;
  map.offset = *offset;
  for (auto [extent, stride] : llvm::zip(matrix.extents, matrix.strides)) {
    auto size = launchNumber(extent), step = launchNumber(stride);
    if (!size || !step)
      return std::nullopt;
    map.extents.push_back(*size);
    map.strides.push_back(*step);
    map.box.push_back(1);
  }
  map.box[0] = uint32_t(inner);
  map.box[1] = uint32_t(outer);
  for (const BlockUnit::WindowAxis &axis : matrix.windows)
    map.windows.push_back(
        {int32_t(axis.low), int32_t(axis.high), uint32_t(axis.stride)});
  return map;
}

static bool isAligned(AffineExpr elements) {
  auto number = dyn_cast<AffineConstantExpr>(elements);
  return (number && number.getValue() == 0) ||
         elements.getLargestKnownDivisor() % alignedElements == 0;
}

// Channels of a place fill boxes or, along k, at least half of them. Sums of
// pieces may be taken once more, one element of k after the other.
static bool fitsBoxes(const BlockUnit::Matrix &image, int64_t channels) {
  int64_t boxes = WarpgroupLayout::depthOfPlace(channels);
  bool isHalf = image.alongDepth && image.pieces == 1 && 2 * channels >= boxes;
  return channels > 0 && (boxes == channels || isHalf);
}

// What a map can say of windows, and what a box' channels can be counted by
// (CUDA Driver API, cuTensorMapEncodeIm2col; PTX ISA, cp.async.bulk.tensor).
static bool fitsImage(const BlockUnit::Matrix &matrix) {
  size_t axes = matrix.windows.size();
  if (axes < 1 || axes > 3)
    return false;
  constexpr int64_t corners[] = {1 << 15, 1 << 7, 1 << 4};
  int64_t most = corners[axes - 1];
  auto channels = dyn_cast<AffineConstantExpr>(matrix.extents.front());
  return channels && fitsBoxes(matrix, channels.getValue()) &&
         llvm::all_of(matrix.windows, [&](const BlockUnit::WindowAxis &axis) {
           return axis.low >= -most && axis.low < most && axis.high >= -most &&
                  axis.high < most && axis.stride <= 8 &&
                  (axis.size - 1) * axis.dilation < 2 * most;
         });
}

bool fitsMap(const BlockUnit::Matrix &matrix, Type element) {
  auto isNothing = [](AffineExpr stride) {
    auto number = dyn_cast<AffineConstantExpr>(stride);
    return number && number.getValue() == 0;
  };
  return matrix.extents.size() <= mostAxes && isAligned(matrix.offset) &&
         (matrix.windows.empty() || fitsImage(matrix)) &&
         llvm::all_of(ArrayRef(matrix.strides).drop_front(),
                      [&](AffineExpr stride) {
                        return isAligned(stride) && !isNothing(stride);
                      }) &&
         mapOf(matrix, element, 1, 1);
}

} // namespace sinter::compiler

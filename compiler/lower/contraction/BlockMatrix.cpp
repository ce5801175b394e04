#include "compiler/lower/contraction/BlockMatrix.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

using namespace mlir;

namespace sinter::compiler {

std::optional<BlockUnit::Matrix> matrixOf(const StridedView &view,
                                          const Shape &shape) {
  unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  bool alongRows = constantOf(view.strides[column]) == 1;
  if (!alongRows && constantOf(view.strides[row]) != 1)
    return std::nullopt;
  BlockUnit::Matrix matrix;
  matrix.buffer = view.input;
  matrix.offset = view.offset;
  auto addAxis = [&](unsigned axis) {
    matrix.extents.push_back(shape[axis]);
    matrix.strides.push_back(view.strides[axis]);
  };
  addAxis(alongRows ? column : row);
  addAxis(alongRows ? row : column);
  for (unsigned axis = row; axis-- > 0;)
    if (!isOne(shape[axis]) && constantOf(view.strides[axis]) != 0) {
      addAxis(axis);
      matrix.batches.push_back(axis);
    }
  return matrix;
}

static bool isZero(TypedAttr number) {
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValue().isPosZero();
  return cast<IntegerAttr>(number).getValue().isZero();
}

// Windows over a padded image: what they stand on, and where they begin in it.
static std::optional<Value> imageUnder(Value padded, Value leaf,
                                       SmallVector<int64_t> &low) {
  low.assign(shapeOf(padded).size(), 0);
  auto map = ir::viewMapOf(padded);
  if (!map || !map->pads() || padded == leaf)
    return padded;
  if (!isZero(map->fill))
    return std::nullopt;
  for (auto [begin, axis] : llvm::zip(low, map->part().axes)) {
    auto start = dyn_cast<AffineConstantExpr>(axis.start);
    if (!start || axis.spacing != 1)
      return std::nullopt;
    begin = -start.getValue();
  }
  return map->part().operand;
}

// The dims of more than one element of what `value` transposes, outermost
// first; `value` becomes that. Dims of one element may come and go between.
static SmallVector<unsigned> orderBehind(Value &value) {
  auto longDims = [](Value tensor) {
    SmallVector<unsigned> dims;
    for (auto [dim, extent] : llvm::enumerate(shapeOf(tensor)))
      if (!isOne(extent))
        dims.push_back(unsigned(dim));
    return dims;
  };
  auto order = longDims(value);
  while (Operation *op = value.getDefiningOp()) {
    if (auto permuted = ir::permutedOperand(value)) {
      for (unsigned &dim : order)
        dim = unsigned(permuted->permutation[dim]);
    } else if (ir::keepsLinearOrder(op)) {
      auto before = longDims(op->getOperand(0)), after = longDims(value);
      auto extents = [](Value tensor, ArrayRef<unsigned> dims) {
        Shape shape;
        for (unsigned dim : dims)
          shape.push_back(shapeOf(tensor)[dim]);
        return shape;
      };
      if (extents(op->getOperand(0), before) != extents(value, after))
        break;
      for (unsigned &dim : order)
        dim = before[llvm::find(after, dim) - after.begin()];
    } else {
      break;
    }
    value = op->getOperand(0);
  }
  return order;
}

// Two axes of the matrix, each made of some dims of what is reshaped to it: one
// of images and positions, the other of places under a window and channels.
static std::optional<bool> countsWindows(ArrayRef<unsigned> order,
                                         const Shape &shape,
                                         ArrayRef<ir::ViewWindow> windows,
                                         unsigned batch, unsigned channels) {
  SmallVector<unsigned> positions{batch}, elements;
  for (const ir::ViewWindow &window : windows) {
    positions.push_back(window.axis);
    elements.push_back(window.element);
  }
  elements.push_back(channels);
  auto isIn = [&](ArrayRef<unsigned> first, ArrayRef<unsigned> second) {
    SmallVector<unsigned> expected(first);
    llvm::append_range(expected, second);
    llvm::erase_if(expected, [&](unsigned dim) { return isOne(shape[dim]); });
    return order == ArrayRef<unsigned>(expected);
  };
  if (isIn(positions, elements))
    return true;
  if (isIn(elements, positions))
    return false;
  return std::nullopt;
}

std::optional<BlockUnit::Matrix> windowsOf(Value operand, unsigned depth,
                                           Value leaf, AffineExpr pitch) {
  Value inner = ir::reshapedOperand(operand);
  if (!inner || shapeOf(operand).size() != 2)
    return std::nullopt;
  SmallVector<unsigned> order = orderBehind(inner);
  auto map = ir::viewMapOf(inner);
  if (!map || !map->takesWindows())
    return std::nullopt;
  auto slid = map->windows();
  Value under = map->part().operand;
  SmallVector<int64_t> low;
  auto image = imageUnder(under, leaf, low);
  auto view = image ? stridedView(*image, leaf, pitch) : std::nullopt;
  unsigned rank = low.size();
  if (!view || slid.size() + 2 != rank)
    return std::nullopt;
  // Channels are neighbours; the axis that is left is that of images.
  unsigned batch = rank, channels = rank;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (map->part().axes[dim].terms.size() == 1)
      (constantOf(view->strides[dim]) == 1 ? channels : batch) = dim;
  if (batch == rank || channels == rank)
    return std::nullopt;
  Shape shape = shapeOf(inner), extents = shapeOf(*image);
  Shape padded = shapeOf(under);
  auto rowsAreWindows = countsWindows(order, shape, slid, batch, channels);
  bool isWhole = rowsAreWindows && padded[batch] == extents[batch] &&
                 padded[channels] == extents[channels];
  AffineExpr windows = shape[batch];
  for (const ir::ViewWindow &window : slid)
    windows = windows * shape[window.axis];
  if (!isWhole || shapeOf(operand)[*rowsAreWindows ? 0 : 1] != windows)
    return std::nullopt;

  BlockUnit::Matrix matrix;
  matrix.buffer = view->input;
  matrix.offset = view->offset;
  matrix.alongDepth = depth == (*rowsAreWindows ? 1u : 0u);
  auto addAxis = [&](unsigned dim) {
    matrix.extents.push_back(extents[dim]);
    matrix.strides.push_back(view->strides[dim]);
  };
  addAxis(channels);
  for (const ir::ViewWindow &window : llvm::reverse(slid)) {
    unsigned dim = window.axis;
    addAxis(dim);
    BlockUnit::WindowAxis axis;
    axis.stride = window.stride;
    axis.dilation = window.dilation;
    axis.size = window.size;
    axis.positions = constantOf(shape[dim]);
    int64_t all = constantOf(padded[dim]), own = constantOf(extents[dim]);
    if (axis.positions <= 0 || all < 0 || own < 0)
      return std::nullopt;
    axis.low = -low[dim];
    axis.high = all - low[dim] - own - (axis.size - 1) * axis.dilation;
    matrix.windows.push_back(axis);
  }
  addAxis(batch);
  return matrix;
}

std::optional<BlockUnit::Matrix> denseMatrix(unsigned buffer,
                                             const Shape &shape) {
  MLIRContext *context = shape.front().getContext();
  StridedView view{buffer, getAffineConstantExpr(0, context), {}};
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    view.strides.push_back(product(shape, dim + 1, shape.size(), context));
  return matrixOf(view, shape);
}

} // namespace sinter::compiler

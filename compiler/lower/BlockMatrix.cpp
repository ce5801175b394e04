#include "compiler/lower/BlockMatrix.h"

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

std::optional<BlockUnit::Matrix> denseMatrix(unsigned buffer,
                                             const Shape &shape) {
  MLIRContext *context = shape.front().getContext();
  StridedView view{buffer, getAffineConstantExpr(0, context), {}};
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    view.strides.push_back(product(shape, dim + 1, shape.size(), context));
  return matrixOf(view, shape);
}

} // namespace sinter::compiler

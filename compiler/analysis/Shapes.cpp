/// Shapes and element types.
#include "compiler/analysis/Shapes.h"

#include "dialects/sinter/Types.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace sinter::compiler {

Shape shapeOf(Type tensorType) {
  auto tensor = cast<RankedTensorType>(tensorType);
  if (auto map = dyn_cast_or_null<AffineMapAttr>(tensor.getEncoding()))
    return Shape(map.getValue().getResults());
  Shape shape;
  for (int64_t extent : tensor.getShape())
    shape.push_back(getAffineConstantExpr(extent, tensor.getContext()));
  return shape;
}

AffineExpr product(const Shape &shape, unsigned first, unsigned last,
                   MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(1, context);
  for (unsigned dim = first; dim < last; ++dim)
    result = result * shape[dim];
  return result;
}

int64_t constantOf(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant ? constant.getValue() : -1;
}

Type valueType(Type element) { return ir::scalarType(element); }

Type memoryType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isF16() || element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return valueType(element);
}

Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

} // namespace sinter::compiler

/// Windows that do not overlap, summed where they were taken from, are their
/// elements in another order: no window has to be searched for a place.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"
#include "sinter/generated/classes/Windows.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class WindowLayer {
public:
  WindowLayer(ir::SumOp sum, ir::UnwindowOp unwindow, OpBuilder &builder)
      : sum(sum), unwindow(unwindow), builder(builder),
        dims(dimsOf(unwindow.getX().getType())), image(dimsOf(sum.getType())) {}

  bool applies();
  Value run();

private:
  void fillGaps();
  void orderByImage();
  void fitImage();
  Value addZero();

  void pad(ArrayRef<AffineExpr> shape);
  Type typeOf(ArrayRef<AffineExpr> shape) {
    return tensorType(sum.getType().getElementType(), shape,
                      numSymbolsOf(unwindow));
  }
  AffineMapAttr attrOf(ArrayRef<AffineExpr> shape) {
    return shapeAttr(builder.getContext(), shape, numSymbolsOf(unwindow));
  }
  AffineExpr number(int64_t value) {
    return builder.getAffineConstantExpr(value);
  }

  ir::SumOp sum;
  ir::UnwindowOp unwindow;
  OpBuilder &builder;
  Value value;
  SmallVector<AffineExpr> dims, image; // of value; of the result
};

} // namespace

bool WindowLayer::applies() {
  if (sum.getKeepdims() ||
      sum.getType().getElementType() != unwindow.getType().getElementType() ||
      sum.getAxes().size() != unwindow.getAxes().size())
    return false;
  for (int64_t axis : sum.getAxes())
    if (axis < int64_t(image.size()))
      return false;
  for (auto [axis, size, stride, dilation] :
       llvm::zip(unwindow.getAxes(), unwindow.getSizes(), unwindow.getStrides(),
                 unwindow.getDilations())) {
    auto positions = dyn_cast<AffineConstantExpr>(dims[axis]);
    if (!positions || positions.getValue() == 0 ||
        !isa<AffineConstantExpr>(image[axis]) || stride < size ||
        (dilation != 1 && size != 1))
      return false;
  }
  return true;
}

Value WindowLayer::run() {
  value = unwindow.getX();
  fillGaps();
  orderByImage();
  fitImage();
  return addZero();
}

void WindowLayer::pad(ArrayRef<AffineExpr> shape) {
  if (dims == shape)
    return;
  SmallVector<int64_t> zeros(dims.size(), 0);
  value = ir::PadOp::create(builder, sum.getLoc(), typeOf(shape), value,
                            builder.getDenseI64ArrayAttr(zeros), attrOf(shape),
                            builder.getDenseI64ArrayAttr(zeros),
                            builder.getI64IntegerAttr(0));
  dims.assign(shape.begin(), shape.end());
}

// Each window is as long as the way to the next one.
void WindowLayer::fillGaps() {
  SmallVector<AffineExpr> filled = dims;
  for (auto [j, stride] : llvm::enumerate(unwindow.getStrides()))
    filled[image.size() + j] = number(stride);
  pad(filled);
}

// A window's elements stand beside its position, and both are one axis.
void WindowLayer::orderByImage() {
  SmallVector<int64_t> order;
  SmallVector<AffineExpr> ordered, joined;
  for (size_t axis = 0; axis < image.size(); ++axis) {
    order.push_back(int64_t(axis));
    joined.push_back(dims[axis]);
    for (auto [j, of] : llvm::enumerate(unwindow.getAxes()))
      if (of == int64_t(axis)) {
        order.push_back(int64_t(image.size() + j));
        joined.back() = joined.back() * dims[image.size() + j];
      }
  }
  for (int64_t axis : order)
    ordered.push_back(dims[axis]);
  auto transpose =
      ir::TransposeOp::create(builder, sum.getLoc(), typeOf(ordered), value,
                              builder.getDenseI64ArrayAttr(order));
  Value composed = simplifyView(transpose, builder);
  value = ir::ReshapeOp::create(builder, sum.getLoc(), typeOf(joined),
                                composed ? composed : transpose.getResult(),
                                attrOf(joined));
  dims = joined;
}

// What no window reaches is 0; behind the image only a gap's zeros stand.
void WindowLayer::fitImage() {
  SmallVector<AffineExpr> cut, shape;
  for (auto [own, wanted] : llvm::zip(dims, image)) {
    auto size = dyn_cast<AffineConstantExpr>(own);
    auto limit = dyn_cast<AffineConstantExpr>(wanted);
    bool isLonger = size && limit && size.getValue() > limit.getValue();
    cut.push_back(isLonger ? wanted : own);
  }
  if (ArrayRef(cut) != ArrayRef(dims)) {
    SmallVector<int64_t> zeros(dims.size(), 0), ones(dims.size(), 1);
    value =
        ir::SliceOp::create(builder, sum.getLoc(), typeOf(cut), value,
                            builder.getDenseI64ArrayAttr(zeros), attrOf(cut),
                            builder.getDenseI64ArrayAttr(ones));
    dims = cut;
  }
  pad(image);
}

// A sum starts with 0, so that one of -0 is 0.
Value WindowLayer::addZero() {
  Type element = sum.getType().getElementType();
  if (!isa<FloatType>(element))
    return value;
  Value zero =
      ir::FullOp::create(builder, sum.getLoc(), sum.getType(), attrOf(image),
                         builder.getF64FloatAttr(0), TypeAttr::get(element));
  return ir::AddOp::create(builder, sum.getLoc(), sum.getType(), value, zero);
}

Value layWindows(Operation *op, OpBuilder &builder) {
  auto sum = dyn_cast<ir::SumOp>(op);
  auto unwindow =
      sum ? sum.getX().getDefiningOp<ir::UnwindowOp>() : ir::UnwindowOp();
  if (!unwindow)
    return {};
  WindowLayer layer(sum, unwindow, builder);
  return layer.applies() ? layer.run() : Value();
}

} // namespace sinter::compiler

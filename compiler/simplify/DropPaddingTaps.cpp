/// Convolutions without the taps that read nothing but padding.
#include "compiler/Passes.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Reorder.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_DROPPADDINGTAPS
#include "sinter/generated/Passes.h.inc"

namespace {

using Dims = SmallVector<AffineExpr>;
using Ints = SmallVector<int64_t>;

/// One axis of space: windows of `size` taps, `dilation` apart.
struct Axis {
  int64_t size, stride, dilation, low, high;
  int64_t extent, positions; ///< of the image; of the windows

  /// Whether some window's tap stands on the image.
  bool reads(int64_t tap) const {
    int64_t offset = tap * dilation - low;
    int64_t first = offset < 0 ? (-offset + stride - 1) / stride : 0;
    return first < positions && first * stride + offset < extent;
  }
};

/// An op over windows of an image whose taps are factors of sums.
class TapDropper {
public:
  TapDropper(ir::ImageOpInterface image, OpBuilder &builder)
      : op(image.getOperation()), builder(builder),
        roles(image.getImageRoles()), isChannelsLast(image.isChannelsLast()) {}

  /// Whether an axis has taps that read nothing, and others.
  bool applies();
  Value run();

private:
  Ints list(StringRef name) const {
    return Ints(op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef());
  }
  /// The operand or the result that has the role.
  Value valueOf(ir::ImageRole role) const;
  std::optional<int64_t> extentOf(ir::ImageRole role, size_t axis) const;
  unsigned placeOf(ir::ImageRole role, size_t axis) const {
    bool isFirst = role != ir::ImageRole::weight && isChannelsLast;
    return unsigned(axis) + (isFirst ? 1 : 2);
  }
  bool narrow(size_t axis);
  Type typeOf(Value like, ArrayRef<AffineExpr> dims) const {
    return tensorType(getElementTypeOrSelf(like.getType()), dims,
                      numSymbolsOf(op));
  }
  AffineMapAttr shapeOf(ArrayRef<AffineExpr> dims) const {
    return shapeAttr(builder.getContext(), dims, numSymbolsOf(op));
  }
  /// A part of what has the role: from where on, and of which dims.
  std::pair<Ints, Dims> partOf(ir::ImageRole role) const;
  Value operandOf(Value whole, ir::ImageRole role) const;

  Operation *op;
  OpBuilder &builder;
  ArrayRef<ir::ImageRole> roles;
  bool isChannelsLast;
  Ints sizes, low, high;
  Ints firstTaps;       ///< by axis
  Ints cutLow, cutHigh; ///< of the image, what no window reads at its ends
};

} // namespace

Value TapDropper::valueOf(ir::ImageRole role) const {
  auto place = size_t(llvm::find(roles, role) - roles.begin());
  return place < op->getNumOperands() ? op->getOperand(unsigned(place))
                                      : op->getResult(0);
}

std::optional<int64_t> TapDropper::extentOf(ir::ImageRole role,
                                            size_t axis) const {
  AffineExpr dim = dimsOf(valueOf(role).getType())[placeOf(role, axis)];
  auto number = dyn_cast<AffineConstantExpr>(dim);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

// Taps between two that read something stay, which strides may leave unread.
bool TapDropper::narrow(size_t axis) {
  auto extent = extentOf(ir::ImageRole::image, axis),
       positions = extentOf(ir::ImageRole::positions, axis);
  if (!extent || !positions)
    return false;
  Axis own{sizes[axis],
           list("strides")[axis],
           list("dilations")[axis],
           low[axis],
           high[axis],
           *extent,
           *positions};
  int64_t first = 0, last = own.size - 1;
  while (first <= last && !own.reads(first))
    ++first;
  while (last > first && !own.reads(last))
    --last;
  if (first > last || last - first + 1 == own.size)
    return false;
  firstTaps[axis] = first;
  sizes[axis] = last - first + 1;
  int64_t before = own.low - first * own.dilation;
  int64_t after = own.high - (own.size - 1 - last) * own.dilation;
  low[axis] = std::max<int64_t>(before, 0);
  high[axis] = std::max<int64_t>(after, 0);
  cutLow[axis] = std::max<int64_t>(-before, 0);
  cutHigh[axis] = std::max<int64_t>(-after, 0);
  return true;
}

bool TapDropper::applies() {
  sizes = list("sizes");
  low = list("low");
  high = list("high");
  firstTaps = cutLow = cutHigh = Ints(sizes.size(), 0);
  bool isNarrower = false;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    isNarrower |= narrow(axis);
  return isNarrower;
}

std::pair<Ints, Dims> TapDropper::partOf(ir::ImageRole role) const {
  Dims dims = dimsOf(valueOf(role).getType());
  Ints starts(dims.size(), 0);
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    unsigned place = placeOf(role, axis);
    if (role == ir::ImageRole::weight) {
      starts[place] = firstTaps[axis];
      dims[place] = builder.getAffineConstantExpr(sizes[axis]);
    } else if (role == ir::ImageRole::image) {
      starts[place] = cutLow[axis];
      dims[place] = dims[place] - (cutLow[axis] + cutHigh[axis]);
    }
  }
  return {starts, dims};
}

Value TapDropper::operandOf(Value whole, ir::ImageRole role) const {
  auto [starts, dims] = partOf(role);
  if (dims == dimsOf(whole.getType()))
    return whole;
  Dims limits;
  for (auto [start, dim] : llvm::zip(starts, dims))
    limits.push_back(dim + start);
  Ints steps(dims.size(), 1);
  return ir::SliceOp::create(builder, op->getLoc(), typeOf(whole, dims), whole,
                             builder.getDenseI64ArrayAttr(starts),
                             shapeOf(limits),
                             builder.getDenseI64ArrayAttr(steps));
}

Value TapDropper::run() {
  OperationState state(op->getLoc(), op->getName());
  for (auto [operand, role] : llvm::zip(op->getOperands(), roles))
    state.addOperands(operandOf(operand, role));
  Value whole = op->getResult(0);
  ir::ImageRole role = roles[op->getNumOperands()];
  auto [starts, dims] = partOf(role);
  state.addTypes(typeOf(whole, dims));
  NamedAttrList attrs(op->getAttrs());
  attrs.set("sizes", builder.getDenseI64ArrayAttr(sizes));
  attrs.set("low", builder.getDenseI64ArrayAttr(low));
  attrs.set("high", builder.getDenseI64ArrayAttr(high));
  if (attrs.get("space"))
    attrs.set("space",
              shapeOf(ArrayRef(dims).slice(placeOf(role, 0), sizes.size())));
  state.addAttributes(attrs.getAttrs());
  Value made = builder.create(state)->getResult(0);
  if (made.getType() == whole.getType())
    return made;
  // What no tap reaches is 0.
  Ints zeros(dims.size(), 0);
  return ir::PadOp::create(
      builder, op->getLoc(), whole.getType(), made,
      builder.getDenseI64ArrayAttr(starts), shapeAttr(whole.getType()),
      builder.getDenseI64ArrayAttr(zeros), builder.getI64IntegerAttr(0));
}

namespace {

struct DropPaddingTapsPass : impl::DropPaddingTapsBase<DropPaddingTapsPass> {
  using Base::Base;
  void runOnOperation() override {
    Block &block = mainOf(getOperation()).getBody().front();
    OpBuilder builder(&getContext());
    for (Operation &op :
         llvm::make_early_inc_range(block.without_terminator())) {
      auto image = dyn_cast<ir::ImageOpInterface>(&op);
      if (!image || !image.isProduct())
        continue;
      builder.setInsertionPoint(&op);
      TapDropper dropper(image, builder);
      if (!dropper.applies())
        continue;
      op.getResult(0).replaceAllUsesWith(dropper.run());
      op.erase();
    }
  }
};

} // namespace

} // namespace sinter::compiler

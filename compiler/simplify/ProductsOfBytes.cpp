/// Products of what stands for bytes: of the bytes themselves.
#include "compiler/Passes.h"
#include "compiler/analysis/Access.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/AxisParts.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Contraction.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>
#include <optional>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_PRODUCTSOFBYTES
#include "sinter/generated/Passes.h.inc"

namespace {

using DimList = SmallVector<AffineExpr>;

// For fewer rows a product takes each element as it reads it.
constexpr int64_t fewRows = 8;
// A byte less a byte, whether they have a sign or not.
constexpr int64_t mostOfByte = 255;

/// A value behind views, of which there are some more behind it.
struct Behind {
  Value value;
  size_t views = 0; ///< how many stand in front of it
};

/// A factor of a product: (codes - zero) * scale, seen through views.
struct Factor {
  SmallVector<Operation *> views; ///< the outermost first
  Behind codes;                   ///< bytes
  Behind integers;                ///< codes - zero
  Behind zero, scale;             ///< or null
};

} // namespace

static bool isOfFloats(Value value) {
  return elementOf(value).isF32() || elementOf(value).isF64();
}

// What the value is converted from; null where that is no integer.
static Value integerBehind(Value value) {
  auto conversion = value.getDefiningOp<ir::CastOp>();
  bool isInteger = conversion && isa<IntegerType>(elementOf(conversion.getX()));
  return isInteger ? conversion.getX() : Value();
}

static bool isZero(Attribute number) {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getValue().isZero();
  return cast<FloatAttr>(number).getValue().isZero();
}

// The view whose elements are those of its one operand, or zeros.
static Operation *viewOf(Value value) {
  auto map = ir::viewMapOf(value);
  if (!map)
    return nullptr;
  bool isPlain = map->pads() ? isZero(map->fill) : map->isFixed();
  return isPlain ? value.getDefiningOp() : nullptr;
}

static bool isPad(Operation *view) {
  auto map = ir::viewMapOf(view);
  return map && map->pads();
}

namespace {

/// Reads a factor, from the product on.
class FactorReader {
public:
  explicit FactorReader(Value factor) : value(factor) {}

  std::optional<Factor> read() {
    passViews();
    if (isOfFloats(value)) {
      if (auto scaled = value.getDefiningOp<ir::MulOp>()) {
        Value first = scaled.getLhs();
        while (Operation *view = viewOf(first))
          first = view->getOperand(0);
        bool isFirst = bool(integerBehind(first));
        found.scale = here(isFirst ? scaled.getRhs() : scaled.getLhs());
        value = isFirst ? scaled.getLhs() : scaled.getRhs();
        passViews();
      }
      if (!passCast())
        return std::nullopt;
    }
    found.integers = here(value);
    if (elementOf(value).isSignlessInteger(32)) {
      if (auto less = value.getDefiningOp<ir::SubOp>()) {
        found.zero = here(less.getRhs());
        value = less.getLhs();
        passViews();
      }
      if (!passCast())
        return std::nullopt;
    }
    found.codes = here(value);
    return elementOf(value).isInteger(8) ? std::optional(found) : std::nullopt;
  }

private:
  Behind here(Value behind) const { return {behind, found.views.size()}; }
  void passViews() {
    while (Operation *view = viewOf(value)) {
      found.views.push_back(view);
      value = view->getOperand(0);
    }
  }
  bool passCast() {
    Value integer = integerBehind(value);
    if (!integer)
      return false;
    value = integer;
    passViews();
    return true;
  }

  Value value;
  Factor found;
};

/// One product of matrices whose factors are bytes, by what they stand for.
class ByteProduct {
public:
  ByteProduct(ir::ContractionOpInterface product, bool takesZero,
              AxisParts &parts, OpBuilder &builder)
      : product(product), takesZero(takesZero), parts(parts), builder(builder),
        writer(parts, builder, numSymbolsOf(product)),
        dims(dimsOf(product.getResult().getType())) {}

  /// The same by a product of bytes; null where there is none.
  Value run();

private:
  bool hasFewRows() const;
  bool canMove(const Factor &factor) const;
  Value viewed(Operation *view, Value value, int64_t padding);
  Value moved(const Factor &factor, Behind behind);
  std::optional<Value> sharedBy(const Factor &factor, Behind behind,
                                unsigned axis);
  std::optional<Value> numberOf(Value value);
  Value sumOfProducts();
  Value codesOf(const Factor &factor);
  Value sumOf(Value codes, unsigned axis);
  Value multiplied(Value zero, Value others);
  Value corrected(Value sums, Value left, Value right);
  Value castTo(Value value, Type element);
  Value spread(Value value, ArrayRef<AffineExpr> shape) {
    return writer.broadcast(value, shape);
  }
  template <typename Op> Value apply(Value left, Value right) {
    return Op::create(builder, product.getLoc(), left.getType(), left, right);
  }
  Value filled(int64_t number, ArrayRef<AffineExpr> shape, Type element);
  RankedTensorType typeOf(Type element, ArrayRef<AffineExpr> shape) const {
    return tensorType(element, shape, numSymbolsOf(product));
  }
  AffineMapAttr shapeOf(ArrayRef<AffineExpr> shape) const {
    return shapeAttr(builder.getContext(), shape, numSymbolsOf(product));
  }
  unsigned rows() const { return unsigned(dims.size()) - 2; }
  unsigned columns() const { return unsigned(dims.size()) - 1; }

  ir::ContractionOpInterface product;
  bool takesZero;
  AxisParts &parts;
  OpBuilder &builder;
  PartBuilder writer;
  DimList dims;
  Factor left, right;
  /// Of size 1 along what is summed, or of rank 0; or null.
  Value leftZero, rightZero;
  int64_t depth = 0;
};

} // namespace

bool ByteProduct::hasFewRows() const {
  auto number = dyn_cast<AffineConstantExpr>(dims[rows()]);
  return number && number.getValue() <= fewRows;
}

Value ByteProduct::castTo(Value value, Type element) {
  return ir::CastOp::create(builder, product.getLoc(),
                            typeOf(element, dimsOf(value.getType())), value,
                            TypeAttr::get(element));
}

Value ByteProduct::filled(int64_t number, ArrayRef<AffineExpr> shape,
                          Type element) {
  return ir::FullOp::create(builder, product.getLoc(), typeOf(element, shape),
                            shapeOf(shape), builder.getI64IntegerAttr(number),
                            TypeAttr::get(element));
}

// What all elements of the value are, of rank 0; nothing where they differ.
std::optional<Value> ByteProduct::numberOf(Value value) {
  if (auto full = value.getDefiningOp<ir::FullOp>())
    return ir::FullOp::create(builder, product.getLoc(),
                              typeOf(elementOf(value), {}), shapeOf({}),
                              full.getValue(), full.getDtypeAttr());
  Value repeated = ir::repeatedOperand(value);
  if (!repeated || !llvm::all_of(dimsOf(repeated.getType()), isOne))
    return std::nullopt;
  return writer.reshape(repeated, {});
}

// The number that fills the factor's zero, or null.
static IntegerAttr knownZero(const Factor &factor) {
  return factor.zero.value
             ? dyn_cast_or_null<IntegerAttr>(fillOf(factor.zero.value))
             : IntegerAttr();
}

// The byte, of the codes' type, that the zero is everywhere; null where the
// program does not say so.
static Value byteOfZero(const Factor &factor) {
  Value value = factor.zero.value;
  while (Operation *view = viewOf(value))
    value = view->getOperand(0);
  Value byte = integerBehind(value);
  bool isByte = byte && elementOf(byte) == elementOf(factor.codes.value) &&
                llvm::all_of(dimsOf(byte.getType()), isOne);
  return isByte ? byte : Value();
}

// Around bytes stands what they have for zero, which has to be a byte, too.
bool ByteProduct::canMove(const Factor &factor) const {
  bool hasPadding = llvm::any_of(factor.views, isPad);
  if (!factor.zero.value || !hasPadding)
    return true;
  // Some may stand behind the zero, where they are padded with 0.
  auto before = ArrayRef(factor.views).take_front(factor.zero.views);
  if (llvm::count_if(before, isPad) != llvm::count_if(factor.views, isPad))
    return false;
  IntegerAttr known = knownZero(factor);
  if (!known)
    return bool(byteOfZero(factor));
  int64_t zero = known.getInt();
  return cast<IntegerType>(elementOf(factor.codes.value)).isUnsigned()
             ? zero == uint8_t(zero)
             : zero == int8_t(zero);
}

Value ByteProduct::viewed(Operation *view, Value value, int64_t padding) {
  OperationState state(product.getLoc(), view->getName());
  state.addOperands(value);
  state.addTypes(
      typeOf(elementOf(value), dimsOf(view->getResult(0).getType())));
  NamedAttrList attributes(view->getAttrs());
  if (isPad(view))
    attributes.set("value", builder.getI64IntegerAttr(padding));
  state.addAttributes(attributes.getAttrs());
  return builder.create(state)->getResult(0);
}

// A value in the shape of the factor.
Value ByteProduct::moved(const Factor &factor, Behind behind) {
  Value value = behind.value;
  for (Operation *view :
       llvm::reverse(ArrayRef(factor.views).take_front(behind.views)))
    value = viewed(view, value, 0);
  return value;
}

// The codes, with the zero around them.
Value ByteProduct::codesOf(const Factor &factor) {
  IntegerAttr known = knownZero(factor);
  Value zero = factor.zero.value && !known ? byteOfZero(factor) : Value();
  Value codes = factor.codes.value;
  for (Operation *view : llvm::reverse(factor.views)) {
    Value inside = codes;
    codes = viewed(view, codes, known ? known.getInt() : 0);
    if (!zero || !isPad(view))
      continue;
    Value around =
        viewed(view, filled(0, dimsOf(inside.getType()), elementOf(inside)), 1);
    Value number = spread(writer.reshape(zero, {}), dimsOf(codes.getType()));
    codes = apply<ir::AddOp>(codes, apply<ir::MulOp>(around, number));
  }
  return codes;
}

// A zero or a scale of size 1 along `axis`, or of rank 0; nothing where it is
// not the same along the axis. Null of null.
std::optional<Value> ByteProduct::sharedBy(const Factor &factor, Behind behind,
                                           unsigned axis) {
  if (!behind.value)
    return Value();
  if (auto number = numberOf(behind.value))
    return number;
  auto mixesAxes = [](Operation *view) {
    auto map = ir::viewMapOf(view);
    return map->pads() || map->takesWindows();
  };
  if (llvm::any_of(ArrayRef(factor.views).take_front(behind.views), mixesAxes))
    return std::nullopt;
  Value whole = moved(factor, behind);
  if (!llvm::all_of(parts.of(whole)[axis],
                    [](const AxisPart &part) { return part.isRepeated; }))
    return std::nullopt;
  DimList shape = dimsOf(whole.getType());
  shape[axis] = builder.getAffineConstantExpr(1);
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  return ir::SliceOp::create(
      builder, product.getLoc(), typeOf(elementOf(whole), shape), whole,
      builder.getDenseI64ArrayAttr(starts), shapeOf(shape),
      builder.getDenseI64ArrayAttr(steps));
}

// Sums wrap as those of the product do.
Value ByteProduct::sumOf(Value codes, unsigned axis) {
  DimList shape = dimsOf(codes.getType());
  shape[axis] = builder.getAffineConstantExpr(1);
  Value sums = ir::SumOp::create(
      builder, product.getLoc(), typeOf(builder.getI64Type(), shape), codes,
      builder.getDenseI64ArrayAttr({int64_t(axis)}), builder.getBoolAttr(true));
  return castTo(sums, builder.getI32Type());
}

// In the shape of the others where the zero is a number, else in the result's.
Value ByteProduct::multiplied(Value zero, Value others) {
  bool isNumber = cast<RankedTensorType>(zero.getType()).getRank() == 0;
  DimList shape = isNumber ? dimsOf(others.getType()) : dims;
  return apply<ir::MulOp>(spread(zero, shape), spread(others, shape));
}

// sum (a - za) (b - zb) = sum a b - zb sum a - za (sum b - depth zb)
Value ByteProduct::corrected(Value sums, Value leftCodes, Value rightCodes) {
  auto less = [&](Value share) {
    sums = apply<ir::SubOp>(sums, spread(share, dims));
  };
  if (rightZero)
    less(multiplied(rightZero, sumOf(leftCodes, columns())));
  if (!leftZero)
    return sums;
  Value others = sumOf(rightCodes, rows());
  if (rightZero) {
    DimList shape = dimsOf(others.getType());
    Value all = apply<ir::MulOp>(filled(depth, shape, elementOf(others)),
                                 spread(rightZero, shape));
    others = apply<ir::SubOp>(others, all);
  }
  less(multiplied(leftZero, others));
  return sums;
}

// The same integers either way.
Value ByteProduct::sumOfProducts() {
  bool isPlain = hasFewRows();
  auto operand = [&](const Factor &factor) {
    return isPlain ? moved(factor, factor.integers) : codesOf(factor);
  };
  Value first = operand(left), second = operand(right);
  Type i32 = builder.getI32Type();
  Value lhs = castTo(first, i32), rhs = castTo(second, i32);
  IntegerAttr zero = knownZero(left);
  if (takesZero && !isPlain && zero && !right.zero.value) {
    lhs = apply<ir::SubOp>(lhs,
                           filled(zero.getInt(), dimsOf(lhs.getType()), i32));
    leftZero = {};
  }
  Value sums = ir::MatmulOp::create(builder, product.getLoc(),
                                    typeOf(i32, dims), lhs, rhs);
  return isPlain ? sums : corrected(sums, first, second);
}

// Whatever is a number in one program and a symbol in another must not choose
// between integers and floats, but for the depth.
Value ByteProduct::run() {
  auto known =
      dyn_cast<AffineConstantExpr>(dimsOf(product.getLhs().getType()).back());
  auto first = FactorReader(product.getLhs()).read(),
       second = FactorReader(product.getRhs()).read();
  if (!known || !first || !second || !canMove(*first) || !canMove(*second))
    return {};
  left = *first;
  right = *second;
  constexpr int64_t word = 4;
  if (innerRun(product.getLhs(), columns()) % word != 0)
    return {};
  depth = known.getValue();
  bool isFloat = isOfFloats(product.getResult());
  // Sums of integers wrap, those that stand for floats must not.
  constexpr int64_t mostSummed = std::numeric_limits<int32_t>::max();
  if (isFloat ? depth > mostSummed / (mostOfByte * mostOfByte)
              : hasFewRows() || (!left.zero.value && !right.zero.value))
    return {};
  auto leftZeros = sharedBy(left, left.zero, columns()),
       rightZeros = sharedBy(right, right.zero, rows()),
       leftScales = sharedBy(left, left.scale, columns()),
       rightScales = sharedBy(right, right.scale, rows());
  if (!leftZeros || !rightZeros || !leftScales || !rightScales)
    return {};
  leftZero = *leftZeros;
  rightZero = *rightZeros;
  Value sums = sumOfProducts();
  if (!isFloat)
    return sums;
  Value result = castTo(sums, elementOf(product.getResult())), scale;
  for (Value each : {*leftScales, *rightScales})
    if (each)
      scale = scale ? apply<ir::MulOp>(scale, spread(each, dims))
                    : spread(each, dims);
  return scale ? apply<ir::MulOp>(result, scale) : result;
}

namespace {

struct ProductsOfBytesPass : impl::ProductsOfBytesBase<ProductsOfBytesPass> {
  using Base::Base;
  void runOnOperation() override {
    program::TargetAttr target = program::targetOf(getOperation());
    if (!target.getByteProducts())
      return;
    func::FuncOp function = mainOf(getOperation());
    AxisParts parts;
    OpBuilder builder(&getContext());
    bool isChanged = false;
    for (Operation &op : llvm::make_early_inc_range(
             function.getBody().front().without_terminator())) {
      auto product = ir::matrixProductOf(&op);
      if (!product)
        continue;
      builder.setInsertionPoint(&op);
      Value made =
          ByteProduct(product, !target.getMatrixUnit(), parts, builder).run();
      if (!made)
        continue;
      op.getResult(0).replaceAllUsesWith(made);
      isChanged = true;
    }
    removeDeadOps(function);
    if (!isChanged)
      return;
    simplifyOps(function);
    mergeDuplicates(function);
    removeDeadOps(function);
  }
};

} // namespace

} // namespace sinter::compiler

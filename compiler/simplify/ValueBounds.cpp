/// The rules by which bounds follow from bounds.
#include "compiler/simplify/ValueBounds.h"

#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Elementwise.h"
#include "sinter/generated/classes/Gather.h"
#include "sinter/generated/classes/Scan.h"
#include "sinter/generated/classes/Sort.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter::compiler {

// What is further behind a value is not looked at.
static constexpr unsigned deepest = 64;
// So many limits of one value are kept.
static constexpr size_t mostLimits = 4;
// Binding a program refuses extents from here on.
static constexpr int64_t extentLimit = int64_t(1) << 31;

static unsigned widthOf(Type tensor) {
  return ir::scalarType(getElementTypeOrSelf(tensor)).getIntOrFloatBitWidth();
}

static bool isInteger(Value value) {
  return isa<IntegerType>(getElementTypeOrSelf(value.getType()));
}

// That a size is large enough is written as: what it has more than that,
// divided by more than there can be, is 0. Whole multiples stand before the
// division.
static AffineExpr nonNegativeBy(AffineMap guard) {
  auto zero = dyn_cast<AffineConstantExpr>(guard.getResult(1));
  if (!zero || zero.getValue() != 0)
    return {};
  AffineExpr whole = zero, rest = guard.getResult(0);
  auto sum = dyn_cast<AffineBinaryOpExpr>(rest);
  if (sum && sum.getKind() == AffineExprKind::Add) {
    bool isFirst = sum.getLHS().getKind() == AffineExprKind::FloorDiv;
    rest = isFirst ? sum.getLHS() : sum.getRHS();
    whole = isFirst ? sum.getRHS() : sum.getLHS();
  }
  auto quotient = dyn_cast<AffineBinaryOpExpr>(rest);
  if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv)
    return {};
  return whole * quotient.getRHS() + quotient.getLHS();
}

ValueBounds::ValueBounds(func::FuncOp function)
    : symbols(programSymbols(function->getParentOfType<ModuleOp>())) {
  auto guards = function->getAttrOfType<ArrayAttr>(port_attrs::guards);
  if (!guards)
    return;
  for (AffineMap guard : guards.getAsValueRange<AffineMapAttr>())
    if (AffineExpr expr = nonNegativeBy(guard))
      nonNegative.push_back(expr);
}

//===- Sizes --------------------------------------------------------------===//

static bool isPlainlyNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || binary.getKind() == AffineExprKind::Mod ||
         (isPlainlyNonNegative(binary.getLHS()) &&
          isPlainlyNonNegative(binary.getRHS()));
}

bool ValueBounds::isNonNegative(AffineExpr expr) const {
  auto isPlain = [&](AffineExpr difference) {
    return isPlainlyNonNegative(simplifyAffineExpr(difference, 0, symbols));
  };
  return isPlain(expr) || llvm::any_of(nonNegative, [&](AffineExpr guarded) {
           return isPlain(expr - guarded);
         });
}

bool ValueBounds::isAtMost(const Bounds &bounds, AffineExpr limit) const {
  const APInt &most = bounds.range.smax();
  return (most.isSignedIntN(62) &&
          isNonNegative(limit - most.getSExtValue())) ||
         llvm::any_of(bounds.atMost, [&](AffineExpr expr) {
           return isNonNegative(limit - expr);
         });
}

bool ValueBounds::areWithin(Value value, AffineExpr extent) {
  if (!isInteger(value))
    return false;
  Bounds bounds = of(value, 0);
  return bounds.range.smin().isNonNegative() && isAtMost(bounds, extent - 1);
}

//===- Bounds -------------------------------------------------------------===//

ValueBounds::Bounds ValueBounds::anyOf(Type tensor) const {
  unsigned width = widthOf(tensor);
  return {ConstantIntRanges::maxRange(width), {}};
}

ValueBounds::Bounds ValueBounds::positions(Type tensor,
                                           AffineExpr extent) const {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(tensor));
  auto constant = dyn_cast<AffineConstantExpr>(extent);
  int64_t count = constant ? constant.getValue() : extentLimit;
  unsigned width = element ? element.getWidth() : 0;
  // Larger ones would not be positions any more.
  auto most = uint64_t(std::max<int64_t>(count - 1, 0));
  if (width < 8 || !llvm::isUIntN(width - 1, most))
    return anyOf(tensor);
  APInt zero(width, 0), last(width, most);
  Bounds bounds{ConstantIntRanges::fromSigned(zero, last), {}};
  if (!constant)
    bounds.atMost.push_back(extent - 1);
  return bounds;
}

// What both are at most.
ValueBounds::Bounds ValueBounds::either(const Bounds &a,
                                        const Bounds &b) const {
  Bounds bounds{a.range.rangeUnion(b.range), {}};
  for (AffineExpr limit : a.atMost)
    if (isAtMost(b, limit))
      bounds.atMost.push_back(limit);
  for (AffineExpr limit : b.atMost)
    if (bounds.atMost.size() < mostLimits && isAtMost(a, limit) &&
        !llvm::is_contained(bounds.atMost, limit))
      bounds.atMost.push_back(limit);
  return bounds;
}

void ValueBounds::addSums(const Bounds &a, const Bounds &b, Bounds &sum) const {
  bool wraps = false, isTooLow = false;
  static_cast<void>(a.range.smax().sadd_ov(b.range.smax(), wraps));
  static_cast<void>(a.range.smin().sadd_ov(b.range.smin(), isTooLow));
  if (wraps || isTooLow)
    return;
  auto add = [&](const Bounds &one, const Bounds &other) {
    for (AffineExpr limit : one.atMost)
      if (sum.atMost.size() < mostLimits)
        sum.atMost.push_back(limit + other.range.smax().getSExtValue());
  };
  add(a, b);
  add(b, a);
  for (AffineExpr limit : a.atMost)
    for (AffineExpr other : b.atMost)
      if (sum.atMost.size() < mostLimits)
        sum.atMost.push_back(limit + other);
}

//===- Scalar bodies ------------------------------------------------------===//

// What a scalar op passes on of limits that sizes set.
void ValueBounds::addLimits(Operation &op, ArrayRef<Bounds> operands,
                            Bounds &bounds) const {
  llvm::TypeSwitch<Operation &>(op)
      .Case([&](arith::AddIOp) { addSums(operands[0], operands[1], bounds); })
      .Case([&](arith::SubIOp) {
        APInt least = operands[1].range.smin();
        if (least.isMinSignedValue())
          return;
        Bounds negative{
            ConstantIntRanges::fromSigned(-operands[1].range.smax(), -least),
            {}};
        addSums(operands[0], negative, bounds);
      })
      .Case([&](arith::MinSIOp) {
        bounds.atMost = operands[0].atMost;
        for (AffineExpr limit : operands[1].atMost)
          if (bounds.atMost.size() < mostLimits)
            bounds.atMost.push_back(limit);
      })
      .Case([&](arith::MaxSIOp) {
        bounds.atMost = either(operands[0], operands[1]).atMost;
      })
      .Case([&](arith::SelectOp) {
        std::optional<APInt> chosen = operands[0].range.getConstantValue();
        bounds.atMost = chosen ? operands[chosen->isZero() ? 2 : 1].atMost
                               : either(operands[1], operands[2]).atMost;
      })
      .Case([&](arith::ExtSIOp) { bounds.atMost = operands[0].atMost; })
      .Case([&](arith::ExtUIOp) {
        if (operands[0].range.smin().isNonNegative())
          bounds.atMost = operands[0].atMost;
      })
      .Case([&](arith::TruncIOp) {
        unsigned width = bounds.range.smax().getBitWidth();
        const ConstantIntRanges &whole = operands[0].range;
        if (whole.smin().isSignedIntN(width) &&
            whole.smax().isSignedIntN(width))
          bounds.atMost = operands[0].atMost;
      })
      .Default([](Operation &) {});
}

// By what each op of a body knows of constants.
ValueBounds::Bounds ValueBounds::ofScalar(Operation &op,
                                          const BoundsOf &inBody) const {
  Value result = op.getResult(0);
  Bounds bounds = anyOf(result.getType());
  SmallVector<Bounds> operands;
  for (Value operand : op.getOperands()) {
    auto found = inBody.find(operand);
    if (found == inBody.end())
      return bounds;
    operands.push_back(found->second);
  }
  auto infers = dyn_cast<InferIntRangeInterface>(op);
  if (!infers)
    return bounds;
  SmallVector<ConstantIntRanges> ranges;
  for (const Bounds &operand : operands)
    ranges.push_back(operand.range);
  infers.inferResultRanges(ranges,
                           [&](Value, const ConstantIntRanges &inferred) {
                             bounds.range = inferred;
                           });
  addLimits(op, operands, bounds);
  return bounds;
}

ValueBounds::Bounds ValueBounds::ofPointwise(Operation *op, unsigned depth) {
  if (!llvm::all_of(op->getOperands(), isInteger))
    return anyOf(op->getResult(0).getType());
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  BoundsOf inBody;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value element = block.addArgument(
        ir::scalarType(getElementTypeOrSelf(operand.getType())), op->getLoc());
    inBody.try_emplace(element, of(operand, depth + 1));
    operands.push_back(element);
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  Value result = cast<ir::PointwiseOpInterface>(op).emitScalar(
      builder, op->getLoc(), operands, element);
  if (!result)
    return anyOf(op->getResult(0).getType());
  for (Operation &each : block)
    if (each.getNumResults() == 1 && isInteger(each.getResult(0)))
      inBody.try_emplace(each.getResult(0), ofScalar(each, inBody));
  auto found = inBody.find(result);
  return found == inBody.end() ? anyOf(op->getResult(0).getType())
                               : found->second;
}

// A value that the condition compares to a number, and that number.
static std::pair<Value, Value> comparedIn(Value condition) {
  constexpr unsigned mostOps = 16;
  llvm::SmallSetVector<Value, 16> behind;
  behind.insert(condition);
  for (unsigned next = 0; next < behind.size() && next < mostOps; ++next) {
    Operation *op = behind[next].getDefiningOp();
    if (!isa_and_nonnull<ir::PointwiseOpInterface>(op))
      continue;
    if (auto compare = dyn_cast<ir::CompareOp>(op))
      for (unsigned side : {0, 1})
        if (isInteger(compare->getOperand(side)) &&
            !getElementTypeOrSelf(compare->getOperand(side).getType())
                 .isInteger(1) &&
            fillOf(compare->getOperand(1 - side)) &&
            !fillOf(compare->getOperand(side)))
          return {compare->getOperand(side), compare->getOperand(1 - side)};
    behind.insert_range(op->getOperands());
  }
  return {};
}

// What is chosen by comparing a value with a number is looked at for values
// below the number, at it and above it: each choice is made of some of them
// only.
ValueBounds::Bounds ValueBounds::ofSelection(Operation *op, unsigned depth) {
  auto [value, number] = comparedIn(op->getOperand(0));
  if (!value || supposed)
    return ofPointwise(op, depth);
  Bounds whole = of(value, depth + 1);
  APInt at = of(number, depth + 1).range.smin();
  const APInt &least = whole.range.smin(), &most = whole.range.smax();
  std::optional<Bounds> all;
  auto take = [&](const APInt &from, const APInt &to) {
    APInt low = llvm::APIntOps::smax(from, least);
    APInt high = llvm::APIntOps::smin(to, most);
    if (low.sgt(high))
      return;
    supposed = value;
    ifSupposed.clear();
    ifSupposed.try_emplace(
        value, Bounds{ConstantIntRanges::fromSigned(low, high), whole.atMost});
    Bounds part = ofPointwise(op, depth);
    all = all ? either(*all, part) : part;
    supposed = {};
  };
  if (!at.isMinSignedValue())
    take(least, at - 1);
  take(at, at);
  if (!at.isMaxSignedValue())
    take(at + 1, most);
  return all ? *all : anyOf(op->getResult(0).getType());
}

//===- Tensors ------------------------------------------------------------===//

ValueBounds::Bounds ValueBounds::ofFold(Operation *op, unsigned depth) {
  Type type = op->getResult(0).getType();
  Value x = op->getOperand(0);
  switch (cast<ir::FoldOpInterface>(op).getFold()) {
  case ir::Fold::argmax:
  case ir::Fold::argmin:
    return positions(type, dimsOf(x.getType())[axesOf(op).front()]);
  case ir::Fold::maximum:
  case ir::Fold::minimum:
  case ir::Fold::assign:
    if (isa<ir::ScatterOpInterface>(op))
      return either(
          of(x, depth + 1),
          of(cast<ir::ScatterOpInterface>(op).getUpdates(), depth + 1));
    return of(x, depth + 1);
  default:
    return anyOf(type);
  }
}

// Numbers that a view puts beside the operand's elements.
static std::optional<APInt> numberBeside(const ir::ViewMap &map,
                                         unsigned width) {
  auto number = dyn_cast<IntegerAttr>(map.fill);
  if (!number)
    return std::nullopt;
  return number.getValue().sextOrTrunc(width);
}

// One rule for each kind of op that gives integers.
ValueBounds::Bounds ValueBounds::compute(Operation *op, unsigned depth) {
  Type type = op->getResult(0).getType();
  unsigned width = widthOf(type);
  if (auto iota = dyn_cast<ir::IotaOp>(op))
    return positions(type, dimsOf(type)[iota.getAxis()]);
  if (auto argsort = dyn_cast<ir::ArgsortOp>(op))
    return positions(type, dimsOf(argsort.getX().getType())[argsort.getAxis()]);
  if (auto extent = dyn_cast<ir::ExtentOp>(op)) {
    AffineExpr size = extent.getSize().getResult(0);
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (constant && llvm::isUIntN(width - 1, uint64_t(constant.getValue())))
      return {ConstantIntRanges::constant(APInt(width, constant.getValue())),
              {}};
    return positions(type, size + 1);
  }
  if (auto number = dyn_cast_or_null<IntegerAttr>(fillOf(op->getResult(0)))) {
    APInt bits = number.getValue().sextOrTrunc(width);
    return {ConstantIntRanges::constant(
                width == 1 ? APInt(1, !number.getValue().isZero()) : bits),
            {}};
  }
  if (isa<ir::WhereOp>(op))
    return ofSelection(op, depth);
  if (isa<ir::PointwiseOpInterface>(op))
    return ofPointwise(op, depth);
  if (isa<ir::FoldOpInterface>(op))
    return ofFold(op, depth);
  if (isa<ir::GatherOp, ir::SortOp>(op))
    return of(op->getOperand(0), depth + 1);
  if (isa<ir::ScanSliceOp, ir::ScanStackOp>(op))
    return of(op->getOperand(1), depth + 1);
  auto map = ir::viewMapOf(op);
  if (!map)
    return anyOf(type);
  Bounds bounds = of(op->getOperand(0), depth + 1);
  for (const ir::ViewPart &part : ArrayRef(map->parts).drop_front())
    bounds = either(bounds, of(part.operand, depth + 1));
  if (map->returnsWindows()) // sums
    return anyOf(type);
  if (!map->fill)
    return bounds;
  auto beside = numberBeside(*map, width);
  return beside ? either(bounds, {ConstantIntRanges::constant(*beside), {}})
                : anyOf(type);
}

ValueBounds::Bounds ValueBounds::of(Value value, unsigned depth) {
  if (supposed)
    if (auto found = ifSupposed.find(value); found != ifSupposed.end())
      return found->second;
  // What has no operands of the supposed value is the same either way, but to
  // know that takes as long as to compute it.
  BoundsOf &memory = supposed ? ifSupposed : known;
  if (auto found = memory.find(value); found != memory.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  Bounds bounds = !op || !isInteger(value) || depth >= deepest
                      ? anyOf(value.getType())
                      : compute(op, depth);
  memory.insert_or_assign(value, bounds);
  return bounds;
}

} // namespace sinter::compiler

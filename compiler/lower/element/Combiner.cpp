/// The combiners of folds: sums and products, extrema, and their positions.
#include "compiler/lower/element/Combiner.h"

#include "compiler/analysis/Marks.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {
namespace {

Type shapedLike(Value value, Type scalar) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(scalar)) : scalar;
}

Type withCount(Emission &emission, Type scalar, unsigned count) {
  return count == 1 ? scalar : Type(emission.vectorType(scalar, count));
}

// Adds, or multiplies.
class SumCombiner final : public Combiner {
public:
  SumCombiner(Type from, Type to, bool multiplies, bool contracts,
              OpBuilder &builder)
      : from(from), to(to), multiplies(multiplies), contracts(contracts) {
    state = valueType(to);
    if (auto floating = dyn_cast<FloatType>(state))
      if (floating.getWidth() < 32)
        state = builder.getF32Type();
  }

  SmallVector<Type> types() const override { return {state}; }
  Values init(Emission &emission, unsigned count) const override {
    return {
        emission.number(withCount(emission, state, count), multiplies ? 1 : 0)};
  }
  Values lift(Emission &emission, Value element, Value) const override {
    Type type = shapedLike(element, state);
    if (element.getType() == type)
      return {element};
    OpBuilder &builder = emission.builder;
    if (isa<FloatType>(state))
      return {arith::ExtFOp::create(builder, emission.loc, type, element)};
    if (from.isUnsignedInteger() || from.isInteger(1))
      return {arith::ExtUIOp::create(builder, emission.loc, type, element)};
    return {arith::ExtSIOp::create(builder, emission.loc, type, element)};
  }
  Values merge(Emission &emission, const Values &a,
               const Values &b) const override {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    if (!isa<FloatType>(state)) {
      if (multiplies)
        return {arith::MulIOp::create(builder, loc, a[0], b[0])};
      return {arith::AddIOp::create(builder, loc, a[0], b[0])};
    }
    if (multiplies)
      return {arith::MulFOp::create(builder, loc, a[0], b[0])};
    return {arith::AddFOp::create(builder, loc, a[0], b[0])};
  }
  // A product that is added need not be rounded by itself.
  Values take(Emission &emission, const Values &a,
              const Values &b) const override {
    Value element = b[0];
    auto spread = element.getDefiningOp<vector::BroadcastOp>();
    auto product =
        (spread ? spread.getSource() : element).getDefiningOp<arith::MulFOp>();
    if (multiplies || !contracts || !product || !emission.target.hasFma())
      return merge(emission, a, b);
    Value factors[] = {product.getLhs(), product.getRhs()};
    for (Value &factor : factors)
      if (factor.getType() != element.getType())
        factor = vector::BroadcastOp::create(emission.builder, emission.loc,
                                             element.getType(), factor);
    return {math::FmaOp::create(emission.builder, emission.loc, factors[0],
                                factors[1], a[0])};
  }
  Value finish(Emission &emission, const Values &values) const override {
    Type type = shapedLike(values[0], valueType(to));
    if (values[0].getType() == type)
      return values[0];
    return arith::TruncFOp::create(emission.builder, emission.loc, type,
                                   values[0]);
  }
  bool isOrdered() const override { return isa<FloatType>(state); }

private:
  Type from, to, state;
  bool multiplies, contracts;
};

// The order of elements: the numbers that are less and greater than all, and
// comparisons in which NaN is the largest.
class Order {
public:
  explicit Order(Type element, OpBuilder &builder) : element(element) {
    state = valueType(element);
    if (auto floating = dyn_cast<FloatType>(state))
      if (floating.getWidth() < 32)
        state = builder.getF32Type();
  }

  Value least(Emission &emission, unsigned count) const {
    Type type = withCount(emission, state, count);
    if (isa<FloatType>(state))
      return emission.number(type, -std::numeric_limits<double>::infinity());
    unsigned width = state.getIntOrFloatBitWidth();
    bool isSigned = !element.isUnsignedInteger() && width > 1;
    return emission.integer(type,
                            isSigned ? int64_t(uint64_t(1) << (width - 1)) : 0);
  }
  Value greatest(Emission &emission, unsigned count) const {
    Type type = withCount(emission, state, count);
    if (isa<FloatType>(state))
      return emission.number(type, std::numeric_limits<double>::infinity());
    unsigned width = state.getIntOrFloatBitWidth();
    return emission.integer(
        type, isUnsigned() ? -1 : int64_t((uint64_t(1) << (width - 1)) - 1));
  }
  Value lift(Emission &emission, Value value) const {
    Type type = shapedLike(value, state);
    if (value.getType() == type)
      return value;
    return arith::ExtFOp::create(emission.builder, emission.loc, type, value);
  }
  // Rounds to the elements' type.
  Value finish(Emission &emission, Value value) const {
    Type type = shapedLike(value, valueType(element));
    if (value.getType() == type)
      return value;
    return arith::TruncFOp::create(emission.builder, emission.loc, type, value);
  }
  Value max(Emission &emission, Value a, Value b,
            arith::FastMathFlags flags = arith::FastMathFlags::none) const {
    if (isa<FloatType>(state))
      return arith::MaximumFOp::create(emission.builder, emission.loc, a, b,
                                       flags);
    if (isUnsigned())
      return arith::MaxUIOp::create(emission.builder, emission.loc, a, b);
    return arith::MaxSIOp::create(emission.builder, emission.loc, a, b);
  }
  Value min(Emission &emission, Value a, Value b,
            arith::FastMathFlags flags = arith::FastMathFlags::none) const {
    if (isa<FloatType>(state))
      return arith::MinimumFOp::create(emission.builder, emission.loc, a, b,
                                       flags);
    if (isUnsigned())
      return arith::MinUIOp::create(emission.builder, emission.loc, a, b);
    return arith::MinSIOp::create(emission.builder, emission.loc, a, b);
  }
  // Whether b is nearer than a to the end that is looked for, where NaN is
  // nearer than every number and as near as itself.
  Value passes(Emission &emission, Value a, Value b, bool isMax) const {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    if (!isa<FloatType>(state)) {
      using P = arith::CmpIPredicate;
      P predicate =
          isUnsigned() ? (isMax ? P::ult : P::ugt) : (isMax ? P::slt : P::sgt);
      return arith::CmpIOp::create(builder, loc, predicate, a, b);
    }
    // Not (a >= b) and a is a number.
    using P = arith::CmpFPredicate;
    Value further =
        arith::CmpFOp::create(builder, loc, isMax ? P::ULT : P::UGT, a, b);
    Value isNumber = arith::CmpFOp::create(builder, loc, P::ORD, a, a);
    return arith::AndIOp::create(builder, loc, further, isNumber);
  }
  bool isUnsigned() const {
    return element.isUnsignedInteger() || element.isInteger(1);
  }

  Type element, state;
};

// Keeps the largest element, or the smallest.
class ExtremumCombiner final : public Combiner {
public:
  ExtremumCombiner(Type element, bool isMax, OpBuilder &builder)
      : order(element, builder), isMax(isMax) {}

  SmallVector<Type> types() const override { return {order.state}; }
  Values init(Emission &emission, unsigned count) const override {
    return {isMax ? order.least(emission, count)
                  : order.greatest(emission, count)};
  }
  Values lift(Emission &emission, Value element, Value) const override {
    return {order.lift(emission, element)};
  }
  Values merge(Emission &emission, const Values &a,
               const Values &b) const override {
    return {isMax ? order.max(emission, a[0], b[0])
                  : order.min(emission, a[0], b[0])};
  }
  bool spreadsNan() const override { return isa<FloatType>(order.state); }
  Values mergeNumbers(Emission &emission, const Values &a,
                      const Values &b) const override {
    auto numbers = arith::FastMathFlags::nnan;
    return {isMax ? order.max(emission, a[0], b[0], numbers)
                  : order.min(emission, a[0], b[0], numbers)};
  }
  Value finish(Emission &emission, const Values &state) const override {
    return order.finish(emission, state[0]);
  }

private:
  Order order;
  bool isMax;
};

// Keeps the largest element, or the smallest, and its position; the first of
// several. Extents are below 2^31.
class SearchCombiner final : public Combiner {
public:
  SearchCombiner(Type element, bool isMax, OpBuilder &builder)
      : order(element, builder), isMax(isMax), i32(builder.getI32Type()),
        i64(builder.getI64Type()) {}

  SmallVector<Type> types() const override { return {order.state, i32}; }
  Values init(Emission &emission, unsigned count) const override {
    return {farthest(emission, count),
            emission.integer(withCount(emission, i32, count), INT32_MAX)};
  }
  // If all elements are the farthest, the first of them is the result.
  Values start(Emission &emission, unsigned count,
               Value position) const override {
    return {farthest(emission, count), position};
  }
  Values lift(Emission &emission, Value element,
              Value position) const override {
    return {order.lift(emission, element), position};
  }
  Values merge(Emission &emission, const Values &a,
               const Values &b) const override {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value isBelow = order.passes(emission, a[0], b[0], isMax);
    Value isAbove = order.passes(emission, b[0], a[0], isMax);
    Value isEarlier = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, b[1], a[1]);
    // b wins if it is nearer, or as near and earlier.
    Value tie = arith::SelectOp::create(builder, loc, isAbove,
                                        emission.integer(isAbove.getType(), 0),
                                        isEarlier);
    Value takes = arith::OrIOp::create(builder, loc, isBelow, tie);
    return {arith::SelectOp::create(builder, loc, takes, b[0], a[0]),
            arith::SelectOp::create(builder, loc, takes, b[1], a[1])};
  }
  // The first of equal elements is there already.
  Values take(Emission &emission, const Values &a,
              const Values &b) const override {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value takes = order.passes(emission, a[0], b[0], isMax);
    return {arith::SelectOp::create(builder, loc, takes, b[0], a[0]),
            arith::SelectOp::create(builder, loc, takes, b[1], a[1])};
  }
  Value finish(Emission &emission, const Values &state) const override {
    return arith::ExtSIOp::create(emission.builder, emission.loc,
                                  shapedLike(state[1], i64), state[1]);
  }
  bool needsPosition() const override { return true; }

private:
  Value farthest(Emission &emission, unsigned count) const {
    return isMax ? order.least(emission, count)
                 : order.greatest(emission, count);
  }

  Order order;
  bool isMax;
  Type i32, i64;
};

// Keeps the logarithm of the sum of powers of e.
class LogSumExpCombiner final : public Combiner {
public:
  LogSumExpCombiner(Type element, OpBuilder &builder)
      : order(element, builder) {}

  SmallVector<Type> types() const override { return {order.state}; }
  Values init(Emission &emission, unsigned count) const override {
    return {order.least(emission, count)};
  }
  Values lift(Emission &emission, Value element, Value) const override {
    return {order.lift(emission, element)};
  }
  // Equal infinities have no difference.
  Values merge(Emission &emission, const Values &a,
               const Values &b) const override {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value larger = order.max(emission, a[0], b[0]);
    Value isEqual = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, a[0], b[0]);
    Value distance = math::AbsFOp::create(
        builder, loc, arith::SubFOp::create(builder, loc, a[0], b[0]));
    distance = arith::SelectOp::create(builder, loc, isEqual,
                                       emission.number(distance.getType(), 0),
                                       distance);
    Value ratio = math::ExpOp::create(
        builder, loc, arith::NegFOp::create(builder, loc, distance));
    return {arith::AddFOp::create(builder, loc, larger,
                                  math::Log1pOp::create(builder, loc, ratio))};
  }
  Value finish(Emission &emission, const Values &state) const override {
    return order.finish(emission, state[0]);
  }
  bool mergesLong() const override { return true; }
  bool isOrdered() const override { return true; }

private:
  Order order;
};

// Keeps the later one.
class AssignCombiner final : public Combiner {
public:
  explicit AssignCombiner(Type element) : state(valueType(element)) {}

  SmallVector<Type> types() const override { return {state}; }
  Values init(Emission &emission, unsigned count) const override {
    return {emission.number(withCount(emission, state, count), 0)};
  }
  Values lift(Emission &, Value element, Value) const override {
    return {element};
  }
  Values merge(Emission &, const Values &, const Values &b) const override {
    return b;
  }
  Value finish(Emission &, const Values &values) const override {
    return values[0];
  }
  bool isOrdered() const override { return true; }

private:
  Type state;
};

} // namespace

std::unique_ptr<Combiner> makeCombiner(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  auto folds = dyn_cast_or_null<ir::FoldOpInterface>(op);
  if (!folds)
    return nullptr;
  OpBuilder builder(op->getContext());
  Type from = elementOf(op->getOperand(0)), to = elementOf(tensor);
  switch (ir::Fold fold = folds.getFold()) {
  case ir::Fold::sum:
  case ir::Fold::product:
    return std::make_unique<SumCombiner>(from, to, fold == ir::Fold::product,
                                         op->hasAttr(contractAttr), builder);
  case ir::Fold::maximum:
  case ir::Fold::minimum:
    return std::make_unique<ExtremumCombiner>(from, fold == ir::Fold::maximum,
                                              builder);
  case ir::Fold::argmax:
  case ir::Fold::argmin:
    return std::make_unique<SearchCombiner>(from, fold == ir::Fold::argmax,
                                            builder);
  case ir::Fold::logsumexp:
    return std::make_unique<LogSumExpCombiner>(from, builder);
  case ir::Fold::assign:
    return std::make_unique<AssignCombiner>(from);
  }
  return nullptr;
}

} // namespace sinter::compiler

/// What attention looks like in primitive ops.
#include "compiler/simplify/MatchAttention.h"

#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/SmallFloats.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

// ---- views -----------------------------------------------------------------

// A value behind transposes, and the axes that they bring it to.
static std::pair<Value, SmallVector<int64_t>> behindTransposes(Value value) {
  SmallVector<int64_t> axes;
  for (unsigned i = 0; i < rankOf(value); ++i)
    axes.push_back(i);
  while (auto view = ir::permutedOperand(value)) {
    for (int64_t &axis : axes)
      axis = view->permutation[axis];
    value = view->operand;
  }
  return {value, axes};
}

static bool isSame(Value a, Value b) {
  return a == b || behindTransposes(a) == behindTransposes(b);
}

// Whether b is a with its last two axes exchanged.
static bool isExchanged(Value a, Value b) {
  if (Value before = exchangedOperand(a); before && isSame(before, b))
    return true;
  if (Value before = exchangedOperand(b); before && isSame(before, a))
    return true;
  auto [one, axes] = behindTransposes(a);
  auto [other, otherAxes] = behindTransposes(b);
  if (axes.size() < 2)
    return false;
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return one == other && axes == otherAxes;
}

// ---- numbers ---------------------------------------------------------------

std::optional<double> numberOf(Value value) {
  while (Operation *view = value.getDefiningOp()) {
    if (!isReshape(view) && !isBroadcast(view))
      break;
    value = view->getOperand(0);
  }
  TypedAttr fill = fillOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(fill))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(fill))
    return double(integer.getInt());
  return std::nullopt;
}

// The tensor of rank 0 whose element every element of `value` is, or null.
static Value scalarOf(Value value) {
  while (Operation *view = value.getDefiningOp()) {
    if (rankOf(value) == 0 || (!isReshape(view) && !isBroadcast(view)))
      break;
    value = view->getOperand(0);
  }
  return rankOf(value) == 0 ? value : Value();
}

// Applies what every element of `value` is to `scale`, if it is one number.
static bool scaleBy(Value value, bool divides, Scaling &scale) {
  if (auto number = numberOf(value)) {
    scale.number = divides ? scale.number / *number : scale.number * *number;
    return true;
  }
  Value scalar = scalarOf(value);
  if (!scalar)
    return false;
  scale.scalars.push_back({scalar, divides});
  return true;
}

// x of x * c or x / c, c applied to `scale`; null for another value.
static Value unscaled(Value value, Scaling &scale) {
  if (auto product = value.getDefiningOp<ir::MulOp>()) {
    for (unsigned i : {1, 0})
      if (scaleBy(product->getOperand(i), false, scale))
        return product->getOperand(1 - i);
  } else if (auto quotient = value.getDefiningOp<ir::DivOp>()) {
    if (scaleBy(quotient.getRhs(), true, scale))
      return quotient.getLhs();
  }
  return {};
}

// Between floats that are computed with: to a stored one most of a number is
// lost, which is not left out.
static bool isCast(Operation *op) {
  auto isComputed = [](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    return isa<FloatType>(element) && !ir::isStoredFloat(element);
  };
  return isa_and_nonnull<ir::CastOp>(op) && isComputed(op->getOperand(0)) &&
         isComputed(op->getResult(0));
}

// A matrix behind multiplications by numbers, in either order with exchanges.
static Value behindScale(Value value, Scaling &scale) {
  while (Value inner = unscaled(value, scale))
    value = inner;
  return value;
}

// ---- softmax ---------------------------------------------------------------

static bool reducesLast(Operation *op) {
  return axesOf(op) ==
         SmallVector<int64_t>{int64_t(rankOf(op->getOperand(0))) - 1};
}

using Exprs = SmallVector<AffineExpr>;

// What `value` repeats along the last of the axes `full`; itself, if it does
// not, and null where it repeats something else.
static Value rowValue(Value value, const Exprs &full) {
  if (Value spread = ir::repeatedOperand(value)) {
    auto kept = full;
    kept.back() = getAffineConstantExpr(1, value.getContext());
    if (Exprs(dimsOf(spread.getType())) != kept)
      return {};
    value = spread;
  }
  return value;
}

// The reduction along the last of the axes `full` whose results `value` has,
// repeated along it or not.
template <typename Reduction>
static Reduction rowNumber(Value value, const Exprs &full) {
  if (full.empty())
    return {};
  value = rowValue(value, full);
  if (!value)
    return {};
  while (Value before = ir::reshapedOperand(value))
    value = before;
  auto reduction = value.getDefiningOp<Reduction>();
  if (!reduction || !reducesLast(reduction) ||
      Exprs(dimsOf(reduction.getX().getType())) != full)
    return {};
  return reduction;
}
template <typename Reduction> static Reduction rowNumber(Value value) {
  return rowNumber<Reduction>(value, Exprs(dimsOf(value.getType())));
}

static Value behindCasts(Value value) {
  while (isCast(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

// Whether the condition says of each row of `scores` that all of it is -inf.
static bool saysHidden(Value condition, Value scores) {
  Exprs full(dimsOf(scores.getType()));
  Value row = full.empty() ? Value() : rowValue(condition, full);
  auto compare = row ? row.getDefiningOp<ir::CompareOp>() : ir::CompareOp();
  if (!compare || compare.getPredicate() != "eq" ||
      numberOf(compare.getRhs()) != -std::numeric_limits<double>::infinity())
    return false;
  auto largest = rowNumber<ir::AmaxOp>(compare.getLhs(), full);
  return largest && behindCasts(largest.getX()) == behindCasts(scores);
}

// Positions along an axis, counted from the last one.
static std::optional<int64_t> positionAxis(Value value) {
  unsigned rank = rankOf(value);
  if (Value spread = ir::repeatedOperand(value))
    value = spread;
  auto iota = value.getDefiningOp<ir::IotaOp>();
  if (!iota || rank < rankOf(value))
    return std::nullopt;
  return int64_t(rankOf(value)) - 1 - int64_t(iota.getAxis());
}

// Whether the condition says that a key is not after the query; or, inverted,
// that it is.
static bool isCausal(Value condition, bool inverted) {
  if (Value spread = ir::repeatedOperand(condition))
    if (rankOf(spread) >= 2)
      condition = spread;
  auto compare = condition.getDefiningOp<ir::CompareOp>();
  if (!compare)
    return false;
  auto lhs = positionAxis(compare.getLhs()),
       rhs = positionAxis(compare.getRhs());
  if (!lhs || !rhs || *lhs + *rhs != 1)
    return false;
  // As a statement about (query, key).
  StringRef wanted = inverted ? "lt" : "ge", swapped = inverted ? "gt" : "le";
  return compare.getPredicate() == (*lhs == 1 ? wanted : swapped);
}

static std::optional<ScoreMatch> matchScores(Value value);

static std::optional<ScoreMatch> matchSum(ir::AddOp sum) {
  for (unsigned i : {0, 1}) {
    auto match = matchScores(sum->getOperand(i));
    if (!match || match->added || match->condition)
      continue;
    match->added = sum->getOperand(1 - i);
    return match;
  }
  return std::nullopt;
}

static std::optional<ScoreMatch> matchSelection(ir::WhereOp where) {
  if (saysHidden(where.getCondition(), where.getRhs()) &&
      numberOf(where.getLhs())) {
    auto match = matchScores(where.getRhs());
    if (match)
      match->hidden = where.getCondition();
    return match;
  }
  for (bool inverted : {false, true}) {
    Value kept = where->getOperand(inverted ? 2 : 1);
    auto other = numberOf(where->getOperand(inverted ? 1 : 2));
    if (!other || *other != -std::numeric_limits<double>::infinity())
      continue;
    auto match = matchScores(kept);
    if (!match)
      continue;
    Value condition = where->getOperand(0);
    if (isCausal(condition, inverted)) {
      match->causal = true;
      return match;
    }
    if (match->added || match->condition)
      continue;
    match->condition = condition;
    match->inverted = inverted;
    return match;
  }
  return std::nullopt;
}

static std::optional<ScoreMatch> matchScores(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto product = ir::matrixProductOf(op)) {
    ScoreMatch match;
    match.product = product;
    match.query = behindScale(product.getLhs(), match.scale);
    match.keyTransposed = behindScale(product.getRhs(), match.scale);
    return match;
  }
  if (isCast(op))
    return matchScores(op->getOperand(0));
  if (auto sum = dyn_cast<ir::AddOp>(op))
    return matchSum(sum);
  if (auto where = dyn_cast<ir::WhereOp>(op))
    return matchSelection(where);
  Scaling factor;
  Value inner = unscaled(value, factor);
  if (!inner)
    return std::nullopt;
  auto match = matchScores(inner);
  // A mask would be scaled, too.
  bool scalesMask = match &&
                    (match->added || match->condition || match->causal) &&
                    (!(factor.number > 0) || !factor.scalars.empty());
  if (!match || match->added || scalesMask)
    return std::nullopt;
  match->scale.number *= factor.number;
  match->scale.scalars.append(factor.scalars);
  return match;
}

// Adds the values that `select` finds among the users of those in the list, in
// turn.
static void addUsers(SmallVector<Value> &values,
                     llvm::function_ref<bool(Operation *, Value)> select) {
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers())
      if (select(user, values[i]) &&
          !llvm::is_contained(values, user->getResult(0)))
        values.push_back(user->getResult(0));
}

// Whether the op is `value`, or 0 in rows that are hidden.
static bool leavesHidden(Operation *op, Value value, Value hidden) {
  auto where = dyn_cast_or_null<ir::WhereOp>(op);
  return where && hidden && where.getCondition() == hidden &&
         where.getRhs() == value && numberOf(where.getLhs()) == 0.0;
}

std::optional<SoftmaxMatch> matchSoftmax(ir::DivOp quotient) {
  auto exponential = quotient.getLhs().getDefiningOp<ir::ExpOp>();
  auto sum = rowNumber<ir::SumOp>(quotient.getRhs());
  if (!exponential || !sum || sum.getX() != exponential.getResult())
    return std::nullopt;
  auto shifted = exponential.getX().getDefiningOp<ir::SubOp>();
  auto largest =
      shifted ? rowNumber<ir::AmaxOp>(shifted.getRhs()) : ir::AmaxOp();
  if (!largest || largest.getX() != shifted.getLhs())
    return std::nullopt;
  auto scores = matchScores(shifted.getLhs());
  if (!scores)
    return std::nullopt;
  auto casts = [](Operation *user, Value) { return isCast(user); };
  SoftmaxMatch match{*scores, quotient, {quotient.getResult()}, {}};
  addUsers(match.quotients, casts);
  if (!scores->hidden) {
    match.probabilities = match.quotients;
    return match;
  }
  for (Value each : match.quotients)
    for (Operation *user : each.getUsers())
      if (leavesHidden(user, each, scores->hidden))
        match.probabilities.push_back(user->getResult(0));
  addUsers(match.probabilities, casts);
  return match;
}

// ---- products --------------------------------------------------------------

namespace {

/// Finds the products of one softmax.
class ProductFinder {
public:
  explicit ProductFinder(const SoftmaxMatch &softmax) : softmax(softmax) {}

  SmallVector<ProductMatch> run() {
    for (Value probabilities : softmax.probabilities)
      forProducts(probabilities, ProductMatch::result, ProductMatch::value, {},
                  {});
    for (Value quotients : softmax.quotients)
      for (Operation *user : quotients.getUsers())
        if (auto change = matchChange(user, quotients))
          followChange(user->getResult(0), {}, *change);
    return std::move(found);
  }

private:
  // Products whose left operand is `matrix`, or is it transposed.
  void forProducts(Value matrix, ProductMatch::Kind straight,
                   ProductMatch::Kind across, const Scaling &factor,
                   const ScoreGradientMatch &change) {
    for (Operation *user : matrix.getUsers()) {
      if (auto product = ir::matrixProductOf(user)) {
        if (product.getLhs() == matrix)
          add({straight, product, factor, change});
        continue;
      }
      if (user->getNumResults() != 1 ||
          exchangedOperand(user->getResult(0)) != matrix)
        continue;
      for (Operation *reader : user->getUsers())
        if (auto product = ir::matrixProductOf(reader))
          if (product.getLhs() == user->getResult(0))
            add({across, product, factor, change});
    }
  }

  void add(ProductMatch product) {
    const ScoreMatch &scores = softmax.scores;
    Value other = product.op.getRhs();
    auto isOther = [&](Value value) {
      if (product.kind == ProductMatch::query)
        return isExchanged(scores.keyTransposed, value);
      return product.kind != ProductMatch::key || isSame(scores.query, value);
    };
    // A scale may stand on either side of an exchange.
    if (isOther(other) || isOther(behindScale(other, product.factor)))
      found.push_back(product);
  }

  // probabilities * (change - sum of change * probabilities).
  std::optional<ScoreGradientMatch> matchChange(Operation *op,
                                                Value probabilities) {
    auto product = dyn_cast<ir::MulOp>(op);
    if (!product)
      return std::nullopt;
    Value other = product->getOperand(product.getLhs() == probabilities);
    auto centered = other.getDefiningOp<ir::SubOp>();
    auto sum = centered ? rowNumber<ir::SumOp>(centered.getRhs()) : ir::SumOp();
    auto weighted = sum ? sum.getX().getDefiningOp<ir::MulOp>() : ir::MulOp();
    if (!weighted)
      return std::nullopt;
    Value change = centered.getLhs();
    bool isDelta =
        (weighted.getLhs() == change && weighted.getRhs() == probabilities) ||
        (weighted.getRhs() == change && weighted.getLhs() == probabilities);
    change = behindHidden(change);
    auto matrix = ir::matrixProductOf(change);
    if (!isDelta || !matrix)
      return std::nullopt;
    return ScoreGradientMatch{matrix.getLhs(), matrix.getRhs()};
  }

  // Behind casts and choices of 0 for hidden rows, which weigh nothing.
  Value behindHidden(Value value) {
    Value before;
    while (before != value) {
      before = value = behindCasts(value);
      if (auto where = value.getDefiningOp<ir::WhereOp>())
        if (leavesHidden(where, where.getRhs(), softmax.scores.hidden))
          value = where.getRhs();
    }
    return value;
  }

  // The gradient of the scores on its way to query and key.
  void followChange(Value value, const Scaling &factor,
                    const ScoreGradientMatch &change) {
    forProducts(value, ProductMatch::query, ProductMatch::key, factor, change);
    for (Operation *user : value.getUsers()) {
      Value next = user->getNumResults() == 1 ? user->getResult(0) : Value();
      Scaling scaled = factor;
      if (isCast(user) || selectsSeen(user, value))
        followChange(next, factor, change);
      else if (next && unscaled(next, scaled) == value)
        followChange(next, scaled, change);
    }
  }

  // where(condition, value, 0) of a mask's condition: it is 0 there anyway.
  bool selectsSeen(Operation *op, Value value) {
    if (leavesHidden(op, value, softmax.scores.hidden))
      return true;
    auto where = dyn_cast<ir::WhereOp>(op);
    if (!where)
      return false;
    bool inverted = where->getOperand(2) == value;
    if (numberOf(where->getOperand(inverted ? 1 : 2)) != 0.0)
      return false;
    Value condition = where->getOperand(0);
    return (softmax.scores.causal && isCausal(condition, inverted)) ||
           (condition == softmax.scores.condition &&
            inverted == softmax.scores.inverted);
  }

  const SoftmaxMatch &softmax;
  SmallVector<ProductMatch> found;
};

} // namespace

SmallVector<ProductMatch> matchProducts(const SoftmaxMatch &softmax) {
  return ProductFinder(softmax).run();
}

} // namespace sinter::compiler

/// Raises softmax(query key^T) value, and its gradient, to attention.
#include "compiler/Passes.h"
#include "compiler/analysis/Limits.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/MatchAttention.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Attention.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_RAISEATTENTION
#include "sinter/generated/Passes.h.inc"

namespace {

/// Raises what one softmax is part of.
class Raising {
public:
  Raising(const SoftmaxMatch &softmax, ArrayRef<ProductMatch> products)
      : softmax(softmax), scores(softmax.scores), products(products),
        builder(softmax.quotient->getContext()) {}

  /// Why not; empty when nothing speaks against it.
  std::string objection() const;
  void run();
  FusionDecision decision(bool accepted, const char *rule,
                          std::string why) const;

private:
  std::string reader() const;
  std::string badLength() const;
  Value makeMask();
  Value givenMask(Value from);
  Value nanWhereHidden(Value mask);
  Value resultFor(Value value);
  Value logsumexp();
  Value delta(const ScoreGradientMatch &change, Value value);
  Value gradient(const ProductMatch &product);
  Type element() const { return getElementTypeOrSelf(scores.query.getType()); }
  Type wideElement() const {
    return getElementTypeOrSelf(element()).getIntOrFloatBitWidth() == 16
               ? Type(Float32Type::get(element().getContext()))
               : element();
  }
  /// The query's dims with another last one.
  Type rowsType(Type element, AffineExpr last) const;
  Value widened(Value value, Location loc);
  Value scaled(Value value, ArrayRef<Scaling::Scalar> scalars);
  Value scaledQuery();
  Value scaledKey();
  bool isScaledAsScores(const ProductMatch &product) const;

  const SoftmaxMatch &softmax;
  const ScoreMatch &scores;
  ArrayRef<ProductMatch> products;
  OpBuilder builder;
  Value key, mask, rowStatistic;
  Value queryTimesScale, keyTimesScale; ///< where the scale is no constant
  llvm::SmallDenseMap<Value, Value> results;
};

} // namespace

// An op that reads the scores, or what comes of them, and is not raised.
std::string Raising::reader() const {
  llvm::SmallDenseSet<Operation *> raised, seen;
  for (const ProductMatch &product : products)
    raised.insert(product.op);
  SmallVector<Operation *> stack{scores.product};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (raised.contains(op) || !seen.insert(op).second)
      continue;
    for (Operation *user : op->getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>() ||
          (isa<ir::ContractionOpInterface>(user) && !raised.contains(user)))
        return op->getName().stripDialect().str();
      stack.push_back(user);
    }
  }
  return {};
}

// The lengths of rows that a kernel keeps in its frame.
std::string Raising::badLength() const {
  SmallVector<AffineExpr> lengths{dimsOf(scores.query.getType()).back()};
  for (const ProductMatch &product : products)
    if (product.kind == ProductMatch::result ||
        product.kind == ProductMatch::value)
      lengths.push_back(dimsOf(product.op->getResult(0).getType()).back());
    else
      lengths.push_back(dimsOf(product.change.grad.getType()).back());
  for (AffineExpr length : lengths) {
    auto constant = dyn_cast<AffineConstantExpr>(length);
    if (!constant)
      return "rows of a symbolic length";
    if (constant.getValue() > longestAttentionRow)
      return llvm::formatv("rows of {0} elements, more than {1}",
                           constant.getValue(), longestAttentionRow);
  }
  return {};
}

std::string Raising::objection() const {
  for (Value value : {scores.query, scores.keyTransposed})
    if (getElementTypeOrSelf(value.getType()) != element() ||
        !isa<FloatType>(element()))
      return "query and key are not of one float dtype";
  for (const ProductMatch &product : products)
    for (Value value : {Value(product.op->getResult(0)), product.change.grad,
                        product.change.valueTransposed})
      if (value && getElementTypeOrSelf(value.getType()) != element())
        return "scores and value are not of one dtype";
  if (std::string why = badLength(); !why.empty())
    return why;
  if (std::string name = reader(); !name.empty())
    return "the scores are needed in memory: of " + name + ", elsewhere";
  return {};
}

FusionDecision Raising::decision(bool accepted, const char *rule,
                                 std::string why) const {
  FusionDecision decision;
  decision.accepted = accepted;
  decision.rule = rule;
  // Scores and probabilities, each written and read.
  Type type = softmax.quotient->getResult(0).getType();
  decision.bytes = int64_t(4 * estimatedBytes(type));
  auto nodes = nodesOf(softmax.quotient->getLoc());
  decision.nodes.assign(nodes.begin(), nodes.end());
  unsigned gradients = llvm::count_if(products, [](const ProductMatch &each) {
    return each.kind != ProductMatch::result;
  });
  decision.detail = llvm::formatv(
      "softmax between products{0}{1}{2}{3}", gradients ? ", with " : "",
      gradients ? llvm::formatv("{0} gradients", gradients).str() : "",
      why.empty() ? "" : ": ", why);
  return decision;
}

Type Raising::rowsType(Type element, AffineExpr last) const {
  auto type = cast<RankedTensorType>(scores.query.getType());
  auto dims = dimsOf(type);
  dims.back() = last;
  return tensorType(element, dims, numSymbolsOf(scores.product));
}

static Value filled(OpBuilder &builder, Location loc, Type type, double value) {
  return ir::FullOp::create(
      builder, loc, type, shapeAttr(type), builder.getF64FloatAttr(value),
      TypeAttr::get(cast<RankedTensorType>(type).getElementType()));
}

static RankedTensorType withElement(Type type, Type element) {
  auto given = cast<RankedTensorType>(type);
  return RankedTensorType::get(given.getShape(), element, given.getEncoding());
}

// What the softmax adds to scores, from what it adds or chooses by.
Value Raising::givenMask(Value from) {
  Location loc = scores.product->getLoc();
  RankedTensorType type = withElement(from.getType(), element());
  if (scores.added) {
    if (from.getType() == type)
      return from;
    return ir::CastOp::create(builder, loc, type, from,
                              TypeAttr::get(element()));
  }
  Value seen = filled(builder, loc, type, 0);
  Value hidden =
      filled(builder, loc, type, -std::numeric_limits<double>::infinity());
  if (scores.inverted)
    std::swap(seen, hidden);
  return ir::WhereOp::create(builder, loc, type, from, seen, hidden);
}

// A softmax of a row that its mask hides is NaN, where attention's is 0: such a
// row of the mask becomes NaN.
Value Raising::nanWhereHidden(Value mask) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Location loc = scores.product->getLoc();
  unsigned symbols = numSymbolsOf(scores.product);
  auto dims = dimsOf(mask.getType());
  auto full = dimsOf(scores.product->getResult(0).getType());
  if (scores.causal) {
    // What a query sees of the mask is another part for each.
    size_t rank = std::max<size_t>(dims.size(), 2);
    dims.insert(dims.begin(), rank - dims.size(),
                builder.getAffineConstantExpr(1));
    llvm::copy(ArrayRef(full).take_back(2), dims.end() - 2);
    auto type = tensorType(element(), dims, symbols);
    mask = ir::BroadcastOp::create(builder, loc, type, mask, shapeAttr(type));
  }
  Type type = mask.getType();
  Type flags = withElement(type, builder.getI1Type());
  Value seen = mask, nothing = filled(builder, loc, type, -infinity);
  int64_t last = int64_t(dims.size()) - 1;
  if (scores.causal) {
    Type places = withElement(type, builder.getI32Type());
    auto along = [&](int64_t axis) -> Value {
      return ir::IotaOp::create(builder, loc, places, shapeAttr(places),
                                builder.getI64IntegerAttr(axis),
                                TypeAttr::get(builder.getI32Type()));
    };
    Value isSeen = ir::CompareOp::create(builder, loc, flags, along(last - 1),
                                         along(last), "ge");
    seen = ir::WhereOp::create(builder, loc, type, isSeen, mask, nothing);
  }
  if (last >= 0) {
    dims.back() = builder.getAffineConstantExpr(1);
    auto rows = tensorType(element(), dims, symbols);
    seen = ir::AmaxOp::create(builder, loc, rows, seen,
                              builder.getDenseI64ArrayAttr(last),
                              builder.getBoolAttr(true));
    seen = ir::BroadcastOp::create(builder, loc, type, seen, shapeAttr(type));
  }
  Value isHidden =
      ir::CompareOp::create(builder, loc, flags, seen, nothing, "eq");
  return ir::WhereOp::create(builder, loc, type, isHidden,
                             filled(builder, loc, type, std::nan("")), mask);
}

// Of the scores' shape: a view of something smaller where it was one.
Value Raising::makeMask() {
  Location loc = scores.product->getLoc();
  Value from = scores.added ? scores.added : scores.condition;
  if (!from || (scores.added && numberOf(scores.added) == 0.0))
    return filled(builder, loc, RankedTensorType::get({}, element()), 0);
  // On what is repeated, not on what it becomes.
  Value spread = ir::repeatedOperand(from);
  bool isReady = scores.added && scores.hidden &&
                 getElementTypeOrSelf(from.getType()) == element();
  if (spread && !isReady)
    from = spread;
  Value made = givenMask(from);
  if (!scores.hidden)
    made = nanWhereHidden(made);
  RankedTensorType full =
      withElement(scores.product->getResult(0).getType(), element());
  if (made.getType() == full)
    return made;
  return ir::BroadcastOp::create(builder, loc, full, made, shapeAttr(full));
}

Value Raising::resultFor(Value value) {
  Value &result = results[value];
  if (!result)
    result = ir::AttentionOp::create(
        builder, softmax.quotient->getLoc(),
        rowsType(element(), dimsOf(value.getType()).back()), scaledQuery(), key,
        mask, value, scores.causal ? "causal" : "all",
        APFloat(scores.scale.number));
  return result;
}

Value Raising::logsumexp() {
  if (!rowStatistic)
    rowStatistic = ir::AttentionLogsumexpOp::create(
        builder, softmax.quotient->getLoc(),
        rowsType(wideElement(), builder.getAffineConstantExpr(1)),
        scaledQuery(), key, mask, scores.causal ? "causal" : "all",
        APFloat(scores.scale.number));
  return rowStatistic;
}

Value Raising::widened(Value value, Location loc) {
  if (element() == wideElement())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  return ir::CastOp::create(
      builder, loc,
      RankedTensorType::get(type.getShape(), wideElement(), type.getEncoding()),
      value, TypeAttr::get(wideElement()));
}

// `value` times numbers that are known when the program runs, in their dtype.
Value Raising::scaled(Value value, ArrayRef<Scaling::Scalar> scalars) {
  Location loc = scores.product->getLoc();
  auto cast = [&](Value x, Type element) -> Value {
    auto type = mlir::cast<RankedTensorType>(x.getType());
    if (type.getElementType() == element)
      return x;
    return ir::CastOp::create(
        builder, loc,
        RankedTensorType::get(type.getShape(), element, type.getEncoding()), x,
        TypeAttr::get(element));
  };
  for (const Scaling::Scalar &scalar : scalars) {
    Value x = cast(value, getElementTypeOrSelf(scalar.value.getType()));
    Value factor = ir::BroadcastOp::create(
        builder, loc, x.getType(), scalar.value, shapeAttr(x.getType()));
    x = scalar.divides ? ir::DivOp::create(builder, loc, x.getType(), x, factor)
                             .getResult()
                       : ir::MulOp::create(builder, loc, x.getType(), x, factor)
                             .getResult();
    value = cast(x, getElementTypeOrSelf(value.getType()));
  }
  return value;
}

Value Raising::scaledQuery() {
  if (!queryTimesScale)
    queryTimesScale = scaled(scores.query, scores.scale.scalars);
  return queryTimesScale;
}

Value Raising::scaledKey() {
  if (!keyTimesScale)
    keyTimesScale = scaled(key, scores.scale.scalars);
  return keyTimesScale;
}

// Whether the product is multiplied by what the scores are, known numbers
// aside.
bool Raising::isScaledAsScores(const ProductMatch &product) const {
  return llvm::equal(product.factor.scalars, scores.scale.scalars,
                     [](const Scaling::Scalar &a, const Scaling::Scalar &b) {
                       return a.value == b.value && a.divides == b.divides;
                     });
}

// The sum over a row of grad * result: what the probabilities weigh their
// changes to.
Value Raising::delta(const ScoreGradientMatch &change, Value value) {
  Location loc = softmax.quotient->getLoc();
  Value grad = widened(change.grad, loc);
  Value product = ir::MulOp::create(builder, loc, grad.getType(), grad,
                                    widened(resultFor(value), loc));
  int64_t last = int64_t(rankOf(product)) - 1;
  return ir::SumOp::create(
      builder, loc, rowsType(wideElement(), builder.getAffineConstantExpr(1)),
      product, builder.getDenseI64ArrayAttr(last), builder.getBoolAttr(true));
}

Value Raising::gradient(const ProductMatch &product) {
  Location loc = product.op->getLoc();
  Value rows = logsumexp(), value, grad, change;
  if (product.kind == ProductMatch::value) {
    grad = product.op->getOperand(1);
    change = rows;
    // Of the shape that its gradient has; it is not read.
    for (const ProductMatch &other : products)
      if (other.kind == ProductMatch::result)
        value = other.op->getOperand(1);
    for (const ProductMatch &other : products)
      if (other.change.grad == grad) {
        value = exchanged(other.change.valueTransposed, loc, builder);
        change = delta(other.change, value);
      }
    if (!value || value.getType() != product.op->getResult(0).getType())
      value = filled(builder, loc, product.op->getResult(0).getType(), 0);
  } else {
    grad = product.change.grad;
    value = exchanged(product.change.valueTransposed, loc, builder);
    change = delta(product.change, value);
  }
  // The other side's rows bear the scale where the gradient has it, too. The
  // gradients of key and value bear it alike: they share a kernel.
  const ProductMatch *scaling = &product;
  for (const ProductMatch &other : products)
    if (product.kind == ProductMatch::value && other.kind == ProductMatch::key)
      scaling = &other;
  bool ofQuery = product.kind == ProductMatch::query;
  bool isScaled = isScaledAsScores(*scaling);
  bool onKey = ofQuery == isScaled;
  auto build = [&]<typename Op>(Op *) -> Value {
    Value made = Op::create(
        builder, loc, product.op->getResult(0).getType(),
        onKey ? scores.query : scaledQuery(), onKey ? scaledKey() : key, mask,
        value, grad, rows, change, scores.causal ? "causal" : "all",
        APFloat(scores.scale.number), APFloat(product.factor.number));
    if (isScaled && product.kind != ProductMatch::value)
      return made;
    return scaled(made, product.factor.scalars);
  };
  if (ofQuery)
    return build(static_cast<ir::AttentionQueryGradientOp *>(nullptr));
  if (product.kind == ProductMatch::key)
    return build(static_cast<ir::AttentionKeyGradientOp *>(nullptr));
  return build(static_cast<ir::AttentionValueGradientOp *>(nullptr));
}

// The new ops stand before the softmax's quotient; the block is sorted after.
void Raising::run() {
  builder.setInsertionPoint(softmax.quotient);
  key = exchanged(scores.keyTransposed, scores.keyTransposed.getLoc(), builder);
  mask = makeMask();
  for (const ProductMatch &product : products) {
    Value made = product.kind == ProductMatch::result
                     ? resultFor(product.op->getOperand(1))
                     : gradient(product);
    made.getDefiningOp()->setLoc(
        mergeLocations(product.op->getLoc(), made.getLoc()));
    Value old = product.op->getResult(0);
    old.replaceAllUsesWith(made);
  }
}

namespace {

struct RaiseAttentionPass : impl::RaiseAttentionBase<RaiseAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = mainOf(getOperation());
    Block &block = function.getBody().front();
    SmallVector<ir::DivOp> quotients(block.getOps<ir::DivOp>());
    bool changed = false;
    for (ir::DivOp quotient : quotients) {
      auto softmax = matchSoftmax(quotient);
      if (!softmax)
        continue;
      auto products = matchProducts(*softmax);
      if (products.empty())
        continue;
      Raising raising(*softmax, products);
      std::string why = raising.objection();
      addDecisions(getOperation(),
                   {exact && why.empty()
                        ? raising.decision(false, "exact",
                                           "sums would be in another order")
                        : raising.decision(why.empty(), "attention", why)});
      if (exact || !why.empty())
        continue;
      raising.run();
      changed = true;
    }
    if (!changed)
      return;
    sortTopologically(&block);
    removeDeadOps(function);
    simplifyOps(function);
    mergeDuplicates(function);
    removeDeadOps(function);
  }
};

} // namespace

} // namespace sinter::compiler

/// Views that select by position: pads and concat narrow the mask.
#include "compiler/lower/MaskedViews.h"

#include "compiler/lower/Access.h"
#include "compiler/lower/OpsBehind.h"
#include "compiler/lower/Views.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;

namespace sinter::compiler {

// The conjunction of conditions that may be scalars or vectors.
static Value both(Emission &emission, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  unsigned count = 1;
  for (Value value : {a, b})
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      count = vector.getNumElements();
  Value result;
  emission.hoisted({a, b}, /*readsMemory=*/false, [&] {
    result = arith::AndIOp::create(emission.builder, emission.loc,
                                   emission.spread(Element{a}, count),
                                   emission.spread(Element{b}, count));
  });
  return result;
}

Lanes narrow(Emission &emission, const Lanes &lanes, Value condition) {
  if (!condition)
    return lanes;
  Lanes result = lanes;
  result.narrowed = true;
  result.mask = both(emission, lanes.mask, condition);
  if (lanes.count > 1)
    result.mask = emission.spread(Element{result.mask}, lanes.count);
  return result;
}

static int64_t saturate(double value, unsigned width, bool isUnsigned) {
  if (std::isnan(value))
    return 0;
  double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  if (value <= low)
    return isUnsigned    ? 0
           : width == 64 ? std::numeric_limits<int64_t>::min()
                         : int64_t(low);
  if (value >= high)
    return width < 64   ? int64_t(high) - 1
           : isUnsigned ? -1 // all bits
                        : std::numeric_limits<int64_t>::max();
  return isUnsigned ? int64_t(uint64_t(value)) : int64_t(value);
}

Value numberValue(Emission &emission, TypedAttr number, Type element) {
  auto real = dyn_cast<FloatAttr>(number);
  auto whole = dyn_cast<IntegerAttr>(number);
  Type type = valueType(element);
  if (auto floating = dyn_cast<FloatType>(element)) {
    // Integers round once; 16-bit floats are reached through f32.
    llvm::APFloat value(0.0);
    if (real) {
      value = real.getValue();
    } else {
      value.convertFromAPInt(whole.getValue(), /*IsSigned=*/true,
                             llvm::APFloat::rmNearestTiesToEven);
      value = llvm::APFloat(double(whole.getInt()));
    }
    bool lost = false;
    if (floating.getWidth() < 32)
      value.convert(llvm::APFloat::IEEEsingle(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
    value.convert(floating.getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    return arith::ConstantOp::create(emission.builder, emission.loc,
                                     FloatAttr::get(type, value));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  int64_t value;
  if (width == 1)
    value = real ? real.getValueAsDouble() != 0 : whole.getInt() != 0;
  else
    value = real ? saturate(real.getValueAsDouble(), width,
                            element.isUnsignedInteger())
                 : whole.getInt();
  return emission.integer(type, value);
}

namespace {

/// An operand among elements of one value.
class FilledView : public ElementSource {
public:
  FilledView(Value tensor, Value operand)
      : ElementSource(tensor), operand(operand) {}

protected:
  // The operand's elements where the condition holds (null: everywhere).
  Element pick(Emission &emission, Value condition, const Index &index,
               const Lanes &lanes, Element fill) {
    if (!condition)
      return emission.at(operand, index, lanes);
    if (lanes.count > 1 && !isa<VectorType>(condition.getType()) &&
        !readsSideBySide(emission.body))
      return either(emission, condition, index, lanes, fill);
    Element inside =
        emission.at(operand, index, narrow(emission, lanes, condition));
    return emission.select(condition, inside, fill, lanes.count);
  }

  const Value operand;

private:
  // A product's tile reads many elements at once: branches would keep them
  // apart.
  static bool readsSideBySide(Block &body) {
    return llvm::any_of(body, [](Operation &op) {
      auto described = dyn_cast<ir::SinterOpInterface>(&op);
      return described &&
             described.getPatternKind() == graph::PatternKind::contraction;
    });
  }

  // All lanes have an element, or none: a load under a mask of none may take
  // long where there is no memory.
  Element either(Emission &emission, Value condition, const Index &index,
                 const Lanes &lanes, Element fill) {
    auto type = emission.vectorType(fill.value.getType(), lanes.count);
    auto inside = [&]() -> Emission::Values {
      return {emission.vectorAt(operand, index, lanes)};
    };
    auto outside = [&]() -> Emission::Values {
      return {emission.spread(fill, lanes.count)};
    };
    return Element{
        emission.branch(condition, Type(type), inside, outside).front()};
  }
};

class PadSource final : public FilledView {
public:
  explicit PadSource(ir::PadOp op)
      : FilledView(op.getResult(), op.getX()), op(op) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Shape outer = shapeOf(tensor), inner = shapeOf(operand);
    Index split = index;
    while (split.tailRank > 1 && padsTail(op, split.tailRank))
      split = emission.withTail(split, outer, split.tailRank - 1);
    Value condition;
    Element fill{numberValue(emission, op.getValue(), elementOf(tensor))};
    for (auto [dim, coord] : llvm::enumerate(split.lead))
      if (isFill(emission, coord, dim, inner[dim]))
        return fill;
    bool isNearest = emission.readsNearest && hasNearest();
    bool areLanesNear = true; // also those that the mask leaves out
    auto move = [&](Coord &coord, unsigned dim) {
      Value before = condition;
      coord = shift(emission, coord, dim, inner[dim], condition);
      if (isNearest && condition != before)
        coord = emission.clamp(coord, inner[dim]);
      else
        areLanesNear &= coord.isUniform();
    };
    for (auto [dim, coord] : llvm::enumerate(split.lead))
      move(coord, dim);
    if (split.tailRank == 1)
      move(split.tail, outer.size() - 1);
    else
      areLanesNear &= split.tail.isUniform();
    if (!isNearest || !condition)
      return pick(emission, condition, split, lanes, fill);
    Lanes read = lanes;
    if (areLanesNear)
      read.mask = {};
    Element inside = emission.at(operand, split, read);
    return emission.select(condition, inside, fill, lanes.count);
  }

  static bool pads(ir::PadOp op, unsigned dim) {
    return !isZero(startOf(op, dim)) || op.getInterior()[dim] != 0 ||
           shapeOf(op.getResult())[dim] != shapeOf(op.getX())[dim];
  }
  static bool padsTail(ir::PadOp op, unsigned count) {
    unsigned rank = op.getLow().size();
    for (unsigned dim = rank - count; dim < rank; ++dim)
      if (pads(op, dim))
        return true;
    return false;
  }

private:
  // Whether the operand has an element nearest to each of the pad's, and
  // nothing is reported where it is read.
  bool hasNearest() {
    if (!nearest) {
      Shape inner = shapeOf(operand);
      nearest = llvm::none_of(opsBehind(operand), [](Operation *made) {
        auto described = dyn_cast<ir::SinterOpInterface>(made);
        return described &&
               described.getPatternKind() == graph::PatternKind::gather;
      });
      for (unsigned dim = 0; dim < inner.size(); ++dim)
        *nearest &= !pads(op, dim) || constantOf(inner[dim]) > 0;
    }
    return *nearest;
  }

  // Whether all lanes are known to lie where nothing of the operand is.
  bool isFill(Emission &emission, const Coord &coord, unsigned dim,
              AffineExpr extent) {
    if (!pads(op, dim) || op.getInterior()[dim] != 0)
      return false;
    Coord moved = emission.add(
        coord, emission.uniform(emission.extent(startOf(op, dim) * -1)));
    return emission.staysOutside(moved, extent);
  }

  // The operand's coordinate; `condition` learns where there is one.
  Coord shift(Emission &emission, const Coord &coord, unsigned dim,
              AffineExpr extent, Value &condition) {
    if (!pads(op, dim))
      return coord;
    Coord moved = emission.add(
        coord, emission.uniform(emission.extent(startOf(op, dim) * -1)));
    int64_t spacing = op.getInterior()[dim] + 1;
    if (spacing == 1 && emission.staysWithin(moved, extent))
      return moved;
    if (spacing == 1) {
      condition = both(emission, condition, emission.isWithin(moved, extent));
      return moved;
    }
    // Kept positive, because division is that of numbers without a sign.
    int64_t before = (op.getLow()[dim] + spacing - 1) / spacing;
    moved = emission.add(moved,
                         emission.uniform(emission.constant(before * spacing)));
    MLIRContext *context = emission.builder.getContext();
    AffineExpr by = getAffineConstantExpr(spacing, context);
    auto [counted, remainder] = emission.divide(moved, by);
    Coord quotient =
        emission.add(counted, emission.uniform(emission.constant(-before)));
    AffineExpr one = getAffineConstantExpr(1, context);
    condition = both(emission, condition, emission.isWithin(remainder, one));
    condition = both(emission, condition, emission.isWithin(quotient, extent));
    return quotient;
  }

  ir::PadOp op;
  std::optional<bool> nearest; ///< where it is known
};

class DynamicPadSource final : public FilledView {
public:
  explicit DynamicPadSource(ir::DynamicPadOp op)
      : FilledView(op.getResult(), op.getX()), op(op), start(op.getStart()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    unsigned axis = op.getAxis();
    AffineExpr outer = shapeOf(tensor)[axis], inner = shapeOf(operand)[axis];
    Element fill{emission.number(valueType(elementOf(tensor)), 0)};
    if (constantOf(inner) == 0)
      return fill;
    Index split = apartFrom(emission, index, shapeOf(tensor), axis);
    Coord &moved = axis < split.lead.size() ? split.lead[axis] : split.tail;
    moved = emission.sub(moved, start.within(emission, outer - inner));
    Value condition;
    if (outer != inner)
      condition = emission.isWithin(moved, inner);
    return pick(emission, condition, split, lanes, fill);
  }

private:
  ir::DynamicPadOp op;
  ViewStart start;
};

class ConcatSource final : public ElementSource {
public:
  explicit ConcatSource(ir::ConcatOp op)
      : ElementSource(op.getResult()), op(op) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Shape outer = shapeOf(tensor);
    unsigned axis = op.getAxis(), rank = outer.size();
    Index split = index;
    if (axis + split.tailRank >= rank)
      split = emission.withTail(split, outer,
                                std::max<unsigned>(1, rank - axis - 1));
    bool inTail = axis == rank - 1 && split.tailRank == 1;
    Coord position = inTail ? split.tail : split.lead[axis];
    Element result{emission.number(valueType(elementOf(tensor)), 0)};
    AffineExpr start = getAffineConstantExpr(0, emission.builder.getContext());
    for (Value part : op.getXs()) {
      AffineExpr size = shapeOf(part)[axis];
      Coord moved =
          emission.add(position, emission.uniform(emission.extent(start * -1)));
      Value condition = emission.isWithin(moved, size);
      (inTail ? split.tail : split.lead[axis]) = moved;
      start = start + size;
      if (constantOf(size) == 0)
        continue;
      Element element =
          emission.at(part, split, narrow(emission, lanes, condition));
      result = emission.select(condition, element, result, lanes.count);
    }
    return result;
  }

private:
  ir::ConcatOp op;
};

} // namespace

std::unique_ptr<ElementSource> makeMaskedView(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto pad = dyn_cast<ir::PadOp>(op))
    return std::make_unique<PadSource>(pad);
  if (auto pad = dyn_cast<ir::DynamicPadOp>(op))
    return std::make_unique<DynamicPadSource>(pad);
  if (auto concat = dyn_cast<ir::ConcatOp>(op))
    return std::make_unique<ConcatSource>(concat);
  return nullptr;
}

bool keepsMaskedView(Operation *op, unsigned tailRank) {
  if (auto pad = dyn_cast<ir::PadOp>(op))
    return !PadSource::padsTail(pad, tailRank) &&
           keepsTail(pad.getX(), tailRank);
  if (auto pad = dyn_cast<ir::DynamicPadOp>(op)) {
    unsigned rank = shapeOf(pad.getResult()).size();
    return uint64_t(pad.getAxis()) < rank - tailRank &&
           keepsTail(pad.getX(), tailRank);
  }
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    unsigned rank = shapeOf(concat.getResult()).size();
    return uint64_t(concat.getAxis()) < rank - tailRank &&
           llvm::all_of(
               concat.getXs(),
               [&](Value part) { return keepsTail(part, tailRank); });
  }
  return false;
}

} // namespace sinter::compiler

/// Views that select by position narrow the mask.
#include "compiler/lower/element/MaskedViews.h"

#include "compiler/analysis/Access.h"
#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/element/Views.h"
#include "dialects/sinter/Dialect.h"

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
class FilledSource final : public ElementSource {
public:
  FilledSource(Value tensor, ir::ViewMap map)
      : ElementSource(tensor), view(std::move(map)),
        operand(view.map.part().operand) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    const ir::ViewPart &part = view.map.part();
    Index split = view.splitTail(emission, index);
    Element fill{numberValue(emission, view.map.fill, elementOf(tensor))};
    if (isFill(emission, split))
      return fill;
    Value condition;
    bool isNearest = emission.readsNearest && hasNearest();
    bool areLanesNear = true; // also those that the mask leaves out
    auto move = [&](const ir::AxisMap &axis) {
      Value before = condition;
      Coord coord = shift(emission, axis, split, condition);
      if (isNearest && condition != before)
        return emission.clamp(coord, axis.extent);
      areLanesNear &= coord.isUniform();
      return coord;
    };
    Index inner = split;
    for (auto [dim, coord] : llvm::enumerate(inner.lead))
      coord = move(part.axes[dim]);
    if (split.tailRank == 1)
      inner.tail = move(part.axes.back());
    else
      areLanesNear &= inner.tail.isUniform();
    if (!isNearest || !condition)
      return pick(emission, condition, inner, lanes, fill);
    Lanes read = lanes;
    if (areLanesNear)
      read.mask = {};
    Element inside = emission.at(operand, inner, read);
    return emission.select(condition, inside, fill, lanes.count);
  }

private:
  // Whether the operand has an element nearest to each of the view's, and
  // nothing is reported where it is read.
  bool hasNearest() {
    if (!nearest) {
      nearest = !view.map.start &&
                llvm::none_of(opsBehind(operand), [](Operation *made) {
                  auto described = dyn_cast<ir::SinterOpInterface>(made);
                  return described && described.getPatternKind() ==
                                          graph::PatternKind::gather;
                });
      for (const ir::AxisMap &axis : view.map.part().axes)
        *nearest &= !axis.isMasked || constantOf(axis.extent) > 0;
    }
    return *nearest;
  }

  // Whether all lanes are known to lie where nothing of the operand is.
  bool isFill(Emission &emission, const Index &split) {
    ArrayRef<ir::AxisMap> axes = view.map.part().axes;
    if (view.map.start)
      return llvm::any_of(axes, [](const ir::AxisMap &axis) {
        return axis.isMasked && constantOf(axis.extent) == 0;
      });
    for (const ir::AxisMap &axis : axes.take_front(split.lead.size())) {
      if (!axis.isMasked || axis.spacing != 1)
        continue;
      if (emission.staysOutside(view.sum(emission, axis, split), axis.extent))
        return true;
    }
    return false;
  }

  // The operand's coordinate; `condition` learns where there is one.
  Coord shift(Emission &emission, const ir::AxisMap &axis, const Index &split,
              Value &condition) {
    Coord moved = view.sum(emission, axis, split);
    if (!axis.isMasked ||
        (axis.spacing == 1 && emission.staysWithin(moved, axis.extent)))
      return moved;
    if (axis.spacing == 1) {
      condition =
          both(emission, condition, emission.isWithin(moved, axis.extent));
      return moved;
    }
    // Kept positive, because division is that of numbers without a sign.
    int64_t before = (axis.spacing - 1 - axis.least) / axis.spacing;
    moved = emission.add(
        moved, emission.uniform(emission.constant(before * axis.spacing)));
    MLIRContext *context = emission.builder.getContext();
    AffineExpr by = getAffineConstantExpr(axis.spacing, context);
    auto [counted, remainder] = emission.divide(moved, by);
    Coord quotient =
        emission.add(counted, emission.uniform(emission.constant(-before)));
    AffineExpr one = getAffineConstantExpr(1, context);
    condition = both(emission, condition, emission.isWithin(remainder, one));
    condition =
        both(emission, condition, emission.isWithin(quotient, axis.extent));
    return quotient;
  }

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

  ViewIndex view;
  Value operand;
  std::optional<bool> nearest; ///< where it is known
};

/// Operands one after the other.
class JoinedSource final : public ElementSource {
public:
  JoinedSource(Value tensor, ir::ViewMap map)
      : ElementSource(tensor), view(std::move(map)), joined(*view.map.joins()) {
  }

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Index split = view.splitTail(emission, index);
    Element result{emission.number(valueType(elementOf(tensor)), 0)};
    for (const ir::ViewPart &part : view.map.parts) {
      const ir::AxisMap &axis = part.axes[joined];
      Index inner = view.indexOf(emission, part, split);
      Coord &moved =
          joined < inner.lead.size() ? inner.lead[joined] : inner.tail;
      Value condition = emission.isWithin(moved, axis.extent);
      if (constantOf(axis.extent) == 0)
        continue;
      Element element =
          emission.at(part.operand, inner, narrow(emission, lanes, condition));
      result = emission.select(condition, element, result, lanes.count);
    }
    return result;
  }

private:
  ViewIndex view;
  unsigned joined; ///< the axis
};

} // namespace

std::unique_ptr<ElementSource> makeMaskedView(Value tensor, ir::ViewMap map) {
  if (map.joins())
    return std::make_unique<JoinedSource>(tensor, std::move(map));
  return std::make_unique<FilledSource>(tensor, std::move(map));
}

} // namespace sinter::compiler

/// A contraction as a source: each element is its own sum over k, ascending.
#include "compiler/lower/element/Inline.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sinter::compiler {

Type accumulatorType(Type element) { return ir::defaultSumType(element); }

Value toAccumulator(Emission &emission, Value value, Type element) {
  return toSumType(emission, value, accumulatorType(element));
}

Value toSumType(Emission &emission, Value value, Type sum) {
  Type type = sum;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(sum);
  if (value.getType() == type)
    return value;
  return arith::ExtFOp::create(emission.builder, emission.loc, type, value);
}

Value fromAccumulator(Emission &emission, Value value, Type element) {
  Type type = valueType(element);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  if (value.getType() == type)
    return value;
  return arith::TruncFOp::create(emission.builder, emission.loc, type, value);
}

Value multiplyAdd(Emission &emission, Value a, Value b, Value sum) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  if (!isa<FloatType>(getElementTypeOrSelf(sum.getType()))) {
    Value product = arith::MulIOp::create(builder, loc, a, b);
    return arith::AddIOp::create(builder, loc, sum, product);
  }
  if (emission.target.hasFma())
    return math::FmaOp::create(builder, loc, a, b, sum);
  Value product = arith::MulFOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, sum, product);
}

SmallVector<Coord> coordinatesAt(AffineMap map, ArrayRef<Coord> loops) {
  SmallVector<Coord> coordinates;
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
    coordinates.push_back(loops[map.getDimPosition(axis)]);
  return coordinates;
}

namespace {

class ContractionSource final : public ElementSource {
public:
  explicit ContractionSource(ir::ContractionOpInterface op)
      : ElementSource(op.getResult()), lhs(op.getLhs()), rhs(op.getRhs()),
        maps(op.getIndexingMaps()), scalar(op.getSumType()),
        length(depthOf(op)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> outer = emission.coordinates(index, shapeOf(tensor));
    Type type = lanes.count == 1
                    ? scalar
                    : Type(emission.vectorType(scalar, lanes.count));
    Value zero = emission.number(type, 0);
    Value depth = emission.extent(length);
    auto sum = emission.loop(
        emission.constant(0), depth, 1, zero,
        [&](Value k, ValueRange carried) -> Emission::Values {
          SmallVector<Coord> loops(outer);
          loops.push_back(emission.uniform(k));
          Value a =
              operand(emission, lhs, coordinatesAt(maps.lhs, loops), lanes);
          Value b =
              operand(emission, rhs, coordinatesAt(maps.rhs, loops), lanes);
          return {multiplyAdd(emission, a, b, carried.front())};
        });
    return Element{fromAccumulator(emission, sum.front(), elementOf(tensor))};
  }

private:
  Value operand(Emission &emission, Value source, ArrayRef<Coord> coordinates,
                const Lanes &lanes) {
    Element value =
        emission.at(source, emission.fromCoordinates(coordinates), lanes);
    Value wide = toSumType(emission, value.value, scalar);
    return emission.spread(Element{wide}, lanes.count);
  }

  Value lhs, rhs;
  ir::ContractionMaps maps;
  Type scalar; ///< of sums
  AffineExpr length;
};

} // namespace

std::unique_ptr<ElementSource> makeContraction(Value tensor) {
  if (auto op = dyn_cast<ir::ContractionOpInterface>(tensor.getDefiningOp()))
    return std::make_unique<ContractionSource>(op);
  return nullptr;
}

std::unique_ptr<ElementSource> makeInlineSource(Value tensor) {
  if (auto gather = makeGather(tensor))
    return gather;
  if (auto random = makeRandom(tensor))
    return random;
  if (auto reduction = makeReduction(tensor))
    return reduction;
  return makeContraction(tensor);
}

} // namespace sinter::compiler

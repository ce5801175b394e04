/// A contraction as a source: each element is its own sum over k, ascending.
#include "compiler/lower/Inline.h"
#include "compiler/lower/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Contraction.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sinter::compiler {

Type accumulatorType(Type element) {
  Type type = valueType(element);
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return type;
}

Value toAccumulator(Emission &emission, Value value, Type element) {
  Type scalar = accumulatorType(element);
  Type type = scalar;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(scalar);
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

namespace {

class ContractionSource final : public ElementSource {
public:
  explicit ContractionSource(ir::MatmulOp op)
      : ElementSource(op.getResult()), lhs(op.getLhs()), rhs(op.getRhs()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> outer = emission.coordinates(index, shapeOf(tensor));
    unsigned rank = outer.size();
    Type element = elementOf(tensor);
    Type scalar = accumulatorType(element);
    Type type = lanes.count == 1
                    ? scalar
                    : Type(emission.vectorType(scalar, lanes.count));
    Value zero = emission.number(type, 0);
    Value depth = emission.extent(shapeOf(lhs).back());
    auto sum =
        emission.loop(emission.constant(0), depth, 1, zero,
                      [&](Value k, ValueRange carried) -> Emission::Values {
                        SmallVector<Coord> left(outer), right(outer);
                        left[rank - 1] = emission.uniform(k);
                        right[rank - 2] = emission.uniform(k);
                        Value a = operand(emission, lhs, left, lanes, element);
                        Value b = operand(emission, rhs, right, lanes, element);
                        return {multiplyAdd(emission, a, b, carried.front())};
                      });
    return Element{fromAccumulator(emission, sum.front(), element)};
  }

private:
  Value operand(Emission &emission, Value source, ArrayRef<Coord> coordinates,
                const Lanes &lanes, Type element) {
    Element value =
        emission.at(source, emission.fromCoordinates(coordinates), lanes);
    Value wide = toAccumulator(emission, value.value, element);
    return emission.spread(Element{wide}, lanes.count);
  }

  Value lhs, rhs;
};

} // namespace

std::unique_ptr<ElementSource> makeContraction(Value tensor) {
  if (auto op = dyn_cast<ir::MatmulOp>(tensor.getDefiningOp()))
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

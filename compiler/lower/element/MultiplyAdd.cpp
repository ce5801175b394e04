/// Contracted sums of products.
#include "compiler/lower/element/MultiplyAdd.h"

#include "compiler/analysis/Marks.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// f16 and bf16 are multiplied and added in f32, and rounded once.
class MultiplyAddSource final : public ElementSource {
public:
  MultiplyAddSource(Value tensor, ir::MulOp product, unsigned number)
      : ElementSource(tensor), sum(tensor.getDefiningOp()), product(product),
        number(number) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Value> values;
    bool isUniform = true;
    Value operands[] = {product.getLhs(), product.getRhs(),
                        sum->getOperand(1 - number)};
    for (Value operand : operands) {
      Element element = emission.at(operand, index, lanes);
      isUniform &= element.isUniform();
      values.push_back(element.value);
    }
    Type type = elementOf(tensor);
    for (Value &value : values) {
      value = emission.spread(Element{value}, isUniform ? 1 : lanes.count);
      value = toAccumulator(emission, value, type);
    }
    // a * b - c, and c - a * b.
    if (isa<ir::SubOp>(sum)) {
      Value &negated = number == 0 ? values[2] : values[0];
      negated = arith::NegFOp::create(emission.builder, emission.loc, negated);
    }
    Value result = math::FmaOp::create(emission.builder, emission.loc,
                                       values[0], values[1], values[2]);
    return Element{fromAccumulator(emission, result, type)};
  }

private:
  Operation *sum;
  ir::MulOp product;
  unsigned number;
};

} // namespace

std::unique_ptr<ElementSource> makeMultiplyAdd(Emission &emission,
                                               Value tensor) {
  Operation *op = tensor.getDefiningOp();
  auto contracted = op->getAttrOfType<IntegerAttr>(contractAttr);
  if (!contracted || !isa<ir::AddOp, ir::SubOp>(op) ||
      !emission.target.hasFma())
    return nullptr;
  auto number = unsigned(contracted.getInt());
  auto product = op->getOperand(number).getDefiningOp<ir::MulOp>();
  if (!product)
    return nullptr;
  return std::make_unique<MultiplyAddSource>(tensor, product, number);
}

SmallVector<Coord> batchCoordinates(Emission &emission, const Shape &shape,
                                    Value batch) {
  if (shape.size() == 2)
    return {};
  Shape leading(shape.begin(), shape.end() - 2);
  Index flat;
  flat.tail = emission.uniform(batch);
  flat.tailRank = leading.size();
  return emission.coordinates(flat, leading);
}

} // namespace sinter::compiler

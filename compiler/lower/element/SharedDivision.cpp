/// Division by what a row shares.
#include "compiler/lower/element/SharedDivision.h"

#include "compiler/analysis/Marks.h"
#include "compiler/math/ElementMath.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// x / s is (x * scale) * reciprocal. `scale` is a power of two, 1 unless s or
// its reciprocal might not be a normal number.
class SharedDivisionSource final : public ElementSource {
public:
  explicit SharedDivisionSource(ir::DivOp op)
      : ElementSource(op.getResult()), op(op) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Element x = emission.at(op.getLhs(), index, lanes);
    Element divisor = emission.at(op.getRhs(), index, lanes);
    Value scale, reciprocal;
    // Once a row, where the divisor is known.
    emission.hoisted({divisor.value}, /*readsMemory=*/false, [&] {
      std::tie(scale, reciprocal) = factorsOf(emission, divisor.value);
    });
    bool isUniform = x.isUniform() && divisor.isUniform();
    unsigned count = isUniform ? 1 : lanes.count;
    Value result = emission.spread(x, count);
    for (Value factor : {scale, reciprocal})
      result = arith::MulFOp::create(emission.builder, emission.loc, result,
                                     emission.spread(Element{factor}, count));
    return Element{result};
  }

private:
  static std::pair<Value, Value> factorsOf(Emission &emission, Value divisor) {
    ElementMath m(emission.builder, emission.loc, divisor.getType());
    double step = m.isDouble() ? 0x1p500 : 0x1p60;
    double large = m.isDouble() ? 0x1p900 : 0x1p100;
    Value magnitude = m.abs(divisor);
    Value scale =
        m.select(m.lt(magnitude, m.num(1 / large)), m.num(step), m.num(1));
    scale = m.select(m.lt(m.num(large), magnitude), m.num(1 / step), scale);
    return {scale, m.div(m.num(1), m.mul(divisor, scale))};
  }

  ir::DivOp op;
};

} // namespace

std::unique_ptr<ElementSource> makeSharedDivision(Value tensor) {
  auto op = dyn_cast<ir::DivOp>(tensor.getDefiningOp());
  Type element = elementOf(tensor);
  if (!op || !op->hasAttr(sharedDivisorAttr) ||
      !(element.isF32() || element.isF64()))
    return nullptr;
  return std::make_unique<SharedDivisionSource>(op);
}

} // namespace sinter::compiler

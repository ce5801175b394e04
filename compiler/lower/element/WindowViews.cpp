/// Windows put back into their image: which of them stand over an element.
#include "compiler/lower/element/WindowViews.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/MaskedViews.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

AffineExpr number(Emission &emission, int64_t value) {
  return getAffineConstantExpr(value, emission.builder.getContext());
}

class UnwindowSource final : public ElementSource {
public:
  UnwindowSource(Value tensor, const ir::ViewMap &map)
      : ElementSource(tensor), operand(map.part().operand),
        windows(map.windows()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> inner = emission.coordinates(index, shapeOf(tensor));
    Shape shape = shapeOf(operand);
    Lanes left = lanes;
    for (const ir::ViewWindow &window : windows)
      inner[window.axis] =
          position(emission, window, inner[window.axis], inner[window.element],
                   shape[window.axis], left);
    Element fill{emission.number(valueType(elementOf(tensor)), 0)};
    Element inside =
        emission.at(operand, emission.fromCoordinates(inner), left);
    return emission.select(left.mask, inside, fill, lanes.count);
  }

private:
  // (place - k * dilation) / stride, where that is a window's position.
  Coord position(Emission &emission, const ir::ViewWindow &window,
                 const Coord &place, const Coord &k, AffineExpr positions,
                 Lanes &left) {
    // Kept positive, because division is that of numbers without a sign.
    int64_t before =
        llvm::divideCeil((window.size - 1) * window.dilation, window.stride);
    Coord start = emission.add(
        emission.sub(place,
                     emission.scale(k, number(emission, window.dilation))),
        emission.uniform(emission.constant(before * window.stride)));
    Coord result = start;
    if (window.stride != 1) {
      auto [quotient, remainder] =
          emission.divide(start, number(emission, window.stride));
      Value exact = emission.isWithin(remainder, number(emission, 1));
      left = narrow(emission, left, exact);
      result = quotient;
    }
    result = emission.add(result, emission.uniform(emission.constant(-before)));
    left = narrow(emission, left, emission.isWithin(result, positions));
    return result;
  }

  Value operand;
  SmallVector<ir::ViewWindow, 2> windows;
};

} // namespace

std::unique_ptr<ElementSource> makeUnwindowed(Value tensor, ir::ViewMap map) {
  return std::make_unique<UnwindowSource>(tensor, map);
}

} // namespace sinter::compiler

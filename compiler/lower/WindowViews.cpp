/// Views between an image and its windows: window is affine, unwindow asks
/// which windows stand over an element.
#include "compiler/lower/WindowViews.h"

#include "compiler/lower/Access.h"
#include "compiler/lower/MaskedViews.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

/// The windows of one axis.
struct AxisWindow {
  unsigned axis;
  int64_t size, stride, dilation;
};

template <typename Op> SmallVector<AxisWindow> windowsOf(Op op) {
  SmallVector<AxisWindow> windows;
  for (auto [axis, size, stride, dilation] : llvm::zip(
           op.getAxes(), op.getSizes(), op.getStrides(), op.getDilations()))
    windows.push_back({unsigned(axis), size, stride, dilation});
  return windows;
}

const AxisWindow *findWindow(ArrayRef<AxisWindow> windows, unsigned axis) {
  auto found = llvm::find_if(
      windows, [&](const AxisWindow &window) { return window.axis == axis; });
  return found == windows.end() ? nullptr : found;
}

AffineExpr number(Emission &emission, int64_t value) {
  return getAffineConstantExpr(value, emission.builder.getContext());
}

class WindowSource final : public ElementSource {
public:
  explicit WindowSource(ir::WindowOp op)
      : ElementSource(op.getResult()), operand(op.getX()),
        windows(windowsOf(op)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> outer = emission.coordinates(index, shapeOf(tensor));
    unsigned rank = outer.size() - windows.size();
    SmallVector<Coord> inner(outer.begin(), outer.begin() + rank);
    for (auto [j, window] : llvm::enumerate(windows))
      inner[window.axis] = emission.add(
          emission.scale(outer[window.axis], number(emission, window.stride)),
          emission.scale(outer[rank + j], number(emission, window.dilation)));
    return emission.at(operand, emission.fromCoordinates(inner), lanes);
  }

private:
  Value operand;
  SmallVector<AxisWindow> windows;
};

class UnwindowSource final : public ElementSource {
public:
  explicit UnwindowSource(ir::UnwindowOp op)
      : ElementSource(op.getResult()), operand(op.getX()),
        windows(windowsOf(op)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> inner = emission.coordinates(index, shapeOf(tensor));
    unsigned rank = inner.size() - windows.size();
    Shape shape = shapeOf(operand);
    Lanes left = lanes;
    for (auto [j, window] : llvm::enumerate(windows))
      inner[window.axis] = position(emission, window, inner[window.axis],
                                    inner[rank + j], shape[window.axis], left);
    Element fill{emission.number(valueType(elementOf(tensor)), 0)};
    Element inside =
        emission.at(operand, emission.fromCoordinates(inner), left);
    return emission.select(left.mask, inside, fill, lanes.count);
  }

private:
  // (place - k * dilation) / stride, where that is a window's position.
  Coord position(Emission &emission, const AxisWindow &window,
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
  SmallVector<AxisWindow> windows;
};

} // namespace

std::unique_ptr<ElementSource> makeWindowView(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto window = dyn_cast<ir::WindowOp>(op))
    return std::make_unique<WindowSource>(window);
  if (auto unwindow = dyn_cast<ir::UnwindowOp>(op))
    return std::make_unique<UnwindowSource>(unwindow);
  return nullptr;
}

bool windowRunsAlong(Operation *op, unsigned dim) {
  Value operand = op->getOperand(0);
  auto along = [&](ArrayRef<AxisWindow> windows, unsigned rank, bool isWindow) {
    if (dim >= rank) {
      const AxisWindow &window = windows[dim - rank];
      return isWindow && window.dilation == 1 &&
             runsAlong(operand, window.axis);
    }
    const AxisWindow *window = findWindow(windows, dim);
    return (!window || window->stride == 1) && runsAlong(operand, dim);
  };
  unsigned rank = shapeOf(op->getResult(0)).size();
  if (auto window = dyn_cast<ir::WindowOp>(op))
    return along(windowsOf(window), rank - window.getAxes().size(), true);
  auto unwindow = cast<ir::UnwindowOp>(op);
  return along(windowsOf(unwindow), rank - unwindow.getAxes().size(), false);
}

} // namespace sinter::compiler

/// Sinks: where a kernel's values go.
#include "compiler/lower/kernel/Sinks.h"

#include "compiler/lower/element/Views.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

using namespace mlir;

namespace sinter::compiler {

Sink sinkBehind(Value output, unsigned buffer,
                llvm::function_ref<bool(Operation *)> isView) {
  Sink sink;
  sink.value = output;
  sink.buffer = buffer;
  while (Operation *op = sink.value.getDefiningOp()) {
    if (!isView(op))
      break;
    sink.views.insert(sink.views.begin(), op);
    sink.value = op->getOperand(0);
  }
  return sink;
}

std::optional<Sink> makeSink(Value output, const Shape &shape,
                             unsigned buffer) {
  Sink sink = sinkBehind(output, buffer, [](Operation *op) {
    return ir::keepsLinearOrder(op) || ir::permutesAxes(op);
  });
  if (shapeOf(sink.value) != shape)
    return std::nullopt;
  return sink;
}

void storeToSink(Emission &emission, const Sink &sink, const Index &index,
                 const Lanes &lanes, Element element) {
  Index place = index;
  Value tensor = sink.value;
  for (Operation *view : sink.views) {
    Shape from = shapeOf(tensor);
    tensor = view->getResult(0);
    if (auto permuted = ir::permutedOperand(tensor)) {
      SmallVector<Coord> coordinates = emission.coordinates(place, from);
      SmallVector<Coord> moved;
      for (int64_t dim : permuted->permutation)
        moved.push_back(coordinates[dim]);
      place = emission.fromCoordinates(moved);
    } else {
      place = reshapeIndex(emission, place, from, shapeOf(tensor));
    }
  }
  storeElements(emission, emission.entry.buffers[sink.buffer], tensor, place,
                lanes, element);
}

} // namespace sinter::compiler

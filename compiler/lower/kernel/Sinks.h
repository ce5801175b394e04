/// Sinks: where a kernel's values go.
#pragma once

#include "compiler/lower/element/ElementSource.h"

namespace sinter::compiler {

/// An output that is stored from the root's index space: a value of the root's
/// shape, then reshapes and transposes.
struct Sink {
  mlir::Value value;                          ///< of the root's shape
  llvm::SmallVector<mlir::Operation *> views; ///< from `value` to the output
  unsigned buffer = 0;
};

/// The sink of `output` behind all views before it of which `isView` is true.
Sink sinkBehind(mlir::Value output, unsigned buffer,
                llvm::function_ref<bool(mlir::Operation *)> isView);

/// The sink of `output` in a kernel whose root has `shape`; nothing when more
/// than views lies between.
std::optional<Sink> makeSink(mlir::Value output, const Shape &shape,
                             unsigned buffer);

/// Stores an element that stands at `index` in the root's space.
void storeToSink(Emission &emission, const Sink &sink, const Index &index,
                 const Lanes &lanes, Element element);

} // namespace sinter::compiler

/// ElementSource: the emitter interface. A tensor inside a kernel is whatever
/// gives its elements at an index.
#pragma once

#include "compiler/lower/element/Emission.h"

#include <memory>

namespace sinter::compiler {

class ElementSource {
public:
  explicit ElementSource(mlir::Value tensor) : tensor(tensor) {}
  virtual ~ElementSource() = default;

  /// Elements at an index. Called by Emission::at, which memoizes: either the
  /// index depends on the lanes, or lanes.count is 1 and there is no mask.
  virtual Element at(Emission &emission, const Index &index,
                     const Lanes &lanes) = 0;

  const mlir::Value tensor;
};

/// The source of a value of a kernel's body: the one place that dispatches on
/// an op's class. Null for an op that no source handles.
std::unique_ptr<ElementSource> makeSource(Emission &emission,
                                          mlir::Value tensor);

/// A tensor of which only one element, or one vector of them, is asked for.
std::unique_ptr<ElementSource> makeKnown(mlir::Value tensor, Element element);

/// Whether the trailing `tailRank` dims of `tensor` may be addressed by one
/// linear coordinate without a division on the way to the buffers, and with
/// lanes along them.
bool keepsTail(mlir::Value tensor, unsigned tailRank);

/// Writes elements of a value to an output buffer at the value's own index.
/// `streamed`: whole vectors of neighbours go past the caches; each starts at a
/// multiple of its size.
void storeElements(Emission &emission, mlir::Value buffer, mlir::Value tensor,
                   const Index &index, const Lanes &lanes, Element element,
                   bool streamed = false);

/// Reads a buffer, as it stands in memory, at a linear coordinate.
mlir::Value loadLanes(Emission &emission, mlir::Value buffer,
                      const Coord &linear, const Lanes &lanes);

/// Reads elements of an output back from its buffer; never memoized.
mlir::Value loadElements(Emission &emission, mlir::Value buffer,
                         mlir::Value tensor, const Index &index,
                         const Lanes &lanes);

/// The value of an element type as it stands in memory, and back.
mlir::Value toMemory(Emission &emission, mlir::Value value, mlir::Type element);
mlir::Value fromMemory(Emission &emission, mlir::Value value,
                       mlir::Type element);

} // namespace sinter::compiler

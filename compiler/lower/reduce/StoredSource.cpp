/// Tensors that a phase before has stored.
#include "compiler/lower/reduce/StoredSource.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class StoredSource final : public ElementSource {
public:
  StoredSource(Value tensor, unsigned buffer)
      : ElementSource(tensor), buffer(buffer) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Coord linear = emission.linearize(index, shapeOf(tensor));
    Value value =
        loadLanes(emission, emission.entry.buffers[buffer], linear, lanes);
    return Element{fromMemory(emission, value, elementOf(tensor))};
  }

private:
  unsigned buffer;
};

} // namespace

std::unique_ptr<ElementSource> makeStored(Value tensor, unsigned buffer) {
  return std::make_unique<StoredSource>(tensor, buffer);
}

} // namespace sinter::compiler

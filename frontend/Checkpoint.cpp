/// Regions of recorded nodes.
#include <sinter/Checkpoint.h>

#include "frontend/Raise.h"
#include "runtime/graph/NodeNotes.h"
#include "sinter/runtime/Node.h"

namespace sinter::detail {

struct CheckpointScope::Region {
  std::shared_ptr<graph::CheckpointRegion> own =
      std::make_shared<graph::CheckpointRegion>();
  std::shared_ptr<const graph::CheckpointRegion> current = own;
  const std::shared_ptr<const graph::CheckpointRegion> *outer =
      graph::recordScope().region;
};

CheckpointScope::CheckpointScope() try : region(std::make_unique<Region>()) {
  if (region->outer)
    region->own->outer = *region->outer;
  graph::recordScope().region = &region->current;
} catch (...) {
  detail::raiseExhausted({});
}

CheckpointScope::~CheckpointScope() {
  graph::recordScope().region = region->outer;
  region->own->isOpen.store(false, std::memory_order_release);
}

} // namespace sinter::detail

/// Replicas: values of checkpointed regions, computed again for the way back.
#pragma once

#include "runtime/autodiff/NodeMap.h"
#include "runtime/graph/NodeNotes.h"
#include "sinter/runtime/Result.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace sinter::autodiff {

/// The replicas of one reverse sweep. What rules read of a region is recorded
/// once more, from what came into the region, and ordered (`graph::after`)
/// behind the first gradient that arrives at the region: until then nothing but
/// what came in has to be kept. The same ops on the same values, random draws
/// included, so in `exact` no bit differs.
///
/// What came in is everything that was recorded outside. Parameters and numbers
/// are read as they are. A loop of `scan` in a region, and what a user made a
/// flush evaluate, are kept.
class Replicas {
public:
  using Region = graph::CheckpointRegion;

  /// The innermost region that is closed; null for none.
  static const Region *regionOf(const graph::Node &node);

  /// A gradient has arrived at a node of `region`.
  void arrive(const Region &region, const graph::NodeRef &gradient);

  /// The value of `node` for rules of ops recorded in `region`, at which a
  /// gradient has arrived.
  Result<graph::NodeRef> valueIn(const Region &region,
                                 const graph::NodeRef &node);

private:
  struct Recording {
    graph::NodeRef token; ///< the gradient that arrived first
    NodeMap<graph::NodeRef> values;
    /// Operands are looked up by address.
    std::vector<graph::NodeRef> kept;
  };
  Result<graph::NodeRef> fromOutside(const Region &region,
                                     const graph::NodeRef &node);
  Result<graph::NodeRef> again(Recording &recording,
                               const graph::NodeRef &node);

  std::unordered_map<const Region *, Recording> recordings;
};

} // namespace sinter::autodiff

/// FlushPlan: which nodes one flush evaluates, which state it replaces, whose
/// memory it may reuse.
#pragma once

#include "runtime/graph/Key.h"
#include "runtime/program/Program.h"
#include "sinter/runtime/Cell.h"

#include <span>
#include <unordered_set>
#include <vector>

namespace sinter::detail {

/// A state cell whose update belongs to the flush.
struct CellUpdate {
  runtime::CellRef cell;
  graph::NodeRef next; ///< the new value's node
  graph::NodeRef old;  ///< the leaf that holds the value until then
  /// The leaf that is to hold the new value: made before the flush runs.
  graph::NodeRef leaf = {};
};

/// Live nodes whose history `retain_history` keeps; under evaluation's lock.
using RetainedNodes = std::unordered_set<const graph::Node *>;

/// Made under evaluation's lock and kept until the flush ended. Reused by its
/// thread, so a repeat allocates little.
class FlushPlan {
public:
  /// Chooses outputs and updates, starting from those of `nodes`, of one
  /// device, that are pending. With `alone`, takes neither state nor readers
  /// along.
  Status choose(std::span<const graph::NodeRef> nodes, bool alone,
                const runtime::Key &environment, RetainedNodes &retained);
  /// Leaves that must be initialized before this plan can run.
  std::vector<graph::NodeRef> lazyLeaves() const;
  /// Binds the inputs and decides about donation. Drops history that reads
  /// replaced state: what was dropped is in `released`.
  void bind(const RetainedNodes &retained);
  /// Forgets the buffers that the inputs are bound to.
  void releaseInputs();
  /// Forgets everything that keeps nodes alive.
  void clear();

  /// Whether nothing of what `choose` was given is pending.
  bool isEmpty() const { return roots.empty(); }
  bool replacesState() const { return !updates.empty(); }
  /// Whether output `index` must forget its operands once evaluated.
  bool dropsHistory(size_t index) const;

  graph::KeyedSlice slice;
  std::vector<graph::NodeRef> outputs; ///< pending ops, each once
  std::vector<CellUpdate> updates;
  /// One per slice.inputs(), while they are bound.
  std::span<const runtime::Binding> bindings() const {
    return {inputBindings.data(), numBound};
  }
  std::vector<graph::NodeRef> released;
  unsigned donated = 0;
  unsigned refused = 0;
  SiteId refusedSite = 0;

private:
  Status computeWith(std::span<const CellUpdate> chosen);
  void dropFailedUpdates(std::vector<CellUpdate> &candidates);
  void joinEdges();
  bool selectUpdates(std::vector<CellUpdate> &candidates);
  bool isReachedFromOutside() const;
  bool addLiveReaders(RetainedNodes &retained);
  void markReplaced();
  void findKept(const RetainedNodes &retained);
  uint32_t find(uint32_t number);
  void join(uint32_t a, uint32_t b) { parent[find(a)] = find(b); }

  std::vector<graph::NodeRef> roots; ///< requested, then live readers
  graph::NodeNumbers seen;           ///< the outputs, as a set
  runtime::Key environment;
  std::vector<uint32_t> uses;   ///< operand references by number
  std::vector<uint32_t> parent; ///< components of op nodes
  std::vector<uint8_t> reads;   ///< by number: depends on replaced state
  graph::NodeNumbers kept;      ///< retained, and what it was computed from
  std::vector<graph::NodeRef> historic;
  std::vector<const graph::Node *> heldLeaves;
  /// The first `numBound` count; what the others allocated is kept.
  std::vector<runtime::Binding> inputBindings;
  size_t numBound = 0;
};

} // namespace sinter::detail

/// Records and runs the initializers of lazy state.
#include "frontend/Initialize.h"

#include "sinter/runtime/Cell.h"

#include <algorithm>
#include <mutex>

namespace sinter::detail {

using graph::NodeRef;
using graph::NodeState;
using runtime::CellTable;
using runtime::LazyValue;

namespace {
/// An initial value that is to be made now.
struct Making {
  std::shared_ptr<LazyValue> lazy;
  std::vector<NodeRef> leaves;
  NodeRef node;
};
} // namespace

/// Groups leaves by the value that they share; those whose value was made get
/// it at once.
static Status collect(std::span<const NodeRef> leaves,
                      std::vector<Making> &makings) {
  CellTable &table = CellTable::get();
  for (const NodeRef &leaf : leaves) {
    if (leaf->isReady())
      continue;
    std::shared_ptr<LazyValue> lazy = table.lazyValue(leaf.get());
    if (!lazy)
      return makeError(ErrorKind::internal, "a lazy leaf has no initializer");
    if (runtime::BufferRef value = table.made(*lazy)) {
      table.provide(lazy, leaf, std::move(value));
      continue;
    }
    auto same =
        std::find_if(makings.begin(), makings.end(),
                     [&](const Making &making) { return making.lazy == lazy; });
    if (same == makings.end())
      same = makings.insert(makings.end(), Making{lazy, {}, {}});
    same->leaves.push_back(leaf);
  }
  return {};
}

Status initialize(std::span<const NodeRef> leaves, const EvaluationNote &note) {
  // An initializer may itself evaluate something.
  static std::recursive_mutex *mutex = new std::recursive_mutex;
  std::lock_guard lock(*mutex);
  CellTable &table = CellTable::get();
  std::vector<Making> makings;
  SINTER_TRY(collect(leaves, makings));
  std::vector<NodeRef> pending;
  for (Making &making : makings) {
    SINTER_TRY_ASSIGN(making.node, table.record(*making.lazy));
    if (making.node->state() == NodeState::pending)
      pending.push_back(making.node);
  }
  while (!pending.empty()) {
    DeviceId device = pending.back()->device();
    auto here = std::stable_partition(
        pending.begin(), pending.end(),
        [&](const NodeRef &node) { return node->device() != device; });
    SINTER_TRY(flushAlone(
        std::span<const NodeRef>(&*here, pending.end() - here), note));
    pending.erase(here, pending.end());
  }
  for (Making &making : makings) {
    if (making.node->state() == NodeState::failed)
      return making.node->failure();
    for (const NodeRef &leaf : making.leaves)
      table.provide(making.lazy, leaf, making.node->value());
  }
  return {};
}

} // namespace sinter::detail

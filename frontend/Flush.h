/// Flush: evaluating pending nodes, and everything that must go with them, as
/// one program.
#pragma once

#include "sinter/runtime/Node.h"

#include <sinter/Arg.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::detail {

/// Why a flush happens.
enum class FlushReason : uint8_t {
  read,
  print,
  eval,
  limit,
  readsReplacedState,
  dataDependentShape,
};
std::string_view toString(FlushReason reason);

/// Gives every node in `nodes` a value. In the same program it evaluates all
/// pending state that shares a pending node with them, and the live pending
/// readers of state that is thereby replaced. Throws what went wrong; state is
/// then as it was before. Thread-safe.
void evaluate(std::span<const graph::NodeRef> nodes, FlushReason reason,
              const SourceLine &where);

/// The same, but takes neither state nor readers of it along.
void evaluateAlone(std::span<const graph::NodeRef> nodes, FlushReason reason,
                   const SourceLine &where);

/// The line of a flush, and whether it may be a step's: not the first values of
/// state, nor a piece of what was pending.
struct FlushLine {
  SiteId site = 0;
  bool isWhole = true;
};

/// How and where a node was evaluated, and what released its history.
struct EvaluationNote {
  FlushReason reason = FlushReason::read;
  SiteId site = 0;       ///< the flush
  SiteId releasedBy = 0; ///< the update that released its history
};
/// The note of a node that was evaluated lately; zeros when none is kept.
EvaluationNote evaluationNote(const graph::Node *node);

/// Keeps the history of a live node when state that it reads is replaced.
void retainHistory(const graph::NodeRef &node);

/// Holds evaluation back: operands of evaluated nodes may be read. Waits until
/// no flush in progress replaces state that a node was computed from. One
/// inside another, as when a gradient hook calls `backward`, cannot wait: it
/// throws.
class HistoryLock {
public:
  explicit HistoryLock(const graph::NodeRef &node) : HistoryLock({&node, 1}) {}
  explicit HistoryLock(std::span<const graph::NodeRef> nodes);
  ~HistoryLock();
  HistoryLock(const HistoryLock &) = delete;
};
/// Whether this thread holds one: it cannot evaluate.
bool holdsHistory();

} // namespace sinter::detail

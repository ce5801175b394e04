/// Collects pending work, and finds where to cut it.
#include "frontend/PendingWork.h"

#include "frontend/LiveHandles.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/RecordNumber.h"
#include "sinter/runtime/Cell.h"

#include <algorithm>
#include <optional>
#include <span>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;
using graph::NodeState;
using runtime::CellTable;

static size_t bytesOf(const Node &node) {
  return node.elements() * byteWidth(node.dtype());
}

size_t PendingWork::Op::bytes() const { return bytesOf(*node); }

static bool isPendingOp(const Node &node) {
  return !node.isLeaf() && node.state() == NodeState::pending;
}

//===- Collecting ---------------------------------------------------------===//

PendingWork::PendingWork() : lock(std::span<const NodeRef>()) {
  collectRoots();
  collectOps();
  countKept();
}

void PendingWork::collectRoots() {
  uint64_t thread = graph::lastRecordNumber().thread();
  auto add = [&](const NodeRef &node) {
    ++numVisited;
    if (isPendingOp(*node) && recordNumberOf(*node).thread() == thread)
      held.push_back(node);
  };
  LiveHandles::forEach(add);
  for (const runtime::CellRef &cell : CellTable::get().pendingCells())
    if (NodeRef next = cell->pending())
      add(next);
  // One entry a node.
  auto placeOf = [](const NodeRef &node) { return recordNumberOf(*node).bits; };
  std::ranges::sort(held, {}, placeOf);
  auto same = std::ranges::unique(held);
  held.erase(same.begin(), same.end());
  for (const NodeRef &root : held)
    heldBytes += bytesOf(*root);
}

void PendingWork::collectOps() {
  graph::NodeNumbers seen;
  std::vector<Node *> stack;
  auto visit = [&](Node *node) {
    if (!isPendingOp(*node) || seen.find(node))
      return;
    seen.insert(node, 0);
    all.push_back({node});
    stack.push_back(node);
  };
  for (const NodeRef &root : held) {
    visit(root.get());
    while (!stack.empty()) {
      Node *node = stack.back();
      stack.pop_back();
      for (const NodeRef &operand : node->operands())
        visit(operand.get());
    }
  }
  numVisited += all.size();
}

namespace {
/// A value and how many pending operands it is.
struct Input {
  const Node *node;
  uint32_t uses = 0;
};
} // namespace

/// Counts what nothing but pending ops holds.
void PendingWork::countKept() {
  graph::NodeNumbers numbers;
  std::vector<Input> inputs;
  for (const Op &op : all)
    for (const NodeRef &operand : op.node->operands()) {
      if (!operand->isReady() || !operand->value())
        continue;
      const uint32_t *known = numbers.find(operand.get());
      if (!known) {
        numbers.insert(operand.get(), static_cast<uint32_t>(inputs.size()));
        inputs.push_back({operand.get(), 1});
      } else {
        ++inputs[*known].uses;
      }
    }
  for (const Input &input : inputs)
    if (input.node->useCount() == input.uses &&
        input.node->value()->useCount() == 1)
      keptBytes += bytesOf(*input.node);
}

//===- In the order of recording ------------------------------------------===//

bool PendingWork::isBrokenInput(const Node &node) const {
  if (node.state() == NodeState::failed)
    return true;
  // A placeholder of a captured function, which was leaked.
  return node.isLeaf() && node.state() == NodeState::pending &&
         !CellTable::get().lazyValue(&node);
}

/// Puts the ops into order and finds what each depends on. What another thread
/// recorded comes first: it is there.
void PendingWork::order() {
  uint64_t thread = graph::lastRecordNumber().thread();
  auto placeOf = [thread](const Op &op) {
    graph::RecordNumber number = recordNumberOf(*op.node);
    return number.thread() == thread ? number.count() : 0;
  };
  std::ranges::stable_sort(all, {}, placeOf);
  graph::NodeNumbers numbers;
  for (uint32_t i = 0; i < all.size(); ++i)
    numbers.insert(all[i].node, i);
  for (const NodeRef &root : held)
    all[*numbers.find(root.get())].isHeld = true;
  graph::OpenLoops loops;
  for (uint32_t i = 0; i < all.size(); ++i) {
    Op &op = all[i];
    op.isInside =
        loops.add(*op.node) || op.node->op() == graph::OpId::scan_index;
    for (const NodeRef &operand : op.node->operands()) {
      const uint32_t *number = numbers.find(operand.get());
      if (!number) {
        op.isBroken |= isBrokenInput(*operand);
        continue;
      }
      Op &used = all[*number];
      used.lastUse = std::max(used.lastUse, i);
      op.isBroken |= used.isBroken;
    }
  }
}

static bool isEvaluable(bool isInside, bool isBroken, const Node &node) {
  return !isInside && !isBroken && node.op() != graph::OpId::scan_end;
}

std::vector<NodeRef> PendingWork::roots() {
  order();
  std::vector<NodeRef> found;
  for (const Op &op : all)
    if (op.isHeld && isEvaluable(op.isInside, op.isBroken, *op.node))
      found.emplace_back(op.node);
  return found;
}

//===- Cutting ------------------------------------------------------------===//

/// What it costs to cut after each op.
class PendingWork::Cuts {
public:
  Cuts(std::span<const Op> ops, const PendingLimits &limits);

  /// The place of the next cut: how many ops stand before it. Nothing when
  /// what follows `begin` fits, or has no place for one.
  std::optional<size_t> next(size_t begin, const CutPlace &last) const;

private:
  /// Whether ops from `begin` on, before `end`, are at most 1/`part` of the
  /// limits.
  bool fits(size_t begin, size_t end, size_t part) const {
    return end - begin <= std::max<size_t>(1, limits.ops / part) &&
           held[end] - held[begin] <= limits.bytes / part;
  }

  std::span<const Op> ops;
  const PendingLimits &limits;
  std::vector<size_t> crossing;   ///< bytes, by the number of ops before
  std::vector<size_t> forbidding; ///< values that cannot be given
  std::vector<size_t> held;       ///< bytes of held results before
};

PendingWork::Cuts::Cuts(std::span<const Op> ops, const PendingLimits &limits)
    : ops(ops), limits(limits), crossing(ops.size() + 2),
      forbidding(ops.size() + 2), held(ops.size() + 1) {
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op &op = ops[i];
    held[i + 1] = held[i] + (op.isHeld ? op.bytes() : 0);
    if (op.lastUse <= i)
      continue;
    // Alive at the places from right after it to right before its last user.
    bool canCross = isEvaluable(op.isInside, op.isBroken, *op.node);
    std::vector<size_t> &counts = canCross ? crossing : forbidding;
    size_t weight = !canCross ? 1 : op.isHeld ? 0 : op.bytes();
    counts[i + 1] += weight;
    counts[op.lastUse + 1] -= weight;
  }
  for (size_t i = 1; i < crossing.size(); ++i) {
    crossing[i] += crossing[i - 1];
    forbidding[i] += forbidding[i - 1];
  }
}

std::optional<size_t> PendingWork::Cuts::next(size_t begin,
                                              const CutPlace &last) const {
  if (fits(begin, ops.size(), 1))
    return std::nullopt;
  std::optional<size_t> best;
  bool isBestLike = false;
  for (size_t place = begin + 1; place < ops.size(); ++place) {
    if (best && !fits(begin, place, 1))
      break;
    if (forbidding[place] || fits(begin, place, 2))
      continue;
    bool isLike = CutPlace::after(*ops[place - 1].node) == last;
    bool isBetter =
        !best || crossing[place] < crossing[*best] ||
        (crossing[place] == crossing[*best] && (isLike || !isBestLike));
    if (!isBetter)
      continue;
    best = place;
    isBestLike = isLike;
  }
  return best;
}

std::vector<PendingWork::Piece> PendingWork::pieces(const PendingLimits &limits,
                                                    CutPlace &last) {
  order();
  std::vector<Piece> found;
  Cuts cuts(all, limits);
  size_t begin = 0;
  while (std::optional<size_t> end = cuts.next(begin, last)) {
    Piece piece;
    for (size_t i = begin; i < *end; ++i) {
      const Op &op = all[i];
      if ((op.isHeld || op.lastUse >= *end) &&
          isEvaluable(op.isInside, op.isBroken, *op.node))
        piece.emplace_back(op.node);
    }
    last = CutPlace::after(*all[*end - 1].node);
    begin = *end;
    if (!piece.empty())
      found.push_back(std::move(piece));
  }
  return found;
}

} // namespace sinter::detail

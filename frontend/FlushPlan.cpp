/// Chooses what a flush evaluates and whose memory it reuses.
#include "frontend/FlushPlan.h"

#include "frontend/LiveHandles.h"
#include "frontend/ReachSearch.h"
#include "runtime/support/Cancel.h"

#include <algorithm>
#include <iterator>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;
using runtime::CellTable;

void FlushPlan::releaseInputs() {
  for (; numBound > 0; --numBound)
    inputBindings[numBound - 1].buffer = {};
}

void FlushPlan::clear() {
  outputs.clear();
  updates.clear();
  releaseInputs();
  released.clear();
  roots.clear();
  historic.clear();
  heldLeaves.clear();
  kept.clear();
  donated = refused = 0;
  refusedSite = 0;
}

//===- Choosing -----------------------------------------------------------===//

/// Numbers the slice below the roots and the updates' nodes. `outputs` gets
/// each pending op once; updates to leaves take part when they are lazy.
Status FlushPlan::computeWith(std::span<const CellUpdate> chosen) {
  outputs.clear();
  seen.clear();
  auto add = [this](const NodeRef &node) {
    if (seen.find(node.get()))
      return;
    seen.insert(node.get(), 0);
    outputs.push_back(node);
  };
  for (const NodeRef &root : roots)
    add(root);
  for (const CellUpdate &update : chosen)
    add(update.next);
  return slice.compute(outputs, environment);
}

/// Operand counts; op nodes that share an edge fall into one component.
void FlushPlan::joinEdges() {
  size_t count = slice.nodes().size();
  uses.assign(count, 0);
  parent.resize(count);
  for (uint32_t i = 0; i < count; ++i)
    parent[i] = i;
  for (auto [user, operand] : slice.edges()) {
    ++uses[operand];
    if (!slice.isInput(operand))
      join(operand, user);
  }
}

uint32_t FlushPlan::find(uint32_t number) {
  while (parent[number] != number)
    number = parent[number] = parent[parent[number]];
  return number;
}

/// Keeps the candidates whose update shares a pending node with a root,
/// replaces state that what is evaluated reads, or reads state that a kept one
/// replaces. Whether any was left out.
bool FlushPlan::selectUpdates(std::vector<CellUpdate> &candidates) {
  // State joins those who read it with what replaces it.
  std::vector<uint8_t> isState(slice.nodes().size(), 0);
  for (const CellUpdate &update : candidates) {
    if (!slice.contains(update.old.get()))
      continue;
    uint32_t old = slice.numberOf(update.old.get());
    isState[old] = 1;
    join(old, slice.numberOf(update.next.get()));
  }
  for (auto [user, operand] : slice.edges())
    if (isState[operand])
      join(operand, user);
  std::vector<uint8_t> isIncluded(slice.nodes().size(), 0);
  for (const NodeRef &root : roots)
    isIncluded[find(slice.numberOf(root.get()))] = 1;
  std::vector<uint8_t> isKept(candidates.size(), 0);
  for (size_t i = 0; i < candidates.size(); ++i)
    isKept[i] = isIncluded[find(slice.numberOf(candidates[i].next.get()))];
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!isKept[i])
      continue;
    if (kept != i)
      candidates[kept] = std::move(candidates[i]);
    ++kept;
  }
  bool leftOut = kept != candidates.size();
  candidates.resize(kept);
  return leftOut;
}

/// Updates that depend on a failed value can never happen: the state keeps
/// what it has.
void FlushPlan::dropFailedUpdates(std::vector<CellUpdate> &candidates) {
  std::erase_if(candidates, [this](const CellUpdate &update) {
    NodeRef next = update.next;
    if (slice.compute({&next, 1}, environment))
      return false;
    CellTable::get().rollBack(update.cell, update.next);
    return true;
  });
}

static std::vector<CellUpdate> pendingUpdates(DeviceId device) {
  std::vector<CellUpdate> updates;
  for (runtime::CellRef &cell : CellTable::get().pendingCells()) {
    NodeRef next = cell->pending();
    if (!next || cell->device() != device)
      continue;
    if (next->isReady()) {
      CellTable::get().commit(cell, next);
      continue;
    }
    NodeRef old = cell->leaf();
    updates.push_back({std::move(cell), std::move(next), std::move(old), {}});
  }
  return updates;
}

Status FlushPlan::choose(std::span<const NodeRef> nodes, bool alone,
                         const runtime::Key &environment,
                         RetainedNodes &retained) {
  clear();
  this->environment = environment;
  std::ranges::copy_if(nodes, std::back_inserter(roots),
                       [](const NodeRef &node) {
                         return node->state() == graph::NodeState::pending;
                       });
  if (roots.empty())
    return {};
  std::vector<CellUpdate> candidates;
  if (!alone)
    candidates = pendingUpdates(roots[0]->device());
  if (!computeWith(candidates)) {
    SINTER_TRY(computeWith({}));
    dropFailedUpdates(candidates);
    SINTER_TRY(computeWith(candidates));
  }
  if (candidates.empty())
    return {};

  std::vector<CellUpdate> all = std::move(candidates);
  while (true) {
    joinEdges();
    updates = all;
    if (selectUpdates(updates)) {
      SINTER_TRY(computeWith(updates));
      joinEdges();
    }
    if (updates.empty())
      return {};
    markReplaced();
    if (!addLiveReaders(retained))
      return {};
    SINTER_TRY(computeWith(all));
  }
}

/// By number: what is computed from state that the flush replaces.
void FlushPlan::markReplaced() {
  reads.assign(slice.nodes().size(), 0);
  for (const CellUpdate &update : updates)
    if (slice.contains(update.old.get()))
      reads[slice.numberOf(update.old.get())] = 1;
  // Edges stand in post-order of their users.
  for (auto [user, operand] : slice.edges())
    reads[user] |= reads[operand];
}

//===- Live readers -------------------------------------------------------===//

/// Whether anything but this slice and the cells refers to the slice's interior
/// ops or to replaced leaves. Outputs do not count: they get values.
bool FlushPlan::isReachedFromOutside() const {
  constexpr unsigned leafHolders = 3; // the cell, `updates` and its candidate
  std::span<Node *const> nodes = slice.nodes();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (slice.isInput(i)) {
      if (reads[i] && nodes[i]->useCount() > uses[i] + leafHolders)
        return true;
    } else if (nodes[i]->useCount() > uses[i] && !seen.find(nodes[i])) {
      return true;
    }
  }
  for (const CellUpdate &update : updates)
    if (!slice.contains(update.old.get()) &&
        update.old->useCount() > leafHolders)
      return true;
  return false;
}

/// Forgets retained nodes that nobody holds any more.
static void keepLive(RetainedNodes &retained,
                     const std::vector<NodeRef> &pending,
                     const std::vector<NodeRef> &ready) {
  RetainedNodes live;
  for (const std::vector<NodeRef> *nodes : {&pending, &ready})
    for (const NodeRef &node : *nodes)
      if (retained.count(node.get()))
        live.insert(node.get());
  retained = std::move(live);
}

/// History goes through values between, whoever else holds those.
void FlushPlan::findKept(const RetainedNodes &retained) {
  std::vector<const Node *> stack(retained.begin(), retained.end());
  while (!stack.empty()) {
    const Node *node = stack.back();
    stack.pop_back();
    if (kept.find(node))
      continue;
    kept.insert(node, 0);
    for (const NodeRef &operand : node->operands())
      stack.push_back(operand.get());
  }
}

/// Looks through every live tensor. Pending ones that read replaced state
/// become roots; evaluated ones that did are noted, to lose their history.
/// Whether there is a new root.
bool FlushPlan::addLiveReaders(RetainedNodes &retained) {
  historic.clear();
  heldLeaves.clear();
  kept.clear();
  if (retained.empty() && !isReachedFromOutside())
    return false;
  ReachSearch search;
  for (const CellUpdate &update : updates)
    search.addTarget(update.old.get());
  std::vector<NodeRef> pending, ready;
  DeviceId device = roots[0]->device();
  LiveHandles::forEach([&](const NodeRef &node) {
    if (node->isLeaf()) {
      if (node->cellId() != 0)
        heldLeaves.push_back(node.get());
    } else if (node->state() == graph::NodeState::pending) {
      if (node->device() == device)
        pending.push_back(node);
    } else if (node->isReady() && !node->operands().empty()) {
      ready.push_back(node);
    }
  });
  if (!retained.empty())
    keepLive(retained, pending, ready);
  findKept(retained);
  bool added = false;
  for (NodeRef &node : pending) {
    if (seen.find(node.get()) || !search.reaches(node.get()))
      continue;
    seen.insert(node.get(), 0);
    roots.push_back(std::move(node));
    added = true;
  }
  if (added)
    return true;
  for (const NodeRef &node : ready) {
    if (retained.count(node.get())) {
      // What it was computed from must stay as it is.
      for (const CellUpdate &update : updates) {
        ReachSearch one;
        one.addTarget(update.old.get());
        if (one.reaches(node.get()))
          heldLeaves.push_back(update.old.get());
      }
      continue;
    }
    search.reaches(node.get());
  }
  for (const Node *node : search.historic())
    if (!kept.find(node))
      historic.emplace_back(const_cast<Node *>(node));
  return false;
}

//===- Binding ------------------------------------------------------------===//

std::vector<NodeRef> FlushPlan::lazyLeaves() const {
  std::vector<NodeRef> leaves;
  for (uint32_t number : slice.inputs()) {
    Node *node = slice.nodes()[number];
    if (node->state() == graph::NodeState::pending)
      leaves.emplace_back(node);
  }
  return leaves;
}

static void bindTo(const Node &node, runtime::Binding &binding) {
  binding.scalarBits = 0;
  if (node.isLeaf() && node.leafKind() == graph::InputKind::scalar)
    binding.scalarBits = node.scalarBits();
  else
    binding.buffer = node.value();
  binding.dims.clear();
  for (Dim dim : node.dims())
    binding.dims.push_back(dim.value);
}

bool FlushPlan::dropsHistory(size_t index) const {
  const NodeRef &output = outputs[index];
  if (!output->requiresGrad())
    return true;
  if (updates.empty() || kept.find(output.get()))
    return false;
  return reads[slice.outputs()[index]];
}

void FlushPlan::bind(const RetainedNodes &retained) {
  for (const NodeRef &node : historic) {
    node->dropOperands();
    released.push_back(node);
  }
  historic.clear();
  bool keepsAny =
      !retained.empty() &&
      std::any_of(outputs.begin(), outputs.end(), [&](const NodeRef &output) {
        return retained.count(output.get());
      });
  std::vector<uint8_t> isDonated(slice.nodes().size(), 0);
  // What may be stopped half-way leaves old values as they are.
  bool mayEndEarly = currentCancelFlag() != nullptr;
  for (const CellUpdate &update : updates) {
    if (!update.old->isReady() || !slice.contains(update.old.get()))
      continue;
    uint32_t number = slice.numberOf(update.old.get());
    // The cell, this plan and the slice's ops: nobody else sees the value.
    bool isSole = update.old->useCount() == uses[number] + 2 &&
                  update.old->value()->useCount() == 1 && !keepsAny &&
                  std::find(heldLeaves.begin(), heldLeaves.end(),
                            update.old.get()) == heldLeaves.end();
    if (mayEndEarly && isSole)
      continue;
    isDonated[number] = isSole;
    ++(isSole ? donated : refused);
    if (!isSole)
      refusedSite = update.cell->updateSite();
  }
  releaseInputs();
  std::span<const uint32_t> inputs = slice.inputs();
  inputBindings.resize(std::max(inputBindings.size(), inputs.size()));
  for (uint32_t number : inputs) {
    runtime::Binding &binding = inputBindings[numBound++];
    bindTo(*slice.nodes()[number], binding);
    binding.donate = isDonated[number];
  }
}

} // namespace sinter::detail

/// Gradients of recorded tensors.
#include <sinter/Transforms.h>

#include "frontend/Counters.h"
#include "frontend/Flush.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/NodeNumbers.h"

#include <sinter/Ops.h>

#include <fmt/format.h>

namespace sinter {

using detail::raise;
using graph::Node;
using graph::NodeRef;

//===- Gradients ----------------------------------------------------------===//

uint64_t Gradients::keyOf(const Tensor &leaf) {
  if (uint64_t cell = leaf.node()->cellId())
    return cell;
  // Cell ids count from 1; addresses are larger and aligned.
  return reinterpret_cast<uint64_t>(leaf.node().get());
}

const Tensor *Gradients::find(const Tensor &leaf) const {
  return leaf ? findKey(keyOf(leaf)) : nullptr;
}

const Tensor *Gradients::findKey(uint64_t key) const {
  auto found = index.find(key);
  return found == index.end() ? nullptr : &entries[found->second].gradient;
}

void Gradients::add(Entry entry) {
  auto [position, isNew] = index.try_emplace(entry.key, entries.size());
  if (isNew)
    entries.push_back(std::move(entry));
  else
    entries[position->second] = std::move(entry);
}

void Gradients::set(uint64_t key, Tensor gradient) {
  auto found = index.find(key);
  if (found == index.end())
    add({key, {}, std::move(gradient)});
  else
    entries[found->second].gradient = std::move(gradient);
}

void Gradients::accumulate(const Gradients &other) {
  for (const Entry &entry : other.entries) {
    if (const Tensor *mine = findKey(entry.key))
      set(entry.key, *mine + entry.gradient);
    else
      add(entry);
  }
}

void Gradients::throwAbsent(std::source_location where) {
  raise(makeError(ErrorKind::invalid_argument,
                  "gradients: there is none for this leaf: it was not used"),
        where);
}

//===- The reverse sweep --------------------------------------------------===//

/// Ops below an evaluated tensor that a gradient may need computed again.
static unsigned countRecomputable(const NodeRef &root) {
  graph::NodeNumbers seen;
  std::vector<const Node *> stack{root.get()};
  unsigned count = 0;
  while (!stack.empty()) {
    const Node *node = stack.back();
    stack.pop_back();
    if (node->isLeaf() || seen.find(node))
      continue;
    seen.insert(node, 0);
    count += node->state() == graph::NodeState::pending;
    for (const NodeRef &operand : node->operands())
      stack.push_back(operand.get());
  }
  return count;
}

[[noreturn]] static void throwReleased(ErrorInfo error, const NodeRef &released,
                                       const SourceLine &where) {
  detail::EvaluationNote note = detail::evaluationNote(released.get());
  error.message = fmt::format(
      "backward: the history of {} was released: it was read at {}{}; call "
      "retain_history() before the step",
      graph::typeString(*released), siteString(note.site),
      note.releasedBy ? fmt::format(" and the update at {} replaced state "
                                    "that it was computed from",
                                    siteString(note.releasedBy))
                      : "");
  error.op = "backward";
  raise(std::move(error), where);
}

/// The cotangent's node: 1 for a scalar when none is given.
static NodeRef seedOf(const Tensor &y, const Tensor &cotangent,
                      detail::Recorder &recorder) {
  if (!y)
    recorder.fail(makeError(ErrorKind::invalid_argument,
                            "backward: the tensor is empty", "backward"));
  const NodeRef &node = y.node();
  auto reject = [&](const std::string &what) {
    ErrorInfo error = makeError(
        ErrorKind::invalid_argument,
        "backward: " + what + ": " + graph::typeString(*node), "backward");
    error.shapes = {graph::typeString(*node)};
    recorder.fail(std::move(error));
  };
  if (!y.requires_grad())
    reject("nothing that this was computed from requires a gradient");
  if (!cotangent) {
    if (y.numel() != 1)
      reject("a tensor of more than one element needs a cotangent");
    return recorder
        .result(
            graph::full(node->dims(), Number(1), node->dtype(), node->device()))
        .node();
  }
  bool fits = cotangent.dtype() == y.dtype() &&
              cotangent.device() == y.device() && cotangent.rank() == y.rank();
  for (int64_t i = 0; fits && i < y.rank(); ++i)
    fits = node->dims()[i].value == cotangent.node()->dims()[i].value;
  if (!fits)
    reject("the cotangent is of another type: " +
           graph::typeString(*cotangent.node()));
  return cotangent.node();
}

Gradients Tensor::backward(Where where) const { return backward({}, where); }

Gradients Tensor::backward(const Tensor &cotangent, Where where) const {
  detail::Recorder recorder(graph::OpId::full, where);
  NodeRef seed = seedOf(*this, cotangent, recorder);
  Gradients gradients;
  NodeRef released;
  ErrorInfo error;
  {
    // Until the gradients have handles, nothing they read may be replaced.
    detail::HistoryLock lock(node());
    if (node()->isReady())
      if (unsigned again = countRecomputable(node()))
        detail::countRecomputed(again, detail::userSite(where));
    auto found = autodiff::leafGradients(node(), seed, &released);
    if (found) {
      for (autodiff::LeafGradient &each : *found) {
        Tensor leaf(each.leaf);
        uint64_t key = Gradients::keyOf(leaf);
        if (each.leaf->cellId())
          leaf = Tensor();
        gradients.add({key, std::move(leaf), Tensor(std::move(each.gradient))});
      }
      return gradients;
    }
    error = found.takeError();
  }
  if (released)
    throwReleased(std::move(error), released, where);
  raise(std::move(error), where);
}

std::vector<Tensor> grad(const Tensor &y, std::span<const Tensor> wrt,
                         const Tensor &cotangent, std::source_location where) {
  detail::Recorder recorder(graph::OpId::full, where);
  NodeRef seed = seedOf(y, cotangent, recorder);
  std::vector<NodeRef> targets;
  for (const Tensor &tensor : wrt)
    targets.push_back(tensor.node());
  std::vector<Tensor> results;
  NodeRef released;
  ErrorInfo error;
  {
    detail::HistoryLock lock(y.node());
    auto found = autodiff::gradients(y.node(), seed, targets, &released);
    if (found) {
      for (NodeRef &gradient : *found)
        results.push_back(gradient ? Tensor(std::move(gradient)) : Tensor());
    } else {
      error = found.takeError();
    }
  }
  if (released)
    throwReleased(std::move(error), released, where);
  if (results.size() != targets.size())
    raise(std::move(error), where);
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i])
      results[i] = recorder.result(graph::full(targets[i]->dims(), Number(0),
                                               targets[i]->dtype(),
                                               targets[i]->device()));
  return results;
}

no_grad::no_grad()
    : previous(std::exchange(graph::recordScope().gradEnabled, false)) {}
no_grad::~no_grad() { graph::recordScope().gradEnabled = previous; }

} // namespace sinter

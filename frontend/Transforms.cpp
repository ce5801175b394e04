/// Gradients of recorded tensors.
#include <sinter/Transforms.h>

#include "frontend/Counters.h"
#include "frontend/Flush.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/UserCallback.h"
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/graph/OpIds.h"
#include "sinter/runtime/Complex.h"

#include <sinter/BasicOps.h>

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
  return leaf.defined() ? findKey(keyOf(leaf)) : nullptr;
}

const Tensor *Gradients::findKey(uint64_t key) const {
  auto found = index.find(key);
  return found == index.end() ? nullptr : &entries[found->second].gradient;
}

void Gradients::add(Entry entry) try {
  auto [position, isNew] = index.try_emplace(entry.key, entries.size());
  if (isNew)
    entries.push_back(std::move(entry));
  else
    entries[position->second] = std::move(entry);
} catch (...) {
  detail::raiseExhausted({});
}

void Gradients::set(uint64_t key, Tensor gradient) try {
  auto found = index.find(key);
  if (found == index.end())
    add({key, {}, std::move(gradient)});
  else
    entries[found->second].gradient = std::move(gradient);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Gradients::remove(const Tensor &leaf) try {
  return leaf.defined() ? removeKey(keyOf(leaf)) : Tensor();
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Gradients::removeKey(uint64_t key) try {
  auto found = index.find(key);
  if (found == index.end())
    return {};
  size_t position = found->second;
  Tensor gradient = std::move(entries[position].gradient);
  entries.erase(entries.begin() + static_cast<ptrdiff_t>(position));
  index.erase(found);
  for (auto &[other, at] : index)
    at -= at > position;
  return gradient;
} catch (...) {
  detail::raiseExhausted({});
}

Gradients Gradients::to(DeviceId device, std::source_location where) const try {
  Gradients moved;
  for (const Entry &entry : entries)
    moved.add({entry.key, entry.leaf, entry.gradient.to(device, where)});
  return moved;
} catch (...) {
  detail::raiseExhausted(where);
}

void Gradients::accumulate(const Gradients &other) try {
  for (const Entry &entry : other.entries) {
    if (const Tensor *mine = findKey(entry.key))
      set(entry.key, *mine + entry.gradient);
    else
      add(entry);
  }
} catch (...) {
  detail::raiseExhausted({});
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

/// Throws what made a sweep fail.
[[noreturn]] static void throwFailed(ErrorInfo error, const NodeRef &released,
                                     const SourceLine &where) {
  detail::rethrowThrownByUser();
  if (released)
    throwReleased(std::move(error), released, where);
  raise(std::move(error), where);
}

/// The cotangent's node: 1 for a scalar when none is given.
static NodeRef seedOf(const Tensor &y, const Tensor &cotangent,
                      detail::Recorder &recorder) {
  if (!y.defined())
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
  if (!cotangent.defined()) {
    if (isComplex(y.dtype()))
      reject("a complex tensor needs a cotangent");
    if (y.numel() != 1)
      reject("a tensor of more than one element needs a cotangent");
    return recorder
        .result(
            graph::full(node->dims(), Number(1), node->dtype(), node->device()))
        .node();
  }
  if (!detail::haveSameType(*cotangent.node(), *node))
    reject("the cotangent is of another type: " +
           graph::typeString(*cotangent.node()));
  return cotangent.node();
}

Gradients Tensor::backward(Where where) const { return backward({}, where); }

Gradients Tensor::backward(const Tensor &cotangent, Where where) const try {
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
  throwFailed(std::move(error), released, where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// The gradients of `targets`, one each; zeros where there is none.
static std::vector<Tensor> sweep(std::span<const autodiff::Seed> seeds,
                                 std::span<const NodeRef> targets,
                                 detail::Recorder &recorder,
                                 const SourceLine &where) {
  std::vector<NodeRef> outputs;
  for (const autodiff::Seed &seed : seeds)
    outputs.push_back(seed.output);
  std::vector<Tensor> results;
  NodeRef released;
  ErrorInfo error;
  {
    detail::HistoryLock lock(outputs);
    auto found = autodiff::gradients(seeds, targets, &released);
    if (found) {
      for (NodeRef &gradient : *found)
        results.push_back(gradient ? Tensor(std::move(gradient)) : Tensor());
    } else {
      error = found.takeError();
    }
  }
  if (results.size() != targets.size())
    throwFailed(std::move(error), released, where);
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].defined())
      results[i] = recorder.result(graph::zeros(
          targets[i]->dims(), targets[i]->dtype(), targets[i]->device()));
  return results;
}

static std::vector<NodeRef> nodesOf(std::span<const Tensor> tensors) {
  std::vector<NodeRef> nodes;
  for (const Tensor &tensor : tensors)
    nodes.push_back(tensor.node());
  return nodes;
}

std::vector<Tensor> grad(const Tensor &y, std::span<const Tensor> wrt,
                         const Tensor &cotangent,
                         std::source_location where) try {
  detail::Recorder recorder(graph::OpId::full, where);
  autodiff::Seed seed{y.node(), seedOf(y, cotangent, recorder)};
  return sweep({&seed, 1}, nodesOf(wrt), recorder, where);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- vjp ----------------------------------------------------------------===//

/// Throws `vjp: WHAT: SHAPES` at the recorder's line.
[[noreturn]] static void rejectVjp(std::string what,
                                   std::vector<std::string> shapes,
                                   detail::Recorder &recorder) {
  std::string text = "vjp: " + std::move(what);
  for (size_t i = 0; i < shapes.size(); ++i)
    text += (i == 0 ? ": " : " x ") + shapes[i];
  ErrorInfo error =
      makeError(ErrorKind::invalid_argument, std::move(text), "vjp");
  error.shapes = std::move(shapes);
  recorder.fail(std::move(error));
}

/// What the function is called with: the primal as a value of its own, so that
/// gradients with respect to it flow through the arguments only.
static Tensor standInFor(const Tensor &primal, size_t index,
                         detail::Recorder &recorder) {
  if (!primal.defined())
    rejectVjp(fmt::format("primal {} is empty", index), {}, recorder);
  if (!isFloat(primal.dtype()))
    rejectVjp(fmt::format("primal {} is not float", index),
              {graph::typeString(*primal.node())}, recorder);
  // A custom function's link without a rule: the value itself.
  auto link = graph::custom_gradient(primal.node(), primal.node());
  if (!link)
    recorder.fail(link.takeError());
  graph::NodeFactory::setRequiresGrad(*link, true);
  return Tensor(std::move(*link));
}

namespace {
/// While it lives, gradients are recorded under `no_grad`, too.
struct GradientsOn {
  bool previous = std::exchange(graph::recordScope().gradEnabled, true);
  ~GradientsOn() { graph::recordScope().gradEnabled = previous; }
};
} // namespace

Vjp vjp(const VjpFunction &function, std::span<const Tensor> primals,
        std::source_location where) try {
  Vjp result;
  GradientsOn guard;
  {
    detail::Recorder recorder(graph::OpId::custom_gradient, where);
    for (const Tensor &primal : primals)
      result.inputs.push_back(
          standInFor(primal, result.inputs.size(), recorder));
  }
  result.outputs = function(result.inputs);
  for (size_t i = 0; i < result.outputs.size(); ++i)
    if (!result.outputs[i].defined()) {
      detail::Recorder recorder(graph::OpId::custom_gradient, where);
      rejectVjp(
          fmt::format("the function gave an empty tensor as output {}", i), {},
          recorder);
    }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<Tensor> Vjp::operator()(std::span<const Tensor> cotangents,
                                    std::source_location where) const try {
  detail::Recorder recorder(graph::OpId::full, where);
  if (cotangents.size() != outputs.size())
    rejectVjp(fmt::format("{} cotangents for {} outputs", cotangents.size(),
                          outputs.size()),
              {}, recorder);
  std::vector<autodiff::Seed> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!cotangents[i].defined())
      continue;
    const NodeRef &output = outputs[i].node(), &given = cotangents[i].node();
    std::vector<std::string> types{graph::typeString(*given),
                                   graph::typeString(*output)};
    if (!isFloat(output->dtype()))
      rejectVjp(fmt::format("no gradient flows to output {}, which is not "
                            "float: its cotangent has to be empty",
                            i),
                types, recorder);
    if (!detail::haveSameType(*given, *output))
      rejectVjp(fmt::format("cotangent {} has another type than the output", i),
                types, recorder);
    seeds.push_back({output, given});
  }
  return sweep(seeds, nodesOf(inputs), recorder, where);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Hooks --------------------------------------------------------------===//

std::exception_ptr &detail::thrownByUser() {
  static thread_local std::exception_ptr thrown;
  return thrown;
}

bool detail::haveSameType(const Node &a, const Node &b) {
  bool isSame = a.dtype() == b.dtype() && a.device() == b.device() &&
                a.rank() == b.rank();
  for (unsigned i = 0; isSame && i < a.rank(); ++i)
    isSame = a.dims()[i].value == b.dims()[i].value;
  return isSame;
}

/// The hook's answer to a gradient; the gradient itself when it gives none.
static Result<NodeRef> askHook(const detail::HookFunction &function,
                               const NodeRef &gradient, SiteId site) {
  Tensor given(gradient);
  SINTER_TRY_ASSIGN(Tensor found,
                    detail::callUser([&] { return function(given); }));
  if (!found.defined())
    return gradient;
  if (detail::haveSameType(*found.node(), *gradient))
    return found.node();
  ErrorInfo error = makeError(
      ErrorKind::invalid_argument,
      "register_hook: the hook gave another type than the gradient's: " +
          graph::typeString(*found.node()) + " x " +
          graph::typeString(*gradient),
      "register_hook");
  error.shapes = {graph::typeString(*found.node()),
                  graph::typeString(*gradient)};
  error.site = site;
  return error;
}

HookHandle Tensor::addHook(detail::HookFunction function, Where where) const
    try {
  auto reject = [&](std::string what) {
    raise(makeError(ErrorKind::invalid_argument,
                    "register_hook: " + std::move(what), "register_hook"),
          where);
  };
  if (!handle)
    reject("the tensor is empty");
  if (!requires_grad())
    reject("no gradient flows to the tensor: " + graph::typeString(*node()));
  auto hook = std::make_shared<graph::GradientHook>();
  hook->call = [function = std::move(function),
                site = detail::userSite(where)](const NodeRef &gradient) {
    return askHook(function, gradient, site);
  };
  node()->addNotes().addHook(hook);
  return HookHandle(std::move(hook));
} catch (...) {
  detail::raiseExhausted(where);
}

void HookHandle::remove() {
  if (hook)
    hook->removed.store(true, std::memory_order_release);
}

no_grad::no_grad()
    : previous(std::exchange(graph::recordScope().gradEnabled, false)) {}
no_grad::~no_grad() { graph::recordScope().gradEnabled = previous; }

} // namespace sinter

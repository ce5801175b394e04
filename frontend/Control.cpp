/// Records loops and branches with conditions: loops of `scan`'s ops that end
/// when a carry says so. A branch is a loop of at most one step.
#include <sinter/Control.h>

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/NodeNumbers.h"

#include <sinter/generated/functions/Arithmetic.h>

#include <fmt/format.h>
#include <limits>

namespace sinter {

using graph::NodeRef;

namespace {

/// What both calls check and report.
class ControlCall {
public:
  ControlCall(const char *op, const SourceLine &where) : op(op), where(where) {}

protected:
  [[noreturn]] void reject(std::string what) const {
    detail::raise(makeError(ErrorKind::invalid_argument,
                            std::string(op) + ": " + std::move(what), op),
                  where);
  }
  template <typename T> T unwrap(Result<T> value) const {
    return detail::unwrap(std::move(value), where);
  }
  void checkDefined(std::span<const Tensor> tensors, const char *what) const;
  void checkFlag(const Tensor &flag, const char *what) const;
  /// That two lists of tensors are of equal types.
  void checkSame(std::span<const Tensor> a, std::span<const Tensor> b,
                 const char *format) const;

  const char *op;
  SourceLine where;
};

} // namespace

void ControlCall::checkDefined(std::span<const Tensor> tensors,
                               const char *what) const {
  for (const Tensor &tensor : tensors)
    if (!tensor.defined())
      reject(std::string(what) + " an empty tensor");
}

void ControlCall::checkFlag(const Tensor &flag, const char *what) const {
  checkDefined({&flag, 1}, what);
  const NodeRef &node = flag.node();
  if (node->dtype() != DType::boolean || node->rank() != 0)
    reject(fmt::format("{} {}, not a boolean scalar", what,
                       graph::typeString(*node)));
}

void ControlCall::checkSame(std::span<const Tensor> a,
                            std::span<const Tensor> b,
                            const char *format) const {
  for (size_t i = 0; i < a.size(); ++i) {
    const NodeRef &x = a[i].node(), &y = b[i].node();
    bool isSame = x->dtype() == y->dtype() && x->rank() == y->rank();
    for (size_t d = 0; isSame && d < x->rank(); ++d)
      isSame = x->dims()[d].value == y->dims()[d].value;
    if (!isSame)
      reject(fmt::format(fmt::runtime(format), i, graph::typeString(*x),
                         graph::typeString(*y)));
  }
}

//===- while_loop ---------------------------------------------------------===//

namespace {

class WhileCall : ControlCall {
public:
  WhileCall(const std::vector<Tensor> &init, const SourceLine &where)
      : ControlCall("while_loop", where), init(init) {}

  std::vector<Tensor> record(const ConditionFunction &condition,
                             const TensorsFunction &body,
                             const WhileOptions &options);

private:
  Tensor ask(const ConditionFunction &condition,
             std::span<const Tensor> values) const;

  const std::vector<Tensor> &init;
};

} // namespace

Tensor WhileCall::ask(const ConditionFunction &condition,
                      std::span<const Tensor> values) const {
  detail::ScanBodyScope scope(op);
  Tensor flag = condition(values);
  checkFlag(flag, "the condition is");
  return flag;
}

std::vector<Tensor> WhileCall::record(const ConditionFunction &condition,
                                      const TensorsFunction &body,
                                      const WhileOptions &options) {
  checkDefined(init, "a first value is");
  if (init.empty() || !condition || !body)
    reject("it needs a condition, a body and a first value");
  Dim most =
      options.max_rounds.value_or(Dim(std::numeric_limits<int32_t>::max()));
  if (most.value < 0)
    reject(fmt::format("at most {} rounds", most.value));
  graph::LoopParts parts;
  Tensor first = ask(condition, init);
  detail::enterLine(where);
  parts.index = unwrap(graph::scan_index(most, false, init[0].device()));
  std::vector<Tensor> carries;
  for (const Tensor &each : init) {
    parts.carries.push_back(
        unwrap(graph::beginCarry(parts.index, each.node())));
    carries.emplace_back(parts.carries.back());
  }
  parts.carries.push_back(unwrap(graph::beginCarry(parts.index, first.node())));
  parts.condition = int64_t(parts.carries.size());
  std::vector<Tensor> next;
  {
    detail::ScanBodyScope scope(op);
    next = body(carries);
  }
  if (next.size() != init.size())
    reject(fmt::format("the body gives {} values, there are {}", next.size(),
                       init.size()));
  checkDefined(next, "the body gives");
  checkSame(init, next,
            "a round must not change a value's type: value {} is "
            "{} and becomes {}");
  Tensor flag = ask(condition, next);
  detail::Recorder recorder(parts.index->op(), where); // both moved on
  for (const Tensor &each : next)
    parts.nexts.push_back(each.node());
  parts.nexts.push_back(flag.node());
  graph::LoopResults found = unwrap(graph::finishLoop(parts));
  std::vector<Tensor> results;
  for (size_t i = 0; i < init.size(); ++i)
    results.push_back(recorder.result(std::move(found.lasts[i])));
  return results;
}

std::vector<Tensor> while_loop(const ConditionFunction &condition,
                               const TensorsFunction &body,
                               const std::vector<Tensor> &init,
                               const WhileOptions &options,
                               std::source_location where) try {
  detail::SourceScope scope(where);
  return WhileCall(init, where).record(condition, body, options);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- cond ---------------------------------------------------------------===//

namespace {

/// While it lives, what this thread records has the mark.
class MarkScope {
public:
  explicit MarkScope(const std::shared_ptr<const graph::CheckpointRegion> &mark)
      : outer(std::exchange(graph::recordScope().region, &mark)) {}
  ~MarkScope() { graph::recordScope().region = outer; }
  MarkScope(const MarkScope &) = delete;

private:
  const std::shared_ptr<const graph::CheckpointRegion> *outer;
};

/// Records one branch as the body of a loop of one step. What the branch reads
/// of outside comes in as slices, so that all it computes belongs to the body.
class BranchRecorder {
public:
  BranchRecorder(DeviceId device, const SourceLine &where);

  /// What the branch gives, in terms of the loop's body.
  std::vector<Tensor> record(const TensorsFunction &branch,
                             const std::vector<Tensor> &operands);
  const NodeRef &index() const { return token; }

private:
  bool isInside(const graph::Node &node) const;
  /// The value of something outside in the body.
  NodeRef bringIn(const NodeRef &node);
  NodeRef cloneInside(const NodeRef &node);
  void rewrite(const NodeRef &root);
  NodeRef known(const NodeRef &node) const;
  void note(const NodeRef &node, NodeRef value);

  SourceLine where;
  NodeRef token;
  /// A mark of what is recorded in the branch, which clones do not have.
  std::shared_ptr<const graph::CheckpointRegion> mark =
      std::make_shared<graph::CheckpointRegion>();
  graph::NodeNumbers numbers;
  std::vector<NodeRef> keys, values; ///< by number; keys stay alive
};

} // namespace

BranchRecorder::BranchRecorder(DeviceId device, const SourceLine &where)
    : where(where),
      token(detail::unwrap(graph::scan_index(1, false, device), where)) {}

NodeRef BranchRecorder::known(const NodeRef &node) const {
  const uint32_t *number = numbers.find(node.get());
  return number ? values[*number] : NodeRef();
}

void BranchRecorder::note(const NodeRef &node, NodeRef value) {
  numbers.insert(node.get(), uint32_t(values.size()));
  keys.push_back(node);
  values.push_back(std::move(value));
}

bool BranchRecorder::isInside(const graph::Node &node) const {
  const graph::NodeNotes *notes = node.notes();
  const graph::CheckpointRegion *region = notes ? notes->region.get() : nullptr;
  while (region && region != mark.get())
    region = region->outer.get();
  return region != nullptr;
}

/// Numbers are read where they are, as is what takes no operands to make.
NodeRef BranchRecorder::bringIn(const NodeRef &node) {
  bool isNumber = node->isLeaf() ? node->leafKind() == graph::InputKind::scalar
                                 : node->operands().empty() && !node->isReady();
  if (isNumber)
    return node;
  SmallVector<Dim, 6> dims;
  dims.push_back(1);
  for (Dim dim : node->dims())
    dims.push_back(dim);
  NodeRef whole = detail::unwrap(graph::reshape(node, dims), where);
  return detail::unwrap(graph::beginSlice(token, whole), where);
}

/// The same op over what its operands are in the body.
NodeRef BranchRecorder::cloneInside(const NodeRef &node) {
  std::vector<NodeRef> operands;
  for (const NodeRef &operand : node->operands())
    operands.push_back(known(operand));
  SiteId site = std::exchange(graph::recordScope().site, node->site());
  Result<NodeRef> made =
      graph::buildOp(node->op(), operands, node->attrs(), node->device());
  graph::recordScope().site = site;
  NodeRef clone = detail::unwrap(std::move(made), where);
  graph::NodeFactory::setRequiresGrad(clone, node->requiresGrad());
  const graph::NodeNotes *notes = node->notes();
  if (!notes)
    return clone;
  if (notes->customRule)
    clone->addNotes().takeRule(*notes);
  for (const auto &hook : notes->hooks())
    clone->addNotes().addHook(hook);
  return clone;
}

/// Operands first, without recursion.
void BranchRecorder::rewrite(const NodeRef &root) {
  std::vector<NodeRef> stack{root};
  while (!stack.empty()) {
    NodeRef node = stack.back();
    size_t waiting = stack.size();
    if (!known(node) && isInside(*node))
      for (const NodeRef &operand : node->operands())
        if (!known(operand))
          stack.push_back(operand);
    if (stack.size() > waiting)
      continue;
    if (!known(node))
      note(node, isInside(*node) ? cloneInside(node) : bringIn(node));
    stack.pop_back();
  }
}

std::vector<Tensor>
BranchRecorder::record(const TensorsFunction &branch,
                       const std::vector<Tensor> &operands) {
  std::vector<Tensor> arguments;
  for (const Tensor &operand : operands) {
    NodeRef inside = bringIn(operand.node());
    note(inside, inside);
    arguments.emplace_back(inside);
  }
  std::vector<Tensor> results;
  {
    detail::ScanBodyScope scope("cond");
    MarkScope marked(mark);
    results = branch(arguments);
  }
  for (Tensor &result : results) {
    if (!result.defined())
      continue; // the caller says so
    rewrite(result.node());
    result = Tensor(known(result.node()));
  }
  return results;
}

namespace {

class CondCall : ControlCall {
public:
  CondCall(const Tensor &predicate, const std::vector<Tensor> &operands,
           const SourceLine &where)
      : ControlCall("cond", where), predicate(predicate), operands(operands) {}

  std::vector<Tensor> record(const TensorsFunction &then,
                             const TensorsFunction &otherwise);

private:
  void check(const std::vector<Tensor> &a, const std::vector<Tensor> &b) const;
  std::vector<Tensor> choose(const TensorsFunction &then,
                             const TensorsFunction &otherwise) const;
  std::vector<NodeRef> finish(const NodeRef &index, bool taken,
                              const std::vector<NodeRef> &before,
                              const std::vector<Tensor> &results) const;

  const Tensor &predicate;
  const std::vector<Tensor> &operands;
};

} // namespace

void CondCall::check(const std::vector<Tensor> &a,
                     const std::vector<Tensor> &b) const {
  if (a.size() != b.size())
    reject(fmt::format("one branch gives {} values, the other {}", a.size(),
                       b.size()));
  checkDefined(a, "a branch gives");
  checkDefined(b, "a branch gives");
  checkSame(a, b, "value {} is {} in one branch and {} in the other");
}

/// Where a gradient may be asked for, which loops in loops do not have.
std::vector<Tensor> CondCall::choose(const TensorsFunction &then,
                                     const TensorsFunction &otherwise) const {
  std::vector<Tensor> a = then(operands), b = otherwise(operands), results;
  check(a, b);
  for (size_t i = 0; i < a.size(); ++i)
    results.push_back(sinter::where(predicate, a[i], b[i]));
  return results;
}

/// The loop that a branch is: `before`, or what the branch gives if the
/// predicate is what it is `taken` for.
std::vector<NodeRef>
CondCall::finish(const NodeRef &index, bool taken,
                 const std::vector<NodeRef> &before,
                 const std::vector<Tensor> &results) const {
  graph::LoopParts parts;
  parts.index = index;
  for (size_t i = 0; i < results.size(); ++i) {
    parts.carries.push_back(unwrap(graph::beginCarry(index, before[i])));
    parts.nexts.push_back(results[i].node());
  }
  NodeRef flag = unwrap(graph::beginCarry(index, predicate.node()));
  parts.carries.push_back(flag);
  parts.nexts.push_back(flag);
  auto number = int64_t(parts.carries.size());
  parts.condition = taken ? number : -number;
  return unwrap(graph::finishLoop(parts)).lasts;
}

std::vector<Tensor> CondCall::record(const TensorsFunction &then,
                                     const TensorsFunction &otherwise) {
  checkFlag(predicate, "the predicate is");
  checkDefined(operands, "an operand is");
  if (!then || !otherwise)
    reject("it needs two branches");
  if (detail::recordsScanBody() && graph::recordScope().gradEnabled)
    return choose(then, otherwise);
  detail::enterLine(where);
  BranchRecorder first(predicate.device(), where),
      second(predicate.device(), where);
  std::vector<Tensor> a = first.record(then, operands),
                      b = second.record(otherwise, operands);
  check(a, b);
  detail::Recorder again(first.index()->op(), where); // branches moved on
  std::vector<NodeRef> values;
  for (const Tensor &each : a) {
    const NodeRef &node = each.node();
    values.push_back(unwrap(
        graph::full(node->dims(), Number(0), node->dtype(), node->device())));
  }
  values = finish(first.index(), true, values, a);
  values = finish(second.index(), false, values, b);
  std::vector<Tensor> results;
  for (size_t i = 0; i < a.size(); ++i)
    results.push_back(again.result(std::move(values[i])));
  return results;
}

std::vector<Tensor> cond(const Tensor &predicate, const TensorsFunction &then,
                         const TensorsFunction &otherwise,
                         const std::vector<Tensor> &operands,
                         std::source_location where) try {
  detail::SourceScope scope(where);
  return CondCall(predicate, operands, where).record(then, otherwise);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter

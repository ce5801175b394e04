/// Records what a jitted function does.
#include "frontend/Capture.h"

#include "frontend/Flush.h"
#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/UserCallback.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/support/ThreadOwner.h"

#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::detail {

using graph::NodeFactory;
using graph::NodeRef;
using runtime::CellRef;
using runtime::CellTable;

static SINTER_THREAD_LOCAL Capture *innermost = nullptr;

Capture::Capture(const SourceLine &where, CaptureUse use)
    : outer(std::exchange(innermost, this)), purpose(use),
      firstNewCell(CellTable::get().nextCellId()), callLine(where) {}

Capture::~Capture() { innermost = outer; }

Capture *Capture::current() { return innermost; }

[[noreturn]] static void refuseIn(CaptureUse use, const std::string &what,
                                  const SourceLine &where) {
  std::string call = use == CaptureUse::replay ? "jit"
                     : use == CaptureUse::file ? "export"
                                               : "plan_step";
  raise(makeError(ErrorKind::invalid_argument, call + ": the function " + what,
                  call),
        where);
}

void Capture::refuse(const std::string &what, const SourceLine &where) {
  refuseIn(purpose, what, where);
}

void refuseInCapture(const char *what, const SourceLine &where) {
  if (innermost) [[unlikely]]
    refuseIn(innermost->use(), what, where);
}

static NodeRef placeholderOf(const CellRef &cell) {
  NodeRef leaf = NodeFactory::lazyLeaf(cell->dtype(), cell->dims(),
                                       cell->device(), cell->requiresGrad());
  NodeFactory::setCell(leaf, cell->id());
  return leaf;
}

Tensor Capture::argument(const Tensor &like) {
  return argument(like, usedForm(like.node())->dims());
}

Tensor Capture::argument(const Tensor &like, std::span<const Dim> dims) {
  const NodeRef &node = usedForm(like.node());
  arguments.push_back(NodeFactory::lazyLeaf(node->dtype(), dims, node->device(),
                                            node->requiresGrad()));
  return Tensor(arguments.back());
}

void Capture::adopt(const CellRef &cell) {
  for (Capture *each = this; each; each = each->outer)
    each->adopted.push_back(cell);
}

Tensor Capture::read(const CellRef &cell, bool latest) {
  auto [found, isNew] = values.try_emplace(cell.get());
  Value &value = found->second;
  if (value.tensor.defined())
    return value.tensor;
  if (!isNew) {
    std::vector<CellRead> &after = effects[value.effect].after;
    after.push_back({cell, placeholderOf(cell), latest});
    return value.tensor = Tensor(after.back().placeholder);
  }
  if (cell->id() >= firstNewCell && purpose == CaptureUse::replay &&
      std::ranges::find(adopted, cell) == adopted.end()) {
    values.erase(found);
    refuse(fmt::format("makes the parameter '{}', which would be another one "
                       "in each call: make it before, or of a tensor",
                       cell->name()),
           callLine);
  }
  reads.push_back({cell, placeholderOf(cell), latest});
  return value.tensor = Tensor(reads.back().placeholder);
}

void Capture::update(const CellRef &cell, const Tensor &value,
                     const SourceLine &where) {
  if (!haveSameType(*cell->leaf(), *value.node()))
    refuse(fmt::format("assigns {} to '{}', which is {}",
                       graph::typeString(*value.node()), cell->name(),
                       graph::typeString(*cell->leaf())),
           where);
  if (auto found = values.find(cell.get());
      found != values.end() && found->second.isLocal) {
    found->second.tensor = value;
    return;
  }
  auto assign = [where](std::span<const CellUse> cells,
                        std::span<const Tensor> inputs) {
    updateCell(cells[0].cell, inputs[0], where);
  };
  effects.push_back({{{cell, 0}}, {value.node()}, assign, {}});
  values[cell.get()] = {value};
}

void Capture::addEffect(std::vector<CellUse> cells,
                        std::span<const Tensor> inputs,
                        CapturedEffect::Function function) {
  CapturedEffect effect{std::move(cells), {}, std::move(function), {}};
  for (const Tensor &input : inputs)
    effect.inputs.push_back(input.node());
  for (const auto &[cell, recordId] : effect.cells)
    values[cell.get()] = {.effect = effects.size()};
  effects.push_back(std::move(effect));
}

Draw Capture::draw(const Generator &generator, Dim blocks,
                   const SourceLine &where) {
  if (&generator != &default_generator() && purpose != CaptureUse::plan)
    refuse("draws from a generator of its own: only the default generator "
           "goes on from call to call",
           where);
  auto scalar = [] { return NodeFactory::scalar(DType::i64, 0); };
  draws.push_back({scalar(), scalar(), scalar(), blocks});
  return draws.back();
}

Tensor Capture::rateOf(uint64_t optimizer, std::optional<DeviceId> device) {
  auto found = rates.find(optimizer);
  if (found == rates.end())
    return {};
  if (!found->second.defined() && device)
    found->second = Tensor(NodeFactory::scalar(DType::f64, 0, *device));
  return found->second;
}

void Capture::nameState(const CellRef &cell, const CellRef &of,
                        const std::string &name) {
  names.push_back({cell, of, name});
}

void Capture::addLocal(const CellRef &cell, const Tensor &value) {
  locals.push_back(cell);
  values[cell.get()] = {.tensor = value, .isLocal = true};
}

Tensor Capture::local(const CellRef &cell) const {
  auto found = values.find(cell.get());
  bool isLocal = found != values.end() && found->second.isLocal;
  return isLocal ? found->second.tensor : Tensor();
}

//===- From a capture to a trace ------------------------------------------===//

/// Numbers values, operands first.
class Trace::Numbering {
public:
  Numbering(Trace &trace, const Capture &capture) : trace(trace) {
    uint32_t index = 0;
    for (const NodeRef &argument : capture.arguments)
      add(argument, Source::argument, index++);
    addReads(capture.reads);
    index = 0;
    for (const Draw &draw : capture.draws) {
      trace.draws.push_back(draw);
      for (const NodeRef *part : {&draw.keyLow, &draw.keyHigh, &draw.counter})
        add(*part, Source::draw, index++);
    }
  }

  void addReads(std::span<const CellRead> reads) {
    for (const CellRead &read : reads) {
      add(read.placeholder, Source::read,
          static_cast<uint32_t>(trace.reads.size()));
      trace.reads.push_back(read);
    }
  }

  uint32_t number(const NodeRef &root) {
    std::vector<const NodeRef *> stack{&root};
    while (!stack.empty()) {
      const NodeRef &node = *stack.back();
      if (numbers.contains(node.get())) {
        stack.pop_back();
        continue;
      }
      bool isOp = !node->isLeaf() && node->state() == graph::NodeState::pending;
      bool waits = false;
      if (isOp)
        for (const NodeRef &operand : node->operands())
          if (!numbers.contains(operand.get())) {
            stack.push_back(&operand);
            waits = true;
          }
      if (waits)
        continue;
      stack.pop_back();
      add(node, isOp ? Source::op : Source::outside, 0);
      if (!isOp)
        trace.outside.emplace_back(node);
      if (isOp)
        for (const NodeRef &operand : node->operands())
          trace.values.back().operands.push_back(numbers.at(operand.get()));
    }
    return numbers.at(root.get());
  }

private:
  void add(const NodeRef &node, Source source, uint32_t index) {
    numbers.emplace(node.get(), static_cast<uint32_t>(trace.values.size()));
    trace.values.push_back({source, index, node, {}});
  }

  Trace &trace;
  std::unordered_map<const graph::Node *, uint32_t> numbers;
};

Trace::Trace(Capture &capture, std::span<const NodeRef> resultNodes) {
  // Ops that were recorded before may be evaluated meanwhile, which drops
  // their operands.
  NodeRef any =
      resultNodes.empty() ? NodeFactory::scalar(DType::i64, 0) : resultNodes[0];
  HistoryLock lock(any);
  Numbering numbering(*this, capture);
  for (CapturedEffect &captured : capture.effects) {
    Effect effect{std::move(captured), {}, 0};
    for (const NodeRef &input : effect.what.inputs)
      effect.inputs.push_back(numbering.number(input));
    effect.valuesBefore = static_cast<uint32_t>(values.size());
    effects.push_back(std::move(effect));
    numbering.addReads(effects.back().what.after);
  }
  for (const NodeRef &result : resultNodes)
    results.push_back(numbering.number(result));
}

//===- Replay -------------------------------------------------------------===//

/// One call.
class Trace::Replay {
public:
  Replay(const Trace &trace, std::span<const Tensor> arguments,
         const CellMap &cells, const SourceLine &where)
      : trace(trace), arguments(arguments), cells(cells), where(where),
        nodes(trace.values.size()), drawn(trace.draws.size()),
        recordsGradients(graph::recordScope().gradEnabled) {}

  std::vector<Tensor> run() {
    for (const Draw &draw : trace.draws)
      drawn[&draw - trace.draws.data()] =
          takeDraw(default_generator(), draw.blocks, where);
    for (const Effect &effect : trace.effects) {
      computeUntil(effect.valuesBefore);
      apply(effect);
    }
    computeUntil(static_cast<uint32_t>(trace.values.size()));
    std::vector<Tensor> found;
    for (uint32_t result : trace.results)
      found.emplace_back(nodes[result]);
    return found;
  }

private:
  CellUse useOf(const CellUse &captured) const {
    auto found = cells.find(captured.cell.get());
    return found == cells.end() ? captured : found->second;
  }

  void apply(const Effect &effect) {
    std::vector<CellUse> changed;
    for (const CellUse &cell : effect.what.cells)
      changed.push_back(useOf(cell));
    std::vector<Tensor> inputs;
    for (uint32_t input : effect.inputs)
      inputs.emplace_back(nodes[input]);
    effect.what.run(changed, inputs);
  }

  void computeUntil(uint32_t end) {
    for (; next < end; ++next)
      nodes[next] = make(trace.values[next]);
  }

  NodeRef make(const Value &value) {
    switch (value.source) {
    case Source::argument:
      return usedForm(arguments[value.index].node());
    case Source::read: {
      const CellRead &read = trace.reads[value.index];
      CellRef cell = useOf({read.cell, 0}).cell;
      return (read.latest ? latestValue(cell, where) : readCell(cell, where))
          .node();
    }
    case Source::draw: {
      const Draw &draw = drawn[value.index / 3];
      const NodeRef *parts[] = {&draw.keyLow, &draw.keyHigh, &draw.counter};
      return *parts[value.index % 3];
    }
    case Source::outside:
      return value.node;
    case Source::op:
      return copyOp(value);
    }
    return {};
  }

  /// The captured op on this call's operands, under its own lines.
  NodeRef copyOp(const Value &value) {
    const graph::Node &node = *value.node;
    std::vector<NodeRef> operands;
    operands.reserve(value.operands.size());
    for (uint32_t operand : value.operands)
      operands.push_back(nodes[operand]);
    graph::RecordScope &scope = graph::recordScope();
    graph::RecordScope mine = scope;
    std::shared_ptr<const graph::CheckpointRegion> region = regionOf(node);
    scope = {node.site(), recordsGradients && node.requiresGrad(),
             region ? &region : mine.region};
    auto copy =
        graph::buildOp(node.op(), operands, node.attrs(), node.device());
    scope = mine;
    NodeRef made = unwrap(std::move(copy), where);
    NodeFactory::setRequiresGrad(made, recordsGradients && node.requiresGrad());
    copyNotes(node, *made);
    return made;
  }

  /// Of this call, as that of the captured node; null for none.
  std::shared_ptr<const graph::CheckpointRegion>
  regionOf(const graph::Node &node) {
    const graph::NodeNotes *notes = node.notes();
    return notes ? copyRegion(notes->region.get()) : nullptr;
  }

  std::shared_ptr<const graph::CheckpointRegion>
  copyRegion(const graph::CheckpointRegion *captured) {
    if (!captured) {
      const auto *around = graph::recordScope().region;
      return around ? *around : nullptr;
    }
    std::shared_ptr<const graph::CheckpointRegion> &mine = regions[captured];
    if (!mine) {
      auto made = std::make_shared<graph::CheckpointRegion>();
      made->outer = copyRegion(captured->outer.get());
      made->isOpen.store(false, std::memory_order_release);
      mine = std::move(made);
    }
    return mine;
  }

  static void copyNotes(const graph::Node &from, graph::Node &to) {
    const graph::NodeNotes *notes = from.notes();
    if (!notes) [[likely]]
      return;
    graph::NodeNotes &own = to.addNotes();
    own.takeRule(*notes);
    for (std::shared_ptr<graph::GradientHook> &hook : notes->hooks())
      own.addHook(std::move(hook));
  }

  const Trace &trace;
  std::span<const Tensor> arguments;
  const CellMap &cells;
  const SourceLine &where;
  std::vector<NodeRef> nodes;
  std::vector<Draw> drawn;
  /// By captured region.
  std::unordered_map<const graph::CheckpointRegion *,
                     std::shared_ptr<const graph::CheckpointRegion>>
      regions;
  uint32_t next = 0;
  bool recordsGradients;
};

std::vector<Tensor> Trace::replay(std::span<const Tensor> arguments,
                                  const CellMap &cells,
                                  const SourceLine &where) const {
  std::vector<Tensor> results = Replay(*this, arguments, cells, where).run();
  noteReplayed(results, where);
  return results;
}

} // namespace sinter::detail

/// Records a step as a loop does, and asks its program what it takes.
#include <sinter/PlanStep.h>

#include "frontend/Capture.h"
#include "frontend/Flush.h"
#include "frontend/Programs.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/device/Device.h"
#include "runtime/memory/CachingAllocator.h"
#include "runtime/program/InPlace.h"

#include <sinter/MemoryBudget.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sinter {

using detail::raise;
using detail::unwrap;
using graph::NodeRef;

Tensor stand_in(const Dims &shape, Options options,
                std::source_location where) try {
  for (Dim dim : shape)
    if (dim.value < 0)
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("stand_in: a dim is {}", dim.value),
                      "stand_in"),
            where);
  // A buffer without bytes: whatever needs its values finds it too small.
  DeviceId id = options.device.value_or(default_device());
  runtime::Device *device = unwrap(runtime::getDevice(id), where);
  detail::enterLine(where);
  return Tensor(graph::NodeFactory::leaf(
      graph::InputKind::data, options.dtype.value_or(DType::f32), shape,
      unwrap(device->allocate(0), where), /*requiresGrad=*/false));
} catch (...) {
  detail::raiseExhausted(where);
}

namespace detail {

struct StepPlanner::Parts {
  explicit Parts(std::source_location where)
      : where(where), capture(std::in_place, this->where, CaptureUse::plan) {
    enterLine(where); // what was recorded before has no part in this
  }

  void addOutputs(const Fields &results);
  DeviceId deviceOf() const;
  StepMemory plan();

  std::source_location where;
  std::optional<Capture> capture;
  std::vector<NodeRef> outputs;
  std::vector<const runtime::Cell *> updated;
};

StepPlanner::StepPlanner(std::source_location where)
    : parts(std::make_unique<Parts>(where)) {}
StepPlanner::~StepPlanner() = default;

/// What a flush of the results evaluates with them: the last value of each
/// piece of state, in the order in which a loop's flush has them.
void StepPlanner::Parts::addOutputs(const Fields &results) {
  auto add = [this](const NodeRef &node) {
    bool isPending = node->state() == graph::NodeState::pending;
    if (isPending && !node->isLeaf() &&
        std::ranges::find(outputs, node) == outputs.end())
      outputs.push_back(node);
  };
  for (const auto &[path, tensor] : results.tensors)
    add(tensor->node());
  for (const auto &[path, gradients] : results.gradients)
    for (const Gradients::Entry &entry : *gradients)
      add(entry.gradient.node());
  for (const CapturedEffect &effect : capture->allEffects()) {
    const runtime::Cell *cell = effect.cells[0].cell.get();
    if (std::ranges::find(updated, cell) != updated.end())
      continue;
    updated.push_back(cell);
    add(capture->read(effect.cells[0].cell).node());
  }
}

DeviceId StepPlanner::Parts::deviceOf() const {
  if (outputs.empty())
    raise(makeError(ErrorKind::invalid_argument,
                    "plan_step: the function records nothing that is to be "
                    "evaluated",
                    "plan_step"),
          where);
  DeviceId device = outputs[0]->device();
  for (const NodeRef &node : outputs)
    if (node->device() != device)
      raise(makeError(ErrorKind::unsupported,
                      fmt::format("plan_step: the step is on {} and {}, which "
                                  "are planned one by one",
                                  toString(device), toString(node->device())),
                      "plan_step"),
            where);
  // The null device runs nothing: what a processor would.
  return device.kind == DeviceKind::null ? DeviceId() : device;
}

namespace {
/// The inputs of a step as its memory counts them.
class InputBytes {
public:
  explicit InputBytes(StepMemory &memory) : memory(memory) {}

  /// Whether the input is state that the step replaces.
  bool add(const graph::Node &node, uint64_t bytes,
           const std::vector<const runtime::Cell *> &updated) {
    if (node.isLeaf() && node.leafKind() == graph::InputKind::scalar)
      return false;
    uint64_t taken = runtime::CachingAllocator::blockBytes(bytes);
    if (node.cellId() == 0) {
      memory.batch += taken;
      bool isThere = node.isReady() && node.value()->bytes() >= bytes;
      memory.present += isThere ? taken : 0;
      return false;
    }
    runtime::CellRef cell = runtime::CellTable::get().find(node.cellId());
    bool trains = cell && cell->requiresGrad();
    (trains ? memory.parameters : memory.state) += taken;
    if (cell && runtime::CellTable::get().hasValue(*cell))
      memory.present += taken;
    return std::ranges::find(updated, cell.get()) != updated.end();
  }

private:
  StepMemory &memory;
};
} // namespace

StepMemory StepPlanner::Parts::plan() {
  DeviceId device = deviceOf();
  graph::KeyedSlice keyed;
  graph::Slice slice;
  {
    HistoryLock lock(outputs);
    unwrap(keyed.compute(outputs, unwrap(environmentOf(device), where)), where);
    slice = graph::toGraph(keyed);
  }
  auto program = unwrap(findOrCompile(keyed.key(), keyed.encoding(), slice,
                                      device, {userSite(where), false}),
                        where);
  std::vector<runtime::Binding> bindings;
  for (const NodeRef &input : slice.inputs) {
    runtime::Binding &binding = bindings.emplace_back();
    for (Dim dim : input->dims())
      binding.dims.push_back(dim.value);
  }
  runtime::PeakMemory peak =
      unwrap(runtime::peakMemory(*program, bindings), where);
  StepMemory memory;
  InputBytes inputs(memory);
  for (size_t i = 0; i < bindings.size(); ++i)
    bindings[i].donate =
        inputs.add(*slice.inputs[i], peak.inputSizes[i], updated);
  std::vector<bool> isInPlace =
      runtime::writtenInPlace(*program, bindings, peak);
  using runtime::CachingAllocator;
  for (size_t i = 0; i < isInPlace.size(); ++i)
    if (!isInPlace[i])
      memory.results += CachingAllocator::blockBytes(peak.outputSizes[i]);
  if (peak.arenaBytes)
    memory.temporaries = CachingAllocator::blockBytes(peak.arenaBytes);
  return memory;
}

StepMemory StepPlanner::finish(const Fields &results) try {
  parts->addOutputs(results);
  parts->capture.reset();
  return parts->plan();
} catch (...) {
  raiseExhausted(parts->where);
}

} // namespace detail

std::string to_string(const StepMemory &memory) try {
  return fmt::format("peak {}: {} of parameters, {} of state, {} of batch, {} "
                     "of results, {} of temporaries; {} to allocate",
                     megabytes(memory.peak()), megabytes(memory.parameters),
                     megabytes(memory.state), megabytes(memory.batch),
                     megabytes(memory.results), megabytes(memory.temporaries),
                     megabytes(memory.to_allocate()));
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter

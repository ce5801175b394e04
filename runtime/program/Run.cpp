/// The executor: bind, reserve, launch, answer.
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/Profile.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Flags.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr uint64_t noError = UINT64_MAX;

/// Vectors that keep their memory from run to run of one thread.
struct Scratch {
  std::vector<int64_t> symbols;
  std::vector<uint64_t> scalars;      ///< of all inputs, then the error word
  std::vector<void *> addresses;      ///< per plan buffer
  std::vector<void *> arguments;      ///< per BoundPlan::bufferList
  std::vector<uint32_t> grantedInput; ///< per output, or noInput
  std::vector<char> inputTaken;       ///< per input: granted to an output
  std::vector<const Buffer *> bound;  ///< the inputs' buffers, sorted
};
constexpr uint32_t noInput = ~0u;

/// One run of one program.
class Execution {
public:
  Execution(const LoadedProgram &loaded, std::span<const Binding> inputs,
            Scratch &scratch)
      : loaded(loaded), program(loaded.program()), inputs(inputs),
        scratch(scratch) {}

  Status bind();
  Status reserve();
  Status execute();
  std::vector<Output> takeOutputs();
  RunCounters counters() const;
  /// The op that the kernels' error names; only after such an error.
  std::optional<uint32_t> failedNode() const;
  /// What the run reserves, the largest first.
  std::vector<MemoryNeed> largestNeeds() const;
  void countDonations() const;

private:
  Status checkInput(size_t index);
  void grantDonations();
  bool mayGrant(const AliasData &alias) const;
  Status allocate();
  std::string describeNeeds() const;
  void resolveAddresses();
  Status placeWords();
  Status runStep(uint32_t number);
  /// One step, timed if asked for, and what it reports.
  Status runChecked(uint32_t number);
  Status runLoop(const LoopData &loop);
  void moveBuffers(const LoopData &loop, int64_t step);
  /// Whether what the phase would make of its input is there already.
  bool isPrepared(uint32_t number, const BoundPhase &phase, void **buffers);
  void keepPrepared();
  Status timeStep(uint32_t number);
  Status checkError();
  const StepData *failedStep() const;

  const LoadedProgram &loaded;
  const ProgramData &program;
  std::span<const Binding> inputs;
  Scratch &scratch;
  std::shared_ptr<const BoundPlan> plan;
  std::vector<BufferRef> outputs;
  BufferRef arena;
  /// The scalars where the device can read them, if it needs that.
  BufferRef words;
  /// Of `prepare` phases: memory in use, and what to do with it at the end.
  struct Prepared {
    PreparedBuffers::Slot slot;
    PreparedSource source;
    BufferRef memory;
    bool isNew = false;
  };
  std::vector<Prepared> prepared;
  uint64_t phasesSkipped = 0;
  uint64_t error = noError; ///< as last read
  uint64_t donated = 0;
  int64_t loopStep = -1; ///< of the loop that is running; -1 outside
};

Status Execution::bind() {
  SINTER_TRY(loaded.dimBinder().bind(program, inputs, scratch.symbols));
  SINTER_TRY_ASSIGN(plan, loaded.planFor(scratch.symbols));
  for (size_t i = 0; i < inputs.size(); ++i)
    SINTER_TRY(checkInput(i));
  return loaded.prepareConstants();
}

Status Execution::checkInput(size_t index) {
  const Port &port = program.inputs[index];
  const Binding &input = inputs[index];
  for (size_t axis = 0; axis < port.dims.size(); ++axis)
    if (input.dims[axis] != plan->values[port.dims[axis]])
      return bindError(program, index, input.dims);
  if (port.kind == graph::InputKind::scalar)
    return {};
  auto refuse = [&](const std::string &why) {
    return makeError(ErrorKind::invalid_argument,
                     portName("input", port, index) + ": " + why);
  };
  if (!input.buffer)
    return refuse("no buffer is bound");
  if (&input.buffer->device() != &loaded.device())
    return refuse(fmt::format("it lives on {}, the program runs on {}",
                              toString(input.buffer->device().id()),
                              toString(loaded.device().id())));
  if (input.buffer->bytes() < plan->inputBytes[index])
    return refuse(fmt::format("{} needs {} bytes, the buffer has {}",
                              portType(port, program.exprs),
                              plan->inputBytes[index], input.buffer->bytes()));
  return {};
}

bool Execution::mayGrant(const AliasData &alias) const {
  const Binding &input = inputs[alias.input];
  if (!input.donate || scratch.inputTaken[alias.input] ||
      scratch.grantedInput[alias.output] != noInput ||
      input.buffer->bytes() != plan->outputBytes[alias.output])
    return false;
  // A buffer that another input reads too must stay.
  auto [first, last] = std::equal_range(
      scratch.bound.begin(), scratch.bound.end(), input.buffer.get());
  return last - first == 1;
}

void Execution::grantDonations() {
  scratch.grantedInput.assign(program.outputs.size(), noInput);
  bool offered = std::any_of(inputs.begin(), inputs.end(),
                             [](const Binding &input) { return input.donate; });
  if (!offered || program.aliases.empty())
    return;
  scratch.inputTaken.assign(inputs.size(), 0);
  scratch.bound.clear();
  for (const Binding &input : inputs)
    scratch.bound.push_back(input.buffer.get());
  std::sort(scratch.bound.begin(), scratch.bound.end());
  for (const AliasData &alias : program.aliases) {
    if (!mayGrant(alias))
      continue;
    scratch.grantedInput[alias.output] = alias.input;
    scratch.inputTaken[alias.input] = 1;
    ++donated;
  }
}

Status Execution::reserve() {
  grantDonations();
  Status allocated = allocate();
  if (!allocated && allocated.error().kind == ErrorKind::out_of_memory) {
    // What is kept only saves time.
    outputs.clear();
    loaded.prepared().clear();
    allocated = allocate();
  }
  if (!allocated) {
    ErrorInfo error = allocated.takeError();
    error.message = describeNeeds() + ": " + error.message;
    return error;
  }
  resolveAddresses();
  return placeWords();
}

Status Execution::allocate() {
  Device &device = loaded.device();
  outputs.reserve(program.outputs.size());
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    if (scratch.grantedInput[i] != noInput) {
      outputs.push_back(inputs[scratch.grantedInput[i]].buffer);
      continue;
    }
    SINTER_TRY_ASSIGN(BufferRef buffer, device.allocate(plan->outputBytes[i]));
    outputs.push_back(std::move(buffer));
  }
  if (plan->arenaBytes) {
    SINTER_TRY_ASSIGN(arena, device.allocate(plan->arenaBytes));
  }
  scratch.scalars.resize(inputs.size() + 1);
  if (!device.sharesHostMemory()) {
    SINTER_TRY_ASSIGN(words, device.allocate(scratch.scalars.size() * 8));
  }
  return {};
}

std::string Execution::describeNeeds() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (scratch.grantedInput[i] == noInput)
      bytes += plan->outputBytes[i];
  return fmt::format("run: {} bytes of outputs and {} of temporaries", bytes,
                     plan->arenaBytes);
}

std::vector<MemoryNeed> Execution::largestNeeds() const {
  constexpr size_t most = 3;
  std::vector<MemoryNeed> needs;
  for (const PlanBuffer &buffer : program.buffers) {
    if (buffer.kind == BufferKind::output &&
        scratch.grantedInput[buffer.index] == noInput)
      needs.push_back({plan->outputBytes[buffer.index],
                       program.outputs[buffer.index].node});
    if (buffer.kind != BufferKind::temp)
      continue;
    const std::vector<uint32_t> &nodes = program.steps[buffer.first].nodes;
    if (!nodes.empty())
      needs.push_back({uint64_t(plan->values[buffer.bytes]), nodes.back()});
  }
  std::ranges::stable_sort(needs, std::greater(), &MemoryNeed::bytes);
  needs.resize(std::min(most, needs.size()));
  return needs;
}

void Execution::resolveAddresses() {
  scratch.addresses.resize(program.buffers.size());
  auto *scalars =
      words ? static_cast<uint64_t *>(words->data()) : scratch.scalars.data();
  auto *base = arena ? static_cast<char *>(arena->data()) : nullptr;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const PlanBuffer &buffer = program.buffers[i];
    void *&address = scratch.addresses[i];
    switch (buffer.kind) {
    case BufferKind::input:
      if (program.inputs[buffer.index].kind == graph::InputKind::scalar) {
        scratch.scalars[buffer.index] = inputs[buffer.index].scalarBits;
        address = scalars + buffer.index;
      } else {
        address = inputs[buffer.index].buffer->data();
      }
      break;
    case BufferKind::output:
      address = outputs[buffer.index]->data();
      break;
    case BufferKind::temp:
      address = base ? base + plan->offsets[i] : nullptr;
      break;
    case BufferKind::constant:
      address = loaded.constant(buffer.index);
      break;
    case BufferKind::moving: // its loop says where
      address = nullptr;
      break;
    }
  }
  scratch.arguments.resize(plan->bufferList.size());
  for (size_t i = 0; i < plan->bufferList.size(); ++i)
    scratch.arguments[i] = scratch.addresses[plan->bufferList[i]];
}

Status Execution::placeWords() {
  scratch.scalars.back() = noError;
  if (!words)
    return {};
  return loaded.device().copyIn(*words, 0,
                                std::as_bytes(std::span(scratch.scalars)));
}

Status Execution::runStep(uint32_t number) {
  const BoundStep &step = plan->steps[number];
  void **buffers = scratch.arguments.data() + step.firstBuffer;
  if (program.steps[number].isCopy) {
    return loaded.device().move(buffers[1], buffers[0], step.copyBytes);
  }
  auto *word = words ? static_cast<uint64_t *>(words->data()) + inputs.size()
                     : &scratch.scalars.back();
  KernelBlock block{kernelAbiVersion, number,
                    reinterpret_cast<ErrorWord *>(word),
                    plan->dims.data() + step.firstDim, buffers};
  LaunchArgs args;
  args.block = &block;
  args.numDims = uint32_t(program.steps[number].dims.size());
  args.numBuffers = uint32_t(program.steps[number].buffers.size());
  args.arena = arena ? static_cast<char *>(arena->data()) : nullptr;
  for (uint32_t i = 0; i < step.numPhases; ++i) {
    const BoundPhase &phase = plan->phases[step.firstPhase + i];
    if (phase.oncePerLoop && loopStep > 0)
      continue;
    if (phase.prepares >= 0 && isPrepared(number, phase, buffers)) {
      ++phasesSkipped;
      continue;
    }
    args.function = phase.function;
    args.chunks = phase.chunks;
    args.chunkMicroseconds = phase.chunkMicroseconds;
    SINTER_TRY(loaded.device().launch(args));
  }
  return {};
}

bool Execution::isPrepared(uint32_t number, const BoundPhase &phase,
                           void **buffers) {
  if (loopStep >= 0 && !phase.oncePerLoop)
    return false;
  const StepData &step = program.steps[number];
  const PlanBuffer &from = program.buffers[step.buffers[phase.prepares]];
  PreparedSource source;
  if (from.kind == BufferKind::input) {
    // What the caller gives up is about to change.
    const Binding &input = inputs[from.index];
    if (!input.buffer || input.donate)
      return false;
    source.buffer = input.buffer->id();
    source.version = input.buffer->version();
    source.dims = input.dims;
  } else if (from.kind != BufferKind::constant) {
    return false;
  }
  const PlanBuffer &workspace = program.buffers[step.buffers[phase.workspace]];
  PreparedBuffers::Slot slot{number, phase.workspace};
  PreparedBuffers::Kept kept = loaded.prepared().find(
      slot, source, uint64_t(plan->values[workspace.bytes]), loaded.device());
  if (!kept.memory)
    return false;
  buffers[phase.workspace] = kept.memory->data();
  prepared.push_back({slot, source, std::move(kept.memory), !kept.isFilled});
  return kept.isFilled;
}

void Execution::keepPrepared() {
  for (Prepared &each : prepared)
    if (each.isNew)
      loaded.prepared().keep(each.slot, each.source, std::move(each.memory));
}

/// Runs a step, waits for it and counts its time.
Status Execution::timeStep(uint32_t number) {
  ProfileClock::time_point begin = ProfileClock::now();
  SINTER_TRY(runStep(number));
  SINTER_TRY(loaded.device().synchronize());
  countStep(loaded, *plan, number, begin, ProfileClock::now());
  return {};
}

Status Execution::runChecked(uint32_t number) {
  SINTER_TRY(isProfiling() ? timeStep(number) : runStep(number));
  if (program.steps[number].errorNode < 0)
    return {};
  // Later launches could only report higher values, and those that overwrite
  // donated memory must not run.
  SINTER_TRY(loaded.device().synchronize());
  return checkError();
}

/// Where the loop's own buffers are in a step of it.
void Execution::moveBuffers(const LoopData &loop, int64_t step) {
  const BoundLoop &bound = plan->loops[program.steps[loop.step].loop];
  std::vector<void *> &at = scratch.addresses;
  for (const LoopData::Carry &each : loop.carries) {
    at[each.carry] = step == 0 ? at[each.init] : at[each.next];
    bool isResult = (bound.count - 1 - step) % 2 == 0;
    at[each.next] = at[isResult ? each.result : each.spare];
  }
  int64_t position = loop.reverse ? bound.count - 1 - step : step;
  for (const LoopData::Slice &each : loop.slices) {
    int64_t bytes = plan->values[program.buffers[each.slice].bytes];
    auto *whole = static_cast<char *>(at[each.whole]);
    at[each.slice] = whole ? whole + position * bytes : nullptr;
  }
  for (auto [argument, buffer] : bound.moving)
    scratch.arguments[argument] = at[buffer];
}

Status Execution::runLoop(const LoopData &loop) {
  int64_t count = plan->loops[program.steps[loop.step].loop].count;
  if (count == 0) {
    for (const LoopData::Carry &each : loop.carries) {
      int64_t bytes = plan->values[program.buffers[each.carry].bytes];
      SINTER_TRY(loaded.device().move(scratch.addresses[each.result],
                                      scratch.addresses[each.init],
                                      size_t(bytes)));
    }
  }
  for (loopStep = 0; loopStep < count; ++loopStep) {
    moveBuffers(loop, loopStep);
    for (uint32_t i = loop.first(); i <= loop.last(); ++i)
      SINTER_TRY(runChecked(i));
  }
  loopStep = -1;
  return {};
}

Status Execution::execute() {
  Device &device = loaded.device();
  for (uint32_t i = 0; i < plan->steps.size(); ++i) {
    if (!program.steps[i].isLoop()) {
      SINTER_TRY(runChecked(i));
      continue;
    }
    const LoopData &loop = program.loops[program.steps[i].loop];
    SINTER_TRY(runLoop(loop));
    i = loop.last();
  }
  SINTER_TRY(device.synchronize());
  SINTER_TRY(checkError());
  keepPrepared();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (scratch.grantedInput[i] != noInput)
      outputs[i]->bumpVersion();
  return {};
}

const StepData *Execution::failedStep() const {
  uint64_t step = error >> 40;
  if (error == noError || step >= program.steps.size())
    return nullptr;
  return &program.steps[step];
}

Status Execution::checkError() {
  error = scratch.scalars.back();
  if (words)
    SINTER_TRY(
        loaded.device().copyOut(std::as_writable_bytes(std::span(&error, 1)),
                                *words, 8 * inputs.size()));
  if (error == noError)
    return {};
  uint64_t element = error & ((uint64_t(1) << 40) - 1);
  const StepData *step = failedStep();
  std::string kernel = step ? program.kernels[step->kernel].name : "kernel";
  return makeError(
      ErrorKind::invalid_argument,
      fmt::format("{}: index out of range at element {}", kernel, element));
}

std::optional<uint32_t> Execution::failedNode() const {
  const StepData *step = failedStep();
  if (!step)
    return std::nullopt;
  if (step->errorNode >= 0)
    return uint32_t(step->errorNode);
  if (step->nodes.empty())
    return std::nullopt;
  return step->nodes.back();
}

std::vector<Output> Execution::takeOutputs() {
  std::vector<Output> list;
  list.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    list.push_back({std::move(outputs[i]), plan->outputDims[i]});
  return list;
}

RunCounters Execution::counters() const {
  return {plan->launches - phasesSkipped,
          plan->bytesRead,
          plan->bytesWritten,
          plan->arenaBytes,
          donated,
          phasesSkipped};
}

void Execution::countDonations() const {
  uint64_t offered = 0;
  for (const Binding &input : inputs)
    offered += input.donate;
  countRun(counters(), offered - std::min(offered, donated));
}

Scratch &threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

} // namespace

Result<std::vector<Output>>
sinter::runtime::run(const Program &program, std::span<const Binding> inputs,
                     RunCounters *counters, RunFailure *failure) {
  const auto &loaded = static_cast<const LoadedProgram &>(program);
  Execution execution(loaded, inputs, threadScratch());
  SINTER_TRY(execution.bind());
  if (Status reserved = execution.reserve(); !reserved) {
    if (failure)
      failure->largest = execution.largestNeeds();
    return reserved.takeError();
  }
  if (Status done = execution.execute(); !done) {
    if (auto node = execution.failedNode(); node && failure)
      failure->node = *node;
    return done.takeError();
  }
  execution.countDonations();
  if (counters)
    *counters = execution.counters();
  return execution.takeOutputs();
}

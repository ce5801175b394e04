/// The steps of a run: launched one by one, or as graphs.
#include "runtime/program/Execution.h"
#include "runtime/program/Profile.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/Exhausted.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

Status Execution::runStep(WorkSink &sink, uint32_t number) {
  const BoundStep &step = plan->steps[number];
  void **buffers = scratch.arguments.data() + step.firstBuffer;
  if (program.steps[number].isCopy)
    return sink.copy({buffers[1], buffers[0], step.copyBytes});
  auto *word = words ? static_cast<uint64_t *>(words->data()) + inputs.size()
                     : &scratch.scalars.back();
  KernelBlock block{kernelAbiVersion, number,
                    reinterpret_cast<ErrorWord *>(word),
                    plan->dims.data() + step.firstDim, buffers};
  LaunchArgs args;
  args.block = &block;
  args.numDims = uint32_t(program.steps[number].dims.size());
  args.numBuffers = uint32_t(program.steps[number].buffers.size());
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
    SINTER_TRY(sink.launch(args));
  }
  return {};
}

bool Execution::isPrepared(uint32_t number, const BoundPhase &phase,
                           void **buffers) {
  // Kept work only saves time: without memory to note it, it is done again.
  bool isFilled = false;
  ifPossible([&] { isFilled = findPrepared(number, phase, buffers); });
  return isFilled;
}

bool Execution::findPrepared(uint32_t number, const BoundPhase &phase,
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
  void *memory = kept.memory->data();
  prepared.push_back({slot, source, std::move(kept.memory), !kept.isFilled});
  buffers[phase.workspace] = memory;
  return kept.isFilled;
}

void Execution::keepPrepared() {
  for (Prepared &each : prepared)
    if (each.isNew)
      loaded.prepared().keep(each.slot, each.source, std::move(each.memory));
}

/// Runs a step alone, waits for it and counts its time. What fails then is this
/// step's.
Status Execution::timeStep(WorkSink &sink, uint32_t number) {
  Device &device = loaded.device();
  SINTER_TRY(device.synchronize());
  ProfileClock::time_point begin = ProfileClock::now();
  SINTER_TRY_ASSIGN(uint64_t timer, device.startTimer());
  Status done = runStep(sink, number);
  Result<std::optional<uint64_t>> took = device.stopTimer(timer);
  ProfileClock::time_point end = ProfileClock::now();
  if (!done || !took) {
    faultyStep = number;
    ErrorInfo fault = done ? took.takeError() : done.takeError();
    const StepData &step = program.steps[number];
    fault.message = (step.isCopy ? "copy" : program.kernels[step.kernel].name) +
                    ": " + fault.message;
    return fault;
  }
  if (*took)
    end = begin + std::chrono::nanoseconds(**took);
  countStep(loaded, *plan, number, begin, end);
  return {};
}

Status Execution::runChecked(WorkSink &sink, uint32_t number) {
  if (sink.isQueued())
    SINTER_TRY(checkCancelled());
  bool isTimed = sink.isQueued() && isProfiling();
  SINTER_TRY(isTimed ? timeStep(sink, number) : runStep(sink, number));
  if (!sink.isQueued() || program.steps[number].errorNode < 0)
    return {};
  // Later launches could only report higher values, and those that overwrite
  // donated memory must not run.
  SINTER_TRY(readError());
  return checkError();
}

/// Where the values are that the loop passes on, in a step of it. What follows
/// is the result of the last step that is known, or of every second one.
void Execution::moveCarries(const LoopData &loop, int64_t step) {
  const BoundLoop &bound = plan->loops[program.steps[loop.step].loop];
  std::vector<void *> &at = scratch.addresses;
  int64_t from = loop.isConditional() ? step : bound.count - 1 - step;
  for (const LoopData::Carry &each : loop.carries) {
    at[each.carry] = step == 0 ? at[each.init] : at[each.next];
    at[each.next] = at[from % 2 == 0 ? each.result : each.spare];
  }
}

void Execution::moveSlices(const LoopData &loop, int64_t step) {
  const BoundLoop &bound = plan->loops[program.steps[loop.step].loop];
  std::vector<void *> &at = scratch.addresses;
  int64_t position = loop.reverse ? bound.count - 1 - step : step;
  for (const LoopData::Slice &each : loop.slices) {
    int64_t bytes = plan->values[program.buffers[each.slice].bytes];
    auto *whole = static_cast<char *>(at[each.whole]);
    at[each.slice] = whole ? whole + position * bytes : nullptr;
  }
  for (auto [argument, buffer] : bound.moving)
    scratch.arguments[argument] = at[buffer];
}

Status Execution::runSteps(WorkSink &sink, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; ++i) {
    if (!program.steps[i].isLoop()) {
      SINTER_TRY(runChecked(sink, i));
      continue;
    }
    const LoopData &loop = program.loops[program.steps[i].loop];
    int64_t outer = loopStep;
    SINTER_TRY(loop.isConditional() ? runConditional(sink, loop)
                                    : runLoop(sink, loop));
    loopStep = outer;
    i = loop.last();
  }
  return {};
}

Status Execution::runLoop(WorkSink &sink, const LoopData &loop) {
  int64_t count = plan->loops[program.steps[loop.step].loop].count;
  if (count == 0) {
    for (const LoopData::Carry &each : loop.carries) {
      int64_t bytes = plan->values[program.buffers[each.carry].bytes];
      SINTER_TRY(sink.copy({scratch.addresses[each.result],
                            scratch.addresses[each.init], size_t(bytes)}));
    }
  }
  for (loopStep = 0; loopStep < count; ++loopStep) {
    moveCarries(loop, loopStep);
    moveSlices(loop, loopStep);
    SINTER_TRY(runSteps(sink, loop.first(), loop.last()));
  }
  return {};
}

/// Kernels of a device that shares the host's memory have ended when they were
/// launched; another device copies the flag to a word, which is read.
Result<bool> Execution::readFlag(WorkSink &sink, const LoopData &loop) {
  SINTER_TRY(checkCancelled());
  const void *flag = scratch.addresses[loop.flag().carry];
  std::byte value{};
  if (!words) {
    value = *static_cast<const std::byte *>(flag);
  } else {
    size_t offset = 8 * scratch.scalars.size();
    SINTER_TRY(
        sink.copy({static_cast<char *>(words->data()) + offset, flag, 1}));
    ProfileClock::time_point begin = ProfileClock::now();
    SINTER_TRY(loaded.device().copyOut({&value, 1}, *words, offset));
    waitNanoseconds += uint64_t((ProfileClock::now() - begin).count());
  }
  return (value != std::byte{}) == (loop.condition > 0);
}

/// Steps until the flag, or the number of them, ends the loop. The values that
/// are there then become the results.
Status Execution::runConditional(WorkSink &sink, const LoopData &loop) {
  const BoundLoop &bound = plan->loops[program.steps[loop.step].loop];
  for (loopStep = 0;; ++loopStep) {
    moveCarries(loop, loopStep);
    if (loopStep == bound.count)
      break;
    SINTER_TRY_ASSIGN(bool begins, readFlag(sink, loop));
    if (!begins)
      break;
    if (loopStep == 0)
      SINTER_TRY(addWork(total, bound.once, 1));
    SINTER_TRY(addWork(total, bound.each, 1));
    moveSlices(loop, loopStep);
    SINTER_TRY(runSteps(sink, loop.first(), loop.last()));
  }
  for (const LoopData::Carry &each : loop.carries) {
    void *to = scratch.addresses[each.result];
    const void *from = scratch.addresses[each.carry];
    int64_t bytes = plan->values[program.buffers[each.carry].bytes];
    if (to != from)
      SINTER_TRY(sink.copy({to, from, size_t(bytes)}));
  }
  return {};
}

Status Execution::walk(WorkSink &sink) {
  loopStep = -1; // an attempt before may have ended in a loop
  return plan->steps.empty()
             ? Status()
             : runSteps(sink, 0, uint32_t(plan->steps.size()) - 1);
}

std::vector<MemoryRange> Execution::grantedRanges() const {
  std::vector<MemoryRange> ranges;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (scratch.grantedInput[i] != noInput)
      ranges.push_back({reinterpret_cast<uintptr_t>(outputs[i]->data()),
                        outputs[i]->bytes()});
  return ranges;
}

Status Execution::update(bool &fits) {
  Updater updater(*lease->run);
  SINTER_TRY(walk(updater));
  fits = updater.fits();
  return {};
}

Status Execution::record(bool &fits) {
  Recorder recorder(program, *plan, grantedRanges());
  SINTER_TRY(walk(recorder));
  // What is prepared for the first time is not part of later runs.
  fits = std::ranges::none_of(prepared, &Prepared::isNew);
  std::vector<RecordedWork> work = recorder.take();
  lease->isRefused = recorder.isTooLong() || work.empty();
  fits &= !lease->isRefused;
  if (!fits)
    return {};
  auto *word = static_cast<uint64_t *>(words->data()) + inputs.size();
  SlowNotice notice;
  size_t pieces = work.size();
  SINTER_TRY_ASSIGN(lease->run,
                    RecordedRun::make(loaded.device(), std::move(work), word));
  notice.done([pieces] {
    return fmt::format("making the device's graphs of {} launches and copies",
                       pieces);
  });
  return {};
}

Result<bool> Execution::replay() {
  if (!lease)
    return false;
  bool isKnown = lease->run != nullptr, fits = true;
  Status ready = isKnown ? update(fits) : record(fits);
  if (ready && fits) {
    ++(isKnown ? replays : recordings);
    Result<uint64_t> word = lease->run->launch(waitNanoseconds);
    if (word && *word == noError)
      return true;
    if (word)
      error = *word;
    else
      ready = word.takeError();
  }
  // Whatever its nodes got, another run makes new ones.
  bool isOurs = ready && fits;
  if (!isOurs)
    lease->run.reset();
  lease->placed.clear();
  SINTER_TRY(std::move(ready));
  if (isOurs)
    return checkError().takeError();
  // As if it had not been tried.
  prepared.clear();
  phasesSkipped = 0;
  listArguments();
  return false;
}

Status Execution::execute() {
  total = plan->total;
  SINTER_TRY_ASSIGN(bool isReplayed, replay());
  if (!isReplayed) {
    DirectSink sink(loaded.device());
    SINTER_TRY(walk(sink));
    if (!words)
      SINTER_TRY(readError());
    SINTER_TRY(checkError());
  }
  keepPrepared();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (scratch.grantedInput[i] != noInput)
      outputs[i]->bumpVersion();
  return {};
}

const StepData *Execution::failedStep() const {
  if (faultyStep)
    return &program.steps[*faultyStep];
  uint64_t step = error >> 40;
  if (error == noError || step >= program.steps.size())
    return nullptr;
  return &program.steps[step];
}

Status Execution::readError() {
  error = scratch.scalars.back();
  if (!words)
    return {};
  ProfileClock::time_point begin = ProfileClock::now();
  SINTER_TRY(loaded.device().copyOut(
      std::as_writable_bytes(std::span(&error, 1)), *words, 8 * inputs.size()));
  waitNanoseconds += uint64_t((ProfileClock::now() - begin).count());
  return {};
}

Status Execution::checkError() const {
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

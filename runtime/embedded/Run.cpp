/// Runs an entry of an embedded model: tables in, kernels called.
#include "runtime/embedded/Session.h"

#include "runtime/device/KernelAbi.h"
#include "runtime/support/FloatingPoint.h"

#include <cstring>

using namespace sinter;
using namespace sinter::embedded;
using runtime::KernelBlock;
using runtime::KernelFunction;

namespace {

/// Work below this is not worth a second thread, as in CpuDevice.
constexpr float parallelMicroseconds = 50;
constexpr uint64_t noError = UINT64_MAX;

struct Task {
  KernelFunction function;
  const KernelBlock *block;
};

void runChunks(void *context, int64_t first, int64_t last) {
  DefaultFloats floats;
  const auto &task = *static_cast<const Task *>(context);
  task.function(task.block, nullptr, first, last);
}

/// One run. What it needs while it lasts is in the session's memory.
class Run {
public:
  Run(sinter_embedded_session *session, const Entry &entry,
      const void *const *inputs, void *const *outputs)
      : session(session), plan(session->model->plan), entry(entry),
        inputs(inputs), outputs(outputs), steps(plan, entry.steps),
        phases(plan, entry.phases), dims(plan, entry.dims),
        addresses(at<void *>(session, plan->addresses)),
        arguments(at<void *>(session, plan->arguments)),
        places(at<void *>(session, plan->places)),
        error(at<uint64_t>(session, plan->words) + entry.words.count) {}

  sinter_status run();

private:
  sinter_status checkArguments();
  bool overlapsGiven(const char *begin, uint64_t bytes) const;
  bool isOwn(const void *begin, uint64_t bytes) const;
  void choosePlaces();
  void fillWords();
  void *addressOf(const Buffer &buffer) const;
  void resolve();
  bool runSteps(uint32_t first, uint32_t end);
  void launch(const Step &step, uint32_t number);
  bool runLoop(const Loop &loop, uint32_t number);
  bool begins(const Loop &loop) const;
  void moveCarries(const Loop &loop, int64_t step);
  void moveSlices(const Loop &loop, int64_t step);
  void finishCarries(const Loop &loop);
  sinter_status failed();
  void finish();

  sinter_embedded_session *session;
  const Plan *plan;
  const Entry &entry;
  const void *const *inputs;
  void *const *outputs;
  Table<Step> steps;
  Table<Phase> phases;
  Table<int64_t> dims;
  void **addresses;
  void **arguments;
  void **places;
  uint64_t *error;
  int64_t loopStep = -1; ///< of the innermost loop that runs; -1 outside
};

/// Whether two ranges share a byte.
bool overlap(const char *a, uint64_t aBytes, const char *b, uint64_t bBytes) {
  auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + bBytes && y < x + aBytes;
}

bool Run::overlapsGiven(const char *begin, uint64_t bytes) const {
  uint32_t number = 0;
  for (const Port &input : Table(plan, entry.inputs)) {
    if (input.bytes > 0 &&
        overlap(begin, bytes, static_cast<const char *>(inputs[number]),
                input.bytes))
      return true;
    ++number;
  }
  return false;
}

/// Runs write and copy there as it suits them.
bool Run::isOwn(const void *begin, uint64_t bytes) const {
  return bytes > 0 && begin &&
         overlap(static_cast<const char *>(begin), bytes,
                 reinterpret_cast<const char *>(session), plan->memoryBytes);
}

sinter_status Run::checkArguments() {
  uint32_t number = 0;
  for (const Port &input : Table(plan, entry.inputs)) {
    if (!inputs || (!inputs[number] && input.bytes > 0)) {
      ErrorText(session) << textOf(plan, entry.name) << ": input `"
                         << textOf(plan, input.name) << "` is null";
      return SINTER_INVALID_ARGUMENT;
    }
    ++number;
  }
  bool isOurs =
      overlapsGiven(reinterpret_cast<const char *>(session), plan->memoryBytes);
  number = 0;
  for (const Port &output : Table(plan, entry.outputs))
    isOurs |= outputs && isOwn(outputs[number++], output.bytes);
  if (!isOurs)
    return SINTER_OK;
  ErrorText(session) << textOf(plan, entry.name)
                     << ": an input or place lies in the session's own memory";
  return SINTER_INVALID_ARGUMENT;
}

void Run::choosePlaces() {
  Table ports(plan, entry.outputs);
  for (uint32_t i = 0; i < ports.size(); ++i) {
    auto *given = outputs ? static_cast<char *>(outputs[i]) : nullptr;
    bool fits = given && reinterpret_cast<uintptr_t>(given) % alignment == 0 &&
                !overlapsGiven(given, ports[i].bytes);
    for (uint32_t j = 0; fits && j < ports.size(); ++j)
      fits = j == i || !outputs[j] ||
             !overlap(given, ports[i].bytes,
                      static_cast<const char *>(outputs[j]), ports[j].bytes);
    places[i] = fits ? given : at(session, ports[i].at);
  }
}

void Run::fillWords() {
  auto *word = at<uint64_t>(session, plan->words);
  for (const Word &each : Table(plan, entry.words)) {
    switch (each.kind) {
    case WordKind::given:
      *word = 0;
      std::memcpy(word, inputs[each.number], each.bytes); // 8 at most
      break;
    case WordKind::constant:
      *word = each.bits;
      break;
    case WordKind::keyLow:
      *word = session->key.low;
      break;
    case WordKind::keyHigh:
      *word = session->key.high;
      break;
    case WordKind::counter:
      *word = session->counter + each.bits;
      break;
    }
    ++word;
  }
  *error = noError;
}

void *Run::addressOf(const Buffer &buffer) const {
  switch (buffer.place) {
  case Place::given:
    return const_cast<void *>(inputs[buffer.number]); // only read
  case Place::weight:
    return const_cast<char *>(session->model->weights + buffer.offset);
  case Place::memory:
    return at(session, buffer.offset);
  case Place::stored:
    return valueOf(session, buffer.number);
  case Place::next: {
    const Stored &stored = Table(plan, plan->stored)[buffer.number];
    return at(session, stored.at[1 - placeNow(session, buffer.number)]);
  }
  case Place::returned:
    return places[buffer.number];
  case Place::moving:
    break;
  }
  return nullptr;
}

void Run::resolve() {
  void **address = addresses;
  for (const Buffer &buffer : Table(plan, entry.buffers))
    *address++ = addressOf(buffer);
  void **argument = arguments;
  for (uint32_t buffer : Table(plan, entry.arguments))
    *argument++ = addresses[buffer];
}

void Run::launch(const Step &step, uint32_t number) {
  KernelBlock block{runtime::kernelAbiVersion, number,
                    reinterpret_cast<runtime::ErrorWord *>(error),
                    dims.begin() + step.firstDim,
                    arguments + step.firstArgument};
  for (uint32_t i = 0; i < step.numPhases; ++i) {
    const Phase &phase = phases[step.firstPhase + i];
    if (phase.oncePerLoop && loopStep > 0)
      continue;
    char *ready =
        phase.ready ? at(session, plan->ready) + phase.ready - 1 : nullptr;
    if (ready && *ready)
      continue;
    Task task{
        reinterpret_cast<KernelFunction>(
            reinterpret_cast<uintptr_t>(session->model->code) + phase.code),
        &block};
    float estimate = float(phase.chunks) * phase.chunkMicroseconds;
    if (session->parallel && phase.chunks > 1 &&
        estimate >= parallelMicroseconds)
      session->parallel(session->user, runChunks, &task, phase.chunks);
    else
      task.function(task.block, nullptr, 0, phase.chunks);
    if (ready)
      *ready = 1;
  }
}

/// As Execution::moveCarries.
void Run::moveCarries(const Loop &loop, int64_t step) {
  int64_t from = loop.condition ? step : loop.count - 1 - step;
  for (const Carry &each : Table(plan, loop.carries)) {
    addresses[each.carry] =
        step == 0 ? addresses[each.init] : addresses[each.next];
    addresses[each.next] = addresses[from % 2 == 0 ? each.result : each.spare];
  }
}

void Run::moveSlices(const Loop &loop, int64_t step) {
  int64_t position = loop.reverse ? loop.count - 1 - step : step;
  for (const Slice &each : Table(plan, loop.slices)) {
    auto *whole = static_cast<char *>(addresses[each.whole]);
    addresses[each.slice] =
        whole ? whole + position * int64_t(each.bytes) : nullptr;
  }
  for (const Moving &each : Table(plan, loop.moving))
    arguments[each.argument] = addresses[each.buffer];
}

/// Whether the flag, that the step before made, lets another one begin.
bool Run::begins(const Loop &loop) const {
  if (!loop.condition)
    return true;
  Table carries(plan, loop.carries);
  const Carry &flag =
      carries[loop.condition > 0 ? loop.condition - 1 : -loop.condition - 1];
  bool isSet = *static_cast<const char *>(addresses[flag.carry]) != 0;
  return isSet == (loop.condition > 0);
}

/// The values that are there when a loop ends become the results.
void Run::finishCarries(const Loop &loop) {
  if (!loop.condition && loop.count > 0)
    return; // the last step wrote them there
  for (const Carry &each : Table(plan, loop.carries)) {
    const void *from = addresses[loop.condition ? each.carry : each.init];
    if (addresses[each.result] != from)
      std::memcpy(addresses[each.result], from, each.bytes);
  }
}

bool Run::runLoop(const Loop &loop, uint32_t number) {
  int64_t outer = loopStep;
  for (loopStep = 0;; ++loopStep) {
    if (loop.condition || loopStep < loop.count)
      moveCarries(loop, loopStep);
    if (loopStep == loop.count || !begins(loop))
      break;
    moveSlices(loop, loopStep);
    if (!runSteps(number + 1, number + 1 + loop.steps))
      return false;
  }
  finishCarries(loop);
  loopStep = outer;
  return true;
}

/// Ends where a step finds an error: those behind it may overwrite state.
bool Run::runSteps(uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) {
    const Step &step = steps[i];
    switch (step.kind) {
    case StepKind::launch:
      launch(step, i);
      break;
    case StepKind::copy:
      std::memmove(arguments[step.firstArgument + 1],
                   arguments[step.firstArgument], step.copyBytes);
      break;
    case StepKind::loop: {
      const Loop &loop = Table(plan, entry.loops)[step.loop];
      if (!runLoop(loop, i))
        return false;
      i += loop.steps;
      break;
    }
    }
    if (step.reportsError && *error != noError)
      return false;
  }
  return *error == noError;
}

sinter_status Run::failed() {
  const Step &step = steps[*error >> 40];
  ErrorText text(session);
  text << textOf(plan, step.kernel) << ": index out of range at element "
       << (*error & ((uint64_t(1) << 40) - 1));
  if (const char *site = textOf(plan, step.site); *site)
    text << " (" << site << ")";
  return SINTER_INVALID_ARGUMENT;
}

void Run::finish() {
  for (uint32_t number : Table(plan, entry.replaced))
    placeNow(session, number) ^= 1;
  session->counter += entry.drawn;
  Table ports(plan, entry.outputs);
  for (uint32_t i = 0; outputs && i < ports.size(); ++i)
    if (outputs[i] && outputs[i] != places[i])
      std::memcpy(outputs[i], places[i], ports[i].bytes);
}

sinter_status Run::run() {
  if (sinter_status status = checkArguments(); status != SINTER_OK)
    return status;
  choosePlaces();
  fillWords();
  resolve();
  bool isDone = false;
  {
    DefaultFloats floats;
    isDone = runSteps(0, steps.size());
  }
  if (!isDone)
    return failed();
  finish();
  return SINTER_OK;
}

} // namespace

sinter_status sinter_embedded_run(sinter_embedded_session *session,
                                  uint32_t entry, const void *const *inputs,
                                  void *const *outputs) {
  if (!session)
    return SINTER_INVALID_ARGUMENT;
  const Plan *plan = session->model->plan;
  if (entry >= plan->entries.count) {
    ErrorText(session) << "there is no entry " << uint64_t(entry);
    return SINTER_INVALID_ARGUMENT;
  }
  return Run(session, Table(plan, plan->entries)[entry], inputs, outputs).run();
}

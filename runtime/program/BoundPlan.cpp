/// Evaluates a program's sizes, chunks and offsets for given dims.
#include "runtime/program/BoundPlan.h"

#include "runtime/support/Flags.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t elementLimit = int64_t(1) << 31;
constexpr int64_t bufferLimit = int64_t(1) << 40;
constexpr int64_t totalLimit = int64_t(1) << 48;
/// Chunks that a phase may have beside one for each byte of its buffers.
constexpr uint64_t chunkLimit = uint64_t(1) << 20;

template <typename... Args>
ErrorInfo badDims(fmt::format_string<Args...> format, Args &&...args) {
  return makeError(ErrorKind::invalid_argument,
                   fmt::format(format, std::forward<Args>(args)...));
}

/// Fills one BoundPlan.
class Filler {
public:
  Filler(const ProgramData &program, BoundPlan &plan, const MemoryRoom &room)
      : program(program), plan(plan), room(room) {}

  Status fill() {
    SINTER_TRY(checkGuards());
    SINTER_TRY(sizePorts());
    SINTER_TRY(placeTemporaries());
    written.resize(program.loops.size());
    for (const LoopData &loop : program.loops)
      SINTER_TRY(addLoop(loop));
    for (uint32_t i = 0; i < program.steps.size(); ++i)
      SINTER_TRY(addStep(i));
    return {};
  }

private:
  Status checkGuards();
  Status sizePorts();
  Status placeTemporaries();
  Status addLoop(const LoopData &loop);
  Status addStep(uint32_t number);
  void addBuffers(const StepData &step, const LoopData *loop);
  Result<uint64_t> checkBuffers(const StepData &step);
  Status addPhases(const StepData &step, const LoopData *loop);
  bool isMadeOnce(const StepData &step, const PhaseData &phase,
                  const LoopData *loop) const;
  Status count(const LoopData *loop, const WorkCount &each, bool once = false);
  Result<uint64_t> portBytes(const Port &port, const std::string &portName);
  uint64_t bytesOf(uint32_t buffer) const {
    return bufferBytes(program, plan, buffer);
  }

  const ProgramData &program;
  BoundPlan &plan;
  const MemoryRoom room;
  std::vector<int64_t> kernelSymbols;
  std::vector<int64_t> kernelValues;
  /// By loop: what its body writes.
  std::vector<std::vector<uint32_t>> written;
};

Status Filler::checkGuards() {
  for (const graph::Guard &guard : program.guards) {
    int64_t lhs = plan.values[guard.lhs], rhs = plan.values[guard.rhs];
    if (lhs != rhs)
      return badDims("dims do not fit together: {} has to equal {}, they are "
                     "{} and {}",
                     exprText(program.exprs, guard.lhs),
                     exprText(program.exprs, guard.rhs), lhs, rhs);
  }
  return {};
}

Result<uint64_t> Filler::portBytes(const Port &port,
                                   const std::string &portName) {
  uint64_t elements = 1;
  bool empty = false;
  for (uint32_t dim : port.dims) {
    int64_t value = plan.values[dim];
    if (value < 0 || value >= elementLimit)
      return badDims("{}: a dim of {} does not fit", portName,
                     portType(port, program.exprs));
    empty |= value == 0;
    if (value != 0 && elements < uint64_t(elementLimit))
      elements *= uint64_t(value);
  }
  if (!empty && elements >= uint64_t(elementLimit))
    return badDims("{}: {} has 2^31 elements or more", portName,
                   portType(port, program.exprs));
  return empty ? 0 : elements * byteWidth(port.dtype);
}

Status Filler::sizePorts() {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Port &port = program.inputs[i];
    SINTER_TRY_ASSIGN(uint64_t bytes,
                      portBytes(port, portName("input", port, i)));
    plan.inputBytes.push_back(bytes);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Port &port = program.outputs[i];
    SINTER_TRY_ASSIGN(uint64_t bytes,
                      portBytes(port, portName("output", port, i)));
    plan.outputBytes.push_back(bytes);
    std::vector<int64_t> dims;
    for (uint32_t dim : port.dims)
      dims.push_back(plan.values[dim]);
    plan.outputDims.push_back(std::move(dims));
  }
  return {};
}

Status Filler::placeTemporaries() {
  std::vector<PlanRequest> requests(program.buffers.size());
  int64_t total = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const PlanBuffer &buffer = program.buffers[i];
    if (buffer.kind != BufferKind::temp)
      continue;
    int64_t bytes = plan.values[buffer.bytes];
    if (bytes < 0 || bytes > bufferLimit || total > totalLimit)
      return badDims("a temporary of {} bytes does not fit", bytes);
    total += bytes + planAlignment;
    requests[i] = {bytes, buffer.first, buffer.last};
  }
  if (uint64_t(total) <= room.spare)
    for (PlanRequest &request : requests)
      request = {request.bytes, 0, uint32_t(program.steps.size())};
  plan.arena = planMemory(
      requests, int64_t(std::min<uint64_t>(room.mostAllocation, planLimit)));
  return {};
}

/// Everything that moves stays inside of what it moves over.
Status Filler::addLoop(const LoopData &loop) {
  BoundLoop bound;
  bound.count = plan.values[loop.count];
  if (bound.count < 0 || bound.count >= elementLimit)
    return badDims("a loop of {} steps does not fit", bound.count);
  auto sizeOf = [&](uint32_t buffer, int64_t &bytes) -> Status {
    bytes = plan.values[program.buffers[buffer].bytes];
    if (bytes < 0 || bytes > bufferLimit)
      return badDims("a part of {} bytes does not fit", bytes);
    return {};
  };
  for (const LoopData::Carry &each : loop.carries) {
    int64_t carry = 0, next = 0;
    SINTER_TRY(sizeOf(each.carry, carry));
    SINTER_TRY(sizeOf(each.next, next));
    bool fits = carry == next;
    for (uint32_t buffer : {each.init, each.result})
      fits &= bytesOf(buffer) >= uint64_t(carry);
    // Of a single step there are no two values at once.
    fits &= bound.count <= 1 || bytesOf(each.spare) >= uint64_t(carry);
    if (!fits)
      return badDims("a carry of {} bytes is larger than its buffers", carry);
  }
  if (loop.isConditional() &&
      plan.values[program.buffers[loop.flag().carry].bytes] != 1)
    return badDims("a loop's condition of {} bytes is no flag",
                   plan.values[program.buffers[loop.flag().carry].bytes]);
  for (const LoopData::Slice &each : loop.slices) {
    int64_t slice = 0;
    SINTER_TRY(sizeOf(each.slice, slice));
    if (slice > 0 &&
        uint64_t(bound.count) > bytesOf(each.whole) / uint64_t(slice))
      return badDims("{} slices of {} bytes are larger than their buffer",
                     bound.count, slice);
  }
  plan.loops.push_back(std::move(bound));
  return {};
}

/// Whether a phase prepares what no step of the loop changes, in memory that no
/// other step uses meanwhile.
bool Filler::isMadeOnce(const StepData &step, const PhaseData &phase,
                        const LoopData *loop) const {
  if (!loop || phase.prepares < 0)
    return false;
  uint32_t from = step.buffers[phase.prepares];
  const PlanBuffer &made = program.buffers[step.buffers[phase.workspace]];
  if (program.buffers[from].kind == BufferKind::moving ||
      made.first > loop->step || made.last < loop->last())
    return false;
  return !std::ranges::binary_search(written[program.steps[loop->step].loop],
                                     from);
}

/// Code touches what its kernel says, so no buffer may be smaller, and what it
/// says of the dims has to hold. Gives the bytes of all. `kernelValues` are
/// those of the launch.
Result<uint64_t> Filler::checkBuffers(const StepData &step) {
  const KernelData &kernel = program.kernels[step.kernel];
  for (const graph::Guard &guard : kernel.guards) {
    int64_t lhs = kernelValues[guard.lhs], rhs = kernelValues[guard.rhs];
    if (lhs != rhs || lhs == std::numeric_limits<int64_t>::min())
      return badDims(
          "kernel {}: dims of the launch do not fit together: {} has "
          "to equal {}, they are {} and {}",
          kernel.name, exprText(kernel.exprs, guard.lhs),
          exprText(kernel.exprs, guard.rhs), lhs, rhs);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    int64_t needed = kernelValues[kernel.bufferBytes[i]];
    uint64_t bytes = bytesOf(step.buffers[i]);
    if (needed < 0 || uint64_t(needed) > bytes)
      return badDims("kernel {}: buffer {} has {} bytes, the launch touches {}",
                     kernel.name, i, bytes,
                     needed < 0 ? "more than can be counted"
                                : std::to_string(needed));
    total += bytes;
  }
  return total;
}

/// What is done in each step of the loop, or only `once`.
Status Filler::count(const LoopData *loop, const WorkCount &each, bool once) {
  int64_t times = 1;
  while (loop) {
    BoundLoop &bound = plan.loops[program.steps[loop->step].loop];
    if (loop->isConditional())
      return addWork(once ? bound.once : bound.each, each, times);
    int64_t own = once ? std::min<int64_t>(bound.count, 1) : bound.count;
    if (__builtin_mul_overflow(times, own, &times))
      times = std::numeric_limits<int64_t>::max();
    once = false;
    const LoopData &parent = program.loops[loop->parent];
    loop = &parent == loop ? nullptr : &parent;
  }
  return addWork(plan.total, each, times);
}

Status Filler::addPhases(const StepData &step, const LoopData *loop) {
  const KernelData &kernel = program.kernels[step.kernel];
  kernelSymbols.clear();
  for (uint32_t dim : step.dims) {
    int64_t value = plan.values[dim];
    if (value < 0 || value >= elementLimit)
      return badDims("kernel {}: dim {} does not fit", kernel.name, value);
    kernelSymbols.push_back(value);
    plan.dims.push_back(value);
  }
  evaluateAll(kernel.exprs, kernelSymbols, kernelValues);
  SINTER_TRY_ASSIGN(uint64_t bytes, checkBuffers(step));
  for (const PhaseData &phase : kernel.phases) {
    int64_t chunks = kernelValues[phase.chunks];
    if (chunks < 0 || uint64_t(chunks) > bytes + chunkLimit)
      return badDims("kernel {}: {} chunks for {} bytes of buffers",
                     kernel.name, chunks, bytes);
    if (chunks == 0)
      continue;
    bool once = isMadeOnce(step, phase, loop);
    plan.phases.push_back({phase.function, chunks, phase.chunkMicroseconds,
                           phase.prepares, phase.workspace, once});
    SINTER_TRY(count(loop, {1 + uint64_t(chunks) / chunkLimit, 1}, once));
  }
  return {};
}

void Filler::addBuffers(const StepData &step, const LoopData *loop) {
  for (uint32_t buffer : step.buffers) {
    // One that moves belongs to this loop, or to one around it.
    if (loop && program.buffers[buffer].kind == BufferKind::moving) {
      const StepData &own = program.steps[program.buffers[buffer].index];
      plan.loops[own.loop].moving.push_back(
          {uint32_t(plan.bufferList.size()), buffer});
    }
    plan.bufferList.push_back(buffer);
  }
}

Status Filler::addStep(uint32_t number) {
  const StepData &step = program.steps[number];
  const LoopData *loop = loopAround(program, number);
  BoundStep bound;
  bound.firstPhase = uint32_t(plan.phases.size());
  bound.firstBuffer = uint32_t(plan.bufferList.size());
  bound.firstDim = uint32_t(plan.dims.size());
  addBuffers(step, loop);
  if (step.isLoop()) {
    plan.steps.push_back(bound);
    const LoopData &own = program.loops[step.loop];
    written[step.loop] = writtenInBody(program, own);
    // Moving what it moves takes time, too.
    uint64_t moved = own.carries.size() + own.slices.size();
    return count(&own, {1 + moved / 16});
  }
  int64_t read = plan.values[step.bytesRead];
  int64_t written = plan.values[step.bytesWritten];
  if (step.isCopy) {
    bound.copyBytes = uint64_t(read);
    if (read < 0 || bound.copyBytes > bytesOf(step.buffers[0]) ||
        bound.copyBytes > bytesOf(step.buffers[1]))
      return badDims("a copy of {} bytes is larger than its buffers", read);
    SINTER_TRY(count(loop, {1}));
  } else {
    SINTER_TRY(addPhases(step, loop));
    bound.numPhases = uint32_t(plan.phases.size()) - bound.firstPhase;
  }
  plan.steps.push_back(bound);
  return count(loop, {0, 0, uint64_t(std::max<int64_t>(0, read)),
                      uint64_t(std::max<int64_t>(0, written))});
}

} // namespace

/// A file may ask for more work than anybody waits for.
Status sinter::runtime::addWork(WorkCount &total, const WorkCount &each,
                                int64_t times) {
  uint64_t limit = uint64_t(std::max<int64_t>(0, flags().launchLimit));
  uint64_t added = 0;
  if (__builtin_mul_overflow(uint64_t(times), each.work, &added) ||
      __builtin_add_overflow(total.work, added, &total.work) ||
      total.work > limit)
    return badDims("the run makes more than {} launches and copies; "
                   "SINTER_LAUNCH_LIMIT sets how many it may make",
                   limit);
  total.launches += uint64_t(times) * each.launches;
  total.bytesRead += uint64_t(times) * each.bytesRead;
  total.bytesWritten += uint64_t(times) * each.bytesWritten;
  return {};
}

uint64_t sinter::runtime::bufferBytes(const ProgramData &program,
                                      const BoundPlan &plan, uint32_t buffer) {
  const PlanBuffer &of = program.buffers[buffer];
  switch (of.kind) {
  case BufferKind::input: {
    bool scalar = program.inputs[of.index].kind == graph::InputKind::scalar;
    return scalar ? sizeof(uint64_t) : plan.inputBytes[of.index];
  }
  case BufferKind::output:
    return plan.outputBytes[of.index];
  case BufferKind::constant:
    return program.constants[of.index].bytes;
  case BufferKind::temp:
  case BufferKind::moving:
    return uint64_t(plan.values[of.bytes]);
  }
  return 0;
}

Result<std::shared_ptr<const BoundPlan>>
BoundPlan::make(const ProgramData &program, std::span<const int64_t> symbols,
                const MemoryRoom &room) {
  auto plan = std::make_shared<BoundPlan>();
  plan->symbols.assign(symbols.begin(), symbols.end());
  evaluateAll(program.exprs, symbols, plan->values);
  SINTER_TRY(Filler(program, *plan, room).fill());
  return std::shared_ptr<const BoundPlan>(std::move(plan));
}

/// Checks who reads and writes which buffer when.
#include "runtime/program/VerifyProgram.h"

#include "runtime/program/ModelError.h"
#include <algorithm>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// When a plan buffer is used. Steps count from 0.
struct Use {
  uint32_t firstWrite = neverStep;
  uint32_t lastRead = 0;
  bool read = false;
};

/// Walks the steps in order and keeps every buffer's uses.
class StepWalk {
public:
  explicit StepWalk(const ProgramData &program)
      : program(program), uses(program.buffers.size()) {}

  Status walk();
  /// Uses of the inputs or outputs, by their number.
  std::vector<Use> usesOf(BufferKind kind, size_t count) const;
  uint32_t lastReport() const { return reportStep; }
  bool reports() const { return anyReport; }

private:
  Status read(uint32_t step, uint32_t buffer);
  Status write(uint32_t step, uint32_t buffer);
  Status checkInterval(uint32_t step, uint32_t buffer);
  Status beginLoop(const LoopData &number);
  Status endLoop(const LoopData &loop);
  /// A loop that the step at hand is in, or begins.
  struct OpenLoop {
    const LoopData *loop;
    std::vector<uint32_t> written; ///< in its body; ascending
    bool writes(uint32_t buffer) const {
      return std::ranges::binary_search(written, buffer);
    }
  };
  Status checkOwned(const OpenLoop &open);
  /// When what a step does happens first, seen from every other step: what a
  /// loop's body writes is there at its next round, before all of its reads.
  uint32_t since(uint32_t step) const {
    bool isIn = !loops.empty() && loops.front().loop->holds(step);
    return isIn ? loops.front().loop->step : step;
  }

  const ProgramData &program;
  std::vector<Use> uses;
  std::vector<OpenLoop> loops; ///< the innermost is the last
  std::vector<uint8_t> owned;  ///< by moving buffer: whether a loop moves it
  uint32_t reportStep = 0;
  bool anyReport = false;
};

Status StepWalk::checkInterval(uint32_t step, uint32_t buffer) {
  const PlanBuffer &plan = program.buffers[buffer];
  if (plan.kind == BufferKind::temp && (step < plan.first || step > plan.last))
    return brokenModel("step {} uses buffer {}, which lives in steps {} to {}",
                       step, buffer, plan.first, plan.last);
  if (plan.kind == BufferKind::moving && !owned[buffer])
    return brokenModel("step {} uses buffer {}, which no loop moves", step,
                       buffer);
  bool isOwn = std::ranges::any_of(loops, [&](const OpenLoop &open) {
    return plan.index == open.loop->step && open.loop->holds(step);
  });
  if (plan.kind == BufferKind::moving && !isOwn)
    return brokenModel("step {} uses buffer {} of the loop at step {}", step,
                       buffer, plan.index);
  return {};
}

Status StepWalk::read(uint32_t step, uint32_t buffer) {
  SINTER_TRY(checkInterval(step, buffer));
  BufferKind kind = program.buffers[buffer].kind;
  Use &use = uses[buffer];
  bool made = kind == BufferKind::temp || kind == BufferKind::output ||
              kind == BufferKind::moving;
  if (made && use.firstWrite == neverStep)
    return brokenModel("step {} reads buffer {} before it is written", step,
                       buffer);
  use.read = true;
  use.lastRead = step;
  return {};
}

Status StepWalk::write(uint32_t step, uint32_t buffer) {
  SINTER_TRY(checkInterval(step, buffer));
  BufferKind kind = program.buffers[buffer].kind;
  if (kind == BufferKind::input || kind == BufferKind::constant)
    return brokenModel("step {} writes buffer {}, which is read only", step,
                       buffer);
  Use &use = uses[buffer];
  use.firstWrite = std::min(use.firstWrite, since(step));
  return {};
}

/// A buffer that moves is moved by one loop, in one way; results and spare
/// buffers are the loop's alone.
Status StepWalk::checkOwned(const OpenLoop &open) {
  const LoopData &loop = *open.loop;
  auto own = [&](uint32_t buffer) -> Status {
    const PlanBuffer &plan = program.buffers[buffer];
    if (plan.kind != BufferKind::moving || plan.index != loop.step ||
        owned[buffer]++)
      return brokenModel("the loop at step {} cannot move buffer {}", loop.step,
                         buffer);
    return {};
  };
  for (const LoopData::Carry &each : loop.carries) {
    SINTER_TRY(own(each.carry));
    SINTER_TRY(own(each.next));
    for (uint32_t buffer : {each.result, each.spare}) {
      BufferKind kind = program.buffers[buffer].kind;
      bool fits = kind == BufferKind::temp || kind == BufferKind::output;
      if (!fits || owned[buffer]++)
        return brokenModel("the loop at step {} cannot keep a carry in buffer "
                           "{}",
                           loop.step, buffer);
    }
    if (!open.writes(each.next))
      return brokenModel("the loop at step {} never writes buffer {}",
                         loop.step, each.next);
  }
  for (const LoopData::Slice &each : loop.slices)
    SINTER_TRY(own(each.slice));
  return {};
}

Status StepWalk::beginLoop(const LoopData &loop) {
  OpenLoop open{&loop, writtenInBody(program, loop)};
  SINTER_TRY(checkOwned(open));
  for (const LoopData::Carry &each : loop.carries) {
    SINTER_TRY(read(loop.step, each.init));
    SINTER_TRY(write(loop.step, each.result));
    SINTER_TRY(write(loop.step, each.spare));
    uses[each.carry].firstWrite = loop.step;
  }
  for (const LoopData::Slice &each : loop.slices) {
    if (open.writes(each.slice)) {
      SINTER_TRY(write(loop.step, each.whole));
      continue;
    }
    SINTER_TRY(read(loop.step, each.whole));
    uses[each.slice].firstWrite = loop.step;
  }
  loops.push_back(std::move(open));
  return {};
}

/// What the loop moves over lives as long as it does.
Status StepWalk::endLoop(const LoopData &loop) {
  auto extend = [&](uint32_t buffer) -> Status {
    SINTER_TRY(checkInterval(loop.last(), buffer));
    uses[buffer].lastRead = std::max(uses[buffer].lastRead, loop.last());
    return {};
  };
  for (const LoopData::Carry &each : loop.carries) {
    if (loops.back().writes(each.carry))
      return brokenModel("step {} writes buffer {}, which is read only",
                         loop.step, each.carry);
    for (uint32_t buffer : {each.init, each.result, each.spare})
      SINTER_TRY(extend(buffer));
  }
  for (const LoopData::Slice &each : loop.slices)
    SINTER_TRY(extend(each.whole));
  // It may make more launches than a run may.
  if (loop.isConditional()) {
    reportStep = loop.last();
    anyReport = true;
  }
  loops.pop_back();
  return {};
}

Status StepWalk::walk() {
  owned.assign(program.buffers.size(), 0);
  for (uint32_t i = 0; i < program.steps.size(); ++i) {
    const StepData &step = program.steps[i];
    if (step.isLoop())
      SINTER_TRY(beginLoop(program.loops[step.loop]));
    uint32_t numInputs = step.isLoop() ? 0
                         : step.isCopy ? 1
                                       : program.kernels[step.kernel].numInputs;
    for (uint32_t k = 0; k < numInputs; ++k)
      SINTER_TRY(read(i, step.buffers[k]));
    for (uint32_t k = numInputs; k < step.buffers.size(); ++k)
      SINTER_TRY(write(i, step.buffers[k]));
    if (step.errorNode >= 0) {
      reportStep = i;
      anyReport = true;
    }
    while (!loops.empty() && i == loops.back().loop->last())
      SINTER_TRY(endLoop(*loops.back().loop));
  }
  return {};
}

std::vector<Use> StepWalk::usesOf(BufferKind kind, size_t count) const {
  std::vector<Use> found(count);
  for (size_t i = 0; i < uses.size(); ++i)
    if (program.buffers[i].kind == kind)
      found[program.buffers[i].index] = uses[i];
  return found;
}

/// Each input and output has at most one plan buffer, each output one.
Status checkPortBuffers(const ProgramData &program) {
  std::vector<uint32_t> inputs(program.inputs.size());
  std::vector<uint32_t> outputs(program.outputs.size());
  for (const PlanBuffer &buffer : program.buffers) {
    if (buffer.kind == BufferKind::input && ++inputs[buffer.index] > 1)
      return brokenModel("input {} has two buffers", buffer.index);
    if (buffer.kind == BufferKind::output && ++outputs[buffer.index] > 1)
      return brokenModel("output {} has two buffers", buffer.index);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] == 0)
      return brokenModel("output {} has no buffer", i);
  return {};
}

} // namespace

Status sinter::runtime::verifySteps(ProgramData &program) {
  SINTER_TRY(checkPortBuffers(program));
  StepWalk walk(program);
  SINTER_TRY(walk.walk());
  std::vector<Use> inputs =
      walk.usesOf(BufferKind::input, program.inputs.size());
  std::vector<Use> outputs =
      walk.usesOf(BufferKind::output, program.outputs.size());
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].firstWrite == neverStep)
      return brokenModel("output {} is never written", i);

  auto unsafe = [&](const AliasData &alias) {
    const Use &input = inputs[alias.input];
    uint32_t written = outputs[alias.output].firstWrite;
    bool readLater = input.read && input.lastRead > written;
    bool beforeReport = walk.reports() && written <= walk.lastReport();
    bool scalar = program.inputs[alias.input].kind == graph::InputKind::scalar;
    return readLater || beforeReport || scalar;
  };
  std::erase_if(program.aliases, unsafe);
  return {};
}

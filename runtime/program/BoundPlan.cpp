/// Evaluates a program's sizes, chunks and offsets for given dims.
#include "runtime/program/BoundPlan.h"

#include "runtime/memory/Plan.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t elementLimit = int64_t(1) << 31;
constexpr int64_t bufferLimit = int64_t(1) << 40;
constexpr int64_t totalLimit = int64_t(1) << 48;
constexpr int64_t chunkLimit = int64_t(1) << 40;

template <typename... Args>
ErrorInfo badDims(fmt::format_string<Args...> format, Args &&...args) {
  return makeError(ErrorKind::invalid_argument,
                   fmt::format(format, std::forward<Args>(args)...));
}

/// Fills one BoundPlan.
class Filler {
public:
  Filler(const ProgramData &program, BoundPlan &plan)
      : program(program), plan(plan) {}

  Status fill() {
    SINTER_TRY(checkGuards());
    SINTER_TRY(sizePorts());
    SINTER_TRY(placeTemporaries());
    for (const StepData &step : program.steps)
      SINTER_TRY(addStep(step));
    return {};
  }

private:
  Status checkGuards();
  Status sizePorts();
  Status placeTemporaries();
  Status addStep(const StepData &step);
  Status addPhases(const StepData &step);
  Result<uint64_t> portBytes(const Port &port, const std::string &portName);
  uint64_t bufferBytes(uint32_t index) const;

  const ProgramData &program;
  BoundPlan &plan;
  std::vector<int64_t> kernelSymbols;
  std::vector<int64_t> kernelValues;
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
  MemoryPlan memory = planMemory(requests);
  plan.offsets = std::move(memory.offsets);
  plan.arenaBytes = uint64_t(memory.bytes);
  return {};
}

uint64_t Filler::bufferBytes(uint32_t index) const {
  const PlanBuffer &buffer = program.buffers[index];
  switch (buffer.kind) {
  case BufferKind::input: {
    bool scalar = program.inputs[buffer.index].kind == graph::InputKind::scalar;
    return scalar ? sizeof(uint64_t) : plan.inputBytes[buffer.index];
  }
  case BufferKind::output:
    return plan.outputBytes[buffer.index];
  case BufferKind::constant:
    return program.constants[buffer.index].bytes;
  case BufferKind::temp:
    return uint64_t(plan.values[buffer.bytes]);
  }
  return 0;
}

Status Filler::addPhases(const StepData &step) {
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
  for (const PhaseData &phase : kernel.phases) {
    int64_t chunks = kernelValues[phase.chunks];
    if (chunks < 0 || chunks > chunkLimit)
      return badDims("kernel {}: {} chunks", kernel.name, chunks);
    if (chunks == 0)
      continue;
    plan.phases.push_back({phase.function, chunks, phase.chunkMicroseconds,
                           phase.prepares, phase.workspace});
    ++plan.launches;
  }
  return {};
}

Status Filler::addStep(const StepData &step) {
  BoundStep bound;
  bound.firstPhase = uint32_t(plan.phases.size());
  bound.firstBuffer = uint32_t(plan.bufferList.size());
  bound.firstDim = uint32_t(plan.dims.size());
  plan.bufferList.insert(plan.bufferList.end(), step.buffers.begin(),
                         step.buffers.end());
  int64_t read = plan.values[step.bytesRead];
  int64_t written = plan.values[step.bytesWritten];
  if (step.isCopy) {
    bound.copyBytes = uint64_t(read);
    if (read < 0 || bound.copyBytes > bufferBytes(step.buffers[0]) ||
        bound.copyBytes > bufferBytes(step.buffers[1]))
      return badDims("a copy of {} bytes is larger than its buffers", read);
  } else {
    SINTER_TRY(addPhases(step));
    bound.numPhases = uint32_t(plan.phases.size()) - bound.firstPhase;
  }
  plan.bytesRead += uint64_t(std::max<int64_t>(0, read));
  plan.bytesWritten += uint64_t(std::max<int64_t>(0, written));
  plan.steps.push_back(bound);
  return {};
}

} // namespace

Result<std::shared_ptr<const BoundPlan>>
BoundPlan::make(const ProgramData &program, std::span<const int64_t> symbols) {
  auto plan = std::make_shared<BoundPlan>();
  plan->symbols.assign(symbols.begin(), symbols.end());
  evaluateAll(program.exprs, symbols, plan->values);
  SINTER_TRY(Filler(program, *plan).fill());
  return std::shared_ptr<const BoundPlan>(std::move(plan));
}

/// Checks every index of a program section while copying it.
#include "runtime/program/VerifyProgram.h"

#include "runtime/program/ModelReader.h"
#include "runtime/program/ReadExprs.h"
#include "runtime/program/SectionReader.h"
#include "runtime/support/Printable.h"

#include <algorithm>
#include <cmath>

using namespace sinter;
using namespace sinter::runtime;

namespace {

const fb::Program *rootOf(std::span<const std::byte> section) {
  auto *data = reinterpret_cast<const uint8_t *>(section.data());
  flatbuffers::Verifier verifier(data, section.size(), /*max_depth=*/16,
                                 CopyBudget::tablesIn(section.size()));
  return fb::VerifyProgramBuffer(verifier) ? fb::GetProgram(data) : nullptr;
}

/// Exprs that are evaluated, and phases that are listed, for all launches of a
/// program together. Kernels are launched more than once.
constexpr uint64_t maxLaunchExprs = uint64_t(1) << 26;
constexpr uint64_t maxLaunchPhases = uint64_t(1) << 19;

std::string_view viewOf(const flatbuffers::String *string) {
  return string ? string->string_view() : std::string_view();
}

/// Copies lists out of the flatbuffer, checking every index on the way.
class Reader : SectionReader {
public:
  Reader(const fb::Program &source, size_t sectionBytes, uint64_t constantBytes,
         CopyBudget &budget)
      : SectionReader("a program section", budget), source(source),
        sectionBytes(sectionBytes), constantBytes(constantBytes) {}

  Result<ProgramData> read();

private:
  Status copyWord(const flatbuffers::String *from, const char *what,
                  std::string &to);
  Status readLimits();
  Status readHead();
  Status copyExprs(const flatbuffers::Vector<const fb::Expr *> *list,
                   uint32_t numSymbols, std::vector<Expr> &to);
  Status readIndices(const flatbuffers::Vector<uint32_t> *list, size_t limit,
                     const char *what, std::vector<uint32_t> &to);
  Status checkExpr(uint32_t index, const char *what);
  Status readPorts();
  Status readPort(const fb::Port *port, bool isInput, std::vector<Port> &to);
  Status readGuards();
  Status readKernels();
  Status readKernel(const fb::Kernel *kernel);
  Status readPhase(const fb::Phase &phase, KernelData &kernel);
  Status readBufferBytes(const fb::Kernel &from, KernelData &kernel);
  Status readKernelGuards(const fb::Kernel &from, KernelData &kernel);
  Status readConstants();
  Status checkConstants() const;
  Status readBuffers();
  Status readSteps();
  Status readLaunch(const fb::Launch &launch);
  Status checkLaunch(const KernelData &kernel, const StepData &step);
  Status readCopy(const fb::Copy &copy);
  Status findParent(LoopData &loop);
  Status readLoop(const fb::Loop &loop);
  Status readAliases();
  Status readDecisions();

  const fb::Program &source;
  const size_t sectionBytes;
  const uint64_t constantBytes;
  uint64_t launchExprs = 0, launchPhases = 0;
  ProgramData program;
};

/// A name that the compiler made.
Status Reader::copyWord(const flatbuffers::String *from, const char *what,
                        std::string &to) {
  auto isPlain = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(viewOf(from), isPlain))
    return brokenModel("{} '{}' holds more than letters", what,
                       printableName(viewOf(from)));
  return copyText(from, to);
}

Status Reader::readLimits() {
  SINTER_TRY(checkLength(source.inputs(), "inputs"));
  SINTER_TRY(checkLength(source.outputs(), "outputs"));
  SINTER_TRY(checkLength(source.exprs(), "exprs"));
  SINTER_TRY(checkLength(source.guards(), "guards"));
  SINTER_TRY(checkLength(source.kernels(), "kernels"));
  SINTER_TRY(checkLength(source.buffers(), "buffers"));
  SINTER_TRY(checkLength(source.steps(), "steps"));
  SINTER_TRY(checkLength(source.aliases(), "aliases"));
  SINTER_TRY(checkLength(source.decisions(), "decisions"));
  SINTER_TRY(checkLength(source.constants(), "constants"));
  if (source.num_symbols() > maxSymbols)
    return brokenModel("{} symbols, at most {} are allowed",
                       source.num_symbols(), maxSymbols);
  if (source.num_nodes() > maxListLength)
    return brokenModel("{} nodes, at most {} are allowed", source.num_nodes(),
                       maxListLength);
  return {};
}

Status Reader::readHead() {
  SINTER_TRY(copyWord(source.target(), "target", program.target));
  SINTER_TRY(copyWord(source.variant(), "variant", program.variant));
  SINTER_TRY(copyWord(source.compiler(), "compiler", program.compiler));
  SINTER_TRY(copyWord(source.machine(), "machine", program.machine));
  program.numerics = source.numerics();
  program.numSymbols = source.num_symbols();
  program.numNodes = source.num_nodes();
  return {};
}

Status Reader::copyExprs(const flatbuffers::Vector<const fb::Expr *> *list,
                         uint32_t numSymbols, std::vector<Expr> &to) {
  SINTER_TRY(take(sizeOf(list) * sizeof(Expr)));
  Result<std::vector<Expr>> exprs = readExprs(list, numSymbols);
  if (!exprs)
    return brokenModel("{}", exprs.error().message);
  to = std::move(*exprs);
  return {};
}

Status Reader::readIndices(const flatbuffers::Vector<uint32_t> *list,
                           size_t limit, const char *what,
                           std::vector<uint32_t> &to) {
  SINTER_TRY(makeRoom(list, what, to));
  for (uint32_t i = 0; i < sizeOf(list); ++i) {
    if (list->Get(i) >= limit)
      return brokenModel("{} {} of {}", what, list->Get(i), limit);
    to.push_back(list->Get(i));
  }
  return {};
}

Status Reader::checkExpr(uint32_t index, const char *what) {
  if (index >= program.exprs.size())
    return brokenModel("{}: expr {} of {}", what, index, program.exprs.size());
  return {};
}

Status Reader::readPort(const fb::Port *from, bool isInput,
                        std::vector<Port> &to) {
  Port port;
  SINTER_TRY(copyText(from->name(), port.name));
  if (from->dtype() >= numDTypes || !isStorable(DType(from->dtype())))
    return brokenModel("a port has dtype code {}", from->dtype());
  port.dtype = DType(from->dtype());
  if (sizeOf(from->dims()) > maxRank)
    return brokenModel("a port has rank {}", sizeOf(from->dims()));
  SINTER_TRY(
      readIndices(from->dims(), program.exprs.size(), "port dim", port.dims));
  uint8_t lastKind = isInput ? uint8_t(graph::InputKind::scalar) : 0;
  if (from->kind() > lastKind)
    return brokenModel("a port has kind {}", from->kind());
  port.kind = graph::InputKind(from->kind());
  if (port.kind == graph::InputKind::scalar && !port.dims.empty())
    return brokenModel("a scalar input has rank {}", port.dims.size());
  if (port.kind == graph::InputKind::scalar && byteWidth(port.dtype) > 8)
    return brokenModel("a scalar input has dtype {}", name(port.dtype));
  if (from->node() >= program.numNodes)
    return brokenModel("a port has node {} of {}", from->node(),
                       program.numNodes);
  port.node = from->node();
  to.push_back(std::move(port));
  return {};
}

Status Reader::readPorts() {
  SINTER_TRY(makeRoom(source.inputs(), "inputs", program.inputs));
  SINTER_TRY(makeRoom(source.outputs(), "outputs", program.outputs));
  for (uint32_t i = 0; i < sizeOf(source.inputs()); ++i)
    SINTER_TRY(readPort(source.inputs()->Get(i), true, program.inputs));
  for (uint32_t i = 0; i < sizeOf(source.outputs()); ++i)
    SINTER_TRY(readPort(source.outputs()->Get(i), false, program.outputs));
  return {};
}

Status Reader::readGuards() {
  SINTER_TRY(makeRoom(source.guards(), "guards", program.guards));
  for (uint32_t i = 0; i < sizeOf(source.guards()); ++i) {
    const fb::Guard &guard = *source.guards()->Get(i);
    SINTER_TRY(checkExpr(guard.lhs(), "guard"));
    SINTER_TRY(checkExpr(guard.rhs(), "guard"));
    program.guards.push_back({guard.lhs(), guard.rhs()});
  }
  return {};
}

Status Reader::readPhase(const fb::Phase &from, KernelData &kernel) {
  PhaseData phase;
  SINTER_TRY(copyWord(from.symbol(), "a phase's symbol", phase.symbol));
  if (from.chunks() >= kernel.exprs.size())
    return brokenModel("kernel {}: chunk count is expr {} of {}", kernel.name,
                       from.chunks(), kernel.exprs.size());
  if (from.prepares() < -1 || from.prepares() >= int64_t(kernel.numInputs))
    return brokenModel("kernel {}: a phase prepares input {} of {}",
                       kernel.name, from.prepares(), kernel.numInputs);
  if (from.workspace() > maxListLength)
    return brokenModel("kernel {}: a phase fills workspace {}", kernel.name,
                       from.workspace());
  phase.chunks = from.chunks();
  phase.chunkMicroseconds =
      std::isfinite(from.grain_us()) ? from.grain_us() : 0;
  phase.prepares = from.prepares();
  phase.workspace = kernel.numInputs + kernel.numOutputs + from.workspace();
  kernel.phases.push_back(std::move(phase));
  return {};
}

Status Reader::readBufferBytes(const fb::Kernel &from, KernelData &kernel) {
  SINTER_TRY(readIndices(from.buffer_bytes(), kernel.exprs.size(),
                         "bytes of a kernel's buffer", kernel.bufferBytes));
  size_t least = size_t(kernel.numInputs) + kernel.numOutputs;
  if (kernel.bufferBytes.size() < least)
    return brokenModel("kernel {}: it tells the sizes of {} buffers, it has {} "
                       "inputs and outputs",
                       kernel.name, kernel.bufferBytes.size(), least);
  return {};
}

Status Reader::readKernelGuards(const fb::Kernel &from, KernelData &kernel) {
  SINTER_TRY(makeRoom(from.guards(), "kernel guards", kernel.guards));
  for (uint32_t i = 0; i < sizeOf(from.guards()); ++i) {
    const fb::Guard &guard = *from.guards()->Get(i);
    if (std::max(guard.lhs(), guard.rhs()) >= kernel.exprs.size())
      return brokenModel("kernel {}: guard {} names expr {} of {}", kernel.name,
                         i, std::max(guard.lhs(), guard.rhs()),
                         kernel.exprs.size());
    kernel.guards.push_back({guard.lhs(), guard.rhs()});
  }
  return {};
}

Status Reader::readKernel(const fb::Kernel *from) {
  KernelData kernel;
  SINTER_TRY(copyWord(from->name(), "kernel", kernel.name));
  SINTER_TRY(copyWord(from->kind(), "a kernel's kind", kernel.kind));
  SINTER_TRY(copyWord(from->tile(), "tile", kernel.tile));
  SINTER_TRY(copyText(from->text(), kernel.text));
  kernel.numSymbols = from->num_symbols();
  kernel.numInputs = from->num_inputs();
  kernel.numOutputs = from->num_outputs();
  if (kernel.numSymbols > maxSymbols || kernel.numInputs > maxListLength ||
      kernel.numOutputs > maxListLength)
    return brokenModel("kernel {}: too many symbols or buffers", kernel.name);
  if (kernel.numOutputs == 0)
    return brokenModel("kernel {}: it has no outputs", kernel.name);
  SINTER_TRY(checkLength(from->exprs(), "kernel exprs"));
  SINTER_TRY(copyExprs(from->exprs(), kernel.numSymbols, kernel.exprs));
  SINTER_TRY(makeRoom(from->phases(), "phases", kernel.phases));
  if (sizeOf(from->phases()) == 0)
    return brokenModel("kernel {}: it has no phases", kernel.name);
  for (uint32_t i = 0; i < sizeOf(from->phases()); ++i)
    SINTER_TRY(readPhase(*from->phases()->Get(i), kernel));
  SINTER_TRY(readBufferBytes(*from, kernel));
  SINTER_TRY(readKernelGuards(*from, kernel));
  program.kernels.push_back(std::move(kernel));
  return {};
}

Status Reader::readKernels() {
  SINTER_TRY(makeRoom(source.kernels(), "kernels", program.kernels));
  for (uint32_t i = 0; i < sizeOf(source.kernels()); ++i)
    SINTER_TRY(readKernel(source.kernels()->Get(i)));
  return {};
}

Status Reader::readConstants() {
  SINTER_TRY(makeRoom(source.constants(), "constants", program.constants));
  for (uint32_t i = 0; i < sizeOf(source.constants()); ++i) {
    const fb::Constant *from = source.constants()->Get(i);
    if (from->offset() > constantBytes ||
        from->bytes() > constantBytes - from->offset())
      return brokenModel("constant {} is not in the constants section", i);
    if (from->offset() % 256 != 0)
      return brokenModel("constant {} is not aligned to 256 bytes", i);
    program.constants.push_back({from->offset(), from->bytes()});
  }
  return checkConstants();
}

/// Equal constants may be at one place, others share nothing.
Status Reader::checkConstants() const {
  std::vector<ConstantData> sorted = program.constants;
  std::ranges::sort(sorted, {}, [](const ConstantData &each) {
    return std::pair(each.offset, each.bytes);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ConstantData &before = sorted[i - 1], &after = sorted[i];
    bool isSame = before.offset == after.offset && before.bytes == after.bytes;
    if (!isSame && before.bytes > after.offset - before.offset)
      return brokenModel("constants at {} and {} overlap", before.offset,
                         after.offset);
  }
  return {};
}

Status Reader::readBuffers() {
  SINTER_TRY(makeRoom(source.buffers(), "buffers", program.buffers));
  for (uint32_t i = 0; i < sizeOf(source.buffers()); ++i) {
    const fb::Buffer *from = source.buffers()->Get(i);
    if (uint8_t(from->kind()) > uint8_t(BufferKind::moving))
      return brokenModel("buffer {} has kind {}", i, uint8_t(from->kind()));
    PlanBuffer buffer{BufferKind(from->kind()), from->index(), from->bytes(),
                      from->first(), from->last()};
    size_t limits[] = {program.inputs.size(), program.outputs.size(),
                       std::numeric_limits<uint32_t>::max(),
                       program.constants.size(), sizeOf(source.steps())};
    if (buffer.index >= limits[unsigned(buffer.kind)])
      return brokenModel("buffer {} stands for number {} of {}", i,
                         buffer.index, limits[unsigned(buffer.kind)]);
    if (buffer.kind == BufferKind::moving)
      SINTER_TRY(checkExpr(buffer.bytes, "buffer size"));
    if (buffer.kind == BufferKind::temp) {
      SINTER_TRY(checkExpr(buffer.bytes, "buffer size"));
      if (buffer.first > buffer.last || buffer.last >= sizeOf(source.steps()))
        return brokenModel("buffer {} lives in steps {} to {} of {}", i,
                           buffer.first, buffer.last, sizeOf(source.steps()));
    }
    program.buffers.push_back(buffer);
  }
  return {};
}

Status Reader::checkLaunch(const KernelData &kernel, const StepData &step) {
  if (step.buffers.size() != kernel.bufferBytes.size())
    return brokenModel("a launch of {} has {} buffers, it needs {}",
                       kernel.name, step.buffers.size(),
                       kernel.bufferBytes.size());
  for (const PhaseData &phase : kernel.phases)
    if (phase.prepares >= 0 &&
        (phase.workspace >= step.buffers.size() ||
         program.buffers[step.buffers[phase.workspace]].kind !=
             BufferKind::temp))
      return brokenModel("a launch of {} lacks the workspace that it prepares",
                         kernel.name);
  if (step.dims.size() != kernel.numSymbols)
    return brokenModel("a launch of {} has {} dims, it needs {}", kernel.name,
                       step.dims.size(), kernel.numSymbols);
  launchExprs += kernel.exprs.size() + kernel.guards.size();
  launchPhases += kernel.phases.size();
  if (launchExprs > maxLaunchExprs ||
      launchPhases > maxLaunchPhases + sectionBytes / 16)
    return brokenModel("{} launches of large kernels, whose sizes take too "
                       "long to compute",
                       program.steps.size() + 1);
  return {};
}

Status Reader::readLaunch(const fb::Launch &launch) {
  StepData step;
  if (launch.kernel() >= program.kernels.size())
    return brokenModel("a launch names kernel {} of {}", launch.kernel(),
                       program.kernels.size());
  step.kernel = launch.kernel();
  const KernelData &kernel = program.kernels[step.kernel];
  SINTER_TRY(readIndices(launch.buffers(), program.buffers.size(), "buffer",
                         step.buffers));
  SINTER_TRY(readIndices(launch.dims(), program.exprs.size(), "launch dim",
                         step.dims));
  SINTER_TRY(checkLaunch(kernel, step));
  SINTER_TRY(checkExpr(launch.bytes_read(), "bytes read"));
  SINTER_TRY(checkExpr(launch.bytes_written(), "bytes written"));
  step.bytesRead = launch.bytes_read();
  step.bytesWritten = launch.bytes_written();
  SINTER_TRY(checkExpr(launch.flops(), "flops"));
  step.flops = launch.flops();
  SINTER_TRY(readIndices(launch.nodes(), program.numNodes, "node", step.nodes));
  step.errorNode = launch.error_node();
  if (step.errorNode < -1 || step.errorNode >= int64_t(program.numNodes))
    return brokenModel("a launch reports for node {} of {}", step.errorNode,
                       program.numNodes);
  program.steps.push_back(std::move(step));
  return {};
}

Status Reader::readCopy(const fb::Copy &copy) {
  size_t limit = program.buffers.size();
  if (copy.from() >= limit || copy.to() >= limit)
    return brokenModel("a copy names buffers {} and {} of {}", copy.from(),
                       copy.to(), limit);
  SINTER_TRY(checkExpr(copy.bytes(), "copy"));
  StepData step;
  step.isCopy = true;
  SINTER_TRY(take(2 * sizeof(uint32_t)));
  step.buffers = {copy.from(), copy.to()};
  step.bytesRead = step.bytesWritten = copy.bytes();
  program.steps.push_back(std::move(step));
  return {};
}

/// A loop stands in another one as a whole.
Status Reader::findParent(LoopData &loop) {
  loop.parent = uint32_t(program.loops.size());
  const LoopData *around = loopAround(program, loop.step);
  if (!around)
    return {};
  loop.parent = program.steps[around->step].loop;
  if (loop.last() > around->last())
    return brokenModel("a loop at step {} ends after the one at step {}, which "
                       "it is in",
                       loop.step, around->step);
  size_t depth = 2;
  for (; program.loops[around->parent].step != around->step; ++depth)
    around = &program.loops[around->parent];
  if (depth > mostNestedLoops)
    return brokenModel("a loop at step {} is in {} others", loop.step,
                       depth - 1);
  return {};
}

Status Reader::readLoop(const fb::Loop &from) {
  LoopData loop;
  SINTER_TRY(take(sizeof(LoopData)));
  loop.step = uint32_t(program.steps.size());
  SINTER_TRY(checkExpr(from.count(), "loop count"));
  loop.count = from.count();
  loop.steps = from.steps();
  loop.reverse = from.reverse();
  if (loop.steps > sizeOf(source.steps()) - loop.step - 1)
    return brokenModel("a loop at step {} has {} of {} steps", loop.step,
                       loop.steps, sizeOf(source.steps()));
  SINTER_TRY(findParent(loop));
  SINTER_TRY(makeRoom(from.carries(), "carries", loop.carries));
  SINTER_TRY(makeRoom(from.slices(), "slices", loop.slices));
  auto check = [&](std::initializer_list<uint32_t> buffers) -> Status {
    for (uint32_t buffer : buffers)
      if (buffer >= program.buffers.size())
        return brokenModel("a loop names buffer {} of {}", buffer,
                           program.buffers.size());
    return {};
  };
  for (uint32_t i = 0; i < sizeOf(from.carries()); ++i) {
    const fb::LoopCarry &each = *from.carries()->Get(i);
    SINTER_TRY(check(
        {each.carry(), each.init(), each.next(), each.result(), each.spare()}));
    loop.carries.push_back(
        {each.carry(), each.init(), each.next(), each.result(), each.spare()});
  }
  // In 64 bits, where the least number has an absolute value.
  if (std::abs(int64_t(from.condition())) > int64_t(loop.carries.size()))
    return brokenModel("the loop at step {} has condition {} and {} carries",
                       loop.step, from.condition(), loop.carries.size());
  loop.condition = from.condition();
  for (uint32_t i = 0; i < sizeOf(from.slices()); ++i) {
    const fb::LoopSlice &each = *from.slices()->Get(i);
    SINTER_TRY(check({each.slice(), each.whole()}));
    loop.slices.push_back({each.slice(), each.whole()});
  }
  StepData step;
  step.loop = uint32_t(program.loops.size());
  program.steps.push_back(std::move(step));
  program.loops.push_back(std::move(loop));
  return {};
}

Status Reader::readSteps() {
  SINTER_TRY(makeRoom(source.steps(), "steps", program.steps));
  for (uint32_t i = 0; i < sizeOf(source.steps()); ++i) {
    const fb::StepEntry *entry = source.steps()->Get(i);
    if (const fb::Launch *launch = entry->step_as_Launch())
      SINTER_TRY(readLaunch(*launch));
    else if (const fb::Copy *copy = entry->step_as_Copy())
      SINTER_TRY(readCopy(*copy));
    else if (const fb::Loop *loop = entry->step_as_Loop())
      SINTER_TRY(readLoop(*loop));
    else
      return brokenModel("step {} is of an unknown kind", i);
  }
  return {};
}

Status Reader::readAliases() {
  SINTER_TRY(makeRoom(source.aliases(), "aliases", program.aliases));
  for (uint32_t i = 0; i < sizeOf(source.aliases()); ++i) {
    const fb::MayAlias &alias = *source.aliases()->Get(i);
    if (alias.input() >= program.inputs.size() ||
        alias.output() >= program.outputs.size())
      return brokenModel("alias {} names input {} and output {}", i,
                         alias.input(), alias.output());
    program.aliases.push_back({alias.input(), alias.output()});
  }
  return {};
}

Status Reader::readDecisions() {
  SINTER_TRY(makeRoom(source.decisions(), "decisions", program.decisions));
  for (uint32_t i = 0; i < sizeOf(source.decisions()); ++i) {
    const fb::Decision *from = source.decisions()->Get(i);
    Decision decision;
    decision.accepted = from->accepted();
    SINTER_TRY(copyWord(from->rule(), "rule", decision.rule));
    decision.bytes = from->bytes();
    decision.estUs = from->est_us();
    SINTER_TRY(copyText(from->detail(), decision.detail));
    SINTER_TRY(readIndices(from->nodes(), program.numNodes, "decision node",
                           decision.nodes));
    program.decisions.push_back(std::move(decision));
  }
  return {};
}

Result<ProgramData> Reader::read() {
  SINTER_TRY(readLimits());
  SINTER_TRY(readHead());
  SINTER_TRY(copyExprs(source.exprs(), program.numSymbols, program.exprs));
  SINTER_TRY(readPorts());
  SINTER_TRY(readGuards());
  SINTER_TRY(readKernels());
  SINTER_TRY(readConstants());
  SINTER_TRY(readBuffers());
  SINTER_TRY(readSteps());
  SINTER_TRY(readAliases());
  SINTER_TRY(readDecisions());
  SINTER_TRY(verifySteps(program));
  return std::move(program);
}

} // namespace

Result<ProgramData> sinter::runtime::verifyProgram(const ModelFile &model,
                                                   uint32_t index,
                                                   CopyBudget &budget) {
  auto section = model.bytesOf(SectionKind::program, index);
  const fb::Program *source = rootOf(section);
  if (!source)
    return brokenModel("a program section is not a valid flatbuffer");
  uint64_t constantBytes = model.bytesOf(SectionKind::constants).size();
  return Reader(*source, section.size(), constantBytes, budget).read();
}

Result<ProgramData> sinter::runtime::verifyProgram(const ModelFile &model,
                                                   uint32_t index) {
  CopyBudget budget(model.bytesOf(SectionKind::program, index).size());
  return verifyProgram(model, index, budget);
}

Result<Requirements>
sinter::runtime::readRequirements(std::span<const std::byte> section) {
  const fb::Program *source = rootOf(section);
  if (!source)
    return brokenModel("a program section is not a valid flatbuffer");
  return Requirements{printableName(viewOf(source->target())),
                      printableName(viewOf(source->variant()))};
}

Result<std::vector<std::string>>
sinter::runtime::readSites(std::span<const std::byte> section) {
  auto *start = reinterpret_cast<const uint8_t *>(section.data());
  flatbuffers::Verifier verifier(start, section.size());
  if (!verifier.VerifyBuffer<fb::DebugInfo>(nullptr))
    return brokenModel("the debug section is not valid");
  const auto *list = flatbuffers::GetRoot<fb::DebugInfo>(start)->sites();
  if (list && list->size() > maxListLength)
    return brokenModel("the debug section is too long");
  CopyBudget budget(section.size());
  std::vector<std::string> sites;
  for (uint32_t i = 0; list && i < list->size(); ++i) {
    if (!budget.take(sizeof(std::string) + list->Get(i)->size()))
      return brokenModel("the debug section names its lines again and again");
    sites.push_back(list->Get(i)->str());
  }
  return sites;
}

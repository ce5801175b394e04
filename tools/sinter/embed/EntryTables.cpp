/// From a program with its sizes to tables.
#include "tools/sinter/embed/EntryTables.h"

#include "runtime/support/Printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter::cli {

using namespace runtime;

//===- Sizes --------------------------------------------------------------===//

/// Of the program's symbols. Open axes have a name in the file; of a compiled
/// text they are s0, s1, ...
Result<std::vector<int64_t>>
EntryTables::symbolsOf(const std::map<std::string, int64_t> &sizes) const {
  const ProgramData &program = source.program;
  std::vector<int64_t> symbols(program.numSymbols, -1);
  std::vector<std::string> names(program.numSymbols);
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = fmt::format("s{}", i);
  for (const DynamicDim &dim : source.point.dims) {
    const Port &port = program.inputs[dim.input];
    const Expr &expr = program.exprs[port.dims[dim.axis]];
    if (expr.op == ExprOp::symbol)
      names[size_t(expr.value)] = dim.name;
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < names.size(); ++i) {
    auto found = sizes.find(names[i]);
    if (found == sizes.end())
      missing.push_back(names[i]);
    else
      symbols[i] = found->second;
  }
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  if (missing.empty())
    return symbols;
  return makeError(
      ErrorKind::invalid_argument,
      fmt::format(
          "embed: entry '{}' has open axes, and an object's sizes are "
          "fixed: give --size {}=N",
          source.point.name,
          printable(fmt::format("{}", fmt::join(missing, "=N --size ")))));
}

Status EntryTables::bind(const std::map<std::string, int64_t> &sizes) {
  const ProgramData &program = source.program;
  SINTER_TRY_ASSIGN(std::vector<int64_t> symbols, symbolsOf(sizes));
  SINTER_TRY_ASSIGN(plan, BoundPlan::make(program, symbols));
  for (const Port &port : program.inputs) {
    std::vector<int64_t> dims;
    for (uint32_t dim : port.dims)
      dims.push_back(plan->values[dim]);
    inputDims.push_back(std::move(dims));
  }
  for (const DynamicDim &dim : source.point.dims)
    if (auto size = sizes.find(dim.name);
        size != sizes.end() && inputDims[dim.input][dim.axis] != size->second)
      return makeError(
          ErrorKind::invalid_argument,
          fmt::format("embed: axis {} of input {} is {}, not {}", dim.axis,
                      dim.input, inputDims[dim.input][dim.axis], size->second));
  uint64_t outputBytes = 0, numOutputs = 0;
  for (size_t i = 0; i < plan->outputBytes.size(); ++i)
    if (source.point.outputs[i].updates < 0) {
      outputBytes += aligned(plan->outputBytes[i]);
      ++numOutputs;
    }
  shared.outputBytes = std::max(shared.outputBytes, outputBytes);
  shared.outputs = std::max(shared.outputs, numOutputs);
  shared.temporaryBytes = std::max(shared.temporaryBytes, plan->arenaBytes());
  shared.words = std::max<uint64_t>(shared.words, program.inputs.size() + 1);
  return {};
}

//===- Inputs and outputs -------------------------------------------------===//

EmbeddedPort EntryTables::portOf(const Port &port, const std::string &name,
                                 const std::string &description) const {
  EmbeddedPort described;
  described.name = name;
  described.description = description;
  described.dtype = port.dtype;
  described.isScalar = port.kind == graph::InputKind::scalar;
  for (uint32_t dim : port.dims)
    described.dims.push_back(plan->values[dim]);
  return described;
}

/// A weight where it lies; one of zeros, which no file has, in the session's
/// memory.
Result<embedded::Buffer> EntryTables::placeTensor(uint32_t tensor) {
  const StoredTensor &stored = source.info.tensors[tensor];
  if (!stored.zeros) {
    SINTER_TRY_ASSIGN(std::span<const std::byte> bytes,
                      source.store.bytesOf(tensor));
    return embedded::Buffer{embedded::Place::weight, 0,
                            kept.weights.place(bytes)};
  }
  auto [found, isNew] = kept.zerosOf.try_emplace(tensor);
  if (isNew) {
    found->second = kept.memory.take(stored.bytes);
    kept.zeros.push_back({found->second, stored.bytes});
  }
  return embedded::Buffer{embedded::Place::memory, 0, found->second};
}

embedded::Buffer EntryTables::addWord(const embedded::Word &word) {
  words.push_back(word);
  return {embedded::Place::memory, 0, shared.wordsAt + 8 * (words.size() - 1)};
}

Result<embedded::Buffer> EntryTables::placeInput(size_t input) {
  using embedded::WordKind;
  const EntryInput &from = source.point.inputs[input];
  const Port &port = source.program.inputs[input];
  switch (from.kind) {
  case SlotKind::given: {
    auto number = uint32_t(described.inputs.size());
    described.inputs.push_back(portOf(port, from.name, from.description));
    if (port.kind != graph::InputKind::scalar)
      return embedded::Buffer{embedded::Place::given, number, 0};
    return addWord(
        {WordKind::given, number, 0, uint32_t(byteWidth(port.dtype)), 0});
  }
  case SlotKind::weight:
    if (kept.parameters[from.number] < 0)
      return placeTensor(from.number);
    return embedded::Buffer{embedded::Place::stored,
                            uint32_t(kept.parameters[from.number]), 0};
  case SlotKind::state:
    return embedded::Buffer{embedded::Place::stored,
                            uint32_t(kept.states[from.number]), 0};
  case SlotKind::constant:
    return addWord({WordKind::constant, 0, from.scalarBits, 0, 0});
  case SlotKind::random: {
    constexpr WordKind kinds[] = {WordKind::keyLow, WordKind::keyHigh,
                                  WordKind::counter};
    SINTER_TRY_ASSIGN(RandomDraws draws, randomDraws(source.point, inputDims));
    entry.drawn = draws.total;
    return addWord({kinds[from.number], 0, draws.offsets[input], 0, 0});
  }
  case SlotKind::passed:
    break;
  }
  return makeError(ErrorKind::unsupported,
                   fmt::format("embed: input {} of entry '{}' is passed on by "
                               "another entry",
                               input, source.point.name));
}

Status EntryTables::addInputs(TableWriter &writer) {
  for (size_t i = 0; i < source.program.inputs.size(); ++i) {
    SINTER_TRY_ASSIGN(embedded::Buffer buffer, placeInput(i));
    inputs.push_back(buffer);
  }
  std::vector<embedded::Port> ports;
  size_t number = 0;
  for (size_t i = 0; i < source.program.inputs.size(); ++i) {
    if (source.point.inputs[i].kind != SlotKind::given)
      continue;
    const EmbeddedPort &port = described.inputs[number++];
    uint64_t bytes =
        port.isScalar ? byteWidth(port.dtype) : plan->inputBytes[i];
    ports.push_back({writer.add(port.name), 0, bytes, 0});
  }
  entry.inputs = writer.add(ports);
  return {};
}

int32_t EntryTables::storedNumber(const EntryOutput &output) const {
  const auto &all = output.isWeight ? kept.parameters : kept.states;
  return all[size_t(output.updates)];
}

uint32_t EntryTables::usersOf(SlotKind kind, uint32_t number) const {
  return uint32_t(
      std::ranges::count_if(source.point.inputs, [&](const EntryInput &input) {
        return input.kind == kind && input.number == number;
      }));
}

/// The input whose memory an output may take over: the value that it replaces,
/// as a session's run would grant it.
std::optional<uint32_t> EntryTables::grantedTo(size_t output) const {
  const EntryOutput &to = source.point.outputs[output];
  SlotKind kind = to.isWeight ? SlotKind::weight : SlotKind::state;
  for (const AliasData &alias : source.program.aliases) {
    const EntryInput &from = source.point.inputs[alias.input];
    if (alias.output == output && from.kind == kind &&
        from.number == uint32_t(to.updates) &&
        usersOf(kind, from.number) == 1 &&
        plan->inputBytes[alias.input] == plan->outputBytes[output])
      return alias.input;
  }
  return std::nullopt;
}

void EntryTables::addOutputs(TableWriter &writer) {
  std::vector<embedded::Port> ports;
  uint64_t place = shared.outputsAt;
  for (size_t i = 0; i < source.program.outputs.size(); ++i) {
    const EntryOutput &output = source.point.outputs[i];
    if (output.updates < 0) {
      outputs.push_back({embedded::Place::returned, uint32_t(ports.size()), 0});
      described.outputs.push_back(
          portOf(source.program.outputs[i], output.name, output.description));
      ports.push_back(
          {writer.add(output.name), 0, plan->outputBytes[i], place});
      place += aligned(plan->outputBytes[i]);
      continue;
    }
    auto number = uint32_t(storedNumber(output));
    if (grantedTo(i)) {
      outputs.push_back({embedded::Place::stored, number, 0});
      continue;
    }
    outputs.push_back({embedded::Place::next, number, 0});
    replaced.push_back(number);
    embedded::Stored &stored = kept.stored[number];
    if (stored.at[1] == stored.at[0])
      stored.at[1] = kept.memory.take(stored.bytes);
  }
  entry.outputs = writer.add(ports);
}

//===- Steps --------------------------------------------------------------===//

void EntryTables::addBuffers() {
  for (size_t i = 0; i < source.program.buffers.size(); ++i) {
    const PlanBuffer &buffer = source.program.buffers[i];
    embedded::Buffer placed;
    switch (buffer.kind) {
    case BufferKind::input:
      placed = inputs[buffer.index];
      break;
    case BufferKind::output:
      placed = outputs[buffer.index];
      break;
    case BufferKind::temp:
      placed.offset = shared.temporariesAt + uint64_t(plan->arena.offsets[i]);
      break;
    case BufferKind::constant: {
      const ConstantData &constant = source.program.constants[buffer.index];
      placed = {embedded::Place::weight, 0,
                kept.weights.place(
                    source.constants.subspan(constant.offset, constant.bytes))};
      break;
    }
    case BufferKind::moving:
      placed.place = embedded::Place::moving;
      break;
    }
    buffers.push_back(placed);
  }
  arguments = plan->bufferList;
}

void EntryTables::addLoops(TableWriter &writer) {
  auto bytesOf = [&](uint32_t buffer) {
    return uint64_t(plan->values[source.program.buffers[buffer].bytes]);
  };
  for (size_t i = 0; i < source.program.loops.size(); ++i) {
    const LoopData &from = source.program.loops[i];
    const BoundLoop &bound = plan->loops[i];
    std::vector<embedded::Carry> carries;
    for (const LoopData::Carry &each : from.carries)
      carries.push_back({each.carry, each.init, each.next, each.result,
                         each.spare, 0, bytesOf(each.carry)});
    std::vector<embedded::Slice> slices;
    for (const LoopData::Slice &each : from.slices)
      slices.push_back({each.slice, each.whole, bytesOf(each.slice)});
    std::vector<embedded::Moving> moving;
    for (auto [argument, buffer] : bound.moving)
      moving.push_back({argument, buffer});
    embedded::Loop loop;
    loop.count = bound.count;
    loop.steps = from.steps;
    loop.reverse = from.reverse;
    loop.condition = from.condition;
    loop.carries = writer.add(carries);
    loop.slices = writer.add(slices);
    loop.moving = writer.add(moving);
    loops.push_back(loop);
  }
}

/// What a phase makes of a weight that stays, as of a constant, is made once a
/// session. As Execution::findPrepared. Gives the flag's number and one, or 0.
uint32_t EntryTables::prepare(const StepData &step, const BoundPhase &phase,
                              uint32_t firstArgument, bool inLoop) {
  if (phase.prepares < 0 || (inLoop && !phase.oncePerLoop))
    return 0;
  const PlanBuffer &from =
      source.program.buffers[step.buffers[size_t(phase.prepares)]];
  bool stays = from.kind == BufferKind::constant;
  if (from.kind == BufferKind::input) {
    const EntryInput &input = source.point.inputs[from.index];
    stays = input.kind == SlotKind::weight && kept.parameters[input.number] < 0;
  }
  if (!stays)
    return 0;
  const PlanBuffer &workspace =
      source.program.buffers[step.buffers[phase.workspace]];
  arguments[firstArgument + phase.workspace] = uint32_t(buffers.size());
  buffers.push_back(
      {embedded::Place::memory, 0,
       kept.memory.take(uint64_t(plan->values[workspace.bytes]))});
  return ++kept.numReady;
}

void EntryTables::addStep(TableWriter &writer, uint32_t number) {
  const StepData &from = source.program.steps[number];
  const BoundStep &bound = plan->steps[number];
  embedded::Step step;
  step.kind = from.isCopy     ? embedded::StepKind::copy
              : from.isLoop() ? embedded::StepKind::loop
                              : embedded::StepKind::launch;
  step.firstPhase = bound.firstPhase;
  step.numPhases = bound.numPhases;
  step.firstArgument = bound.firstBuffer;
  step.firstDim = bound.firstDim;
  step.loop = from.isLoop() ? from.loop : 0;
  step.copyBytes = bound.copyBytes;
  step.reportsError = from.errorNode >= 0;
  if (from.isLaunch())
    step.kernel = writer.add(source.program.kernels[from.kernel].name);
  std::string_view site;
  if (from.errorNode >= 0)
    site = source.parts.siteOf(uint32_t(from.errorNode));
  else if (!from.nodes.empty())
    site = source.parts.siteOf(from.nodes.back());
  step.site = writer.add(site);
  bool inLoop = loopAround(source.program, number) != nullptr;
  for (uint32_t i = 0; i < bound.numPhases; ++i) {
    const BoundPhase &phase = plan->phases[bound.firstPhase + i];
    phases.push_back({uint64_t(reinterpret_cast<uintptr_t>(phase.function)),
                      phase.chunks, phase.chunkMicroseconds,
                      prepare(from, phase, bound.firstBuffer, inLoop),
                      phase.oncePerLoop, 0});
  }
  steps.push_back(step);
}

Result<embedded::Entry> EntryTables::make(TableWriter &writer) {
  described.name = source.point.name;
  described.description = source.point.description;
  entry.name = writer.add(source.point.name);
  SINTER_TRY(addInputs(writer));
  addOutputs(writer);
  addBuffers();
  addLoops(writer);
  for (uint32_t i = 0; i < source.program.steps.size(); ++i)
    addStep(writer, i);
  entry.words = writer.add(words);
  entry.buffers = writer.add(buffers);
  entry.arguments = writer.add(arguments);
  entry.dims = writer.add(plan->dims);
  entry.steps = writer.add(steps);
  entry.phases = writer.add(phases);
  entry.loops = writer.add(loops);
  entry.replaced = writer.add(replaced);
  shared.buffers = std::max<uint64_t>(shared.buffers, buffers.size());
  shared.arguments = std::max<uint64_t>(shared.arguments, arguments.size());
  return entry;
}

} // namespace sinter::cli

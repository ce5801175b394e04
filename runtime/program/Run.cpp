/// The executor: bind, reserve, run, answer.
#include "runtime/program/Execution.h"
#include "runtime/program/Profile.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/Flags.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/ThreadOwner.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

Status Execution::bind() {
  SINTER_TRY(loaded.dimBinder().bind(program, inputs, scratch.symbols));
  SINTER_TRY_ASSIGN(plan, loaded.planFor(scratch.symbols));
  for (size_t i = 0; i < inputs.size(); ++i)
    SINTER_TRY(checkInput(i));
  SINTER_TRY(checkPlaces());
  return loaded.prepareConstants();
}

Status Execution::checkPlaces() const {
  if (places.empty())
    return {};
  if (places.size() != program.outputs.size())
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("the program gives {} outputs, got places "
                                 "for {}",
                                 program.outputs.size(), places.size()));
  for (size_t i = 0; i < places.size(); ++i) {
    SINTER_TRY(checkDims(i));
    if (isPlaced(i))
      SINTER_TRY(checkPlace(i));
  }
  return {};
}

Status Execution::checkDims(size_t output) const {
  const Port &port = program.outputs[output];
  const auto &expected = places[output].dims;
  const std::vector<int64_t> &dims = plan->outputDims[output];
  if (!expected || std::ranges::equal(*expected, dims))
    return {};
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("{}: it is {}[{}], its place is for [{}]",
                               portName("output", port, output),
                               name(port.dtype), fmt::join(dims, ","),
                               fmt::join(*expected, ",")));
}

static bool overlap(const Buffer &place, uint64_t bytes, const Buffer *other) {
  if (!other)
    return false;
  auto begin = reinterpret_cast<uintptr_t>(place.data());
  auto otherBegin = reinterpret_cast<uintptr_t>(other->data());
  return begin < otherBegin + other->bytes() && otherBegin < begin + bytes;
}

Status Execution::checkPlace(size_t output) const {
  const Port &port = program.outputs[output];
  const Buffer &place = *places[output].buffer;
  uint64_t bytes = plan->outputBytes[output];
  auto refuse = [&](const std::string &why) {
    return makeError(ErrorKind::invalid_argument,
                     portName("output", port, output) + ": " + why);
  };
  if (&place.device() != &loaded.device())
    return refuse(fmt::format("its place is on {}, the program runs on {}",
                              toString(place.device().id()),
                              toString(loaded.device().id())));
  if (place.bytes() < bytes)
    return refuse(fmt::format("{} needs {} bytes, its place has {}",
                              portType(port, program.exprs), bytes,
                              place.bytes()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (overlap(place, bytes, inputs[i].buffer.get()))
      return refuse("its place has a part in " +
                    portName("input", program.inputs[i], i));
  for (size_t i = 0; i < output; ++i)
    if (overlap(place, bytes, places[i].buffer.get()))
      return refuse("its place has a part in that of " +
                    portName("output", program.outputs[i], i));
  return {};
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
  if (!input.donate || input.buffer->isBorrowed() || isPlaced(alias.output) ||
      scratch.inputTaken[alias.input] ||
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
  // Graphs are of work that is known before the run.
  bool decides = std::ranges::any_of(program.loops, &LoopData::isConditional);
  if (loaded.device().hasGraphs() && !decides && !isProfiling() &&
      !flags().noGraphs)
    lease = loaded.recorded().take(plan, scratch.grantedInput);
  Status allocated = allocate();
  if (!allocated && allocated.error().kind == ErrorKind::out_of_memory) {
    // What is kept only saves time.
    outputs.clear();
    arena.clear();
    loaded.prepared().clear();
    allocated = allocate();
  }
  if (!allocated) {
    ErrorInfo error = allocated.takeError();
    if (error.kind == ErrorKind::out_of_memory)
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
    if (isPlaced(i)) {
      outputs.push_back(places[i].buffer);
      continue;
    }
    SINTER_TRY_ASSIGN(BufferRef buffer, device.allocate(plan->outputBytes[i]));
    outputs.push_back(std::move(buffer));
  }
  for (int64_t bytes : plan->arena.blocks) {
    SINTER_TRY_ASSIGN(BufferRef block, device.allocate(uint64_t(bytes)));
    arena.push_back(std::move(block));
  }
  scratch.scalars.resize(inputs.size() + 1);
  if (device.sharesHostMemory())
    return {};
  if (lease && lease->words) {
    words = lease->words;
    return {};
  }
  // The last is where a loop's condition is read.
  SINTER_TRY_ASSIGN(words, device.allocate((scratch.scalars.size() + 1) * 8));
  if (lease)
    lease->words = words;
  return {};
}

std::string Execution::describeNeeds() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (scratch.grantedInput[i] == noInput && !isPlaced(i))
      bytes += plan->outputBytes[i];
  return fmt::format("run: {} bytes of outputs and {} of temporaries", bytes,
                     plan->arenaBytes());
}

std::vector<MemoryNeed> Execution::largestNeeds() const {
  constexpr size_t most = 3;
  std::vector<MemoryNeed> needs;
  for (const PlanBuffer &buffer : program.buffers) {
    if (buffer.kind == BufferKind::output && !isPlaced(buffer.index) &&
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

void *Execution::temporaryAt(size_t buffer) const {
  if (arena.empty())
    return nullptr;
  int64_t offset = plan->arena.offsets[buffer];
  size_t block = 0;
  // What has one block, as nearly all have, divides nothing.
  if (arena.size() > 1) {
    block = size_t(offset / plan->arena.stride);
    offset %= plan->arena.stride;
  }
  return static_cast<char *>(arena[block]->data()) + offset;
}

void Execution::resolveAddresses() {
  scratch.addresses.resize(program.buffers.size());
  auto *scalars =
      words ? static_cast<uint64_t *>(words->data()) : scratch.scalars.data();
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
      address = temporaryAt(i);
      break;
    case BufferKind::constant:
      address = loaded.constant(buffer.index);
      break;
    case BufferKind::moving: // its loop says where
      address = nullptr;
      break;
    }
  }
  listArguments();
}

void Execution::listArguments() {
  scratch.arguments.resize(plan->bufferList.size());
  for (size_t i = 0; i < plan->bufferList.size(); ++i)
    scratch.arguments[i] = scratch.addresses[plan->bufferList[i]];
}

Status Execution::placeWords() {
  scratch.scalars.back() = noError;
  if (!words || (lease && lease->placed == scratch.scalars))
    return {};
  SINTER_TRY(loaded.device().copyIn(*words, 0,
                                    std::as_bytes(std::span(scratch.scalars))));
  if (lease)
    lease->placed = scratch.scalars;
  return {};
}

std::vector<Output> Execution::listOutputs() const {
  std::vector<Output> list;
  list.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    list.push_back({outputs[i], plan->outputDims[i]});
  return list;
}

RunCounters Execution::counters() const {
  return {total.launches - phasesSkipped,
          total.bytesRead,
          total.bytesWritten,
          plan->arenaBytes(),
          donated,
          phasesSkipped,
          recordings,
          replays,
          waitNanoseconds};
}

void Execution::countDonations() const {
  uint64_t offered = 0;
  for (const Binding &input : inputs)
    offered += input.donate;
  countRun(counters(), offered - std::min(offered, donated));
}

static Scratch &threadScratch() {
  // A pointer: what threads have by themselves is to stay small.
  static SINTER_THREAD_LOCAL auto scratch = std::make_unique<Scratch>();
  return *scratch;
}

Result<std::vector<Output>>
sinter::runtime::run(const Program &program, std::span<const Binding> inputs,
                     RunCounters *counters, RunFailure *failure,
                     std::span<const Place> places) {
  const auto &loaded = static_cast<const LoadedProgram &>(program);
  SINTER_TRY(loaded.device().checkProcess());
  SINTER_TRY(checkCancelled());
  Execution execution(loaded, inputs, places, threadScratch());
  SINTER_TRY(execution.bind());
  if (Status reserved = execution.reserve(); !reserved) {
    if (failure && reserved.error().kind == ErrorKind::out_of_memory)
      failure->largest = execution.largestNeeds();
    return reserved.takeError();
  }
  // Nothing may fail after the last kernel: inputs that were given up are gone.
  std::vector<Output> outputs = execution.listOutputs();
  DefaultFloats floats;
  if (Status done = execution.execute(); !done) {
    if (auto node = execution.failedNode(); node && failure)
      failure->node = *node;
    return done.takeError();
  }
  execution.countDonations();
  if (counters)
    *counters = execution.counters();
  return outputs;
}

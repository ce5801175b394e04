/// What a run takes, from the plan alone.
#include "runtime/program/InPlace.h"
#include "runtime/program/LoadedProgram.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sinter::runtime {

/// Bytes of the temporaries that each step needs, by step.
static std::vector<uint64_t> bytesBySteps(const ProgramData &program,
                                          const BoundPlan &plan) {
  std::vector<uint64_t> bytes(program.steps.size() + 1);
  for (const PlanBuffer &buffer : program.buffers)
    if (buffer.kind == BufferKind::temp) {
      auto own = static_cast<uint64_t>(plan.values[buffer.bytes]);
      bytes[buffer.first] += own;
      bytes[buffer.last + 1] -= own;
    }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  bytes.pop_back();
  return bytes;
}

/// The op that makes a temporary: the last one of the launch that writes it.
static uint32_t nodeOf(const ProgramData &program, const PlanBuffer &buffer) {
  if (buffer.first >= program.steps.size() ||
      program.steps[buffer.first].nodes.empty())
    return RunFailure::noNode;
  return program.steps[buffer.first].nodes.back();
}

static void addPorts(std::string_view role, const std::vector<Port> &ports,
                     const std::vector<uint64_t> &bytes, PeakMemory &peak) {
  for (uint32_t i = 0; i < ports.size(); ++i)
    if (ports[i].kind != graph::InputKind::scalar)
      peak.live.push_back({bytes[i], role, i, ports[i].node});
}

PeakMemory peakOf(const ProgramData &data, const BoundPlan &plan) {
  PeakMemory peak;
  for (uint64_t bytes : plan.inputBytes)
    peak.inputBytes += bytes;
  for (uint64_t bytes : plan.outputBytes)
    peak.outputBytes += bytes;
  peak.arenaBytes = plan.arenaBytes();
  peak.inputSizes = plan.inputBytes;
  peak.outputSizes = plan.outputBytes;
  peak.outputDims = plan.outputDims;

  std::vector<uint64_t> bySteps = bytesBySteps(data, plan);
  auto most = std::max_element(bySteps.begin(), bySteps.end());
  peak.step = static_cast<uint32_t>(most - bySteps.begin());
  addPorts("input", data.inputs, plan.inputBytes, peak);
  addPorts("output", data.outputs, plan.outputBytes, peak);
  for (uint32_t i = 0; i < data.buffers.size(); ++i) {
    const PlanBuffer &buffer = data.buffers[i];
    if (buffer.kind == BufferKind::temp && buffer.first <= peak.step &&
        peak.step <= buffer.last)
      peak.live.push_back({static_cast<uint64_t>(plan.values[buffer.bytes]),
                           "temporary", i, nodeOf(data, buffer)});
  }
  std::ranges::stable_sort(peak.live, std::greater(), &PeakMemory::Use::bytes);
  return peak;
}

Result<PeakMemory> peakMemory(const Program &program,
                              std::span<const Binding> inputs) {
  const auto &loaded = static_cast<const LoadedProgram &>(program);
  std::vector<int64_t> symbols;
  SINTER_TRY(loaded.dimBinder().bind(loaded.program(), inputs, symbols));
  // What it needs: a run may take more that is to spare.
  SINTER_TRY_ASSIGN(auto plan,
                    BoundPlan::make(loaded.program(), symbols,
                                    {0, loaded.device().mostAllocation()}));
  return peakOf(loaded.program(), *plan);
}

std::vector<bool> writtenInPlace(const Program &program,
                                 std::span<const Binding> inputs,
                                 const PeakMemory &peak) {
  const ProgramData &data =
      static_cast<const LoadedProgram &>(program).program();
  std::vector<bool> isTaken(inputs.size()), isInPlace(data.outputs.size());
  for (auto [input, output] : data.aliases) {
    if (!inputs[input].donate || isTaken[input] || isInPlace[output] ||
        peak.inputSizes[input] != peak.outputSizes[output])
      continue;
    isTaken[input] = isInPlace[output] = true;
  }
  return isInPlace;
}

Result<size_t> peakBytes(const Program &program,
                         std::span<const Binding> inputs) {
  SINTER_TRY_ASSIGN(PeakMemory peak, peakMemory(program, inputs));
  return static_cast<size_t>(peak.bytes());
}

} // namespace sinter::runtime

/// Programs as JSON.
#include "tools/sinter/report/ReportData.h"

#include "runtime/params/Json.h"
#include "runtime/program/BoundPlan.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Numerics.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/ProgramText.h"
#include "tools/sinter/report/StepFlow.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <ranges>

namespace sinter::cli {

using namespace runtime;

static std::string quoted(std::string_view text) {
  return json::quote(printable(text));
}

/// `[a, b]` of what a function makes of each element.
template <typename List, typename F>
static std::string listOf(const List &list, F &&textOf, const char *gap = "") {
  std::string json = "[";
  for (const auto &each : list) {
    json += json.size() > 1 ? "," : "";
    json += gap;
    json += textOf(each);
  }
  return json + "]";
}

static std::string numbers(const std::vector<uint32_t> &list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

namespace {

/// Strings that are named often, by number.
class Table {
public:
  int64_t numberOf(std::string_view text) {
    auto [entry, isNew] =
        known.try_emplace(std::string(text), int64_t(list.size()));
    if (isNew)
      list.emplace_back(text);
    return entry->second;
  }
  std::string json() const { return listOf(list, quoted, "\n"); }

private:
  std::map<std::string, int64_t, std::less<>> known;
  std::vector<std::string> list;
};

class Writer {
public:
  Writer(const FileParts &parts, std::span<const int64_t> symbols,
         const std::optional<LaunchTimes> &times)
      : parts(parts), program(parts.program), symbols(symbols), times(times) {}
  std::string write(std::string_view stages);

private:
  std::string head() const;
  std::string totals() const;
  std::string nodes() const;
  std::string ports(const char *what, const std::vector<Port> &ports,
                    const std::vector<uint64_t> &sizes,
                    const std::vector<std::string_view> &providers) const;
  std::string kernels() const;
  std::string steps() const;
  std::string edges() const;
  std::string buffers() const;
  std::string memory() const;
  std::string decisions() const;
  std::string measured() const;

  /// What an expression is, or null where it is not known.
  std::string valueOf(uint32_t expr) const {
    return plan ? fmt::to_string(plan->values[expr]) : "null";
  }
  uint64_t countOf(uint32_t expr) const {
    return uint64_t(std::max<int64_t>(0, plan->values[expr]));
  }
  std::string stepJson(uint32_t number) const;
  std::string bufferJson(uint32_t number) const;
  std::string useJson(const PeakMemory::Use &use) const;

  const FileParts &parts;
  const ProgramData &program;
  std::span<const int64_t> symbols;
  const std::optional<LaunchTimes> &times;
  std::shared_ptr<const BoundPlan> plan; ///< null: the symbols do not fit
  std::vector<StepFlow> flows;
};

} // namespace

std::string Writer::head() const {
  std::vector<std::string> dims;
  for (size_t i = 0; i < symbols.size(); ++i)
    dims.push_back(fmt::format("s{} = {}", i, symbols[i]));
  return fmt::format(
      "\"entry\": {}, \"target\": {}, \"variant\": {}, \"numerics\": \"{}\", "
      "\"compiler\": {}, \"dims\": {},\n",
      quoted(parts.entry), quoted(program.target), quoted(program.variant),
      program.numerics < 3 ? numericsName(program.numerics) : "unknown",
      quoted(program.compiler), listOf(dims, quoted));
}

std::string Writer::totals() const {
  auto launches = std::ranges::count_if(program.steps, &StepData::isLaunch);
  int64_t saved = 0, lost = 0;
  for (const Decision &decision : program.decisions)
    (decision.accepted ? saved : lost) += decision.bytes;
  std::string json = fmt::format(
      "\"totals\": {{\"kernels\": {}, \"launches\": {}, \"saved_bytes\": {}, "
      "\"lost_bytes\": {}",
      program.kernels.size(), launches, saved, lost);
  if (plan) {
    uint64_t flops = 0, launched = 0;
    for (uint32_t i = 0; i < program.steps.size(); ++i) {
      if (!program.steps[i].isLaunch())
        continue;
      auto runs = uint64_t(timesOfStep(program, *plan, i));
      launched += runs;
      flops += countOf(program.steps[i].flops) * runs;
    }
    PeakMemory peak = peakOf(program, *plan);
    json += fmt::format(", \"launched\": {}, \"bytes_read\": {}, "
                        "\"bytes_written\": {}, \"flops\": {}, "
                        "\"peak_bytes\": {}, \"input_bytes\": {}, "
                        "\"output_bytes\": {}, \"arena_bytes\": {}",
                        launched, plan->total.bytesRead,
                        plan->total.bytesWritten, flops, peak.bytes(),
                        peak.inputBytes, peak.outputBytes, peak.arenaBytes);
  }
  return json + "},\n";
}

/// The names of the ops by their numbers, where a compiler reads the graph.
static std::vector<std::string_view> opsOf(const FileParts &parts) {
  Result<const CompilerHook *> hook = compilerHook();
  if (!hook)
    return {};
  Result<graph::Graph> graph = (*hook)->readGraph(parts.graph);
  if (!graph || graph->values.size() != parts.program.numNodes)
    return {};
  std::vector<std::string_view> names;
  for (const graph::Value &value : graph->values)
    names.push_back(value.op == graph::leafOp ? "input"
                                              : graph::info(value.op).name);
  return names;
}

// Of each node its op and its line: numbers of the tables, or -1.
std::string Writer::nodes() const {
  Table ops, sites;
  std::vector<std::string_view> names = opsOf(parts);
  std::vector<int64_t> opOf, siteOf;
  for (uint32_t node = 0; node < program.numNodes; ++node) {
    opOf.push_back(node < names.size() ? ops.numberOf(names[node]) : -1);
    std::string_view site = parts.siteOf(node);
    siteOf.push_back(site.empty() ? -1 : sites.numberOf(site));
  }
  return fmt::format("\"ops\": {},\n\"sites\": {},\n\"node_ops\": [{}],\n"
                     "\"node_sites\": [{}],\n",
                     ops.json(), sites.json(), fmt::join(opOf, ","),
                     fmt::join(siteOf, ","));
}

/// Who provides each input of the entry that a program is of, as files say it.
static std::vector<std::string_view> providersOf(const FileParts &parts) {
  Result<ModelFile> file = readModel(parts.file->bytes(), ModelCheck::untilUse);
  if (!file)
    return {};
  Result<ModelInfo> info = readModelInfo(*file);
  if (!info)
    return {};
  std::vector<std::string_view> providers;
  auto entry = std::ranges::find(info->entries, parts.entry, &EntryPoint::name);
  if (entry != info->entries.end())
    for (const EntryInput &input : entry->inputs)
      providers.push_back(toString(input.kind));
  return providers;
}

std::string
Writer::ports(const char *what, const std::vector<Port> &ports,
              const std::vector<uint64_t> &sizes,
              const std::vector<std::string_view> &providers) const {
  static constexpr const char *kinds[] = {"data", "parameter", "scalar"};
  size_t number = 0;
  return listOf(
      ports,
      [&](const Port &port) {
        std::string json = fmt::format(
            "{{\"name\": {}, \"type\": {}, \"kind\": \"{}\", \"from\": "
            "\"{}\", \"node\": {}, \"bytes\": {}}}",
            json::quote(port.name.empty() ? fmt::format("{}{}", what, number)
                                          : printableName(port.name)),
            quoted(portType(port, program.exprs)), kinds[unsigned(port.kind)],
            number < providers.size() ? providers[number] : "", port.node,
            number < sizes.size() ? fmt::to_string(sizes[number]) : "null");
        ++number;
        return json;
      },
      "\n");
}

std::string Writer::kernels() const {
  auto phaseJson = [](const KernelData &kernel, const PhaseData &phase) {
    return fmt::format("{{\"symbol\": {}, \"chunks\": {}, \"prepares\": {}}}",
                       quoted(phase.symbol),
                       quoted(exprText(kernel.exprs, phase.chunks)),
                       phase.prepares >= 0);
  };
  return listOf(
      program.kernels,
      [&](const KernelData &kernel) {
        return fmt::format(
            "{{\"name\": {}, \"kind\": {}, \"tile\": {}, \"phases\": {}, "
            "\"text\": {}}}",
            quoted(kernel.name), quoted(kernel.kind), quoted(kernel.tile),
            listOf(kernel.phases,
                   [&](const PhaseData &phase) {
                     return phaseJson(kernel, phase);
                   }),
            quoted(kernel.text));
      },
      "\n");
}

std::string Writer::stepJson(uint32_t number) const {
  const StepData &step = program.steps[number];
  const LoopData *around = loopAround(program, number);
  std::string json = fmt::format(
      "{{\"kind\": \"{}\", \"in\": {}, \"reads\": {}, \"writes\": {}, "
      "\"workspaces\": {}, \"nodes\": {}",
      step.isLoop() ? "loop"
      : step.isCopy ? "copy"
                    : "launch",
      around ? fmt::to_string(around->step) : "null",
      numbers(flows[number].reads), numbers(flows[number].writes),
      numbers(flows[number].workspaces), numbers(step.nodes));
  if (step.isLoop()) {
    const LoopData &loop = program.loops[step.loop];
    json += fmt::format(", \"count\": {}, \"most\": {}, \"last\": {}",
                        quoted(exprText(program.exprs, loop.count)),
                        loop.isConditional(), loop.last());
    return json + "}";
  }
  if (step.isLaunch())
    json += fmt::format(", \"kernel\": {}, \"flops\": {}", step.kernel,
                        valueOf(step.flops));
  json += fmt::format(", \"read\": {}, \"written\": {}",
                      valueOf(step.bytesRead), valueOf(step.bytesWritten));
  if (plan)
    json += fmt::format(", \"times\": {}", timesOfStep(program, *plan, number));
  if (times && plan && step.isLaunch())
    if (auto least =
            times->leastOf(program.kernels[step.kernel].name,
                           countOf(step.bytesRead) + countOf(step.bytesWritten),
                           countOf(step.flops)))
      json += fmt::format(", \"us\": {:.2f}", double(*least) / 1e3);
  return json + "}";
}

std::string Writer::steps() const {
  return listOf(
      std::views::iota(0u, uint32_t(program.steps.size())),
      [&](uint32_t number) { return stepJson(number); }, "\n");
}

std::string Writer::edges() const {
  return listOf(flowEdges(flows), [](const FlowEdge &edge) {
    return fmt::format("[{},{},{}]", edge.from, edge.to, edge.buffer);
  });
}

std::string Writer::bufferJson(uint32_t number) const {
  static constexpr const char *roles[] = {"input", "output", "temporary",
                                          "constant", "moving"};
  const PlanBuffer &buffer = program.buffers[number];
  bool isTemp = buffer.kind == BufferKind::temp;
  std::string json = fmt::format(
      "{{\"name\": \"{}\", \"role\": \"{}\", \"index\": {}",
      bufferName(program, number), roles[unsigned(buffer.kind)], buffer.index);
  if (isTemp)
    json +=
        fmt::format(", \"first\": {}, \"last\": {}", buffer.first, buffer.last);
  if (!plan)
    return json + "}";
  json += fmt::format(", \"bytes\": {}", bufferBytes(program, *plan, number));
  if (isTemp && number < plan->arena.offsets.size()) {
    // As if the blocks stood one after the other.
    int64_t offset = plan->arena.offsets[number];
    int64_t place = offset % plan->arena.stride;
    for (int64_t block = 0; block < offset / plan->arena.stride; ++block)
      place += plan->arena.blocks[size_t(block)];
    json += fmt::format(", \"offset\": {}", place);
  }
  return json + "}";
}

std::string Writer::buffers() const {
  return listOf(
      std::views::iota(0u, uint32_t(program.buffers.size())),
      [&](uint32_t number) { return bufferJson(number); }, "\n");
}

std::string Writer::useJson(const PeakMemory::Use &use) const {
  return fmt::format("{{\"role\": \"{}\", \"index\": {}, \"bytes\": {}, "
                     "\"node\": {}}}",
                     use.role, use.index, use.bytes,
                     use.node == RunFailure::noNode ? "null"
                                                    : fmt::to_string(use.node));
}

// Bytes of temporaries that each step needs, and what is there at the peak.
std::string Writer::memory() const {
  if (!plan)
    return "null";
  std::vector<uint64_t> live(program.steps.size() + 1);
  for (const PlanBuffer &buffer : program.buffers)
    if (buffer.kind == BufferKind::temp) {
      live[buffer.first] += countOf(buffer.bytes);
      live[buffer.last + 1] -= countOf(buffer.bytes);
    }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  PeakMemory peak = peakOf(program, *plan);
  return fmt::format("{{\"live\": [{}], \"peak_step\": {}, \"at_peak\": {}}}",
                     fmt::join(live, ","), peak.step,
                     listOf(peak.live, [&](const PeakMemory::Use &use) {
                       return useJson(use);
                     }));
}

std::string Writer::decisions() const {
  return listOf(
      program.decisions,
      [](const Decision &decision) {
        return fmt::format(
            "{{\"accepted\": {}, \"rule\": {}, \"bytes\": {}, "
            "\"est_us\": {:.3f}, \"nodes\": {}, \"detail\": {}}}",
            decision.accepted, quoted(decision.rule), decision.bytes,
            decision.estUs, numbers(decision.nodes), quoted(decision.detail));
      },
      "\n");
}

std::string Writer::measured() const {
  if (!times)
    return "null";
  return fmt::format(
      "{{\"device\": {}, \"runs\": {}, \"least_us\": {:.1f}, "
      "\"median_us\": {:.1f}, \"bytes_per_s\": {:.0f}, \"flops_per_s\": "
      "{:.0f}, \"from\": {}}}",
      quoted(times->device), times->run.calls + 1, times->run.least,
      times->run.median, times->ceilings.bytesPerSecond,
      times->ceilings.flopsPerSecond, quoted(times->ceilings.from));
}

std::string Writer::write(std::string_view stages) {
  Result<std::shared_ptr<const BoundPlan>> made =
      BoundPlan::make(program, symbols);
  std::string problem = "null";
  if (made)
    plan = *made;
  else
    problem = quoted(made.error().message);
  flows = flowOf(program);
  static const std::vector<uint64_t> none;
  std::string json = "{" + head();
  json += fmt::format("\"problem\": {},\n", problem) + totals() + nodes();
  json += "\"inputs\": " + ports("input", program.inputs,
                                 plan ? plan->inputBytes : none,
                                 providersOf(parts));
  json += ",\n\"outputs\": " +
          ports("output", program.outputs, plan ? plan->outputBytes : none, {});
  json += ",\n\"kernels\": " + kernels() + ",\n\"steps\": " + steps();
  json += ",\n\"edges\": " + edges() + ",\n\"buffers\": " + buffers();
  json += ",\n\"memory\": " + memory() + ",\n\"decisions\": " + decisions();
  json += ",\n\"measured\": " + measured() + ",\n\"stages\": ";
  return json.append(stages) + "}";
}

std::string programJson(const FileParts &parts,
                        std::span<const int64_t> symbols,
                        const std::optional<LaunchTimes> &times,
                        std::string_view stages) {
  return Writer(parts, symbols, times).write(stages);
}

} // namespace sinter::cli

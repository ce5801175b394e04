/// `sinter diff`: what two models, or one model of two builds, compile to.
#include "runtime/params/Json.h"
#include "runtime/program/BoundPlan.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/Model.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--json", nullptr, "print JSON"},
    {"--dim", "sN=VALUE", "a symbolic dim (default 4)"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
};
const Interface diffInterface = {
    "diff A B [--json]",
    "Compares two models, .mlir or .sinter: kernels by their text, launches,\n"
    "bytes of traffic, the peak of memory and what fusion decided. The exit\n"
    "code is 0 when they are equal, 1 when they differ, 2 when a model cannot\n"
    "be read or compiled.",
    "sinter diff before.mlir after.mlir\n"
    "sinter diff net.sinter new.sinter --json",
    flags,
    2,
    2,
};

namespace {

/// How often each text stands on one side.
using Counts = std::map<std::string, unsigned>;

/// What is compared.
struct Side {
  std::vector<std::pair<std::string, uint64_t>> figures;
  Counts ports, kernels, decisions;
};

/// One kind of text that sides have.
struct Part {
  const char *name;
  Counts Side::*counts;
};

} // namespace

static constexpr Part parts[] = {
    {"ports", &Side::ports},
    {"kernels", &Side::kernels},
    {"decisions", &Side::decisions},
};

static void addTexts(const ProgramData &program, Side &side) {
  for (size_t i = 0; i < program.inputs.size(); ++i)
    ++side.ports[fmt::format("{}: {}", portName("input", program.inputs[i], i),
                             portType(program.inputs[i], program.exprs))];
  for (size_t i = 0; i < program.outputs.size(); ++i)
    ++side.ports[fmt::format("{}: {}",
                             portName("output", program.outputs[i], i),
                             portType(program.outputs[i], program.exprs))];
  for (const StepData &step : program.steps)
    ++side.kernels[step.isLoop() ? "loop"
                   : step.isCopy ? "copy"
                                 : program.kernels[step.kernel].text];
  for (const Decision &decision : program.decisions)
    ++side.decisions[fmt::format(
        "{} {}: {}, {} bytes", decision.accepted ? "fused" : "not fused",
        decision.rule, decision.detail, decision.bytes)];
}

static Result<Side> sideOf(const std::string &path,
                           const Arguments &arguments) {
  SINTER_TRY_ASSIGN(Model model, readModelFile(path, arguments));
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    selectParts(model, arguments, request));
  const ProgramData &program = all.front().program;
  SINTER_TRY_ASSIGN(std::vector<int64_t> symbols,
                    symbolValues(program.numSymbols, arguments));
  SINTER_TRY_ASSIGN(auto plan, BoundPlan::make(program, symbols));
  PeakMemory peak = peakOf(program, *plan);
  Side side;
  side.figures = {{"launches", plan->total.launches},
                  {"bytes read", plan->total.bytesRead},
                  {"bytes written", plan->total.bytesWritten},
                  {"peak bytes", peak.bytes()}};
  addTexts(program, side);
  return side;
}

/// What `from` has more often than `other`.
static Counts excess(const Counts &from, const Counts &other) {
  Counts result;
  for (const auto &[text, count] : from) {
    auto found = other.find(text);
    unsigned theirs = found == other.end() ? 0 : found->second;
    if (count > theirs)
      result[text] = count - theirs;
  }
  return result;
}

//===- Reports ------------------------------------------------------------===//

static std::string asText(const Side &a, const Side &b) {
  std::string text;
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < a.figures.size(); ++i)
    if (a.figures[i] != b.figures[i])
      fmt::format_to(out, "{}: {} -> {}\n", a.figures[i].first,
                     a.figures[i].second, b.figures[i].second);
  auto list = [&](const Counts &counts, const char *name, const char *sign) {
    for (const auto &[entry, count] : counts) {
      fmt::format_to(out, "{} {}{}: ", sign, name,
                     count > 1 ? fmt::format(", {} times", count) : "");
      for (char each : entry)
        each == '\n' ? text += fmt::format("\n{}   ", sign) : text += each;
      text += '\n';
    }
  };
  for (const Part &part : parts) {
    list(excess(a.*part.counts, b.*part.counts), part.name, "-");
    list(excess(b.*part.counts, a.*part.counts), part.name, "+");
  }
  return text;
}

static std::string listJson(const Counts &counts) {
  std::string text = "[";
  for (const auto &[entry, count] : counts)
    text += fmt::format("{}{{\"count\": {}, \"text\": {}}}",
                        text.size() > 1 ? ", " : "", count, json::quote(entry));
  return text + "]";
}

static std::string asJson(const Side &a, const Side &b, bool equal) {
  std::string text = fmt::format("{{\"equal\": {}", equal);
  for (size_t i = 0; i < a.figures.size(); ++i) {
    std::string name = a.figures[i].first;
    std::ranges::replace(name, ' ', '_');
    text += fmt::format(",\n \"{}\": [{}, {}]", name, a.figures[i].second,
                        b.figures[i].second);
  }
  for (const Part &part : parts)
    text +=
        fmt::format(",\n \"{}\": {{\"removed\": {},\n  \"added\": {}}}",
                    part.name, listJson(excess(a.*part.counts, b.*part.counts)),
                    listJson(excess(b.*part.counts, a.*part.counts)));
  return text + "}\n";
}

int runDiff(int argc, char **argv) {
  Arguments arguments(argc, argv, diffInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<Side> a = sideOf(arguments.positional()[0], arguments);
  if (!a)
    return report(a.error()), exitUsage;
  Result<Side> b = sideOf(arguments.positional()[1], arguments);
  if (!b)
    return report(b.error()), exitUsage;
  std::string text = asText(*a, *b);
  bool equal = text.empty();
  fmt::print("{}", printable(arguments.has("--json") ? asJson(*a, *b, equal)
                             : equal                 ? "equal\n"
                                                     : text));
  return equal ? exitOk : exitFailed;
}

} // namespace sinter::cli

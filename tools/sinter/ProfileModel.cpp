/// `sinter profile`: where the time of a model goes, kernel by kernel.
#include "runtime/params/Json.h"
#include "runtime/program/ProfileText.h"
#include "runtime/support/Printable.h"
#include "runtime/support/WorkTimes.h"
#include "tools/sinter/Ceilings.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/Measure.h"

#include <algorithm>
#include <fmt/format.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--trace", "FILE.json", "write every launch as a Chrome trace"},
    {"--json", nullptr, "print JSON"},
    {"--repeat", "N", "run N times (default 20)"},
    entryFlag,
    trustFlag,
    trustedKeysFlag,
    deviceFlag,
    inputFlag,
    randomInputsFlag,
    randomDimFlag,
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
    tuneFlag,
    tileFlag,
};
const Interface profileInterface = {
    "profile MODEL [--trace FILE.json]",
    "Runs a model and lists its kernels, those that take longest first, equal\n"
    "launches together: times, rates, what their bytes and their operations "
    "take\n"
    "at least, and what part of the larger of these bounds they reach; those "
    "that\n"
    "are far from it; the share of each source line; and what came before the\n"
    "first launch. The bounds are what this machine reaches with the same "
    "threads,\n"
    "measured before, or, on another device, what a copy and a product of "
    "bf16\n"
    "reach there; data that stays in caches can make a kernel faster than the\n"
    "bound of memory.",
    "sinter profile net.onnx --device cuda:0\n"
    "sinter profile net.sinter --repeat 100 --trace trace.json",
    flags,
    1,
    1,
};

/// What came before the first launches, in milliseconds.
static std::string firstCallOf(const WorkMilliseconds &times) {
  std::string text = "before the first launch, ms:";
  for (size_t i = 0; i < numWorks; ++i)
    text +=
        fmt::format("{} {} {:.1f}", i ? "," : "", toString(Work(i)), times[i]);
  return text + "\n";
}

static std::string jsonOf(const StepGroup &group, const Ceilings &ceilings) {
  const StepProfile &step = group.step;
  Bound bound = boundOf(ceilings, step);
  std::string lines;
  for (const auto &[line, ops] : step.lines)
    lines += (lines.empty() ? "" : ", ") + json::quote(line);
  return fmt::format(
      " {{\"kernel\": {}, \"kind\": {}, \"ops\": {}, \"site\": {}, "
      "\"lines\": [{}], \"launches\": {}, "
      "\"runs\": {}, \"mean_us\": {:.2f}, \"least_us\": {:.2f}, "
      "\"bytes\": {}, \"flops\": {}, \"bytes_us\": {:.3f}, "
      "\"flops_us\": {:.3f}, \"bound\": \"{}\", "
      "\"percent_of_bound\": {:.1f}}}",
      json::quote(step.kernel), json::quote(step.kind), json::quote(step.ops),
      json::quote(step.site), lines, group.launches, step.runs,
      double(step.total) / double(step.runs) / 1e3, double(step.least) / 1e3,
      step.bytes, step.flops, bound.bytesNanoseconds / 1e3,
      bound.flopsNanoseconds / 1e3, bound.byMemory() ? "memory" : "compute",
      100 * group.partOfBound(ceilings));
}

static std::string jsonOf(const std::vector<StepProfile> &steps,
                          const Ceilings &ceilings, const Times &times,
                          const WorkMilliseconds &before) {
  std::string text = fmt::format(
      "{{\"least_us\": {:.1f}, \"median_us\": {:.1f}, \"runs\": {},\n"
      "\"ceilings\": {{\"gb_per_s\": {:.2f}, \"gflop_per_s\": {:.2f}, "
      "\"from\": {}}},\n\"before_first_launch_ms\": {{",
      times.least, times.median, times.calls + 1, ceilings.bytesPerSecond / 1e9,
      ceilings.flopsPerSecond / 1e9, json::quote(ceilings.from));
  for (size_t i = 0; i < numWorks; ++i)
    text += fmt::format("{}\"{}\": {:.2f}", i ? ", " : "", toString(Work(i)),
                        before[i]);
  text += "},\n\"kernels\": [";
  const char *comma = "\n";
  for (const StepGroup &group : groupSteps(steps)) {
    text += comma + jsonOf(group, ceilings);
    comma = ",\n";
  }
  text += "\n],\n\"lines\": [";
  comma = "\n";
  for (const auto &[line, nanoseconds] : lineShares(steps)) {
    text += fmt::format("{} {{\"line\": {}, \"us\": {:.2f}}}", comma,
                        json::quote(line), nanoseconds / 1e3);
    comma = ",\n";
  }
  return text + "\n]}\n";
}

/// The trace event format of Chrome and Perfetto: complete events, in
/// microseconds.
static std::string traceOf(const std::vector<ProfileEvent> &events) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const char *comma = "\n";
  for (const ProfileEvent &event : events) {
    const StepProfile &step = event.step;
    text += fmt::format(
        "{}{{\"ph\": \"X\", \"pid\": 0, \"tid\": {}, \"ts\": {:.3f}, "
        "\"dur\": {:.3f}, \"name\": {}, \"cat\": {}, \"args\": "
        "{{\"kernel\": {}, \"site\": {}, \"bytes\": {}, \"flops\": {}}}}}",
        comma, event.thread, double(event.begin) / 1e3,
        double(step.total) / 1e3,
        json::quote(step.ops.empty() ? step.kind : step.ops),
        json::quote(step.kind), json::quote(step.kernel),
        json::quote(step.site), step.bytes, step.flops);
    comma = ",\n";
  }
  return text + "\n]}\n";
}

static Status profileModel(const Model &model, Arguments &arguments) {
  int64_t repeats = arguments.number("--repeat", 20);
  if (arguments.exit)
    return {};
  SINTER_TRY_ASSIGN(Runnable runnable, makeRunnable(model, arguments));
  // Not in the profile: they touch memory for the first time, make graphs.
  for (int run = 0; run < 2; ++run) {
    RunCounters counters;
    SINTER_TRY(runOnce(runnable, counters));
  }
  WorkMilliseconds before = workMilliseconds();
  SINTER_TRY_ASSIGN(Ceilings ceilings,
                    measureCeilings(runnable.program->device(), arguments));
  resetProfile();
  setProfiling(true);
  Result<Times> times = measure(runnable, 0, std::max<int64_t>(1, repeats - 1));
  setProfiling(false);
  if (!times)
    return times.takeError();
  std::vector<StepProfile> steps = stepProfiles();
  if (arguments.has("--trace"))
    SINTER_TRY(writeText(arguments.get("--trace"), traceOf(profileEvents())));
  fmt::print("{}", printable(arguments.has("--json")
                                 ? jsonOf(steps, ceilings, *times, before)
                                 : profileText(steps, ceilings) +
                                       firstCallOf(before)));
  resetProfile(); // it has been printed
  return {};
}

int runProfile(int argc, char **argv) {
  Arguments arguments(argc, argv, profileInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
  if (!model)
    return report(model.error());
  Status done = profileModel(*model, arguments);
  if (arguments.exit)
    return *arguments.exit;
  return done ? exitOk : report(done.error());
}

} // namespace sinter::cli

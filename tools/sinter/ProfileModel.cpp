/// `sinter profile`: where the time of a model goes, kernel by kernel.
#include "runtime/params/Json.h"
#include "runtime/program/Profile.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Ceilings.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Measure.h"

#include <algorithm>
#include <fmt/format.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--trace", "FILE.json", "write every launch as a Chrome trace"},
    {"--json", nullptr, "print JSON"},
    {"--repeat", "N", "run N times (default 20)"},
    {"--device", "DEVICE", "cpu, null; default SINTER_DEVICE or cpu"},
    {"--input", "NAME=FILE.npy",
     "an input by name or number; of a scalar, NAME=NUMBER"},
    {"--random-inputs", "SEED", "fill the inputs that are not given"},
    {"--dim", "sN=VALUE", "a symbolic dim of random inputs (default 4)"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    tuneFlag,
    tileFlag,
};
static constexpr Interface interface = {
    "profile MODEL [--trace FILE.json]",
    "Runs a model and lists its kernels, those that take longest first: "
    "times,\n"
    "bytes, arithmetic, whether memory or arithmetic bounds them, what part "
    "of\n"
    "that bound they reach, and their source lines. The bounds are what this\n"
    "machine reaches with the same threads, measured before, or, on another\n"
    "device, what a copy and a product of bf16 reach there; data that stays\n"
    "in caches can make a kernel faster than the bound of memory.",
    flags,
    1,
    1,
};

/// What part of its bound a step reaches, in percent.
static double percentOf(const StepProfile &step, const Bound &bound) {
  return 100 * bound.nanoseconds / double(std::max<uint64_t>(1, step.least));
}

static std::string textOf(const std::vector<StepProfile> &steps,
                          const Ceilings &ceilings) {
  std::string text = fmt::format(
      "ceilings: {:.1f} GB/s, {:.1f} GFLOP/s\n{:>6} {:>9} {:>9} {:>8} {:>9} "
      "{:>8} {:>6}  kernel\n",
      ceilings.bytesPerSecond / 1e9, ceilings.flopsPerSecond / 1e9, "share",
      "mean us", "least us", "GB/s", "GFLOP/s", "bound", "of it");
  uint64_t total = 0;
  for (const StepProfile &step : steps)
    total += step.total;
  for (const StepProfile &step : steps) {
    Bound bound = boundOf(ceilings, step.bytes, step.flops);
    auto least = double(std::max<uint64_t>(1, step.least));
    text += fmt::format(
        "{:>5.1f}% {:>9.1f} {:>9.1f} {:>8.1f} {:>9.1f} {:>8} {:>5.0f}%  {} {}: "
        "{} {}\n",
        100.0 * double(step.total) / double(std::max<uint64_t>(1, total)),
        double(step.total) / double(step.runs) / 1e3, least / 1e3,
        double(step.bytes) / least, double(step.flops) / least,
        bound.byMemory ? "memory" : "compute", percentOf(step, bound),
        step.kind, step.kernel, step.ops, step.site);
  }
  return text;
}

static std::string jsonOf(const std::vector<StepProfile> &steps,
                          const Ceilings &ceilings, const Times &times) {
  std::string text = fmt::format(
      "{{\"least_us\": {:.1f}, \"median_us\": {:.1f}, \"runs\": {},\n"
      "\"ceilings\": {{\"gb_per_s\": {:.2f}, \"gflop_per_s\": {:.2f}}},\n"
      "\"kernels\": [",
      times.least, times.median, times.calls + 1, ceilings.bytesPerSecond / 1e9,
      ceilings.flopsPerSecond / 1e9);
  const char *comma = "\n";
  for (const StepProfile &step : steps) {
    Bound bound = boundOf(ceilings, step.bytes, step.flops);
    text += fmt::format(
        "{} {{\"kernel\": {}, \"kind\": {}, \"ops\": {}, \"site\": {}, "
        "\"runs\": {}, \"mean_us\": {:.2f}, \"least_us\": {:.2f}, "
        "\"bytes\": {}, \"flops\": {}, \"bound\": \"{}\", "
        "\"percent_of_bound\": {:.1f}}}",
        comma, json::quote(step.kernel), json::quote(step.kind),
        json::quote(step.ops), json::quote(step.site), step.runs,
        double(step.total) / double(step.runs) / 1e3, double(step.least) / 1e3,
        step.bytes, step.flops, bound.byMemory ? "memory" : "compute",
        percentOf(step, bound));
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
  RunCounters first; // not in the profile: it touches memory for the first time
  SINTER_TRY(runOnce(*runnable.program, runnable.inputs, first));
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
  fmt::print("{}",
             printable(arguments.has("--json") ? jsonOf(steps, ceilings, *times)
                                               : textOf(steps, ceilings)));
  resetProfile(); // it has been printed
  return {};
}

int runProfile(int argc, char **argv) {
  Arguments arguments(argc, argv, interface);
  if (arguments.exit)
    return *arguments.exit;
  Result<Model> model = readModelFile(arguments.positional()[0]);
  if (!model)
    return report(model.error());
  Status done = profileModel(*model, arguments);
  if (arguments.exit)
    return *arguments.exit;
  return done ? exitOk : report(done.error());
}

} // namespace sinter::cli

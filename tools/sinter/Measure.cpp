/// Runs programs and takes their times.
#include "tools/sinter/Measure.h"

#include "tools/sinter/Inputs.h"

#include "runtime/device/Device.h"
#include "runtime/program/PassedValues.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace sinter::cli {

using namespace runtime;

static Result<std::vector<Output>> runProgram(const Program &program,
                                              std::span<const Binding> inputs,
                                              RunCounters &counters) {
  RunFailure failure;
  auto outputs = run(program, inputs, &counters, &failure);
  if (outputs)
    return outputs;
  ErrorInfo error = outputs.takeError();
  std::string site(program.siteOf(failure.node));
  if (!site.empty())
    error.message += " (" + site + ")";
  const char *before = "; the program's largest: ";
  for (const MemoryNeed &need : failure.largest) {
    error.message += fmt::format("{}{} bytes", before, need.bytes);
    for (const Port &output : program.outputs())
      if (output.node == need.node && !output.name.empty())
        error.message += fmt::format(" of output '{}'", output.name);
    if (std::string_view line = program.siteOf(need.node); !line.empty())
      error.message += fmt::format(" at {}", line);
    before = ", ";
  }
  return error;
}

static void add(RunCounters &sum, const RunCounters &more) {
  sum.launches += more.launches;
  sum.bytesRead += more.bytesRead;
  sum.bytesWritten += more.bytesWritten;
  sum.arenaBytes = std::max(sum.arenaBytes, more.arenaBytes);
  sum.donated += more.donated;
  sum.phasesSkipped += more.phasesSkipped;
  sum.recordings += more.recordings;
  sum.replays += more.replays;
  sum.waitNanoseconds += more.waitNanoseconds;
}

Result<std::vector<Output>> runOnce(const Runnable &runnable,
                                    RunCounters &counters,
                                    const BeforeRun &before) {
  counters = {};
  auto runNext =
      [&](const Program &program,
          std::span<const Binding> inputs) -> Result<std::vector<Output>> {
    if (before)
      SINTER_TRY(before(program, inputs));
    RunCounters own;
    SINTER_TRY_ASSIGN(std::vector<Output> outputs,
                      runProgram(program, inputs, own));
    add(counters, own);
    return outputs;
  };
  if (runnable.parts.empty())
    return runNext(*runnable.program, runnable.inputs);
  PassedValues passed;
  Device &device = runnable.program->device();
  for (const ModelEntry::Part &part : runnable.parts) {
    std::vector<Binding> inputs = part.inputs;
    SINTER_TRY(passed.bind(*part.point, inputs, device));
    SINTER_TRY_ASSIGN(std::vector<Output> outputs,
                      runNext(*part.program, inputs));
    passed.add(std::move(outputs));
  }
  std::vector<Binding> inputs = runnable.inputs;
  SINTER_TRY(passed.bind(runnable.entry->point(), inputs, device));
  return runNext(*runnable.program, inputs);
}

Result<Runnable> bindModel(const RunnableModel &model,
                           const Arguments &arguments) {
  Runnable runnable{model.program, {}, model.entry, {}};
  SINTER_TRY_ASSIGN(runnable.inputs, bindInputs(model, arguments));
  if (model.entry) {
    SINTER_TRY_ASSIGN(runnable.parts, model.entry->bindParts(runnable.inputs));
  }
  return runnable;
}

Result<Runnable> makeRunnable(const Model &model, const Arguments &arguments) {
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = true;
  SINTER_TRY_ASSIGN(Device * device, openDevice(arguments, request));
  SINTER_TRY_ASSIGN(RunnableModel loaded,
                    loadModel(model, arguments, request, *device));
  Arguments given = arguments;
  if (!given.has("--input"))
    given.setDefault("--random-inputs", "1");
  return bindModel(loaded, given);
}

namespace {
using Clock = std::chrono::steady_clock;

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}

double medianOf(std::vector<double> &values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
} // namespace

Result<Times> measure(const Runnable &runnable, double seconds, int64_t calls) {
  Device &device = runnable.program->device();
  Times times;
  SINTER_TRY_ASSIGN(std::vector<Output> outputs,
                    runOnce(runnable, times.counters));
  SINTER_TRY(device.synchronize());
  std::vector<double> all, host;
  Clock::time_point begin = Clock::now();
  auto isEnough = [&] {
    if (calls)
      return int64_t(all.size()) >= calls;
    return all.size() >= 3 && microsecondsSince(begin) >= seconds * 1e6;
  };
  while (!isEnough()) {
    outputs.clear(); // their memory serves the next call
    Clock::time_point start = Clock::now();
    RunCounters counters;
    SINTER_TRY_ASSIGN(outputs, runOnce(runnable, counters));
    host.push_back(microsecondsSince(start) -
                   double(counters.waitNanoseconds) / 1e3);
    SINTER_TRY(device.synchronize());
    all.push_back(microsecondsSince(start));
    times.recordings += counters.recordings;
    times.replays += counters.replays;
  }
  times.median = medianOf(all);
  times.least = all.front();
  times.host = medianOf(host);
  times.calls = all.size();
  return times;
}

} // namespace sinter::cli

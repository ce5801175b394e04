/// Runs programs and takes their times.
#include "tools/sinter/Measure.h"

#include "tools/sinter/Inputs.h"
#include "tools/sinter/ModelEntry.h"

#include "runtime/device/Device.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace sinter::cli {

using namespace runtime;

Result<std::vector<Output>> runOnce(const Program &program,
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

Result<Runnable> makeRunnable(const Model &model, const Arguments &arguments) {
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = true;
  SINTER_TRY_ASSIGN(Device * device, openDevice(arguments, request));
  Runnable runnable;
  SINTER_TRY_ASSIGN(RunnableModel loaded,
                    loadModel(model, arguments, request, *device));
  if (loaded.entry)
    SINTER_TRY(loaded.entry->checkOneProgram("one program is measured"));
  runnable.program = loaded.program;
  Arguments given = arguments;
  if (!given.has("--input"))
    given.setDefault("--random-inputs", "1");
  SINTER_TRY_ASSIGN(runnable.inputs, bindInputs(loaded, given));
  return runnable;
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
  SINTER_TRY_ASSIGN(
      std::vector<Output> outputs,
      runOnce(*runnable.program, runnable.inputs, times.counters));
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
    SINTER_TRY_ASSIGN(outputs,
                      runOnce(*runnable.program, runnable.inputs, counters));
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

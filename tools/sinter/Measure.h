/// Measure: running a program, once and many times.
#pragma once

#include "runtime/program/Program.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/ModelEntry.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sinter::cli {

/// A program with its inputs, and those that run before it.
struct Runnable {
  std::shared_ptr<const runtime::Program> program;
  std::vector<runtime::Binding> inputs;
  std::shared_ptr<ModelEntry> entry; ///< of a file, else null
  std::vector<ModelEntry::Part> parts;
};
/// By the flags of inputs.
Result<Runnable> bindModel(const RunnableModel &model,
                           const Arguments &arguments);

/// Called with each program and its inputs before it runs.
using BeforeRun = std::function<Status(const runtime::Program &,
                                       std::span<const runtime::Binding>)>;
/// Runs once; counts what all programs did. An error has the line of the op
/// that it is about, and the largest values when memory ran out.
Result<std::vector<runtime::Output>> runOnce(const Runnable &runnable,
                                             runtime::RunCounters &counters,
                                             const BeforeRun &before = {});

/// By the flags --device, --input, --random-inputs (seed 1 when nothing is
/// given), --dim and those of compiling.
Result<Runnable> makeRunnable(const Model &model, const Arguments &arguments);

/// Times of calls, in microseconds, after one that is not counted. A call ends
/// when the device has done its work.
struct Times {
  double least = 0;
  double median = 0;
  double host = 0; ///< median of what a call keeps the host busy, not waiting
  uint64_t calls = 0;
  uint64_t recordings = 0, replays = 0; ///< of all calls
  runtime::RunCounters counters;        ///< of the first call
};
/// Calls for that many seconds, and at least three times; `calls`, unless 0,
/// says how often instead.
Result<Times> measure(const Runnable &runnable, double seconds,
                      int64_t calls = 0);

} // namespace sinter::cli

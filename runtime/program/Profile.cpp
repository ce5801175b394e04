/// Keeps the times of steps under one lock.
#include "runtime/program/Profile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// One step of one program.
struct StepTimes {
  std::string kernel, kind, ops, site;
  uint64_t runs = 0;
  uint64_t bytes = 0; ///< of the last run
  uint64_t total = 0; ///< nanoseconds
  uint64_t least = UINT64_MAX;
};

struct Profile {
  std::mutex mutex;
  std::map<std::pair<const void *, uint32_t>, StepTimes> steps;
};

Profile &profile() {
  static auto *all = new Profile();
  return *all;
}

/// The ops of a kernel's text, in order: `matmul add relu`, `add*3`.
std::string opsOf(const std::string &text) {
  std::vector<std::pair<std::string, int>> ops;
  const std::string dialect = " sinter.";
  for (size_t at = text.find(dialect); at != text.npos;
       at = text.find(dialect, at)) {
    at += dialect.size();
    size_t end =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", at);
    std::string op = text.substr(at, end - at);
    if (ops.empty() || ops.back().first != op)
      ops.emplace_back(op, 0);
    ++ops.back().second;
  }
  std::string list;
  for (const auto &[op, times] : ops)
    list += (list.empty() ? "" : " ") + op +
            (times > 1 ? "*" + std::to_string(times) : "");
  return list;
}

StepTimes describe(const LoadedProgram &loaded, uint32_t number) {
  const StepData &step = loaded.program().steps[number];
  StepTimes times;
  if (!step.nodes.empty())
    times.site = loaded.siteOf(step.nodes.back());
  times.kind = "copy";
  if (step.isCopy)
    return times;
  const KernelData &kernel = loaded.program().kernels[step.kernel];
  times.kernel = kernel.name;
  times.kind = kernel.kind;
  times.ops = opsOf(kernel.text);
  return times;
}

void printAtExit() { std::fputs(profileTable().c_str(), stderr); }

} // namespace

void sinter::runtime::countStep(const LoadedProgram &program,
                                const BoundPlan &plan, uint32_t step,
                                uint64_t nanoseconds) {
  static int registered = std::atexit(printAtExit);
  (void)registered;
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  auto [entry, isNew] = all.steps.try_emplace({&program, step});
  StepTimes &times = entry->second;
  if (isNew)
    times = describe(program, step);
  const StepData &data = program.program().steps[step];
  times.bytes = plan.values[data.bytesRead] + plan.values[data.bytesWritten];
  times.total += nanoseconds;
  times.least = std::min(times.least, nanoseconds);
  ++times.runs;
}

std::string sinter::runtime::profileTable() {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  std::vector<const StepTimes *> order;
  uint64_t total = 0;
  for (const auto &[key, times] : all.steps) {
    order.push_back(&times);
    total += times.total;
  }
  if (order.empty())
    return {};
  std::ranges::stable_sort(order, std::greater(), &StepTimes::total);
  std::string text =
      fmt::format("{:>6} {:>7} {:>10} {:>10} {:>12} {:>7}  kernel\n", "share",
                  "runs", "mean us", "least us", "bytes", "GB/s");
  for (const StepTimes *times : order)
    text += fmt::format(
        "{:>5.1f}% {:>7} {:>10.1f} {:>10.1f} {:>12} {:>7.1f}  {} {}: {} {}\n",
        100.0 * double(times->total) / double(total), times->runs,
        double(times->total) / double(times->runs) / 1e3,
        double(times->least) / 1e3, times->bytes,
        double(times->bytes) / double(std::max<uint64_t>(1, times->least)),
        times->kind, times->kernel, times->ops, times->site);
  return text;
}

void sinter::runtime::resetProfile() {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  all.steps.clear();
}

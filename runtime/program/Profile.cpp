/// Keeps the times of steps under one lock.
#include "runtime/program/Profile.h"

#include "runtime/program/ProfileText.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"
#include "runtime/support/Printable.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// One launch, by the key of its step.
struct Launched {
  std::pair<const void *, uint32_t> step;
  uint64_t begin, nanoseconds, bytes, flops;
  uint32_t thread;
};

struct Profile {
  ForkMutex mutex;
  std::map<std::pair<const void *, uint32_t>, StepProfile> steps;
  std::vector<Launched> events;
  std::map<std::thread::id, uint32_t> threads;
  ProfileClock::time_point start;
};

constexpr size_t mostEvents = 1'000'000;
std::atomic<bool> isMeasuring{false};

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

StepProfile describe(const LoadedProgram &loaded, uint32_t number) {
  const StepData &step = loaded.program().steps[number];
  StepProfile times;
  if (!step.nodes.empty())
    times.site = loaded.siteOf(step.nodes.back());
  std::map<std::string, double> lines;
  for (uint32_t node : step.nodes)
    if (std::string_view line = loaded.siteOf(node); !line.empty())
      ++lines[std::string(line)];
  times.lines.assign(lines.begin(), lines.end());
  times.kind = "copy";
  if (step.isCopy)
    return times;
  const KernelData &kernel = loaded.program().kernels[step.kernel];
  times.kernel = kernel.name;
  times.kind = kernel.kind;
  times.ops = opsOf(kernel.text);
  return times;
}

void printAtExit() { std::fputs(printable(profileTable()).c_str(), stderr); }

} // namespace

bool sinter::runtime::isProfiling() {
  return flags().profile || isMeasuring.load(std::memory_order_relaxed);
}

void sinter::runtime::setProfiling(bool on) {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  if (on)
    all.start = ProfileClock::now();
  isMeasuring = on;
}

void sinter::runtime::countStep(const LoadedProgram &program,
                                const BoundPlan &plan, uint32_t step,
                                ProfileClock::time_point begin,
                                ProfileClock::time_point end) {
  static int registered = flags().profile ? std::atexit(printAtExit) : 0;
  (void)registered;
  auto nanoseconds = static_cast<uint64_t>((end - begin).count());
  const StepData &data = program.program().steps[step];
  auto countOf = [&](uint32_t expr) {
    return uint64_t(std::max<int64_t>(0, plan.values[expr]));
  };
  uint64_t bytes = countOf(data.bytesRead) + countOf(data.bytesWritten);
  uint64_t flops = data.isLaunch() ? countOf(data.flops) : 0;
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  auto [entry, isNew] = all.steps.try_emplace({&program, step});
  StepProfile &times = entry->second;
  if (isNew)
    times = describe(program, step);
  times.bytes = bytes;
  times.flops = flops;
  times.total += nanoseconds;
  times.least = std::min(times.least, nanoseconds);
  ++times.runs;
  if (!isMeasuring || all.events.size() == mostEvents)
    return;
  uint32_t thread =
      all.threads
          .try_emplace(std::this_thread::get_id(), uint32_t(all.threads.size()))
          .first->second;
  all.events.push_back({entry->first, uint64_t((begin - all.start).count()),
                        nanoseconds, bytes, flops, thread});
}

std::vector<StepProfile> sinter::runtime::stepProfiles() {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  std::vector<StepProfile> steps;
  for (const auto &[key, times] : all.steps)
    steps.push_back(times);
  std::ranges::stable_sort(steps, std::greater(), &StepProfile::total);
  return steps;
}

std::vector<ProfileEvent> sinter::runtime::profileEvents() {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  std::vector<ProfileEvent> events;
  for (const Launched &event : all.events) {
    ProfileEvent own{all.steps.at(event.step), event.begin, event.thread};
    own.step.lines.clear(); // as long as a kernel has ops, for each event
    own.step.runs = 1;
    own.step.bytes = event.bytes;
    own.step.flops = event.flops;
    own.step.total = own.step.least = event.nanoseconds;
    events.push_back(std::move(own));
  }
  return events;
}

std::string sinter::runtime::profileTable() {
  return profileText(stepProfiles(), std::nullopt);
}

void sinter::runtime::resetProfile() {
  Profile &all = profile();
  std::lock_guard lock(all.mutex);
  all.steps.clear();
  all.events.clear();
  all.start = ProfileClock::now();
}

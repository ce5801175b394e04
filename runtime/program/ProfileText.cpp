/// Groups of launches, bounds, and shares of lines.
#include "runtime/program/ProfileText.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

using namespace sinter;
using namespace sinter::runtime;

static constexpr double leastShare = 0.03, leastPart = 0.25;

Bound sinter::runtime::boundOf(const Ceilings &ceilings,
                               const StepProfile &step) {
  return {double(step.bytes) / ceilings.bytesPerSecond * 1e9,
          double(step.flops) / ceilings.flopsPerSecond * 1e9};
}

static double leastOf(const StepProfile &step) {
  return double(std::max<uint64_t>(1, step.least));
}

double StepGroup::partOfBound(const Ceilings &ceilings) const {
  return boundOf(ceilings, step).nanoseconds() / leastOf(step);
}

static void join(StepProfile &all, const StepProfile &other) {
  all.runs += other.runs;
  all.total += other.total;
  all.least = std::min(all.least, other.least);
  for (const auto &line : other.lines) {
    auto known = std::ranges::find(all.lines, line.first,
                                   &std::pair<std::string, double>::first);
    if (known == all.lines.end())
      all.lines.push_back(line);
    else
      known->second += line.second;
  }
}

std::vector<StepGroup>
sinter::runtime::groupSteps(const std::vector<StepProfile> &steps) {
  std::vector<StepGroup> groups;
  std::map<std::tuple<std::string, std::string, uint64_t, uint64_t>, size_t>
      known;
  for (const StepProfile &step : steps) {
    auto [entry, isNew] = known.try_emplace(
        {step.kernel, step.kind, step.bytes, step.flops}, groups.size());
    if (isNew) {
      groups.push_back({step});
      continue;
    }
    join(groups[entry->second].step, step);
    ++groups[entry->second].launches;
  }
  std::ranges::stable_sort(groups, std::greater(), [](const StepGroup &group) {
    return group.step.total;
  });
  return groups;
}

static double totalOf(const std::vector<StepGroup> &groups) {
  double total = 0;
  for (const StepGroup &group : groups)
    total += double(group.step.total);
  return std::max(1.0, total);
}

std::vector<StepGroup>
sinter::runtime::farFromBound(const std::vector<StepGroup> &groups,
                              const Ceilings &ceilings) {
  double total = totalOf(groups);
  std::vector<StepGroup> far;
  for (const StepGroup &group : groups)
    if (double(group.step.total) > leastShare * total &&
        group.partOfBound(ceilings) < leastPart)
      far.push_back(group);
  return far;
}

std::vector<LineShare>
sinter::runtime::lineShares(const std::vector<StepProfile> &steps) {
  std::map<std::string, double> shares;
  for (const StepProfile &step : steps) {
    double parts = 0;
    for (const auto &[line, part] : step.lines)
      parts += part;
    for (const auto &[line, part] : step.lines)
      shares[line] += double(step.total) * part / parts;
  }
  std::vector<LineShare> sorted(shares.begin(), shares.end());
  std::ranges::stable_sort(sorted, std::greater(), &LineShare::second);
  return sorted;
}

/// `model.cpp:12, and 11 more`.
static std::string linesOf(const StepProfile &step) {
  if (step.lines.size() < 2)
    return step.site;
  return fmt::format("{}, and {} more", step.site, step.lines.size() - 1);
}

static std::string rowOf(const StepGroup &group, double total,
                         const std::optional<Ceilings> &ceilings) {
  const StepProfile &step = group.step;
  std::string row = fmt::format(
      "{:>5.1f}% {:>5} {:>9.1f} {:>9.1f} {:>8.1f} {:>9.1f}",
      100.0 * double(step.total) / total, group.launches,
      double(step.total) / double(step.runs) / 1e3, leastOf(step) / 1e3,
      double(step.bytes) / leastOf(step), double(step.flops) / leastOf(step));
  if (ceilings) {
    Bound bound = boundOf(*ceilings, step);
    row += fmt::format(
        " {:>9.1f} {:>9.1f} {:>5.0f}%", bound.bytesNanoseconds / 1e3,
        bound.flopsNanoseconds / 1e3, 100 * group.partOfBound(*ceilings));
  }
  return row + fmt::format("  {} {}: {} {}\n", step.kind, step.kernel, step.ops,
                           linesOf(step));
}

static std::string farText(const std::vector<StepGroup> &groups, double total,
                           const Ceilings &ceilings) {
  std::vector<StepGroup> far = farFromBound(groups, ceilings);
  std::string what =
      fmt::format("under {:.0f} % of its bound, over {:.0f} % of "
                  "the time",
                  100 * leastPart, 100 * leastShare);
  if (far.empty())
    return fmt::format("no kernel is {}\n", what);
  std::string text = fmt::format("each {}:\n", what);
  for (const StepGroup &group : far)
    text += rowOf(group, total, ceilings);
  return text;
}

std::string
sinter::runtime::profileText(const std::vector<StepProfile> &steps,
                             const std::optional<Ceilings> &ceilings) {
  if (steps.empty())
    return {};
  std::vector<StepGroup> groups = groupSteps(steps);
  double total = totalOf(groups);
  std::string text;
  if (ceilings)
    text += fmt::format("ceilings: {:.1f} GB/s, {:.1f} GFLOP/s, {}\n",
                        ceilings->bytesPerSecond / 1e9,
                        ceilings->flopsPerSecond / 1e9, ceilings->from);
  text += fmt::format("{:>6} {:>5} {:>9} {:>9} {:>8} {:>9}", "share", "times",
                      "mean us", "least us", "GB/s", "GFLOP/s");
  if (ceilings)
    text += fmt::format(" {:>9} {:>9} {:>6}", "bytes us", "flops us", "of it");
  text += "  kernel\n";
  for (const StepGroup &group : groups)
    text += rowOf(group, total, ceilings);
  if (ceilings)
    text += farText(groups, total, *ceilings);
  std::vector<LineShare> lines = lineShares(steps);
  if (!lines.empty())
    text += "shares of lines:\n";
  for (const auto &[line, nanoseconds] : lines)
    text += fmt::format("{:>5.1f}%  {}\n", 100 * nanoseconds / total, line);
  return text;
}

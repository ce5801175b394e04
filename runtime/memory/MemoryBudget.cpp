/// Reads /proc and the cgroups, version 1 and 2.
#include "runtime/memory/MemoryBudget.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace sinter::runtime;

namespace {

std::optional<std::string> readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  return line;
}

/// A file with one number; `max`, `-1` and anything else give nothing.
std::optional<uint64_t> readNumber(const std::string &path) {
  std::optional<std::string> line = readLine(path);
  if (!line || line->empty() || (*line)[0] < '0' || (*line)[0] > '9')
    return std::nullopt;
  return std::strtoull(line->c_str(), nullptr, 10);
}

/// Folders of the process's cgroup for `controller`, from the innermost to the
/// root, in both hierarchies. In a container only the root may be mounted.
std::vector<std::string> cgroupFolders(const std::string &controller) {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    bool unified = names == ",,";
    if (!unified && names.find("," + controller + ",") == std::string::npos)
      continue;
    std::string root = "/sys/fs/cgroup" + (unified ? "" : "/" + controller);
    std::string path = line.substr(second + 1);
    while (path.size() > 1) {
      folders.push_back(root + path);
      path.resize(path.find_last_of('/'));
    }
    folders.push_back(root);
  }
  return folders;
}

/// `MemTotal` and `MemAvailable` in bytes.
void readMemInfo(MemoryBudget &budget) {
  std::ifstream file("/proc/meminfo");
  std::string line;
  size_t available = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    uint64_t kilobytes = 0;
    words >> key >> kilobytes;
    if (key == "MemTotal:")
      budget.total = kilobytes * 1024;
    if (key == "MemAvailable:")
      available = kilobytes * 1024;
  }
  budget.inUse = budget.total - std::min(available, budget.total);
}

void applyCgroup(MemoryBudget &budget, const std::string &folder) {
  struct Names {
    const char *limit, *usage;
  };
  for (Names names :
       {Names{"/memory.max", "/memory.current"},
        Names{"/memory.limit_in_bytes", "/memory.usage_in_bytes"}}) {
    std::optional<uint64_t> limit = readNumber(folder + names.limit);
    if (!limit || *limit >= budget.total)
      continue;
    budget.total = *limit;
    uint64_t usage = readNumber(folder + names.usage).value_or(0);
    budget.inUse = std::min<uint64_t>(usage, *limit);
  }
}

/// Quota over period of one folder, in processors.
std::optional<double> cpuQuota(const std::string &folder) {
  if (std::optional<std::string> line = readLine(folder + "/cpu.max")) {
    std::istringstream words(*line);
    double quota = 0, period = 0;
    if (words >> quota >> period && quota > 0 && period > 0)
      return quota / period;
    return std::nullopt;
  }
  auto quota = readNumber(folder + "/cpu.cfs_quota_us");
  auto period = readNumber(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota == 0 || *period == 0)
    return std::nullopt;
  return double(*quota) / double(*period);
}

} // namespace

MemoryBudget MemoryBudget::detect() {
  MemoryBudget budget;
  readMemInfo(budget);
  for (const std::string &folder : cgroupFolders("memory"))
    applyCgroup(budget, folder);
  budget.reserve = std::min<size_t>(budget.total / 16, size_t(1) << 30);
  return budget;
}

unsigned sinter::runtime::cgroupCpuQuota() {
  unsigned lowest = 0;
  for (const std::string &folder : cgroupFolders("cpu")) {
    std::optional<double> quota = cpuQuota(folder);
    if (!quota)
      continue;
    auto processors = unsigned(std::max(1.0, *quota + 0.999));
    lowest = lowest ? std::min(lowest, processors) : processors;
  }
  return lowest;
}

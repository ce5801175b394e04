/// This processor's name and the list of its features.
#include "runtime/device/cpu/CpuFeatures.h"

#include "runtime/device/cpu/FeatureTable.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace sinter::runtime;

static std::vector<std::string> detect() {
  std::vector<std::string> found;
  eachCpuFeature(
      [](void *list, std::string_view name) {
        static_cast<std::vector<std::string> *>(list)->emplace_back(name);
      },
      &found);
  std::sort(found.begin(), found.end());
  return found;
}

#if defined(__x86_64__)
std::string sinter::runtime::cpuModelName() {
  char name[49] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t words[4] = {};
    __get_cpuid_count(0x80000002 + i, 0, &words[0], &words[1], &words[2],
                      &words[3]);
    std::memcpy(name + 16 * i, words, 16);
  }
  std::string_view text = name;
  size_t first = text.find_first_not_of(' ');
  size_t last = text.find_last_not_of(' ');
  if (first == std::string_view::npos)
    return "x86-64 processor";
  return std::string(text.substr(first, last - first + 1));
}
#else
std::string sinter::runtime::cpuModelName() { return "processor"; }
#endif

const std::vector<std::string> &sinter::runtime::hostCpuFeatures() {
  // Never destroyed: a thread may compile while the process ends.
  static const auto &found = *new std::vector<std::string>(detect());
  return found;
}

std::string
sinter::runtime::joinFeatures(std::span<const std::string> features) {
  std::string joined;
  for (const std::string &feature : features) {
    if (!joined.empty())
      joined += ',';
    joined += feature;
  }
  return joined;
}

/// Calls `visit` with each part between commas.
template <typename Visit>
static void forEachFeature(std::string_view list, Visit visit) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    visit(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

std::string sinter::runtime::missingFeatures(std::string_view wanted,
                                             std::string_view offered) {
  std::vector<std::string> missing;
  forEachFeature(wanted, [&](std::string_view feature) {
    bool found = feature.empty();
    forEachFeature(offered,
                   [&](std::string_view have) { found |= have == feature; });
    if (!found)
      missing.emplace_back(feature);
  });
  return joinFeatures(missing);
}

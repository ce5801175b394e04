/// Profiles by name and by features.
#include "compiler/target/vulkan/VulkanProfile.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace sinter::compiler {

namespace {

struct Named {
  std::string_view name, features;
};

constexpr Named named[] = {
    {"", "subgroup32+shared32+threads256+i8+i16+i64+atomic64+nan32"},
    {"lavapipe",
     "subgroup8+shared32+threads1024+i8+i16+i64+f64+atomic64+nan32"},
    {"h200", "subgroup32+shared48+threads1024+i8+i16+i64+f64+atomic64+nan32+"
             "fma32+max32+power32+coopmat16"},
    {"minimal13", "shared16"},
};

struct Flag {
  std::string_view name;
  bool VulkanProfile::*field;
};

// No device has to say that it has it.
constexpr std::string_view emulation = "coopmat16loops";

constexpr Flag flags[] = {
    {"i8", &VulkanProfile::hasInt8},
    {"i16", &VulkanProfile::hasInt16},
    {"i64", &VulkanProfile::hasInt64},
    {"f64", &VulkanProfile::hasFloat64},
    {"atomic64", &VulkanProfile::hasAtomic64},
    {"nan32", &VulkanProfile::keepsNan},
    {"denormal32", &VulkanProfile::keepsDenormals},
    {"fma32", &VulkanProfile::hasFma},
    {"max32", &VulkanProfile::ordersZeros},
    {"power32", &VulkanProfile::hasPowerOfTwo},
    {"coopmat16", &VulkanProfile::hasMatrices},
    {emulation, &VulkanProfile::emulatesMatrices},
};

} // namespace

/// The number that follows `word` in `feature`; 0 where none does.
static unsigned numberAfter(std::string_view feature, std::string_view word) {
  unsigned number = 0;
  if (!feature.starts_with(word))
    return 0;
  feature.remove_prefix(word.size());
  auto [end, error] =
      std::from_chars(feature.data(), feature.data() + feature.size(), number);
  bool isWhole = error == std::errc() && end == feature.data() + feature.size();
  return isWhole ? number : 0;
}

static bool addFeature(VulkanProfile &profile, std::string_view feature) {
  for (const Flag &flag : flags)
    if (feature == flag.name)
      return profile.*flag.field = true;
  constexpr unsigned mostThreads = 64, mostKiB = 1024;
  auto isPower = [](unsigned number) { return (number & (number - 1)) == 0; };
  if (unsigned threads = numberAfter(feature, "subgroup")) {
    profile.subgroup = threads;
    profile.knowsSubgroup = true;
    return threads >= 4 && threads <= mostThreads && isPower(threads);
  }
  if (unsigned threads = numberAfter(feature, "threads")) {
    profile.mostThreads = threads;
    return threads >= 128 && isPower(threads);
  }
  unsigned size = numberAfter(feature, "shared");
  profile.sharedBytes = size * 1024;
  return size > 0 && size <= mostKiB;
}

std::optional<VulkanProfile> parseVulkanProfile(std::string_view name) {
  for (const Named &each : named)
    if (name == each.name)
      name = each.features;
  VulkanProfile profile;
  std::vector<std::string_view> features;
  while (!name.empty()) {
    std::string_view feature = name.substr(0, name.find('+'));
    if (!addFeature(profile, feature))
      return std::nullopt;
    if (feature != emulation)
      features.push_back(feature);
    name.remove_prefix(std::min(name.size(), feature.size() + 1));
  }
  if (profile.sharedBytes == 0)
    return std::nullopt;
  // What no device has without the others.
  bool hasMatrices = profile.hasMatrices || profile.emulatesMatrices;
  if (!profile.hasInt64 && (profile.hasAtomic64 || hasMatrices))
    return std::nullopt;
  if (!profile.knowsSubgroup && hasMatrices)
    return std::nullopt;
  std::sort(features.begin(), features.end());
  for (std::string_view feature : features)
    profile.list += (profile.list.empty() ? "" : ",") + std::string(feature);
  return profile;
}

} // namespace sinter::compiler

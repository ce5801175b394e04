#include "tests/conformance/DeviceGaps.h"

using namespace sinter;

namespace {

struct Gap {
  DeviceKind device;
  conformance::Ability ability;
  const char *reason;
};

// A new backend adds its lines here; each needs a reason.
constexpr Gap gaps[] = {
    {DeviceKind::null, conformance::Ability::kernels,
     "plain reference loops compute for it, it runs no native code"},
    {DeviceKind::null, conformance::Ability::loss, "it is the process itself"},
    {DeviceKind::cpu, conformance::Ability::loss, "it is the process itself"},
};

} // namespace

std::string conformance::gap(DeviceId device, Ability ability) {
  for (const Gap &entry : gaps)
    if (entry.device == device.kind && entry.ability == ability)
      return entry.reason;
  return {};
}

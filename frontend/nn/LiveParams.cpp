/// Which Params live, by address.
#include <sinter/Param.h>

#include "frontend/Raise.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/Fork.h"

#include <cstdint>
#include <mutex>
#include <set>

namespace sinter::detail {

namespace {
struct LiveTable {
  ForkMutex mutex;
  std::set<uintptr_t> addresses;
};
} // namespace

static LiveTable &table() {
  static LiveTable *instance = new LiveTable; // outlives static Params
  return *instance;
}

static void enter(const LiveParam *param) {
  LiveTable &live = table();
  std::lock_guard lock(live.mutex);
  live.addresses.insert(reinterpret_cast<uintptr_t>(param));
}

LiveParam::LiveParam() { enter(this); }
LiveParam::LiveParam(const LiveParam &) { enter(this); }
// A move cannot fail: without memory this one is not looked for.
LiveParam::LiveParam(LiveParam &&) noexcept {
  ifPossible([this] { enter(this); });
}
LiveParam::~LiveParam() {
  LiveTable &live = table();
  std::lock_guard lock(live.mutex);
  live.addresses.erase(reinterpret_cast<uintptr_t>(this));
}

std::vector<const Param *> paramsWithin(const void *begin, size_t size) try {
  auto from = reinterpret_cast<uintptr_t>(begin);
  std::vector<const Param *> found;
  LiveTable &live = table();
  std::lock_guard lock(live.mutex);
  for (auto at = live.addresses.lower_bound(from);
       at != live.addresses.end() && *at < from + size; ++at) {
    const auto *param =
        static_cast<const Param *>(reinterpret_cast<const LiveParam *>(*at));
    if (param->defined())
      found.push_back(param);
  }
  return found;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::detail

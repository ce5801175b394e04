/// The table of recordings and the programs that they led to.
#include "frontend/KnownSteps.h"

#include "runtime/support/Fork.h"

#include <mutex>
#include <unordered_map>

namespace sinter::detail {

namespace {
struct Table {
  ForkMutex mutex;
  std::unordered_map<uint64_t, KnownStep> steps;
};
} // namespace

static Table &table() {
  static Table *instance = new Table; // outlives static tensors
  return *instance;
}

static bool isGone(const KnownStep &step) {
  return !step.isInterpreted && step.program.expired();
}

void rememberStep(std::span<const uint64_t> marks, const KnownStep &step) {
  constexpr size_t mostSteps = 1 << 14;
  Table &all = table();
  std::lock_guard lock(all.mutex);
  if (all.steps.size() + marks.size() > mostSteps) {
    std::erase_if(all.steps,
                  [](const auto &entry) { return isGone(entry.second); });
    if (all.steps.size() + marks.size() > mostSteps)
      all.steps.clear();
  }
  for (uint64_t mark : marks)
    all.steps[mark] = step;
}

std::optional<KnownStep> findStep(uint64_t mark) {
  Table &all = table();
  std::lock_guard lock(all.mutex);
  auto found = all.steps.find(mark);
  if (found == all.steps.end() || isGone(found->second))
    return std::nullopt;
  return found->second;
}

} // namespace sinter::detail

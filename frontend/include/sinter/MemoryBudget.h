/// MemoryBudget: what may still be taken of a device, and which batch fits.
#pragma once

#include <sinter/PlanStep.h>

#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sinter {

/// A batch size and what a step with it takes.
struct BatchMemory {
  int64_t batch = 0; ///< 0: none fits
  StepMemory memory;
  bool fits = false;
};

/// Sizes that `largest_batch` looks at.
struct BatchSearch {
  int64_t least = 1;
  int64_t most = 65536;
  int64_t multiple_of = 1; ///< of `least`'s and every other size
};

/// Bytes of a device's memory, as its driver (cuda, vulkan), or the machine and
/// the process's limits (cpu) say now.
struct MemoryBudget {
  static constexpr uint64_t defaultReserve = 500'000'000;

  DeviceId device;
  uint64_t total = 0;  ///< of the device, or the lowest limit that holds
  uint64_t in_use = 0; ///< of that, by whomever
  uint64_t own = 0;    ///< of that, by this process's tensors
  uint64_t free = 0; ///< what is left; what tensors left behind counts as free
  /// Kept for drivers, other processes and what nobody foresees.
  uint64_t reserve = defaultReserve;
  /// The most that allocations may take, whatever is free: limits, as
  /// SINTER_MEMORY_LIMIT.
  uint64_t limit = 0;

  /// Asks the device. Throws an Error of kind `device` where it is not there.
  static MemoryBudget
  detect(DeviceId device = default_device(), uint64_t reserve = defaultReserve,
         std::source_location where = std::source_location::current());
  static MemoryBudget
  detect(std::string_view device, uint64_t reserve = defaultReserve,
         std::source_location where = std::source_location::current());

  /// What may be allocated: what is free, but for the reserve, in the limit.
  uint64_t safe() const;
  bool fits(const StepMemory &memory) const {
    return memory.to_allocate() <= safe();
  }

  /// Plans `step(batch)`, as plan_step does, for each of some batch sizes.
  template <typename F>
  std::vector<BatchMemory> recommend(
      F &&step, std::span<const int64_t> batches,
      std::source_location where = std::source_location::current()) const {
    return planAll(plannerOf(step, where), batches);
  }
  /// The largest batch in the bounds that fits, if a larger one takes no less;
  /// with `batch` 0 and the memory of the smallest where not even that does.
  /// Plans about 2 log2(most / least) sizes; a batch axis that is `dynamic` is
  /// compiled once for all.
  template <typename F>
  BatchMemory largest_batch(
      F &&step, const BatchSearch &search = {},
      std::source_location where = std::source_location::current()) const {
    return findLargest(plannerOf(step, where), search, where);
  }

private:
  using Planner = std::function<StepMemory(int64_t batch)>;
  template <typename F>
  static Planner plannerOf(F &step, std::source_location where) {
    return [&step, where](int64_t batch) {
      return plan_step([&] { return step(batch); }, where);
    };
  }
  std::vector<BatchMemory> planAll(const Planner &plan,
                                   std::span<const int64_t> batches) const;
  BatchMemory findLargest(const Planner &plan, const BatchSearch &search,
                          std::source_location where) const;
};
/// A line for each number.
std::string to_string(const MemoryBudget &budget);
/// `512.0 MB`: millions of bytes.
std::string megabytes(uint64_t bytes);

} // namespace sinter

/// WorkTimes: what making programs ready to run takes, by kinds of work.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sinter {

/// Kinds of work before a launch.
enum class Work : uint8_t {
  opening,     ///< devices, drivers and the compiler
  planning,    ///< what a flush evaluates, its key, and looking for a program
  passes,      ///< of the compiler, up to kernels and their memory
  code,        ///< of kernels, up to the target's objects or text
  machineCode, ///< of that text, by ptxas
  loading,     ///< of programs and their images
  graphs,      ///< that a device repeats
};
inline constexpr size_t numWorks = 7;
/// `machine_code`.
std::string_view toString(Work work);

/// Milliseconds by the clock since the start or resetWork, by kind. What
/// several threads do at once for one program counts once.
using WorkMilliseconds = std::array<double, numWorks>;
WorkMilliseconds workMilliseconds();
void resetWork();

/// Counts from its construction to its end, less what the thread counts as
/// other work meanwhile.
class WorkTimer {
public:
  explicit WorkTimer(Work work);
  ~WorkTimer();
  WorkTimer(const WorkTimer &) = delete;
  WorkTimer &operator=(const WorkTimer &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  const Work work;
  WorkTimer *const outer;
  Clock::duration others{0};
  const Clock::time_point begin = Clock::now();
};

} // namespace sinter

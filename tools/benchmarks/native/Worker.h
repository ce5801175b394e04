/// Worker: one side of a comparison, as the driver of tools/bench talks to it.
///
/// The driver writes a line and waits for the answer, which is one line:
///
///   prepare KEY=VALUE...   makes the inputs and calls once
///                          -> ok first=SECONDS [compiling=SECONDS]
///                             peak=BYTES (above the process before it) |
///                             unsupported WHY | error WHY
///   run SECONDS            -> ok best=SECONDS median=SECONDS cpu=SECONDS
///                             calls=N (of a call; `cpu` is the least time of
///                             the process, without what others ran meanwhile)
///   sample COUNT           -> ok VALUE... (evenly spaced elements of the
///                          first call's result) | ok (nothing to compare)
///   memory CALLS           -> ok peak=BYTES (above what `prepare` found)
///   call COUNT             calls so often -> ok
///   steps COUNT SECONDS    at most so many calls, each waited for, and no new
///                          one after so many seconds
///                          -> ok median=SECONDS (of short calls, queued)
///                             alone=SECONDS (median) slowest=SECONDS
///                             stalls=N steps=N host=SECONDS (until a call
///                             returns) peak=BYTES [launches=N (a call)
///                             programs=N (new ones)]
///   profile                -> ok, and what took how long on stderr
///   facts                  -> ok KEY=VALUE...
///   quit
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What this side cannot do; the answer to `prepare`.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The words of a `prepare` line.
class Case {
public:
  explicit Case(std::string_view words);

  std::string text(const std::string &key, std::string fallback = "") const;
  /// An error when it is neither given nor has a fallback.
  int64_t number(const std::string &key) const;
  int64_t number(const std::string &key, int64_t fallback) const;
  std::string kind() const { return text("kind"); }

private:
  std::map<std::string, std::string> values;
};

/// A prepared case.
class Work {
public:
  virtual ~Work() = default;
  /// One call; done when it returns, or behind `wait`.
  virtual void run() = 0;
  /// Waits until a device has done what calls left to it.
  virtual void wait() {}
  /// Elements of the first call's result at evenly spaced positions; empty
  /// when the result is not what the other sides compute.
  virtual std::vector<double> sample(size_t count) = 0;
};

/// What a side has counted since it began.
struct Counters {
  uint64_t launches = 0;
  uint64_t programs = 0; ///< compiled, or loaded from the disk
  uint64_t peak = 0;     ///< bytes of the device's memory
};

/// A side: makes works, and says what it is.
struct Side {
  std::function<std::unique_ptr<Work>(const Case &)> make;
  std::function<std::string()> facts; ///< words KEY=VALUE
  std::function<void()> profile = {};
  std::function<double()> compiling = {}; ///< seconds so far
  std::function<Counters()> counters = {};
  bool queues = false; ///< whether calls leave work to a device
};

/// Answers lines of standard input until `quit` or its end. Whatever else
/// writes to standard output meanwhile goes to standard error.
int serve(const Side &side);

/// The same numbers in all workers: evenly distributed in [-scale, scale).
void fill(std::span<float> values, uint32_t seed, float scale = 1);
std::vector<float> filled(size_t count, uint32_t seed, float scale = 1);
/// Integers of the same numbers: in [-limit, limit].
std::vector<int8_t> filledBytes(size_t count, uint32_t seed, int limit);

/// Elements of `values` at evenly spaced positions: so many, or all.
template <typename T>
std::vector<double> sampleOf(std::span<const T> values, size_t count) {
  std::vector<double> found;
  count = std::min(count, values.size());
  for (size_t i = 0; i < count; ++i)
    found.push_back(
        double(values[count > 1 ? i * (values.size() - 1) / (count - 1) : 0]));
  return found;
}

} // namespace bench

/// Progress: what a long call is doing, told to whoever shows it.
#pragma once

#include <atomic>
#include <cstddef>

namespace sinter {

/// `what` is text of the program itself; `done` of `total` parts are done, and
/// with all of them the step ends. Called by any thread.
using ProgressSink = void (*)(const char *what, size_t done, size_t total);

namespace detail {
extern std::atomic<ProgressSink> progressSink;
} // namespace detail

/// Who is told from here on; null for nobody. Of the process.
void setProgressSink(ProgressSink sink);

/// Costs a load where nobody is told.
inline void showProgress(const char *what, size_t done, size_t total) {
  if (ProgressSink sink = detail::progressSink.load(std::memory_order_acquire))
      [[unlikely]]
    sink(what, done, total);
}

/// One step of so many parts, which ends with this object, also where an error
/// does.
class ProgressStep {
public:
  ProgressStep(const char *what, size_t total) : what(what), total(total) {}
  ~ProgressStep() { showProgress(what, total, total); }
  ProgressStep(const ProgressStep &) = delete;

  void at(size_t done) const { showProgress(what, done, total); }

private:
  const char *what;
  size_t total;
};

} // namespace sinter

/// Who is told of progress.
#include "runtime/support/Progress.h"

namespace sinter {

std::atomic<ProgressSink> detail::progressSink{nullptr};

void setProgressSink(ProgressSink sink) {
  detail::progressSink.store(sink, std::memory_order_release);
}

} // namespace sinter

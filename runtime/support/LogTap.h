/// LogTap: who shows messages in place of the standard error, for a while.
#pragma once

#include "sinter/runtime/Log.h"

#include <memory>

namespace sinter {

/// While it lives, messages go to `callback` in place of the default; where
/// `set_log` has been called, to both. Of several that live the newest counts,
/// and they end in the opposite order. Callbacks are called as those of
/// `setLog` are.
class LogTap {
public:
  explicit LogTap(LogCallback callback);
  ~LogTap();
  LogTap(const LogTap &) = delete;

private:
  std::shared_ptr<const LogCallback> previous;
};

} // namespace sinter

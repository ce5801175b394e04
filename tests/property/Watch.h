/// Watch: what a test is at, for the case that it stands still.
#pragma once

#include <string>

namespace sinter::property {

/// While it lives, this thread is at `what`, inside of what it was at before.
/// A thread that is at one thing for longer than SINTER_TEST_PATIENCE seconds
/// (200 unless set) ends the process: it prints what that is, what it is part
/// of, the running test and the stack of every thread.
class Watch {
public:
  explicit Watch(std::string what);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
};

} // namespace sinter::property

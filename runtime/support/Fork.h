/// Fork: what a child process knows about its parent's threads and devices.
#pragma once

#include <cstdint>

namespace sinter {

/// How many forks lie between this process and the one that loaded the library.
/// Who keeps threads or devices compares it with the number of the day that it
/// made them: in a child they do not exist.
uint32_t forkNumber();

/// Has a fork call `before` in the parent, and then `inParent` and `inChild`.
/// What is told last is called first before the fork and last after it, as
/// locks nest. Each may be null. Throws std::bad_alloc.
void aroundFork(void (*before)(), void (*inParent)(), void (*inChild)());

} // namespace sinter

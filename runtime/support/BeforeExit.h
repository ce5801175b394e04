/// Waiting for threads before a process takes apart what they use.
#pragma once

namespace sinter {

/// Has `wait` called when the process ends, once by the main thread's end and
/// once by exit(): it waits for threads that compile, and finds none the second
/// time. To be called each time that there is something to wait for.
///
/// What a compilation makes for the process is destroyed before what was told
/// to std::atexit earlier is called. What belongs to the main thread is
/// destroyed before all of that, so a call on the main thread is safe. A
/// process that compiles on other threads alone waits by std::atexit.
void waitBeforeExit(void (*wait)());

} // namespace sinter

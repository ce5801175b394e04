/// Calls of the system that fail when a test says so.
#pragma once

/// What fails from `armFailure` on, in every thread of the process.
enum class Failure {
  oneAllocation,  ///< the n-th that follows
  allAllocations, ///< the n-th and each after it
  allThreads,     ///< the n-th start of a thread and each after it
};

/// `number` counts from 1.
void armFailure(Failure failure, long number);
/// Ends it. Whether anything failed.
bool disarmFailure();

/// Allocations that were to fail since then and did not, as the C library would
/// have ended the process: it has no other way to say that there is no memory
/// for a library's thread-local data.
long fatalAllocations();

/// Allocations, and threads started, since the last `armFailure`.
long allocationsSeen();
long threadsSeen();

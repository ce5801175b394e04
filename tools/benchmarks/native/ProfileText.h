/// ProfileText: where a case's time went, beside what its device does at most.
#pragma once

namespace bench {

/// Prints what was profiled so far, kernel by kernel with its bounds, to the
/// standard error, and forgets it.
void printProfile();

} // namespace bench

/// FakeDriver: a libcuda.so.1 for machines without a GPU.
///
/// It has two devices and keeps to what the driver promises and no more: work
/// that is queued on a stream runs only when somebody waits for that one, a
/// copy reads pinned memory as late as that (other memory at once), and nodes
/// of a graph run in any order that their dependencies leave.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sinter::test {

inline constexpr int devices = 2;

/// How a node of a graph follows another one, by what they are: the name of a
/// kernel, or `copy`.
struct FakeEdge {
  std::string_view from, to;
  bool isEarly = false; ///< may start before the other ends
};

/// What the driver was asked for, and how it is to behave.
struct FakeDriver {
  uint64_t launches = 0; ///< of single kernels
  uint64_t graphs = 0;   ///< made executable
  uint64_t graphLaunches = 0;
  uint64_t nodesSet = 0;
  uint64_t copiesIn = 0;
  uint64_t copiesOut = 0;
  uint64_t waits = 0; ///< for the stream
  uint64_t liveGraphs = 0;
  uint64_t livePinned = 0;     ///< blocks
  uint64_t queued = 0;         ///< pieces of work that did not run yet
  std::vector<FakeEdge> edges; ///< of the newest graph
  /// The kernel of this name takes 200 KB of shared memory, others none.
  const char *wide = "";
  uint32_t reached = 0; ///< devices from others
  uint64_t cubins = 0;  ///< modules that were no text
  bool refusesCubins = false;
  uint64_t order = 0; ///< seeds the order of nodes
  /// The call of this name fails with "unknown" until it is empty again.
  const char *failing = "";
};

/// The one driver of the process. Not thread-safe, as its calls are.
extern "C" FakeDriver *fakeDriver();
/// Ends what `fault` began; what is queued is lost.
extern "C" void healFakeDriver();
/// Runs what is queued on streams that are not the first of their device.
extern "C" void runFakeCopies();

/// PTX for it: kernels of tests/unit/program/Kernels.c by name, of which two
/// wait by themselves for what comes before; `fault`, after
/// which every call fails; and `differences`, a user's kernel, for y of four
/// and x of three elements: out[i][j] = x[i] - y[j].
inline constexpr const char fakePtx[] =
    ".version 8.0\n.entry scale(\n) .reqntid 32 { griddepcontrol.wait; }\n"
    ".entry add(\n) { griddepcontrol.wait; }\n"
    ".entry gather(\n) { }\n.entry sum_partials(\n) { }\n"
    ".entry sum_total(\n) { }\n.entry fault(\n) { }\n"
    ".entry differences(\n) { }\n// launch differences 3 1 1 4 1 1 0 3 1 0 2\n";

} // namespace sinter::test

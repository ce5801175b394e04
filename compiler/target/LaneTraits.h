/// What a target's lanes are like, by which work is shared out among them.
#pragma once

namespace sinter::compiler {

/// Lanes are those of a vector, which a core has, or threads that run together.
/// What a skeleton does otherwise for the one and the other follows from one of
/// these.
struct LaneTraits {
  /// A device runs thousands of tasks at a time and idles with fewer, so that
  /// work is cut small; its tasks wait for memory in each other's place. Else a
  /// core has a task, and what lies near belongs in the same one.
  bool manyTasks = false;
  /// Nothing looks ahead in the code: several vectors are asked for before the
  /// first is used.
  bool inOrder = false;
  /// Each lane may well have a row or a window of its own: what they read far
  /// from each other they read at once.
  bool apart = false;
  /// Lanes change their places by shuffles of registers, else in memory that
  /// they share.
  bool shuffle = true;
  /// A lane that is left out costs nothing, wherever its address points. Else
  /// it takes long to find out that there is no memory.
  bool leaveOut = false;
  /// The code runs where the program does: what it reads outside of buffers
  /// ends the process.
  bool inProcess = true;
  /// Sums are of words of several elements wherever the target multiplies
  /// these, else where it is by the matrix unit alone.
  bool sumWords = true;
  /// How many vectors' elements of two bytes lanes read at once.
  unsigned vectorsOfShort = 2;
};

/// Of vectors of a core.
inline constexpr LaneTraits lanesOfVectors = {};

/// Of threads, which read 16 bytes at once.
inline constexpr LaneTraits lanesOfThreads = {.manyTasks = true,
                                              .inOrder = true,
                                              .apart = true,
                                              .shuffle = false,
                                              .leaveOut = true,
                                              .inProcess = false,
                                              .sumWords = false,
                                              .vectorsOfShort = 4};

} // namespace sinter::compiler

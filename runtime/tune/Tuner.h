/// Tuner: programs whose products have the tiles that are fastest on the device
/// at hand.
#pragma once

#include "runtime/program/CompilerHook.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/tune/TileTable.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace sinter::runtime {

/// A program that is to be tuned.
struct Tunable {
  /// The request, without tiles; it says the device.
  CompileRequest request;
  /// Compiles the program for such a request.
  std::function<Result<std::vector<std::byte>>(const CompileRequest &)> compile;
  /// Concrete dims of each input, by which symbols are known; without them a
  /// symbol counts as 4096, as for the cost models.
  std::vector<std::vector<int64_t>> inputs = {};
};

/// Compiles and, where its request says a device, finds the tiles of each
/// product first: those kept for the device and the product, or else the
/// fastest of a few, which are then kept. Takes two or three seconds a
/// product at most and a minute in all; products that are left when that is
/// over have the tiles they have unasked. Products are timed one by one,
/// whatever threads ask. An error when the program does not run on the device.
Result<CompileRequest> tuned(const Tunable &tunable);
Result<std::vector<std::byte>> compileTuned(const Tunable &tunable);

/// As findOrCompile, for a program that may be tuned. Choices are part of the
/// key that it is found by then, and kept for `key`.
Result<CachedProgram> findOrTune(const Key &key, Device &device,
                                 const Tunable &tunable);
/// As findCached, for a program that may be tuned: the program is null where
/// its choices are not known.
CachedProgram findTuned(const Key &key, Device &device,
                        const CompileRequest &request);

} // namespace sinter::runtime

/// Options: what loader-bench is asked for.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::bench {

struct LoaderBenchOptions {
  std::string device = "cpu";
  int64_t workers = 2;
  int64_t prefetch = 2;
  int64_t batch = 64;
  int64_t items = 10000;  ///< pictures
  int64_t batches = 1000; ///< of each measurement
  double stepMilliseconds = 2;
  /// A command that measures another loader: it is given the workers, the
  /// batch size, the items, the batches and the pictures' size, and prints
  /// images a second.
  std::string peer;
};

/// Ends the program with a text for wrong options and for --help.
LoaderBenchOptions readOptions(int count, char **arguments);

} // namespace sinter::bench

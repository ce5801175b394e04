/// Stats: what evaluation did, by the executor's own counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Counters of the process since start or `reset_stats`.
struct Stats {
  /// Flushes of one reason at one line.
  struct Flush {
    std::string reason; ///< read, print, eval, limit, reads_replaced_state
    std::string site;   ///< `file:line`
    uint64_t count = 0;
  };
  /// A program that had to be compiled or fetched from disk.
  struct Miss {
    std::string reason;    ///< what differs from the last program of that line
    std::string site;      ///< the line that made the difference
    std::string flush;     ///< the line that asked for the value
    bool compiled = false; ///< false: it came from the disk cache
  };
  /// Something recomputed or not donated, at one line.
  struct Note {
    std::string what;
    std::string site;
    uint64_t count = 0;
  };

  uint64_t launches = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t programs_run = 0;
  /// Of programs on a GPU: runs that made graphs of their launches, and runs
  /// that launched such graphs again.
  uint64_t graphs_recorded = 0;
  uint64_t graphs_replayed = 0;
  uint64_t compiles = 0;
  double compile_milliseconds = 0; ///< passes and code of these compiles
  /// What comes before launches and makes a first call long, in milliseconds by
  /// the clock; none is part of another. What is left of such a call is
  /// recording it, memory, and the launches.
  double opening_milliseconds = 0;      ///< devices, drivers, the compiler
  double planning_milliseconds = 0;     ///< what to evaluate, its key, caches
  double passes_milliseconds = 0;       ///< of the compiler, up to kernels
  double code_milliseconds = 0;         ///< generating code for kernels
  double machine_code_milliseconds = 0; ///< of PTX, by ptxas
  double loading_milliseconds = 0;      ///< of programs, by drivers, too
  double graphs_milliseconds = 0;       ///< making graphs of launches
  uint64_t memory_hits = 0;
  uint64_t disk_hits = 0;
  /// Kernels of the programs that were compiled: made, and found in the cache
  /// of kernels in memory and on disk.
  uint64_t kernels_compiled = 0;
  uint64_t kernel_memory_hits = 0;
  uint64_t kernel_disk_hits = 0;
  /// Packed parameters that were kept from an earlier run.
  uint64_t prepare_hits = 0;
  /// Of background compilation: fused programs that came, and that did not;
  /// unfused ones that were taken until then.
  uint64_t background_compiles = 0;
  uint64_t background_failures = 0;
  uint64_t unfused_answers = 0;
  uint64_t donated = 0;           ///< buffers updated in place
  uint64_t donations_refused = 0; ///< because somebody still held the old value
  uint64_t recomputed = 0;        ///< ops evaluated a second time
  uint64_t warnings = 0;          ///< such as an unusable disk cache
  std::vector<Flush> flushes;
  std::vector<Miss> misses;
  std::vector<Note> notes;
};

Stats stats();
void reset_stats();

} // namespace sinter

/// How many elements the emitter would write out for a kernel.
#pragma once

#include "compiler/fuse/FusionGraph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstdint>
#include <limits>

namespace sinter::compiler {

/// Walks from what a kernel stores to what it reads, as the emitter does. The
/// emitter writes an op once for each access by which it is asked for: an index
/// and a mask. What works element by element hands its access on; a view makes
/// another of it, pad and concat with another mask for each operand. So a value
/// that one op reads through three views is written three times, and one behind
/// three such ops 27 times, however little time that takes when it runs.
///
/// Each way through views counts as an access of its own: where two of them
/// lead to one index, the emitter writes less than is counted here. Loops that
/// a skeleton writes several times (for whole vectors, for what is left) count
/// once.
class EmissionCounter {
public:
  static constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

  /// Counts for the ops of `body`, in order, of which `outputs` are stored, and
  /// stops beyond `most`.
  EmissionCounter(const ClassifiedOps &ops, const OpSet &body,
                  const OpSet &outputs, uint64_t most = unlimited);

  /// Elements of ops and of what they read; more than `most` when it stopped.
  uint64_t total() const { return count; }
  /// Those of one op of the body.
  uint64_t of(unsigned index) const {
    auto known = accesses.find(index);
    return known == accesses.end() ? 0 : known->second.size();
  }

private:
  /// What tells index and mask of an access from others.
  struct Access {
    uint64_t index = 0;
    uint64_t mask = 0;
  };

  void findLevels(const OpSet &body);
  void startAt(const OpSet &outputs);
  void reach(mlir::Value value, Access access);
  void reachOperands(unsigned index, const Access &access);
  void reachThroughView(unsigned index, const Access &access);

  const ClassifiedOps &ops;
  /// Of the body's ops: how many reductions follow each other up to it.
  llvm::DenseMap<unsigned, unsigned> levels;
  llvm::DenseMap<unsigned, llvm::SmallVector<Access, 2>> accesses;
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> seen;
  llvm::DenseMap<mlir::Value, uint64_t> inputs; ///< and their numbers
  uint64_t count = 0;
};

/// The elements that a body may have at most, which reads `inputs` values:
/// `copies` for each op and each input, on the average.
inline uint64_t mostEmissions(const OpSet &body, size_t inputs,
                              unsigned copies) {
  return uint64_t(copies) * (body.size() + inputs);
}

} // namespace sinter::compiler

/// BlockReducer: reductions of rows whose elements stand in the registers of a
/// block's threads. Numbers pass through the memory that the threads share.
#pragma once

#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/element/Emission.h"
#include "compiler/target/BlockThreads.h"

namespace sinter::compiler {

/// One reduction along rows.
struct RowResult {
  mlir::Operation *op = nullptr;
  std::unique_ptr<Combiner> combiner;
};

class BlockReducer {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;

  /// `neighbours` in a row are a thread's; behind those of all threads it has
  /// some again, in so many steps as the row is long. `count`: reductions of a
  /// row. `inOrder`: sums take elements in the canonical order.
  BlockReducer(const BlockThreads &unit, int64_t length, int64_t threads,
               int64_t neighbours, size_t count, bool inOrder)
      : neighbours(neighbours), unit(unit), length(length), threads(threads),
        count(int64_t(count)), inOrder(inOrder) {}

  int64_t warps() const { return threads / unit.warpThreads(); }
  int64_t steps() const { return length / (threads * neighbours); }
  /// In the memory of a block, for these reductions one after the other.
  int64_t numbers(llvm::ArrayRef<RowResult> reductions) const;
  /// Begins the kernel.
  void begin(Emission &emission, llvm::ArrayRef<RowResult> reductions,
             int64_t registers);
  /// The thread's first column of a step.
  Value columnOf(Emission &emission, int64_t step) const;
  /// A reduction with the thread's vectors of all steps.
  struct Part {
    const RowResult &result;
    Values elements;
  };
  /// What the row is reduced to, known to all threads: by one reduction that is
  /// ordered, or some that are not. `first` is the number of the first one
  /// among the row's.
  llvm::SmallVector<Element>
  reduce(Emission &emission, llvm::ArrayRef<Part> parts, int64_t first) const;
  /// Of the first ones, how many are made at once: none needs another, nor an
  /// order.
  size_t countTogether(llvm::ArrayRef<RowResult> rest) const;
  void wait(Emission &emission) const {
    unit.wait(emission.builder, emission.loc);
  }
  static Value isBelow(Emission &emission, Value a, int64_t bound);
  /// Whether numbers of a reduction pass through the memory in an order.
  bool isOrdered(const RowResult &result) const {
    return inOrder && result.combiner->isOrdered();
  }

  const int64_t neighbours;
  BlockThreads::Block block; ///< after `begin`

private:
  // A number of each warp for each reduction; those of a sum's lanes; the
  // elements of a sum, or two factors of each.
  int64_t placesOfWarps() const {
    return std::max(warps(), unit.warpThreads());
  }
  int64_t resultPlace() const { return count * placesOfWarps(); }
  int64_t elementsPlace() const;

  struct Staged {
    bool multiplied = false, squared = false;
  };

  Value load(Emission &emission, Value place) const;
  Value mergeWarp(Emission &emission, const Combiner &combiner,
                  Value state) const;
  Value mergeThread(Emission &emission, const Part &part) const;
  Values mergeAll(Emission &emission, llvm::ArrayRef<Part> parts,
                  int64_t first) const;
  Staged stage(Emission &emission, const RowResult &result,
               const Values &elements) const;
  Value stagedAt(Emission &emission, const Staged &staged, Value place) const;
  Value sumLane(Emission &emission, const Combiner &combiner,
                const Staged &staged, Value lane) const;
  Value sumInOrder(Emission &emission, const RowResult &result,
                   const Values &elements, int64_t number) const;

  const BlockThreads &unit;
  const int64_t length, threads, count;
  const bool inOrder;
};

} // namespace sinter::compiler

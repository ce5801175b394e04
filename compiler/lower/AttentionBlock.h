/// AttentionBlock: the arithmetic of attention on one block of lanes, in panels
/// [row][lane] of the function's frame.
#pragma once

#include "compiler/lower/Emission.h"

namespace sinter::compiler {

/// Elements of a row of query, key or value, at most: panels of so many rows
/// stand in a function's frame.
inline constexpr int64_t longestAttentionRow = 512;

/// Sizes, a function of target and dtype only.
struct AttentionTile {
  unsigned lanes = 8;   ///< of a vector
  unsigned vectors = 2; ///< of a register tile, beside its rows
  unsigned rows = 6;
  int64_t steps = 96; ///< whose scores exist at a time
  mlir::Type accumulator;

  int64_t width() const { return int64_t(2) * vectors * lanes; }
};

AttentionTile chooseAttentionTile(const Target &target, mlir::Type element);

/// Rows of `width` lanes; some rows more than `rows` are there to be written.
struct Panel {
  mlir::Value buffer;
  int64_t rows = 0;
};

/// What is done to scores before softmax.
struct ScoreMask {
  mlir::Value added; ///< [..., t, s], or rank 0
  bool causal = false;
  bool walksKeys = false; ///< lanes are keys, steps are queries

  /// Whether nothing is added.
  bool addsNothing() const;
};

/// Per lane: the largest score, the sum of exp(score - largest), and what sums
/// so far are multiplied by after a step. All are panels of one row.
struct OnlineSoftmax {
  Panel largest, sum, rescale;
};

class AttentionBlock {
public:
  using Value = mlir::Value;

  AttentionBlock(Emission &emission, const AttentionTile &tile,
                 const ScoreMask &mask, llvm::SmallVector<Coord> batch)
      : emission(emission), tile(tile), mask(mask), batch(std::move(batch)) {}

  /// Turns to lanes [first, first + width) of `extent`.
  void begin(Value first, mlir::AffineExpr extent);

  /// The lanes' rows of a tensor [..., lanes, length] as [length][lane].
  Panel pack(Value tensor, double scale);
  /// A panel to sum in.
  Panel zeros(int64_t rows);
  OnlineSoftmax beginSoftmax();
  /// Steps [from, to) block by block: the first of a block, and their number.
  void forSteps(Value from, Value to,
                llvm::function_ref<void(Value step, Value count)> emit);

  // Of a block of steps, what is below is made and read only where lanes see
  // one of it.

  /// [step][lane]: rows step, ... of a tensor [..., steps, length] times the
  /// packed lanes. `slot` tells such panels apart.
  Panel scores(Value tensor, Value step, Value count, Panel lanes,
               unsigned slot);
  /// Scores become exp(score - largest so far).
  void advance(const OnlineSoftmax &softmax, Panel scores, Value step,
               Value count);
  /// Scores become probabilities; `changes`, where there is one, the scores'
  /// gradient: probability * (change - delta).
  void differentiate(Panel scores, Panel changes, Value logsumexp, Value delta,
                     Value step, Value count);
  /// result[c] = result[c] * rescale + sum over steps of tensor[step][c] *
  /// weights[step].
  void accumulate(Panel result, Value tensor, Value step, Value count,
                  Panel weights, Panel rescale);

  /// Stores a panel's rows as the lanes' rows of an output, times `factor`,
  /// divided by a number per lane where `divisor` is given.
  void store(Panel panel, Value tensor, unsigned buffer, double factor,
             Panel divisor);
  void storeLogsumexp(const OnlineSoftmax &softmax, Value tensor,
                      unsigned buffer);

private:
  using Values = Emission::Values;
  using ElementAt = llvm::function_ref<Value(Value row, Value depth)>;
  /// Rows of a block of steps.
  struct Range {
    Value from, to;
  };
  /// One side of a product: [row][lane], of these rows for lanes from `lane`.
  using RangeOf = llvm::function_ref<Range(Value lane)>;

  enum Slot : unsigned { scoresSlot, laneSlot = 2, sumSlot = 4, rowSlot = 6 };

  Panel panel(unsigned slot, int64_t rows);
  Value place(Value row, Value lane);
  Value load(Panel from, Value row, Value lane);
  void save(Panel to, Value row, Value lane, Value vector);
  Value read(Value tensor, llvm::ArrayRef<Coord> last, const Lanes &lanes);
  Index indexOf(llvm::ArrayRef<Coord> last);
  Value spread(Value scalar);
  /// Lanes that exist of the vector at `lane`; null for all.
  Value laneMask(Value lane);
  /// Runs for every vector of lanes of which one exists.
  void forVectors(llvm::function_ref<void(Value lane)> emit);
  /// Runs for every register tile's lanes of which one exists.
  void forGroups(llvm::function_ref<void(Value lane)> emit);
  int64_t groupLanes() const { return int64_t(tile.vectors) * tile.lanes; }
  /// The steps of a block that one of some lanes from `lane` on sees.
  Range seenByOne(Value step, Value count, Value lane, int64_t lanes);
  /// Those that every one of them sees.
  Range seenByAll(Value step, Value count, Value lane, int64_t lanes);
  /// Those whose scores exist for a register tile's lanes, of which `lane` is
  /// one.
  Range scored(Value step, Value count, Value lane);
  /// Runs for these in order; `hides` for those that some lane of a vector
  /// does not see.
  void forScored(Value step, Value count, Value lane,
                 llvm::function_ref<void(Range range, bool hides)> emit);
  void product(Panel result, RangeOf rowsOf, RangeOf depthOf, Panel right,
               ElementAt left, bool adds, Panel rescale);
  void productTile(Panel result, Value row, unsigned rows, Value lane,
                   Range depth, Panel right, ElementAt left, bool adds,
                   Panel rescale, Value lastRow);
  Value masked(Value score, Value step, Value lane, bool hides);
  Value maskAndCompare(Panel scores, Value step, Value count, Value lane,
                       Value before);
  Value larger(Value a, Value b);
  Value exponential(Value x);
  Value unlessInfinite(Value largest);
  Value isMinusInfinity(Value x);
  Values transposed(Values rows);
  Value perLane(Value tensor, bool isLane, Value step, Value lane);

  Emission &emission;
  AttentionTile tile;
  ScoreMask mask;
  llvm::SmallVector<Coord> batch;
  Value first, valid, last;
  bool isWhole = false; ///< every lane of every block exists
  unsigned packed = 0, summed = 0;
};

} // namespace sinter::compiler

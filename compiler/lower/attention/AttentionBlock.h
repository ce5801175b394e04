/// AttentionBlock: the arithmetic of attention on one block of lanes, in panels
/// [row][lane] of the function's frame.
#pragma once

#include "compiler/lower/element/Emission.h"
#include "compiler/target/AttentionUnit.h"

namespace sinter::compiler {

/// Sizes, a function of target and dtype only.
struct AttentionTile {
  unsigned lanes = 8;   ///< of a vector
  unsigned vectors = 2; ///< of a register tile, beside its rows
  unsigned rows = 6;
  int64_t steps = 96; ///< whose scores exist at a time
  mlir::Type accumulator;

  int64_t width() const { return int64_t(2) * vectors * lanes; }
  /// Elements of a panel of so many rows, and of a row of steps.
  int64_t panelElements(int64_t rows) const;
  int64_t pitch(int64_t length) const;
};

/// What stands in a block's frame beside the panels of softmax.
struct AttentionFrame {
  llvm::SmallVector<int64_t> panels; ///< rows of each, but of those of scores
  llvm::SmallVector<int64_t> steps;  ///< lengths of a step's rows
  int64_t scores = 1;                ///< panels of them
};

/// Where threads share a frame, the widest tile whose frame fits, or else the
/// narrowest.
AttentionTile chooseAttentionTile(const Target &target, mlir::Type element,
                                  const AttentionFrame &frame);

/// Rows of `width` lanes; some rows more than `rows` are there to be written.
struct Panel {
  mlir::Value buffer;
  int64_t rows = 0;
  bool isUnset = false; ///< the first products are set, not added
};

/// The rows of a block of steps of a tensor [..., steps, length].
struct StepRows {
  mlir::Value tensor;
  mlir::Value copy;  ///< null where they are read as they lie
  int64_t pitch = 0; ///< from a row of the copy to the next one
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
  /// A panel to sum what the steps [from, to) give.
  Panel sum(int64_t rows, Value from, Value to);
  OnlineSoftmax beginSoftmax();
  /// Steps [from, to) block by block: the first of a block, and their number.
  void forSteps(Value from, Value to,
                llvm::function_ref<void(Value step, Value count)> emit);

  /// Makes the rows of a block of steps ready for products. `slot` tells such
  /// operands apart.
  StepRows rowsOf(Value tensor, Value step, Value count, unsigned slot);

  // Of a block of steps, what is below is made and read only where lanes see
  // one of it.

  /// [step][lane]: rows times the packed lanes. `slot` tells such panels apart.
  Panel scores(const StepRows &rows, Value step, Value count, Panel lanes,
               unsigned slot);
  /// Scores become exp(score - largest so far).
  void advance(const OnlineSoftmax &softmax, Panel scores, Value step,
               Value count);
  /// After all steps: the sum of a lane that sees none of them counts as 1, so
  /// that what it weighs stays 0.
  void finishSoftmax(const OnlineSoftmax &softmax);
  /// Scores become probabilities; `changes`, where there is one, the scores'
  /// gradient: probability * (change - delta).
  void differentiate(Panel scores, Panel changes, Value logsumexp, Value delta,
                     Value step, Value count);
  /// result[c] = result[c] * rescale + sum over steps of rows[step][c] *
  /// weights[step].
  void accumulate(Panel result, const StepRows &rows, Value step, Value count,
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

  enum Slot : unsigned {
    scoresSlot,
    laneSlot = 2,
    sumSlot = 4,
    rowSlot = 6,
    stepSlot = 10
  };

  /// A buffer of the function's frame.
  Value frame(unsigned slot, int64_t elements);
  Panel panel(unsigned slot, int64_t rows);
  Value place(Value row, Value lane);
  Value load(Panel from, Value row, Value lane);
  void save(Panel to, Value row, Value lane, Value vector);
  Value read(Value tensor, llvm::ArrayRef<Coord> last, const Lanes &lanes);
  /// Whether a tensor's rows are read best from where they lie.
  bool liesWell(Value tensor);
  /// The element of a row of a block of steps, the first of which is `step`.
  Value elementOfStep(const StepRows &rows, Value step, Value row,
                      Value column);
  Index indexOf(llvm::ArrayRef<Coord> last);
  Value spread(Value scalar);
  /// Lanes that exist of the vector at `lane`; null for all.
  Value laneMask(Value lane);
  /// Runs for every vector of lanes of which one exists.
  void forVectors(llvm::function_ref<void(Value lane)> emit);
  /// Runs for every register tile's lanes of which one exists.
  void forGroups(llvm::function_ref<void(Value lane)> emit);
  int64_t groupLanes() const { return int64_t(tile.vectors) * tile.lanes; }
  /// The steps of a block that one of some queries, or keys, from `position` on
  /// sees.
  Range seenByOne(Value step, Value count, Value position, int64_t lanes);
  /// Those that every one of a vector's lanes sees.
  Range seenByAll(Value step, Value count, Value lane);
  /// Those whose scores exist for the granule that `lane` is in.
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

/// WarpgroupAttention: kernels of attention whose blocks are warpgroups.
///
/// The first warpgroup copies the rows of a tile, and then steps into two
/// rings; each of the others has 64 rows. Scores and what is made of them stay
/// in registers, from where they are multiplied again.
#pragma once

#include "compiler/target/AttentionUnit.h"
#include "compiler/target/cuda/WarpgroupBlock.h"
#include "compiler/target/cuda/WarpgroupLayout.h"
#include "compiler/target/cuda/WarpgroupProduct.h"

namespace sinter::compiler {

/// How such a block shares its memory: a function of the attention.
struct AttentionLayout {
  static constexpr int64_t consumers = 2;
  static constexpr int64_t lineBytes = 128; ///< 64 elements

  AttentionLayout(const AttentionUnit::Attention &attention,
                  const MachineModel &machine);

  int64_t rows, steps;               ///< of a tile, of a stage
  int64_t boxes, valueBoxes;         ///< of 64 columns
  int64_t rowsBytes;                 ///< of the rows of a tile
  int64_t scoresBytes, changesBytes; ///< of a stage
  int64_t stages;
  int64_t boxesOut; ///< slots for results of a warpgroup

  int64_t scoresAt() const { return rowsBytes; }
  int64_t changesAt() const { return scoresAt() + stages * scoresBytes; }
  int64_t boxesAt() const { return changesAt() + stages * changesBytes; }
  int64_t barriersAt() const;
  int64_t bytes() const { return barriersAt() + 16 * (1 + 2 * stages); }
};

class WarpgroupAttention final : private WarpgroupBlock {
public:
  using Attention = AttentionUnit::Attention;
  using Client = AttentionUnit::Client;
  using Place = AttentionUnit::Place;

  WarpgroupAttention(mlir::OpBuilder &builder, mlir::Location loc,
                     const KernelEntry &entry, const Attention &attention,
                     const MachineModel &machine, Client &client);
  void run();

private:
  /// A matrix in boxes of so many rows.
  struct Operand {
    const BlockUnit::Matrix *matrix = nullptr;
    Value map;
    int64_t boxes = 0, rows = 0;
  };
  /// The stages [from, to) that a tile walks (i32).
  struct Range {
    Value from, to;
  };
  /// Of the thread's two rows, or of the columns that it has.
  struct Numbers {
    Values logsumexps; ///< * -log2(e)
    Values deltas;
  };
  /// Of the thread's two rows: the largest score, and the sum of weights of the
  /// thread's columns.
  struct Softmax {
    Value largest[2], sum[2];
  };

  Operand declare(const BlockUnit::Matrix &matrix, int64_t boxes, int64_t rows);
  void produce() override;
  void copy(const Operand &operand, const Place &place, Value row, Value to,
            Value full);
  void consume() override;
  Range stagesOf(const Place &place);

  struct Output;
  struct Sums;

  // Both give the turns behind what they took.
  Values makeOutput(const Place &place, const Values &turns);
  Output beginOutput(const Place &place, Value stage, const Values &turns);
  Output nextOutput(const Place &place, Value stage, Output output);
  Values addValues(const Output &output);
  Values makeGradients(const Place &place, const Values &turns);
  Sums addStage(const Place &place, Value stage, const Numbers &numbers,
                Sums sums);
  std::pair<Values, Values>
  weighChanges(const Numbers &numbers, const Values &sums, const Values &grads);
  Numbers numbersOf(const Place &place, Value query);
  /// Scores by which weights are told: as they are, for `factor` to bring to
  /// powers of 2, or, with a mask, so already.
  Values addMask(const Place &place, Value stage, const Values &scores);
  double factor() const;
  Values hideSteps(const Place &place, Value stage, const Values &scores);
  Values hideWhereNeeded(const Place &place, Value stage, const Values &scores);
  Value mayHide(const Place &place, Value stage);
  Values weigh(Softmax &softmax, const Values &scores, Value (&rescale)[2],
               bool isFirstStage);
  Values wordsOf(const Values &numbers);
  void storeLogsumexp(const Place &place, const Softmax &softmax);
  void storeSum(const Place &place, const AttentionUnit::Sum &sum, Value map,
                int64_t firstSlot, int64_t boxes, const Values &numbers);

  /// The warpgroup's first row (i32).
  Value firstRow(const Place &place);
  /// The first step of a stage that the thread has (i32).
  Value firstStep(Value stage);
  /// The address of its rows.
  Value rowsAt() {
    return ptx.add(memory,
                   ptx.mul(consumer, int32_t(WarpgroupLayout::boxBytes)));
  }
  /// Sums of a thread: two of the upper row, two of the lower one, and so on.
  static unsigned rowOf(size_t sum) { return sum / 2 % 2; }

  Value real(double value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value isNumber(Value x, double number);
  Value baseOf(Value largest);
  Value larger(Value a, Value b);
  /// Over the thread's columns of one of its rows.
  Value joined(const Values &numbers, unsigned row,
               llvm::function_ref<Value(Value, Value)> join);
  /// Over the four threads that share rows.
  Value ofRow(Value value, llvm::function_ref<Value(Value, Value)> join);
  Values zeros(int64_t count);
  Turn turn(mlir::ValueRange turns, unsigned first) const {
    return {turns[first], turns[first + 1]};
  }

  const Attention &attention;
  const AttentionLayout layout;
  Client &client;
  const Ring rowsRing, scoresRing, changesRing;
  const WarpgroupProduct scores, changes, ofWeights, ofChanges;
  Operand rowsOfScores, stepsOfScores, rowsOfChanges, stepsOfChanges;
  Value weightsMap, changesMap;
};

/// Attention by Hopper's tensor cores (compute capability 9.0, sm_90a): of bf16
/// or f16, of keys and values of at most 128 elements.
std::unique_ptr<const AttentionUnit>
makeWarpgroupAttentionUnit(const MachineModel &machine);

} // namespace sinter::compiler

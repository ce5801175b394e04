/// FmaAttention: kernels of attention whose blocks multiply by multiply-add.
///
/// A block has the rows of a tile in shared memory, and brings steps there,
/// stage by stage. A thread sums the scores of some rows and steps, and makes
/// weights of them, which it gives to the others: it sums what the weights of
/// the same rows make of some columns.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/simt/Numbers.h"
#include "compiler/target/simt/attention/FmaAttentionLayout.h"
#include "compiler/target/simt/attention/FmaAttentionUnit.h"

namespace sinter::compiler {

class FmaAttention {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using Attention = AttentionUnit::Attention;
  using Client = AttentionUnit::Client;

  FmaAttention(mlir::OpBuilder &builder, mlir::Location loc,
               const KernelEntry &entry, const Attention &attention,
               const FmaAttentionLayout &layout,
               const FmaAttentionDevice &device, Client &client);
  void run();

  /// Sums of results that a thread has.
  static int64_t sumsOf(const Attention &attention,
                        const FmaAttentionLayout &layout);

private:
  using Place = AttentionUnit::Place;
  using Operand = AttentionUnit::Operand;
  using Result = AttentionUnit::Result;
  using Panel = FmaAttentionMemory::Panel;
  /// Of steps (index).
  struct Range {
    Value from, to;
  };
  /// Of a thread's rows: the largest score, and the sum of weights of the
  /// thread's steps.
  struct Softmax {
    Values largest, sum;
  };
  /// Of queries: a thread's rows, or its steps.
  struct QueryNumbers {
    Values logsumexps, deltas;
  };

  void begin();
  void makeOutput(const Place &place);
  void makeGradients(const Place &place);

  // ---- copying
  /// A part of a panel: its line (i32), and its group of columns.
  struct Piece {
    Value line, group;
  };
  Piece pieceOf(const Panel &panel, int64_t load) const;
  /// What the thread brings of lines from `first` (index) on.
  Values loadPanel(Operand which, const Place &place, Value first);
  Value loadPart(Operand which, const Place &place, Value line, Value column,
                 Value exists);
  void storePanel(Operand which, mlir::ValueRange values);
  void bring(llvm::ArrayRef<Operand> operands, const Place &place, Value first);

  // ---- products
  /// [row][step] of the thread: rows * steps^T.
  Values multiply(Operand rows, Operand steps);
  Values addGroup(Value rowsAt, Value stepsAt, const Panel &rows,
                  const Panel &steps, int64_t group, mlir::ValueRange sums);
  /// Adds weights * columns, of a stage's steps `range`, to sums.
  Values accumulate(const Panel &weights, Operand columns, Range range,
                    mlir::ValueRange sums);
  Values addSteps(Value weightsAt, const Panel &weights,
                  mlir::ValueRange columnsAt, const Panel &columns,
                  int64_t first, mlir::ValueRange sums);
  void giveWeights(const Panel &panel, mlir::ValueRange weights);

  // ---- scores
  /// With scale and mask; of a step that is hidden -infinity.
  Values masked(const Place &place, Value first, mlir::ValueRange scores);
  /// 0 in place of what steps have that do not exist.
  Values existing(const Place &place, Value first, mlir::ValueRange numbers);
  /// Whether there is the thread's step of that number (i1).
  Value isStep(const Place &place, Value first, int64_t step);
  Values weigh(Softmax &softmax, mlir::ValueRange scores, Values &rescales);
  /// What all threads of the thread's rows have, in order, by rows.
  llvm::SmallVector<Values> gathered(mlir::ValueRange numbers);
  void finishSoftmax(const Place &place, Softmax &softmax);
  QueryNumbers numbersOf(const Place &place, Value first);

  // ---- where the thread is
  /// Stages' first steps (index) that some row of the tile sees.
  Range stepsOf(const Place &place);
  /// The steps of a stage that the thread's granule sees.
  Range seenOf(const Place &place, Value first);
  /// The number of one of the thread's rows, or steps, behind the first.
  int64_t rowAt(int64_t number) const { return number * layout.downGranule(); }
  int64_t stepAt(int64_t number) const { return number * layout.across(); }
  Value lineAt(const Panel &panel, Value line) const;
  void store(Result which, const Place &place, const Panel &panel,
             int64_t columns, mlir::ValueRange sums, mlir::ValueRange factors);
  int64_t sumsOf(const Panel &panel) const;
  bool endsInside(mlir::AffineExpr extent, int64_t size) const;

  // ---- arithmetic
  Value index(int64_t value) const;
  Value add(Value a, Value b) const;
  Value sub(Value a, Value b) const;
  Value real(double value) const;
  Value fma(Value a, Value b, Value sum) const;
  Value times(Value a, Value b) const;
  Value larger(Value a, Value b) const;
  Value select(Value condition, Value a, Value b) const;
  Value equals(Value a, double b) const;
  Value exponential(Value x) const;
  Value unlessInfinite(Value largest) const;
  Values elementsOf(Value vector) const;
  Values loop(Value from, Value to, int64_t step, mlir::ValueRange inits,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const Numbers numbers;
  const KernelEntry &entry;
  const Attention &attention;
  const FmaAttentionLayout &layout;
  const FmaAttentionMemory memory;
  const BlockThreads &threads;
  const int64_t allRegisters;
  Client &client;

  BlockThreads::Panels block;
  Value row, step; ///< the thread's first ones (i32)
  Value granule;   ///< the first row of its granule in the tile (i32)
};

} // namespace sinter::compiler

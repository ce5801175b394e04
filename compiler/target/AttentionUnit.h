/// AttentionUnit: the leaf of attention that a block of threads makes together.
#pragma once

#include "compiler/target/Target.h"

#include <array>

namespace sinter::compiler {

/// Queries, or keys, from a multiple of this on walk the same steps where
/// attention is causal, but on tensor cores: on every target, for a hidden
/// step's infinity is seen.
inline constexpr int64_t causalGranule = 32;

/// Attention and its gradients by tiles of rows, queries or keys, each of which
/// walks the others in steps. Scores are row * step^T, and changes, of which
/// gradients are made, grad * value^T. Scores become weights, exp(score -
/// logsumexp), where an output is made relative to the largest so far; results
/// are sums over steps, of weights and of weights * (change - delta).
class AttentionUnit {
public:
  using Value = mlir::Value;
  using Matrix = BlockUnit::Matrix;

  virtual ~AttentionUnit() = default;

  /// Of scores: query and key, or key and query. Of changes: grad and value, or
  /// value and grad; without gradients there are no rows, and steps are values.
  enum Operand : unsigned {
    rowsOfScores,
    stepsOfScores,
    rowsOfChanges,
    stepsOfChanges
  };
  static constexpr unsigned numOperands = 4;

  /// A sum over steps, as what it is times `factor` lies in memory.
  struct Sum {
    Matrix matrix;
    double factor = 1;
  };

  struct Attention {
    mlir::Type element;
    bool walksKeys = false; ///< rows are keys, steps are queries
    bool isCausal = false;  ///< query i sees the keys up to i
    bool isGradient = false;
    bool isMasked = false; ///< something is added to scores * scale
    bool storesLogsumexp = false;
    /// Tiles walk a part of the steps each, and give what they have as it is.
    bool isPart = false;
    double scale = 1;
    int64_t length = 0, valueLength = 0; ///< of a key, of a value
    mlir::AffineExpr rows, steps;        ///< how many there are
    /// Whether operands and results are where matrices say.
    bool isPlain = false;
    std::array<Matrix, numOperands> operands;
    /// From each multiple of it on, so many elements of a row of an operand are
    /// read at once.
    std::array<int64_t, numOperands> together = {1, 1, 1, 1};
    /// Of changes * stepsOfScores, and of weights * stepsOfChanges.
    std::optional<Sum> ofChanges, ofWeights;
  };

  /// How attention is cut.
  struct Tile {
    int64_t rows = 0;
    /// Of the launch for each tile: the warps of a block that has one tile, or
    /// 1 where blocks take one tile after another.
    int64_t chunks = 1;
  };

  /// Of a tile: its first row, how many rows and steps there are, and where it
  /// is along the axes of batches (all index). Of a part: its first step, and
  /// the one behind it.
  struct Place {
    Value row, rows, firstStep, steps;
    llvm::SmallVector<Value> batch;
  };

  /// A number of each query.
  enum class PerQuery { logsumexp, delta };
  /// What is summed over steps.
  enum class Result { ofChanges, ofWeights };

  /// What a unit asks of who emits attention. The builder is at the end of a
  /// block when it asks.
  class Client {
  public:
    virtual ~Client() = default;
    /// Emits what is known of tile number `tile` (index), and `body` behind it.
    virtual void inTile(Value tile,
                        llvm::function_ref<void(const Place &)> body) = 0;
    /// f32 of `count` queries from `query` (index) on; of the last ones where
    /// there are no so many.
    virtual llvm::SmallVector<Value> read(PerQuery which, const Place &place,
                                          Value query, unsigned count) = 0;
    /// What is added to the scores of a row and `count` steps, one or two, from
    /// `step` (index) on, in f32; any number where there is no such row or
    /// step.
    virtual llvm::SmallVector<Value> readMask(const Place &place, Value row,
                                              Value step, unsigned count) = 0;
    /// Elements of a row of an operand, which has them: a vector of `count`
    /// neighbours from `column` on, or a scalar (index).
    virtual Value readOperand(Operand which, const Place &place, Value row,
                              Value column, unsigned count) = 0;
    /// Stores f32, a scalar or neighbours, of a row of a result from `column`
    /// on (index) where `condition` (i1) holds and there is such a row.
    virtual void store(Result which, const Place &place, Value row,
                       Value column, Value numbers, Value condition) = 0;
    /// Stores the logsumexp of a query where `condition` (i1) holds and there
    /// is such a query.
    virtual void storeLogsumexp(const Place &place, Value query, Value number,
                                Value condition) = 0;
    /// The same of a part: the largest score, and the sum of weights beside it.
    virtual void storeSoftmax(const Place &place, Value query, Value largest,
                              Value sum, Value condition) = 0;
  };

  /// Nothing where it is none for this unit: a function of types, shapes and
  /// strides.
  virtual std::optional<Tile> tileFor(const Attention &attention) const = 0;
  /// Emits a kernel whose blocks take one tile after another. The builder is in
  /// the body of a function that `beginKernel` has begun.
  virtual void emit(mlir::OpBuilder &builder, mlir::Location loc,
                    const KernelEntry &entry, const Attention &attention,
                    Client &client) const = 0;
};

} // namespace sinter::compiler

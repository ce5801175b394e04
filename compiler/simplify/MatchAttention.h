/// What attention looks like in primitive ops.
#pragma once

#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace sinter::compiler {

/// What something is multiplied by: a number, and tensors of one element that
/// are known when the program runs.
struct Scaling {
  struct Scalar {
    mlir::Value value; ///< of rank 0
    bool divides = false;
  };
  double number = 1;
  llvm::SmallVector<Scalar, 1> scalars;
};

/// Scores as raised attention computes them:
/// query * keyTransposed * scale + added, where `condition` holds (or, when
/// `inverted`, does not), else -inf.
struct ScoreMatch {
  ir::ContractionOpInterface product;
  mlir::Value query, keyTransposed;
  Scaling scale;
  mlir::Value added, condition;
  bool inverted = false;
  bool causal = false;
  /// Holds for rows of which all scores are -inf; their probabilities are 0
  /// then, as attention's are. Null where nothing is said of such rows: theirs
  /// are NaN.
  mlir::Value hidden;
};

/// A softmax of scores along their last axis.
struct SoftmaxMatch {
  ScoreMatch scores;
  mlir::Operation *quotient = nullptr;
  /// The quotients, as they are and in other dtypes.
  llvm::SmallVector<mlir::Value> quotients;
  /// The probabilities: these, but for hidden rows.
  llvm::SmallVector<mlir::Value> probabilities;
};

/// grad * value^T - delta, times the probabilities.
struct ScoreGradientMatch {
  mlir::Value grad, valueTransposed;
};

/// A product of two matrices that reads probabilities or what becomes of their
/// gradient, in the form of attention's.
struct ProductMatch {
  enum Kind { result, query, key, value } kind = result;
  ir::ContractionOpInterface op;
  Scaling factor;
  ScoreGradientMatch change; ///< of `query` and `key`
};

/// The softmax that the division ends, if it is one of attention's scores.
std::optional<SoftmaxMatch> matchSoftmax(ir::DivOp quotient);
/// The products that attention makes of it.
llvm::SmallVector<ProductMatch> matchProducts(const SoftmaxMatch &softmax);

/// The number that every element of `value` is, where constants say it.
std::optional<double> numberOf(mlir::Value value);

} // namespace sinter::compiler

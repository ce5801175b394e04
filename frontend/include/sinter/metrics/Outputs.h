/// Outputs: what a step of a training gives, and what metrics take of it.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::metrics {

//===- What metrics take --------------------------------------------------===//

/// Scores of classes or labels, and what is true. Shapes by the metric's task:
/// multiclass  scores [n, classes, space...], targets integers [n, space...];
///             or predicted classes, integers of the targets' shape
/// multilabel  both [n, labels, space...]
/// binary      both of one shape; scores may have one more axis of size 1
/// Scores are floats; of binary and multilabel tasks integers or bool, too,
/// which are predictions then. Targets are integers or bool, or floats of whole
/// numbers.
struct ClassInput {
  Tensor scores;
  Tensor targets;
  Tensor mask = {}; ///< where not 0, a target counts; empty: all do
};

/// Numbers of one shape.
struct NumberInput {
  Tensor predictions;
  Tensor targets;
  Tensor mask = {}; ///< as that of ClassInput
};

/// A loss: of each item, or the mean of `items`.
struct LossInput {
  Tensor loss;
  Tensor items = {}; ///< how many items the mean is of; empty: 1, or the
                     ///< elements of a loss of each item
};

/// How many elements of `targets` count, as a tensor: those where `mask` is
/// not 0, or all if it is empty. Follows a symbolic batch axis.
Tensor count_items(const Tensor &targets, const Tensor &mask = {});

//===- What steps give ----------------------------------------------------===//

/// A classification into one of several classes.
struct ClassificationOutput {
  Tensor loss;      ///< the mean, or of each item
  Tensor logits;    ///< [n, classes, space...], unnormalized
  Tensor targets;   ///< integers [n, space...]
  Tensor mask = {}; ///< of the targets' shape: 0 where padding stands

  operator ClassInput() const { return {logits, targets, mask}; }
  operator LossInput() const;
};

/// Several labels for each item, each there or not.
struct MultiLabelOutput {
  Tensor loss;
  Tensor logits;  ///< [n, labels]
  Tensor targets; ///< [n, labels], of 0 and 1
  Tensor mask = {};

  operator ClassInput() const { return {logits, targets, mask}; }
  operator LossInput() const;
};

/// Numbers.
struct RegressionOutput {
  Tensor loss;
  Tensor predictions;
  Tensor targets; ///< of the predictions' shape
  Tensor mask = {};

  operator NumberInput() const { return {predictions, targets, mask}; }
  operator LossInput() const;
};

} // namespace sinter::metrics

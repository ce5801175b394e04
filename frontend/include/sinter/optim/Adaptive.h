/// RMSprop, Adagrad, Adadelta and Rprop: a rate of its own for each element.
#pragma once

#include <sinter/optim/Optimizer.h>

namespace sinter::optim {

struct RMSpropOptions {
  double lr = 0.01;
  double alpha = 0.99; ///< how much of the mean of squares is kept
  double eps = 1e-8;
  double weight_decay = 0; ///< added to the gradient, times the parameter
  double momentum = 0;
  bool centered = false; ///< scales by the deviation, not by the mean square
  bool maximize = false;
};

/// Steps divided by the root of a running mean of squares, as PyTorch's.
class RMSprop : public Optimizer {
public:
  explicit RMSprop(const RMSpropOptions &options = {},
                   Where where = Where::current());

protected:
  Tensor record(Update &update) override;

private:
  RMSpropOptions options;
};

struct AdagradOptions {
  double lr = 0.01;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
};

/// Steps divided by the root of the sum of all squares, as PyTorch's.
class Adagrad : public Optimizer {
public:
  explicit Adagrad(const AdagradOptions &options = {},
                   Where where = Where::current());

protected:
  Tensor record(Update &update) override;

private:
  AdagradOptions options;
};

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9; ///< how much of both means is kept
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
};

/// Steps of the size that the last ones had, as PyTorch's.
class Adadelta : public Optimizer {
public:
  explicit Adadelta(const AdadeltaOptions &options = {},
                    Where where = Where::current());

protected:
  Tensor record(Update &update) override;

private:
  AdadeltaOptions options;
};

struct RpropOptions {
  double lr = 0.01; ///< the first step
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  double min_step = 1e-6;
  double max_step = 50;
  bool maximize = false;
};

/// Steps that grow while the gradient's sign stays and shrink when it turns,
/// as PyTorch's. Changing the learning rate has no effect.
class Rprop : public Optimizer {
public:
  explicit Rprop(const RpropOptions &options = {},
                 Where where = Where::current());

protected:
  bool takesGroups() const override { return false; }
  Tensor record(Update &update) override;

private:
  RpropOptions options;
};

} // namespace sinter::optim

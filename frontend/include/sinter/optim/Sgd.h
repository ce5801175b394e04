/// Sgd: gradient descent with momentum and weight decay.
#pragma once

#include <sinter/optim/Optimizer.h>

namespace sinter::optim {

struct SgdOptions {
  double lr = 0.01;
  double momentum = 0;
  double weight_decay = 0; ///< added to the gradient, times the parameter
  bool nesterov = false;
  double dampening = 0; ///< of the gradient in the momentum, but the first one
  bool maximize = false;
};

/// p -= lr * v with v = momentum * v + (1 - dampening) * g, as PyTorch's SGD.
class Sgd : public Optimizer {
public:
  explicit Sgd(const SgdOptions &options = {}, Where where = Where::current());

protected:
  Tensor record(Update &update) override;

private:
  StepNumber dampened(const Update &update);

  SgdOptions options;
};

} // namespace sinter::optim

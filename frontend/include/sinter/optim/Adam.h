/// Adam: steps scaled by running means of the gradient and of its square.
#pragma once

#include <sinter/optim/Optimizer.h>

namespace sinter::optim {

struct AdamOptions {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0; ///< added to the gradient, times the parameter
};

/// Kingma and Ba's Adam with bias correction, as PyTorch's. Every number is an
/// argument of the program; bias corrections are computed on the host.
class Adam : public Optimizer {
public:
  explicit Adam(const AdamOptions &options = {});

protected:
  Tensor record(Update &update) override;

private:
  AdamOptions options;
};

} // namespace sinter::optim

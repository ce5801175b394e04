/// Dropout: zeros in training, nothing in use.
#pragma once

#include <sinter/BasicOps.h>
#include <sinter/Module.h>
#include <sinter/Random.h>

namespace sinter::nn {

/// While in training, `dropout(x, p)` with the thread's default generator.
class Dropout {
public:
  Dropout() = default;
  explicit Dropout(double p) : p(p) {}

  Tensor forward(const Tensor &x) const {
    return mode.training ? dropout(x, p) : x;
  }

  double p = 0.5;
  Mode mode;

  SINTER_MODULE(Dropout, p, mode)
};

} // namespace sinter::nn

/// Dropout: zeros in training, nothing in use.
#pragma once

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Module.h>
#include <sinter/Random.h>

#include <source_location>

namespace sinter::nn {

/// While in training, `dropout(x, p)` with the thread's default generator.
/// `p` is in [0, 1].
class Dropout {
public:
  using Where = std::source_location;

  Dropout() = default;
  explicit Dropout(double p, Where where = Where::current()) : p(p) {
    detail::Arguments("dropout", where).within("p", p, 0, 1);
  }

  Tensor forward(const Tensor &x) const {
    return mode.training ? dropout(x, p) : x;
  }

  double p = 0.5;
  Mode mode;

  SINTER_MODULE(Dropout, p, mode)
};

} // namespace sinter::nn

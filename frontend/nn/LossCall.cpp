/// What losses share.
#include "frontend/nn/LossCall.h"

#include <sinter/BasicOps.h>

namespace sinter::detail {

Tensor LossCall::reduced(const Tensor &losses, Reduction reduction) const {
  switch (reduction) {
  case Reduction::none:
    return done(losses);
  case Reduction::mean:
    return done(mean(losses));
  case Reduction::sum:
    return done(sum(losses));
  case Reduction::batchmean:
    break;
  }
  fail("this loss has no batchmean");
}

} // namespace sinter::detail

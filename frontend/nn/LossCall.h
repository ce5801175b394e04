/// LossCall: what losses share.
#pragma once

#include "frontend/nn/ComposedCall.h"

#include <sinter/nn/Losses.h>

namespace sinter::detail {

/// One call of a loss.
class LossCall : public SummingCall {
public:
  using SummingCall::SummingCall;

  /// The result: the losses by themselves, their sum or their mean.
  Tensor reduced(const Tensor &losses, Reduction reduction) const;
};

} // namespace sinter::detail

/// FitTensor: whether a tensor of a file can be one of a module, and how.
#pragma once

#include "frontend/weights/ReadTensor.h"
#include "frontend/weights/Slots.h"

#include <sinter/Weights.h>

#include <source_location>
#include <string>

namespace sinter::detail {

struct Fit {
  TensorForm form;
  std::string why; ///< why it does not fit; empty where it does
  bool isConverted = false;
};

/// What of `options` says how tensors become others; an Error of `call` where
/// `axes` gives no order of axes.
Fit fitTensor(const Slot &slot, const WeightInfo &tensor,
              const LoadStateOptions &options, const char *call,
              std::source_location where);

/// As printed: `f32[4,8]`, or `Q4_1[4,256]`.
std::string typeText(const WeightInfo &tensor);

} // namespace sinter::detail

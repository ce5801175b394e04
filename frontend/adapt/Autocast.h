/// Autocast: which dtype an op's operands have while a thread asks for few
/// bits.
#pragma once

#include "sinter/runtime/DType.h"
#include "sinter/runtime/OpId.h"

#include <cstdint>
#include <optional>

namespace sinter::detail {

/// In how many bits an op computes under autocast; stands in its record.
enum class Precision : uint8_t {
  low,  ///< a product: in few
  full, ///< it adds up elements: f16 and bf16 in f32
  any,  ///< in its operands'
};
Precision precisionOf(graph::OpId op);

/// What this thread has products in, if it does.
std::optional<DType> autocastDType();
/// Sets that, and gives what was set before.
std::optional<DType> setAutocast(std::optional<DType> dtype);

/// What operands of `dtype` are brought to; `dtype` itself without autocast.
DType autocastTo(graph::OpId op, DType dtype);

} // namespace sinter::detail

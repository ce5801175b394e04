/// Autocast: which dtype an op's operands have while a thread asks for few
/// bits.
#include "frontend/adapt/Autocast.h"

#include "frontend/Raise.h"
#include "runtime/support/ThreadOwner.h"

#include <sinter/train/MixedPrecision.h>

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace sinter {

namespace detail {

static constexpr Precision precisions[] = {
#include "sinter/generated/Precisions.inc"
};

Precision precisionOf(graph::OpId op) {
  size_t row = static_cast<size_t>(op) - 1;
  return row < std::size(precisions) ? precisions[row] : Precision::any;
}

static SINTER_THREAD_LOCAL std::optional<DType> chosen;

std::optional<DType> autocastDType() { return chosen; }

std::optional<DType> setAutocast(std::optional<DType> dtype) {
  return std::exchange(chosen, dtype);
}

DType autocastTo(graph::OpId op, DType dtype) {
  if (!chosen) [[likely]]
    return dtype;
  bool isHalf = dtype == DType::f16 || dtype == DType::bf16;
  if (!isHalf && dtype != DType::f32)
    return dtype;
  switch (precisionOf(op)) {
  case Precision::low:
    return *chosen;
  case Precision::full:
    return DType::f32;
  case Precision::any:
    break;
  }
  return dtype;
}

} // namespace detail

namespace train {

autocast::autocast(std::optional<DType> dtype, std::source_location where) try {
  if (dtype && *dtype != DType::bf16 && *dtype != DType::f16)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("autocast: products are in bf16 or f16, not in "
                              "{}",
                              name(*dtype)),
                  "autocast"),
        where);
  previous = detail::setAutocast(dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

autocast::~autocast() { detail::setAutocast(previous); }

std::optional<DType> autocast_dtype() { return detail::autocastDType(); }

} // namespace train
} // namespace sinter

/// What metrics keep on the device.
#include <sinter/metrics/State.h>

#include "frontend/Capture.h"
#include "frontend/GeneratorHold.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <cmath>

namespace sinter::metrics {

struct UpdateScope::Open {
  explicit Open(const std::source_location &where) : scope(where) {}
  sinter::detail::SourceScope scope;
  no_grad guard;
};

UpdateScope::UpdateScope(const std::source_location &where) try
    : open(std::make_unique<Open>(where)) {
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

UpdateScope::~UpdateScope() = default;

static size_t countElements(const Dims &dims) {
  int64_t count = 1;
  for (Dim dim : dims)
    count *= dim.value;
  return static_cast<size_t>(count);
}

Tensor State::tensor(DeviceId device, Where where) try {
  sinter::detail::Capture *capture = sinter::detail::Capture::current();
  if (!param.defined() && capture) {
    // The jitted function is called again: what it changes is made outside.
    sinter::detail::GeneratorHold hold;
    ParamOptions as{.dtype = type, .device = device, .requires_grad = false};
    param = Param(label, dims, init::zeros(), as, where);
    capture->adopt(param.cell());
  } else if (!param.defined()) {
    std::vector<std::byte> zeros(countElements(dims) * byteWidth(type));
    param = Param(from_bytes(zeros, type, dims, {.device = device}, where),
                  label, false, where);
  }
  isFixed |= capture != nullptr;
  return param.tensor(where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void State::set(const Tensor &value, Where where) try {
  tensor(value.device(), where);
  no_grad guard;
  param.set(value.detach(where).to(type, where), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void State::add(const Tensor &value, Where where) try {
  no_grad guard;
  Tensor now = tensor(value.device(), where);
  param.set(now + value.detach(where).to(type, where), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void State::begin(const Tensor &value, Where where) try {
  no_grad guard;
  if (sinter::detail::Capture::current())
    sinter::detail::raise(
        makeError(ErrorKind::invalid_argument,
                  "jit: '" + label +
                      "' of a metric keeps each batch by itself: update the "
                      "metric outside of the jitted function"),
        where);
  sinter::detail::GeneratorHold hold;
  ParamOptions as{
      .dtype = type, .device = value.device(), .requires_grad = false};
  param = Param(label, dims, init::zeros(), as, where);
  param.set(value.detach(where).to(type, where), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

std::vector<double> State::values(Where where) const try {
  if (!param.defined())
    return std::vector<double>(countElements(dims));
  return param.tensor(where).to_vector<double>(where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void State::reset() {
  if (!isFixed || !param.defined()) {
    param = Param();
    return;
  }
  no_grad guard;
  param.set(zeros(dims, {.dtype = type, .device = param.device()}));
}

double State::value(Where where) const { return values(where).at(0); }

Tensor State::waiting() const {
  if (!param.defined())
    return {};
  graph::NodeRef next = param.cell()->pending();
  return next ? Tensor(std::move(next)) : Tensor();
}

Tensor State::saved(Where where) const {
  return param.defined() ? param.tensor(where) : Tensor();
}

void State::load(const Tensor &value, Where where) try {
  if (!value.defined()) {
    reset();
    return;
  }
  bool fits = value.dtype() == type &&
              value.rank() == static_cast<int64_t>(dims.size());
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = value.dim(static_cast<int64_t>(i)).value == dims[i].value;
  if (!fits)
    sinter::detail::raise(makeError(ErrorKind::invalid_argument,
                                    "load_state: '" + label +
                                        "' is not of the metric's type: " +
                                        graph::typeString(*value.node())),
                          where);
  if (isFixed && param.defined())
    param.set(value.detach(where).to(param.device(), where), where);
  else
    param = Param(value.detach(where), label, false, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

Tensor count_beside(const Tensor &count, const Tensor &sum) {
  return sinter::where(sum == sum, count, ones_like(count));
}

//===- Sums ---------------------------------------------------------------===//

void Sum::add(const Tensor &value, Where where) try {
  no_grad guard;
  Tensor now = total.tensor(value.device(), where);
  Tensor gone = lost.tensor(value.device(), where);
  Tensor x = value.detach(where).to(DType::f32, where);
  Tensor next = now + x;
  // What of the smaller one is not in the sum. Of infinities and NaN nothing
  // can be told, and the sum is what says so.
  Tensor isLarger = sinter::abs(now) >= sinter::abs(x);
  Tensor rest = sinter::where(isLarger, (now - next) + x, (x - next) + now);
  total.set(next, where);
  lost.set(gone + rest, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void Sum::reset() {
  total.reset();
  lost.reset();
}

std::vector<double> Sum::values(Where where) const {
  std::vector<double> sums = total.values(where), rests = lost.values(where);
  for (size_t i = 0; i < sums.size(); ++i)
    if (std::isfinite(sums[i]))
      sums[i] += rests[i];
  return sums;
}

double Sum::value(Where where) const { return values(where).at(0); }

} // namespace sinter::metrics

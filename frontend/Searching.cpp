/// Places of values in sorted sequences and in equal parts of a range.
#include <sinter/Functions.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

namespace sinter {

using detail::asTensor;
using detail::Composed;

/// The elements of a sorted sequence at positions.
static Tensor elementsAt(const Tensor &sequence, const Tensor &positions) {
  if (sequence.rank() == 1)
    return reshape(gather(sequence, reshape(positions, {-1}), 0),
                   positions.shape());
  return gather(sequence, positions, -1);
}

/// Where NaN is wanted, which comes last: whether an element is before it.
static Tensor beforeNan(const Tensor &element, const Tensor &wanted,
                        bool right) {
  Tensor isWanted = isnan(wanted);
  bool isNumber = right || !isFloat(element.dtype());
  return isNumber ? isWanted : isWanted * (element == element);
}

// By halves: the largest count of elements that all come before the value,
// bit by bit.
Tensor searchsorted(const Arg &sequence, const Arg &values, bool right) try {
  Composed call("searchsorted", sequence);
  Tensor wanted = asTensor(values);
  Dims rows = call.x.shape(), others = wanted.shape();
  if (rows.size() > 1 && others.size() == rows.size()) {
    rows.pop_back();
    others.pop_back();
  }
  bool isVector = call.x.rank() == 1;
  if (!isVector && (call.x.rank() != wanted.rank() || call.x.rank() == 0 ||
                    !detail::sameValues(rows, others)))
    call.fail(
        "the sequence must be a vector, or have the values' leading dims");
  call.x = detail::withKnownLength(call.x, -1);
  int64_t length = call.x.dim(-1).value;
  Tensor count = zeros(wanted.shape(), {DType::i64, call.x.device()});
  int64_t step = 1;
  while (step <= length / 2)
    step *= 2;
  for (; length > 0 && step > 0; step /= 2) {
    Tensor next = count + step;
    Tensor element = elementsAt(call.x, minimum(next, length) - 1);
    Tensor comesBefore = right ? element <= wanted : element < wanted;
    if (isFloat(wanted.dtype()))
      comesBefore = comesBefore + beforeNan(element, wanted, right);
    count = where((next <= length) * comesBefore, next, count);
  }
  return count;
} catch (...) {
  detail::raiseExhausted(sequence.where);
}

Tensor histc(const Arg &x, int64_t bins, double min, double max) try {
  Composed call("histc", x);
  if (bins < 1 || !(min < max))
    call.fail(fmt::format("{} bins in [{}, {}]", bins, min, max));
  DType dtype = isFloat(call.x.dtype()) ? call.x.dtype() : DType::f32;
  DType wide = call.x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Tensor flat = reshape(call.x, {-1}).to(wide);
  Tensor counts = (flat >= min) * (flat <= max);
  Tensor place = (flat - min) * (double(bins) / (max - min));
  Tensor bin = clamp(floor(place), 0, double(bins - 1)).to(DType::i64);
  Options options{DType::i64, call.x.device()};
  return scatter_add(zeros({bins}, options), bin, counts.to(DType::i64), 0)
      .to(dtype);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter

/// Reference loops of reductions, prefixes, sorts and contractions.
#include "runtime/reference/Primitives.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::reference {

/// For each element of x, in order, the element of the reduced result.
static std::vector<int64_t> targetsOf(const HostValue &x,
                                      std::span<const int64_t> axes) {
  std::vector<int64_t> kept = x.dims;
  for (int64_t axis : axes)
    kept[axis] = 1;
  std::vector<int64_t> strides = stridesOf(kept);
  for (int64_t axis : axes)
    strides[axis] = 0;
  std::vector<int64_t> targets;
  std::vector<int64_t> index(x.dims.size());
  for (int64_t i = 0, count = x.elements(); i < count; ++i) {
    int64_t target = 0;
    for (size_t d = 0; d < index.size(); ++d)
      target += index[d] * strides[d];
    targets.push_back(target);
    nextIndex(index, x.dims);
  }
  return targets;
}

/// Sums, or products; integers wrap.
template <bool multiplies> static Result<HostValue> sum(const Call &call) {
  const HostValue &x = call[0];
  HostValue result = call.makeResult();
  if (multiplies) {
    std::ranges::fill(result.reals, 1);
    std::ranges::fill(result.ints, 1);
  }
  std::vector<int64_t> targets =
      targetsOf(x, graph::AttrReader(call.attrs).ints());
  for (size_t i = 0; i < targets.size(); ++i) {
    int64_t at = targets[i];
    if (x.isReal())
      result.reals[at] = multiplies ? result.reals[at] * x.reals[i]
                                    : result.reals[at] + x.reals[i];
    else
      result.ints[at] = static_cast<int64_t>(
          multiplies ? uint64_t(result.ints[at]) * uint64_t(x.ints[i])
                     : uint64_t(result.ints[at]) + uint64_t(x.ints[i]));
  }
  for (double &value : result.reals)
    value = roundTo(call.dtype, value);
  return result;
}

static bool isLarger(const HostValue &x, int64_t a, int64_t b) {
  if (!x.isReal())
    return lessInts(x.dtype, x.ints[b], x.ints[a]);
  if (std::isnan(x.reals[b]))
    return false;
  if (x.reals[a] == 0 && x.reals[b] == 0)
    return std::signbit(x.reals[b]) && !std::signbit(x.reals[a]);
  return std::isnan(x.reals[a]) || x.reals[a] > x.reals[b];
}

// NaN is smaller than every number, too.
static bool isSmaller(const HostValue &x, int64_t a, int64_t b) {
  if (!x.isReal())
    return lessInts(x.dtype, x.ints[a], x.ints[b]);
  if (std::isnan(x.reals[a]) || std::isnan(x.reals[b]))
    return !std::isnan(x.reals[b]);
  return isLarger(x, b, a);
}

/// The position in x of the first element that comes before all others, for
/// each element of the result.
template <bool (*comesBefore)(const HostValue &, int64_t, int64_t)>
static std::vector<int64_t> extremes(const HostValue &x, int64_t count,
                                     std::span<const int64_t> axes) {
  std::vector<int64_t> best(count, -1);
  std::vector<int64_t> targets = targetsOf(x, axes);
  for (size_t i = 0; i < targets.size(); ++i) {
    int64_t &position = best[targets[i]];
    if (position < 0 || comesBefore(x, static_cast<int64_t>(i), position))
      position = static_cast<int64_t>(i);
  }
  return best;
}

template <bool (*comesBefore)(const HostValue &, int64_t, int64_t)>
static Result<HostValue> extremum(const Call &call) {
  HostValue result = call.makeResult();
  std::vector<int64_t> best = extremes<comesBefore>(
      call[0], result.elements(), graph::AttrReader(call.attrs).ints());
  for (size_t i = 0; i < best.size(); ++i)
    result.copy(static_cast<int64_t>(i), call[0], best[i]);
  return result;
}

template <bool (*comesBefore)(const HostValue &, int64_t, int64_t)>
static Result<HostValue> search(const Call &call) {
  const HostValue &x = call[0];
  int64_t axis = graph::AttrReader(call.attrs).integer();
  HostValue result = call.makeResult();
  HostValue ordered = x;
  for (double &value : ordered.reals)
    value += 0.0; // both zeros count as equal
  std::vector<int64_t> best =
      extremes<comesBefore>(ordered, result.elements(), std::span(&axis, 1));
  int64_t stride = stridesOf(x.dims)[axis];
  for (size_t i = 0; i < best.size(); ++i)
    result.ints[i] = best[i] / stride % x.dims[axis];
  return result;
}

/// Calls visit(at, isFirst) for the elements of each line along the op's axis,
/// in the order of a prefix.
template <typename Visit> static void forLines(const Call &call, Visit visit) {
  const HostValue &x = call[0];
  graph::AttrReader reader(call.attrs);
  int64_t axis = reader.integer();
  bool reverse = reader.boolean();
  int64_t size = x.dims[axis], stride = stridesOf(x.dims)[axis];
  for (int64_t i = 0, count = x.elements(); i < count; ++i) {
    if (i / stride % size != 0)
      continue; // not the start of a line
    for (int64_t k = 0; k < size; ++k)
      visit(i + (reverse ? size - 1 - k : k) * stride, k == 0);
  }
}

template <bool multiplies> static Result<HostValue> prefix(const Call &call) {
  const HostValue &x = call[0];
  HostValue result = call.makeResult();
  double real = 0;
  uint64_t integer = 0;
  forLines(call, [&](int64_t at, bool isFirst) {
    if (isFirst) {
      real = multiplies ? 1 : 0;
      integer = multiplies ? 1 : 0;
    }
    if (x.isReal()) {
      real = multiplies ? real * x.reals[at] : real + x.reals[at];
      result.set(at, real);
    } else {
      auto element = uint64_t(x.ints[at]);
      integer = multiplies ? integer * element : integer + element;
      result.set(at, static_cast<int64_t>(integer));
    }
  });
  return result;
}

template <bool (*comesBefore)(const HostValue &, int64_t, int64_t)>
static Result<HostValue> prefixExtremum(const Call &call) {
  HostValue result = call.makeResult();
  int64_t best = 0;
  forLines(call, [&](int64_t at, bool isFirst) {
    if (isFirst || comesBefore(call[0], at, best))
      best = at;
    result.copy(at, call[0], best);
  });
  return result;
}

static Result<HostValue> prefixLogSumExp(const Call &call) {
  HostValue result = call.makeResult();
  double sum = 0;
  forLines(call, [&](int64_t at, bool isFirst) {
    double element = call[0].reals[at];
    if (isFirst)
      sum = element;
    else if (sum == element)
      sum += std::log(2.0);
    else
      sum = largerReal(sum, element) +
            std::log1p(std::exp(-std::abs(sum - element)));
    result.set(at, sum);
  });
  return result;
}

// NaN is the largest, and both zeros are equal.
static bool sortsBefore(const HostValue &x, int64_t a, int64_t b) {
  if (!x.isReal())
    return lessInts(x.dtype, x.ints[a], x.ints[b]);
  if (std::isnan(x.reals[a]))
    return false;
  return std::isnan(x.reals[b]) || x.reals[a] < x.reals[b];
}

/// For each element of the result, the element of x that stands there.
static std::vector<int64_t> sortedPlaces(const Call &call) {
  const HostValue &x = call[0];
  graph::AttrReader reader(call.attrs);
  int64_t axis = reader.integer();
  bool descending = reader.boolean();
  int64_t size = x.dims[axis], stride = stridesOf(x.dims)[axis];
  int64_t kept = call.dims[axis];
  std::vector<int64_t> places(elementCount(call.dims)), line(size);
  for (int64_t i = 0, lineNumber = 0; i < x.elements(); ++i) {
    if (i / stride % size != 0)
      continue; // not the start of a line
    for (int64_t k = 0; k < size; ++k)
      line[k] = i + k * stride;
    std::stable_sort(line.begin(), line.end(), [&](int64_t a, int64_t b) {
      return descending ? sortsBefore(x, b, a) : sortsBefore(x, a, b);
    });
    int64_t start = lineNumber / stride * kept * stride + lineNumber % stride;
    for (int64_t k = 0; k < kept; ++k)
      places[start + k * stride] = line[k];
    ++lineNumber;
  }
  return places;
}

static Result<HostValue> sort(const Call &call) {
  HostValue result = call.makeResult();
  std::vector<int64_t> places = sortedPlaces(call);
  for (size_t i = 0; i < places.size(); ++i)
    result.copy(static_cast<int64_t>(i), call[0], places[i]);
  return result;
}

static Result<HostValue> argsort(const Call &call) {
  HostValue result = call.makeResult();
  int64_t axis = graph::AttrReader(call.attrs).integer();
  int64_t stride = stridesOf(call[0].dims)[axis];
  std::vector<int64_t> places = sortedPlaces(call);
  for (size_t i = 0; i < places.size(); ++i)
    result.ints[i] = places[i] / stride % call[0].dims[axis];
  return result;
}

static Result<HostValue> matmul(const Call &call) {
  const HostValue &lhs = call[0], &rhs = call[1];
  HostValue result = call.makeResult();
  size_t rank = lhs.dims.size();
  int64_t m = lhs.dims[rank - 2], k = lhs.dims[rank - 1];
  int64_t n = rhs.dims[rank - 1];
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    int64_t column = i % n, row = i / n % m, batch = i / n / m;
    double real = 0;
    uint64_t integer = 0;
    for (int64_t j = 0; j < k; ++j) {
      int64_t a = (batch * m + row) * k + j;
      int64_t b = (batch * k + j) * n + column;
      if (lhs.isReal())
        real += lhs.reals[a] * rhs.reals[b];
      else
        integer += uint64_t(lhs.ints[a]) * uint64_t(rhs.ints[b]);
    }
    if (lhs.isReal())
      result.set(i, real);
    else
      result.set(i, static_cast<int64_t>(integer));
  }
  return result;
}

std::span<const PrimitiveRow> reductionPrimitives() {
  constexpr bool selects = true;
  static const PrimitiveRow rows[] = {
      {"sum", sum<false>},
      {"prod", sum<true>},
      {"amax", extremum<isLarger>, 0, selects},
      {"amin", extremum<isSmaller>, 0, selects},
      {"argmax", search<isLarger>},
      {"argmin", search<isSmaller>},
      {"cumsum", prefix<false>},
      {"cumprod", prefix<true>},
      {"logcumsumexp", prefixLogSumExp},
      {"cummax", prefixExtremum<isLarger>, 0, selects},
      {"cummin", prefixExtremum<isSmaller>, 0, selects},
      {"sort", sort},
      {"argsort", argsort},
      {"matmul", matmul},
  };
  return rows;
}

} // namespace sinter::reference

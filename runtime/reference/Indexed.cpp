/// Reference loops of gather and scatter_add.
#include "runtime/reference/Primitives.h"

#include <string>

namespace sinter::reference {

static ErrorInfo positionError(const Call &call, int64_t position,
                               int64_t size) {
  std::string op(graph::info(call.op).name);
  return makeError(ErrorKind::invalid_argument,
                   op + ": index " + std::to_string(position) + ", not in [0," +
                       std::to_string(size) + ")",
                   op);
}

/// For each element of the indices, the element of x that it points to.
static Result<std::vector<int64_t>> targetsOf(const Call &call) {
  const HostValue &x = call[0], &indices = call[1];
  size_t axis = graph::AttrReader(call.attrs).integer();
  std::vector<int64_t> strides = stridesOf(x.dims);
  std::vector<int64_t> targets;
  std::vector<int64_t> index(indices.dims.size());
  for (int64_t i = 0, count = indices.elements(); i < count; ++i) {
    int64_t position = indices.ints[i];
    if (position < 0 || position >= x.dims[axis])
      return positionError(call, position, x.dims[axis]);
    int64_t target = position * strides[axis];
    for (size_t d = 0; d < index.size(); ++d)
      target += d == axis ? 0 : index[d] * strides[d];
    targets.push_back(target);
    nextIndex(index, indices.dims);
  }
  return targets;
}

static Result<HostValue> gather(const Call &call) {
  SINTER_TRY_ASSIGN(std::vector<int64_t> targets, targetsOf(call));
  HostValue result = call.makeResult();
  for (size_t i = 0; i < targets.size(); ++i)
    result.copy(static_cast<int64_t>(i), call[0], targets[i]);
  return result;
}

/// Folds updates in, in the order of their positions.
template <double (*onReals)(double, double),
          int64_t (*onInts)(DType, int64_t, int64_t)>
static Result<HostValue> scatter(const Call &call) {
  SINTER_TRY_ASSIGN(std::vector<int64_t> targets, targetsOf(call));
  HostValue result = call[0];
  const HostValue &updates = call[2];
  for (size_t i = 0; i < targets.size(); ++i) {
    int64_t at = targets[i];
    if (result.isReal())
      result.set(at, onReals(result.reals[at], updates.reals[i]));
    else
      result.set(at, onInts(result.dtype, result.ints[at], updates.ints[i]));
  }
  return result;
}

static double addReals(double a, double b) { return a + b; }
static int64_t addInts(DType, int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
}
static double mulReals(double a, double b) { return a * b; }
static int64_t mulInts(DType, int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) * uint64_t(b));
}
static double lastReal(double, double b) { return b; }
static int64_t lastInt(DType, int64_t, int64_t b) { return b; }
static int64_t maxInts(DType dtype, int64_t a, int64_t b) {
  return lessInts(dtype, a, b) ? b : a;
}
static int64_t minInts(DType dtype, int64_t a, int64_t b) {
  return lessInts(dtype, b, a) ? b : a;
}

std::span<const PrimitiveRow> indexedPrimitives() {
  constexpr bool selects = true;
  static const PrimitiveRow rows[] = {
      {"gather", gather},
      {"scatter_add", scatter<addReals, addInts>},
      {"scatter", scatter<lastReal, lastInt>, 0, selects},
      {"scatter_prod", scatter<mulReals, mulInts>},
      {"scatter_amax", scatter<largerReal, maxInts>, 0, selects},
      {"scatter_amin", scatter<smallerReal, minInts>, 0, selects},
  };
  return rows;
}

} // namespace sinter::reference

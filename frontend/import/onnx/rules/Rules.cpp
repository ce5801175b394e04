/// What rules of several families share.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/CountedRows.h"
#include "frontend/HostBytes.h"
#include "frontend/Raise.h"
#include "sinter/runtime/Result.h"

#include <sinter/Error.h>
#include <sinter/generated/functions/Elementwise.h>

#include <cmath>

namespace sinter::onnx {

std::vector<int64_t> numbersOf(const Tensor &x) { return fixed(x.shape()); }

Tensor plusSize(const Tensor &x, Dim size) {
  return detail::isCounted(size) ? x + detail::sizeTensor(size, x.device())
                                 : x + fixed(size);
}
Tensor timesSize(const Tensor &x, Dim size) {
  return detail::isCounted(size) ? x * detail::sizeTensor(size, x.device())
                                 : x * fixed(size);
}

Tensor rightOperand(Call &call, const Tensor &x) {
  Tensor y = call.tensor(1);
  if (call.opset() >= 7 || !call.flag("broadcast"))
    return y;
  int64_t most = x.rank() - y.rank();
  int64_t axis = call.given("axis") ? call.integer("axis") : most;
  if (axis < 0 && axis >= -x.rank())
    axis += x.rank();
  if (axis < 0 || axis > most)
    call.invalid("axis " + std::to_string(axis) + " does not fit the operands");
  Dims dims = y.shape();
  dims.resize(size_t(x.rank() - axis), Dim(1));
  return reshape(y, dims);
}

Tensor widened(const Tensor &x) {
  bool isNarrow = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
  return isNarrow ? x.to(DType::f32) : x;
}

Tensor asFloat(const Tensor &x) {
  return isFloat(x.dtype()) ? x : x.to(DType::f32);
}

std::pair<double, double> rangeOf(DType dtype) {
  double count = std::ldexp(1.0, int(valueBits(dtype) - isSigned(dtype)));
  return {isSigned(dtype) ? -count : 0.0, count - 1};
}

Tensor saturated(const Tensor &x, DType dtype) {
  auto [least, largest] = rangeOf(dtype);
  return clamp(round(x), least, largest).to(dtype);
}

Tensor requantized(const Tensor &x, const Tensor &zero) {
  auto [least, largest] = rangeOf(zero.dtype());
  Tensor moved = round(x) + zero.to(DType::f32);
  return clamp(moved, least, largest).to(zero.dtype());
}

Tensor bitsAs(const Tensor &x, DType dtype) {
  auto bytes = detail::unwrap(detail::readBytes(*x.eval().node()), {});
  Dims dims;
  for (Dim dim : x.shape())
    dims.emplace_back(dim.value);
  return from_bytes(bytes, dtype, dims, {{}, x.device()});
}

Tensor asMatrix(Call &call, const Tensor &x, int64_t axis) {
  if (axis < -x.rank() || axis > x.rank())
    call.invalid("axis " + std::to_string(axis) + " of a tensor of rank " +
                 std::to_string(x.rank()));
  axis += axis < 0 ? x.rank() : 0;
  Dim rows(1), columns(1);
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * x.dim(i);
  return reshape(x, {rows, columns});
}

/// An axis that a rule did not check.
static void checkAxis(int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    throw Error(makeError(ErrorKind::invalid_argument,
                          "axis " + std::to_string(axis) +
                              " of a tensor of rank " + std::to_string(rank)));
}

Tensor sliceAxis(const Tensor &x, int64_t axis, Dim start, Dim limit,
                 int64_t step) {
  checkAxis(axis, x.rank());
  std::vector<int64_t> starts(size_t(x.rank()), 0), steps(size_t(x.rank()), 1);
  Dims limits = x.shape();
  starts[size_t(axis)] = fixed(start);
  limits[size_t(axis)] = limit;
  steps[size_t(axis)] = step;
  return slice(x, starts, limits, steps);
}

Tensor alongAxis(const Tensor &vector, int64_t axis, int64_t rank) {
  checkAxis(axis, rank);
  if (vector.rank() != 1)
    throw Error(makeError(ErrorKind::invalid_argument,
                          "a vector of rank " + std::to_string(vector.rank())));
  Dims dims(size_t(rank), Dim(1));
  dims[size_t(axis)] = vector.dim(0);
  return reshape(vector, dims);
}

Tensor hostReals(const std::vector<double> &reals, const Dims &dims,
                 DType dtype, DeviceId device) {
  Known known;
  known.dtype = dtype;
  known.dims = fixed(dims);
  known.reals = reals;
  return tensorOf(known, device);
}

Tensor hostIntegers(const std::vector<int64_t> &integers, const Dims &dims,
                    DeviceId device) {
  Known known;
  known.dims = fixed(dims);
  known.integers.assign(integers.begin(), integers.end());
  return tensorOf(known, device);
}

} // namespace sinter::onnx

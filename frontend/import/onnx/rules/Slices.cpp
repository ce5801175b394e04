/// Parts of tensors, and tensors of parts.
#include "frontend/CountedRows.h"
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

namespace sinter::onnx {

//===- Slice --------------------------------------------------------------===//

/// Of an axis whose size, or where the slice ends, values decide.
static Tensor countedSlice(const Tensor &x, int64_t axis, Dim start, Dim end,
                           int64_t step) {
  DeviceId device = x.device();
  Tensor length = detail::sizeTensor(x.dim(axis), device);
  auto place = [&](Dim dim) {
    Tensor at = detail::sizeTensor(dim, device);
    return minimum(maximum(where(at < 0, at + length, at), 0), length);
  };
  Tensor places =
      arange(x.dim(axis), {DType::i64, device}) * step + place(start);
  Tensor count = count_nonzero(places < place(end));
  Tensor rows = movedim(x, axis, 0);
  if (step != 1 || !start.isConstant() || start.value != 0)
    rows = index_select(rows, minimum(places, length - 1), 0);
  return movedim(detail::countedRows(rows, count, SourceLine::current()), 0,
                 axis);
}

/// Elements along one axis, as ONNX counts them. A limit behind the end, as the
/// largest number, keeps a symbolic extent symbolic.
static Tensor sliced(Call &call, const Tensor &x, int64_t axis, Dim start,
                     Dim end, int64_t step) {
  if (step == 0)
    call.invalid("a step of 0");
  constexpr int64_t far = std::numeric_limits<int32_t>::max();
  Dim extent = x.dim(axis);
  bool startsFirst = start.isConstant() && start.value == 0;
  bool endsLast = (end.isConstant() && end.value >= far) ||
                  (end.value == extent.value && end.expr == extent.expr);
  if (step == 1 && endsLast && startsFirst)
    return x;
  if (step >= 1 && endsLast && start.isConstant() && start.value >= 0 &&
      start.value <= extent.value && !detail::isCounted(extent))
    return sliceAxis(x, axis, start, extent, step);
  bool isOpen = detail::isCounted(extent) || detail::isCounted(start) ||
                detail::isCounted(end);
  if (isOpen && step > 0)
    return countedSlice(x, axis, start, end, step);
  // An end that is as far from the last one keeps a symbolic extent, too.
  if (step == 1 && startsFirst && end.isConstant() && end.value < 0 &&
      extent.value + end.value >= 0 && end.value > -far)
    return sliceAxis(x, axis, start, extent + end, 1);
  int64_t length = fixed(extent);
  auto place = [&](Dim dim, int64_t least, int64_t most) {
    int64_t at = fixed(dim);
    return std::clamp(at < 0 ? at + length : at, least, most);
  };
  if (step > 0) {
    int64_t first = place(start, 0, length), last = place(end, 0, length);
    return sliceAxis(x, axis, first, std::max(first, last),
                     std::min(step, length + 1));
  }
  int64_t first = place(std::max(fixed(start), -length - 1), -1, length - 1);
  int64_t last = place(std::max(fixed(end), -length - 1), -1, length - 1);
  if (first <= last)
    return sliceAxis(x, axis, 0, 0, 1);
  Tensor turned = flip(x, {axis});
  return sliceAxis(turned, axis, length - 1 - first, length - 1 - last,
                   std::min(step < -length ? length + 1 : -step, length + 1));
}

static void sliceRule(Call &call) {
  Tensor x = call.tensor(0);
  Dims starts, ends;
  std::vector<int64_t> axes, steps;
  if (call.opset() >= 10) {
    starts = call.dims(1, "starts");
    ends = call.dims(2, "ends");
    axes = call.has(3) ? call.integers(3, "axes") : axes;
    steps = call.has(4) ? call.integers(4, "steps") : steps;
  } else {
    for (int64_t start : call.integers("starts"))
      starts.emplace_back(start);
    for (int64_t end : call.integers("ends"))
      ends.emplace_back(end);
    axes = call.integers("axes");
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      starts.size() != steps.size())
    call.invalid("starts, ends, axes and steps have different lengths");
  axes = call.axesOf(axes, x.rank());
  for (size_t i = 0; i < axes.size(); ++i)
    x = sliced(call, x, axes[i], starts[i], ends[i], steps[i]);
  call.give(x);
}

//===- Split and Concat ---------------------------------------------------===//

static std::vector<int64_t> splitSizes(Call &call, int64_t length) {
  if (call.opset() >= 13 && call.has(1))
    return call.integers(1, "split");
  if (call.opset() < 13 && call.given("split"))
    return call.integers("split");
  auto parts = int64_t(call.numOutputs());
  bool mayDiffer = call.opset() >= 18;
  if (mayDiffer && call.given("num_outputs") &&
      call.integer("num_outputs") != parts)
    call.invalid("num_outputs is not the number of outputs");
  if (parts == 0 || (!mayDiffer && length % parts != 0))
    call.invalid(std::to_string(length) + " elements in " +
                 std::to_string(parts) + " equal parts");
  int64_t size = (length + parts - 1) / parts;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < parts; ++i)
    sizes.push_back(std::clamp<int64_t>(length - i * size, 0, size));
  return sizes;
}

static KnownRef partOf(const Known &x, int64_t start, int64_t size) {
  auto part = std::make_shared<Known>();
  part->dtype = x.dtype;
  part->varies = x.varies;
  part->dims = {size};
  if (x.isReal())
    part->reals.assign(x.reals.begin() + start, x.reals.begin() + start + size);
  else
    part->integers.assign(x.integers.begin() + start,
                          x.integers.begin() + start + size);
  return part;
}

/// A part of a vector, which is known where the vector is.
static Value vectorPart(Call &call, int64_t start, int64_t size) {
  const Value &whole = call.value(0);
  if (whole.isConstant())
    return Value(partOf(*whole.known(), start, size));
  Value part(sliceAxis(call.tensor(0), 0, start, start + size));
  if (whole.depth() < Value::maxDepth)
    part.setSource(
        [whole, start, size]() -> KnownRef {
          KnownRef known = whole.known();
          return known ? partOf(*known, start, size) : nullptr;
        },
        whole.depth() + 1);
  return part;
}

static void splitRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank()), length = fixed(x.dim(axis));
  std::vector<int64_t> sizes = splitSizes(call, length);
  if (sizes.size() != call.numOutputs())
    call.invalid(std::to_string(sizes.size()) + " parts for " +
                 std::to_string(call.numOutputs()) + " outputs");
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > length - start)
      call.invalid("the parts are longer than the axis");
    call.give(i, x.rank() == 1
                     ? vectorPart(call, start, sizes[i])
                     : Value(sliceAxis(x, axis, start, start + sizes[i])));
    start += sizes[i];
  }
  if (start != length)
    call.invalid("the parts are shorter than the axis");
}

static void concatRule(Call &call) {
  call.sameDTypes();
  std::vector<Tensor> parts = call.tensors();
  if (parts.empty())
    call.invalid("there is no operand");
  int64_t axis = call.opset() < 4 && !call.given("axis")
                     ? 1
                     : call.axis("axis", parts[0].rank());
  call.give(concat(std::span<const Tensor>(parts), axis));
}

//===- Pad ----------------------------------------------------------------===//

static PadMode padModeOf(Call &call) {
  std::string mode = call.text("mode");
  if (mode == "constant")
    return PadMode::constant;
  if (mode == "reflect")
    return PadMode::reflect;
  if (mode == "edge")
    return PadMode::replicate;
  if (mode == "wrap")
    return PadMode::circular;
  call.invalid("mode '" + mode + "'");
}

/// The paddings of all axes: those before, then those after.
static std::vector<Padding> paddingsOf(Call &call, const Tensor &x) {
  std::vector<int64_t> pads, axes;
  if (call.opset() >= 11)
    pads = call.integers(1, "pads");
  else
    pads = call.integers(call.opset() < 2 ? "paddings" : "pads");
  if (call.has(3))
    axes = call.axesOf(call.integers(3, "axes"), x.rank());
  if (axes.empty()) {
    axes.resize(size_t(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size())
    call.invalid(std::to_string(pads.size()) + " paddings for " +
                 std::to_string(axes.size()) + " axes");
  std::vector<Padding> paddings;
  for (size_t i = 0; i < axes.size(); ++i)
    if (pads[i] != 0 || pads[axes.size() + i] != 0)
      paddings.push_back({axes[i], pads[i], pads[axes.size() + i]});
  return paddings;
}

/// With a tensor for what is added: where it is inside, it is x.
static Tensor padded(const Tensor &x, const std::vector<Padding> &paddings,
                     const Tensor &fill) {
  Options flags{DType::boolean, x.device()};
  Tensor inside = pad(full(x.shape(), true, flags), paddings);
  return where(inside, pad(x, paddings), fill);
}

/// Which element of an axis stands at a place beside it: the axis again and
/// again, or there and back.
static int64_t continued(int64_t place, int64_t extent, PadMode mode) {
  int64_t period = mode == PadMode::circular ? extent : 2 * (extent - 1);
  if (period == 0)
    return 0;
  int64_t at = place % period;
  at += at < 0 ? period : 0;
  return at < extent ? at : period - at;
}

/// Continued by more elements than the axis has.
static Tensor farPadded(Call &call, const Tensor &x, const Padding &padding,
                        PadMode mode) {
  int64_t extent = fixed(x.dim(padding.axis));
  int64_t size = extent + padding.before + padding.after;
  if (extent == 0 || size > mostFactor)
    call.invalid("an axis of " + std::to_string(extent) + " elements to " +
                 std::to_string(size));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < size; ++i)
    places.push_back(continued(i - padding.before, extent, mode));
  return index_select(x, hostIntegers(places, {size}, x.device()),
                      padding.axis);
}

static Tensor continuedTensor(Call &call, Tensor x,
                              const std::vector<Padding> &paddings,
                              PadMode mode) {
  for (Padding padding : paddings) {
    // What is taken away goes first.
    Padding cut{padding.axis, std::min<int64_t>(padding.before, 0),
                std::min<int64_t>(padding.after, 0)};
    if (cut.before != 0 || cut.after != 0)
      x = pad(x, {cut});
    padding.before = std::max<int64_t>(padding.before, 0);
    padding.after = std::max<int64_t>(padding.after, 0);
    int64_t most = std::max(padding.before, padding.after);
    bool isFar = mode != PadMode::replicate && most <= mostFactor &&
                 most >= x.dim(padding.axis).value;
    x = isFar ? farPadded(call, x, padding, mode) : pad(x, {padding}, mode);
  }
  return x;
}

static void padRule(Call &call) {
  Tensor x = call.tensor(0);
  PadMode mode = padModeOf(call);
  std::vector<Padding> paddings = paddingsOf(call, x);
  if (paddings.empty())
    return call.give(x);
  if (mode != PadMode::constant)
    return call.give(continuedTensor(call, x, paddings, mode));
  if (call.opset() < 11)
    return call.give(pad(x, paddings, mode, call.real("value")));
  if (!call.has(2))
    return call.give(pad(x, paddings));
  KnownRef known = call.value(2).known();
  if (known && known->size() == 1 && known->isReal())
    return call.give(pad(x, paddings, mode, known->reals[0]));
  call.give(padded(x, paddings, reshape(call.tensor(2), {})));
}

/// Cut or padded at both ends, to a size.
static void centerCropPadRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> shape = call.integers(1, "the shape");
  std::vector<int64_t> axes = call.axesOf(call.integers("axes"), x.rank());
  if (!call.given("axes")) {
    axes.resize(size_t(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != shape.size())
    call.invalid("the shape and the axes have different lengths");
  std::vector<Padding> paddings;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t extent = fixed(x.dim(axes[i])), wanted = shape[i];
    int64_t gone = extent - wanted;
    if (wanted < 0)
      call.invalid("a size of " + std::to_string(wanted));
    if (gone > 0)
      paddings.push_back({axes[i], -(gone / 2), -(gone - gone / 2)});
    else if (gone < 0)
      paddings.push_back({axes[i], -gone / 2, -gone - -gone / 2});
  }
  call.give(paddings.empty() ? x : pad(x, paddings));
}

static void triluRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t diagonal = call.has(1) ? call.integer(1, "the diagonal") : 0;
  int64_t far = fixed(x.dim(-1)) + fixed(x.dim(-2)) + 1;
  diagonal = std::clamp(diagonal, -far, far);
  call.give(call.flag("upper") ? triu(x, diagonal) : tril(x, diagonal));
}

static constexpr Operator rows[] = {
    {"Slice", 1, 9, "axes:ints ends:ints! starts:ints!", sliceRule},
    {"Slice", 10, 0, "", sliceRule},
    {"Split", 1, 12, "axis:int=0 split:ints", splitRule},
    {"Split", 13, 17, "axis:int=0", splitRule},
    {"Split", 18, 0, "axis:int=0 num_outputs:int", splitRule},
    {"Concat", 1, 3, "axis:int=1", concatRule},
    {"Concat", 4, 0, "axis:int!", concatRule},
    {"Pad", 1, 1, "mode:string=constant paddings:ints! value:float=0.0",
     padRule},
    {"Pad", 2, 10, "mode:string=constant pads:ints! value:float=0.0", padRule},
    {"Pad", 11, 0, "mode:string=constant", padRule},
    {"CenterCropPad", 18, 0, "axes:ints", centerCropPadRule},
    {"Trilu", 14, 0, "upper:int=1", triluRule},
};

std::span<const Operator> sliceRows() { return rows; }

} // namespace sinter::onnx

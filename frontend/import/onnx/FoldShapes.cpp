/// Gathers, slices and the like of known elements.
#include "frontend/import/onnx/FoldShapes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace sinter::onnx {

const AttributeRecord *FoldCall::attribute(std::string_view name) const {
  for (const AttributeRecord &each : node.attributes)
    if (each.name == name)
      return &each;
  return nullptr;
}

int64_t FoldCall::integer(std::string_view name, int64_t otherwise) const {
  const AttributeRecord *own = attribute(name);
  return own ? own->integer : otherwise;
}

std::vector<int64_t> FoldCall::integers(size_t input,
                                        std::string_view name) const {
  if (has(input))
    return fixed(inputs[input]->integers);
  const AttributeRecord *own = attribute(name);
  return own ? own->integers : std::vector<int64_t>();
}

/// Elements of `x` at `places`, in a shape.
static KnownRef taken(const Known &x, const std::vector<size_t> &places,
                      std::vector<int64_t> dims) {
  auto result = std::make_shared<Known>();
  result->dtype = x.dtype;
  result->dims = std::move(dims);
  result->varies = x.varies;
  for (size_t place : places) {
    if (x.isReal())
      result->reals.push_back(x.reals[place]);
    else
      result->integers.push_back(x.integers[place]);
  }
  return result;
}

static KnownRef reshaped(const Known &x, std::vector<int64_t> dims) {
  auto result = std::make_shared<Known>(x);
  result->dims = std::move(dims);
  return result;
}

static bool toAxis(int64_t &axis, size_t rank) {
  auto limit = int64_t(rank);
  if (axis < -limit || axis >= limit)
    return false;
  axis += axis < 0 ? limit : 0;
  return true;
}

static size_t product(const std::vector<int64_t> &dims, size_t begin,
                      size_t end) {
  size_t count = 1;
  for (size_t i = begin; i < end; ++i)
    count *= size_t(dims[i]);
  return count;
}

static KnownRef foldGather(const FoldCall &call) {
  if (!call.has(0) || !call.has(1))
    return nullptr;
  const Known &x = *call.inputs[0], &indices = *call.inputs[1];
  int64_t axis = call.integer("axis", 0);
  if (indices.isReal() || !toAxis(axis, x.dims.size()))
    return nullptr;
  auto at = size_t(axis);
  size_t outer = product(x.dims, 0, at);
  size_t inner = product(x.dims, at + 1, x.dims.size());
  auto extent = x.dims[at];
  if (outer * inner * indices.integers.size() > size_t(Known::most))
    return nullptr;
  std::vector<size_t> places;
  for (size_t o = 0; o < outer; ++o)
    for (int64_t index : fixed(indices.integers)) {
      if (index < -extent || index >= extent)
        return nullptr;
      auto row = size_t(index < 0 ? index + extent : index);
      for (size_t i = 0; i < inner; ++i)
        places.push_back((o * size_t(extent) + row) * inner + i);
    }
  std::vector<int64_t> dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return taken(x, places, std::move(dims));
}

/// The positions that a slice takes of an axis of `extent` elements.
static std::vector<size_t> slicePositions(int64_t extent, int64_t start,
                                          int64_t end, int64_t step) {
  auto clamped = [&](int64_t place, int64_t least, int64_t most) {
    place += place < 0 ? extent : 0;
    return std::clamp(place, least, most);
  };
  std::vector<size_t> places;
  if (step > 0) {
    int64_t last = clamped(end, 0, extent);
    int64_t stride = std::min(step, extent + 1);
    for (int64_t i = clamped(start, 0, extent); i < last; i += stride)
      places.push_back(size_t(i));
    return places;
  }
  int64_t stride = std::max(step, -extent - 1);
  int64_t last = clamped(std::max(end, -extent - 1), -1, extent - 1);
  for (int64_t i = clamped(std::max(start, -extent - 1), -1, extent - 1);
       i > last; i += stride)
    places.push_back(size_t(i));
  return places;
}

/// Slices of x at positions along one axis.
static KnownRef takenAlong(const Known &x, size_t axis,
                           const std::vector<size_t> &rows) {
  size_t outer = product(x.dims, 0, axis);
  size_t inner = product(x.dims, axis + 1, x.dims.size());
  auto extent = size_t(x.dims[axis]);
  std::vector<size_t> places;
  for (size_t o = 0; o < outer; ++o)
    for (size_t row : rows)
      for (size_t i = 0; i < inner; ++i)
        places.push_back((o * extent + row) * inner + i);
  std::vector<int64_t> dims = x.dims;
  dims[axis] = int64_t(rows.size());
  return taken(x, places, std::move(dims));
}

static KnownRef foldSlice(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  KnownRef x = call.inputs[0];
  bool areInputs = call.opset >= 10;
  auto list = [&](size_t input, const char *name) {
    return areInputs ? call.integers(input, "")
                     : call.integers(call.inputs.size(), name);
  };
  auto starts = list(1, "starts"), ends = list(2, "ends"),
       axes = list(3, "axes");
  auto steps = areInputs ? call.integers(4, "") : std::vector<int64_t>();
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(int64_t(i));
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size())
    return nullptr;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes[i];
    if (!toAxis(axis, x->dims.size()) || steps[i] == 0)
      return nullptr;
    x = takenAlong(
        *x, size_t(axis),
        slicePositions(x->dims[size_t(axis)], starts[i], ends[i], steps[i]));
  }
  return x;
}

static KnownRef foldTranspose(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  const Known &x = *call.inputs[0];
  size_t rank = x.dims.size();
  std::vector<int64_t> order = call.integers(call.inputs.size(), "perm");
  if (order.empty())
    for (size_t i = rank; i-- > 0;)
      order.push_back(int64_t(i));
  std::vector<bool> seen(rank, false);
  if (order.size() != rank)
    return nullptr;
  for (int64_t &axis : order) {
    if (!toAxis(axis, rank) || seen[size_t(axis)])
      return nullptr;
    seen[size_t(axis)] = true;
  }
  std::vector<int64_t> dims;
  for (int64_t axis : order)
    dims.push_back(x.dims[size_t(axis)]);
  std::vector<size_t> places;
  for (size_t i = 0; i < size_t(x.size()); ++i) {
    size_t rest = i, place = 0;
    for (size_t d = rank; d-- > 0;) {
      size_t at = rest % size_t(dims[d]);
      rest /= size_t(dims[d]);
      place += at * product(x.dims, size_t(order[d]) + 1, rank);
    }
    places.push_back(place);
  }
  return taken(x, places, std::move(dims));
}

static KnownRef foldConcat(const FoldCall &call) {
  auto result = std::make_shared<Known>();
  int64_t axis = call.integer("axis", call.opset < 4 ? 1 : 0);
  int64_t length = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i))
      return nullptr;
    const Known &part = *call.inputs[i];
    if (part.dims.size() != 1 || !toAxis(axis, 1) ||
        part.dtype != call.inputs[0]->dtype)
      return nullptr;
    result->integers.insert(result->integers.end(), part.integers.begin(),
                            part.integers.end());
    result->reals.insert(result->reals.end(), part.reals.begin(),
                         part.reals.end());
    result->varies |= part.varies;
    length += part.dims[0];
  }
  if (length > Known::most)
    return nullptr;
  result->dtype = call.inputs[0]->dtype;
  result->dims = {length};
  return result;
}

static KnownRef foldSqueeze(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  const Known &x = *call.inputs[0];
  std::vector<int64_t> axes = call.integers(1, "axes"), dims;
  bool areNamed = call.has(1) || call.attribute("axes");
  for (int64_t &axis : axes)
    if (!toAxis(axis, x.dims.size()) || x.dims[size_t(axis)] != 1)
      return nullptr;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    bool isGone =
        areNamed ? std::ranges::count(axes, int64_t(i)) > 0 : x.dims[i] == 1;
    if (!isGone)
      dims.push_back(x.dims[i]);
  }
  return reshaped(x, std::move(dims));
}

static KnownRef foldUnsqueeze(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  std::vector<int64_t> axes = call.integers(1, "axes");
  std::vector<int64_t> dims = call.inputs[0]->dims;
  size_t rank = dims.size() + axes.size();
  for (int64_t &axis : axes)
    if (!toAxis(axis, rank))
      return nullptr;
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end())
    return nullptr;
  for (int64_t axis : axes)
    dims.insert(dims.begin() + axis, 1);
  return reshaped(*call.inputs[0], std::move(dims));
}

static KnownRef foldReshape(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  const Known &x = *call.inputs[0];
  std::vector<int64_t> dims = call.integers(1, "shape");
  bool zeroIsZero = call.integer("allowzero", 0) != 0;
  int64_t count = 1, open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zeroIsZero) {
      if (i >= x.dims.size())
        return nullptr;
      dims[i] = x.dims[i];
    }
    if (dims[i] == -1 && open < 0)
      open = int64_t(i);
    else if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count) ||
             count > Known::most)
      return nullptr;
  }
  if (open >= 0 && (count == 0 || x.size() % count != 0))
    return nullptr;
  if (open >= 0)
    dims[size_t(open)] = x.size() / count;
  else if (count != x.size())
    return nullptr;
  return reshaped(x, std::move(dims));
}

static KnownRef foldExpand(const FoldCall &call) {
  if (!call.has(0) || !call.has(1) || call.inputs[0]->size() != 1)
    return nullptr;
  std::vector<int64_t> dims = fixed(call.inputs[1]->integers);
  const std::vector<int64_t> &own = call.inputs[0]->dims;
  if (own.size() > dims.size())
    dims.insert(dims.begin(), own.size() - dims.size(), 1);
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) ||
        count > Known::most)
      return nullptr;
  std::vector<size_t> places(size_t(count), 0);
  return taken(*call.inputs[0], places, std::move(dims));
}

static KnownRef foldRange(const FoldCall &call) {
  if (!call.has(0) || !call.has(1) || !call.has(2))
    return nullptr;
  Known result;
  result.dtype = call.inputs[0]->dtype;
  for (const KnownRef &input : std::span(call.inputs).first(3)) {
    if (input->isReal() || input->size() != 1 || input->dtype != result.dtype)
      return nullptr;
    result.varies |= input->varies;
  }
  int64_t start = fixed(call.inputs[0]->integers[0]);
  int64_t limit = fixed(call.inputs[1]->integers[0]);
  int64_t step = fixed(call.inputs[2]->integers[0]);
  constexpr int64_t far = int64_t(1) << 40;
  for (int64_t each : {start, limit, step})
    if (each > far || each < -far)
      return nullptr;
  if (step == 0)
    return nullptr;
  for (int64_t i = start; step > 0 ? i < limit : i > limit; i += step) {
    if (int64_t(result.integers.size()) >= Known::most)
      return nullptr;
    result.integers.emplace_back(i);
  }
  result.dims = {int64_t(result.integers.size())};
  return std::make_shared<Known>(std::move(result));
}

/// What a reduction of all axes gives, without its element; null where an axis
/// stays.
static std::shared_ptr<Known> reductionOf(const FoldCall &call) {
  if (!call.has(0))
    return nullptr;
  const Known &x = *call.inputs[0];
  std::vector<int64_t> axes = call.integers(1, "axes");
  for (int64_t &axis : axes)
    if (!toAxis(axis, x.dims.size()))
      return nullptr;
  bool isAll = axes.empty() ? call.integer("noop_with_empty_axes", 0) == 0
                            : axes.size() == x.dims.size();
  if (!isAll)
    return nullptr;
  auto result = std::make_shared<Known>();
  result->dtype = x.dtype;
  result->varies = x.varies;
  if (call.integer("keepdims", 1) != 0)
    result->dims.assign(x.dims.size(), 1);
  return result;
}

/// The product or sum of all integers.
template <typename F>
static KnownRef foldIntegers(const FoldCall &call, Dim first, F &&combine) {
  std::shared_ptr<Known> result = reductionOf(call);
  if (!result || result->dtype != DType::i64)
    return nullptr;
  for (Dim each : call.inputs[0]->integers)
    first = combine(first, each);
  result->integers = {first};
  return result;
}
static KnownRef foldProduct(const FoldCall &call) {
  return foldIntegers(call, 1, [](Dim a, Dim b) { return a * b; });
}
static KnownRef foldSum(const FoldCall &call) {
  return foldIntegers(call, 0, [](Dim a, Dim b) { return a + b; });
}

template <typename T> static T extremum(const std::vector<T> &x, bool isMax) {
  return isMax ? *std::ranges::max_element(x) : *std::ranges::min_element(x);
}

/// Of numbers; what is none is left to the device.
static KnownRef foldExtremum(const FoldCall &call, bool isMax) {
  std::shared_ptr<Known> result = reductionOf(call);
  if (!result || call.inputs[0]->size() == 0)
    return nullptr;
  const Known &x = *call.inputs[0];
  if (std::ranges::any_of(x.reals, [](double each) { return each != each; }))
    return nullptr;
  if (x.isReal())
    result->reals = {extremum(x.reals, isMax)};
  else if (x.size() == 1)
    result->integers = x.integers;
  else
    result->integers = {Dim(extremum(fixed(x.integers), isMax))};
  return result;
}
static KnownRef foldMax(const FoldCall &call) {
  return foldExtremum(call, true);
}
static KnownRef foldMin(const FoldCall &call) {
  return foldExtremum(call, false);
}

/// Tensors without elements have other axes of any length, over which loops
/// would go, too.
static bool isSmall(const KnownRef &known) {
  int64_t count = 1;
  for (int64_t dim : known ? known->dims : std::vector<int64_t>())
    if (dim != 0 &&
        (__builtin_mul_overflow(count, dim, &count) || count > Known::most))
      return false;
  return true;
}

KnownRef foldShape(ShapeFold rule, const FoldCall &call) {
  if (!std::ranges::all_of(call.inputs, isSmall))
    return nullptr;
  KnownRef result = rule(call);
  return isSmall(result) ? result : nullptr;
}

ShapeFold findShapeFold(std::string_view op) {
  static const auto &table = *new std::map<std::string_view, ShapeFold>{
      {"Gather", foldGather},       {"Slice", foldSlice},
      {"Concat", foldConcat},       {"Squeeze", foldSqueeze},
      {"Unsqueeze", foldUnsqueeze}, {"Reshape", foldReshape},
      {"Expand", foldExpand},       {"Range", foldRange},
      {"Transpose", foldTranspose}, {"ReduceProd", foldProduct},
      {"ReduceSum", foldSum},       {"ReduceMax", foldMax},
      {"ReduceMin", foldMin},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

} // namespace sinter::onnx

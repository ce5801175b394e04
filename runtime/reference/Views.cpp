/// Reference loops of views and sources.
#include "runtime/reference/Primitives.h"

#include <algorithm>

namespace sinter::reference {

static Result<HostValue> reshape(const Call &call) {
  HostValue result = call[0];
  result.dims = call.dims;
  return result;
}

namespace {
/// Where the elements of a walk lie: `offset` and a stride per axis.
struct Places {
  int64_t offset = 0;
  std::vector<int64_t> strides;

  int64_t at(std::span<const int64_t> index) const {
    int64_t place = offset;
    for (size_t d = 0; d < index.size(); ++d)
      place += index[d] * strides[d];
    return place;
  }
};
} // namespace

/// Copies one element for each index below `dims`.
static void copyElements(HostValue &to, const Places &toPlaces,
                         const HostValue &from, const Places &fromPlaces,
                         std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  std::vector<int64_t> index(dims.size());
  for (int64_t i = 0; i < count; ++i) {
    to.copy(toPlaces.at(index), from, fromPlaces.at(index));
    nextIndex(index, dims);
  }
}

/// The result whose elements lie at `places` of the first operand.
static HostValue viewOf(const Call &call, const Places &places) {
  HostValue result = call.makeResult();
  copyElements(result, {0, stridesOf(call.dims)}, call[0], places, call.dims);
  return result;
}

static Result<HostValue> transpose(const Call &call) {
  graph::AttrReader reader(call.attrs);
  std::vector<int64_t> strides = stridesOf(call[0].dims);
  Places places;
  for (int64_t axis : reader.ints())
    places.strides.push_back(strides[axis]);
  return viewOf(call, places);
}

static Result<HostValue> broadcast(const Call &call) {
  std::span<const int64_t> dims = call[0].dims;
  std::vector<int64_t> strides = stridesOf(dims);
  Places places;
  places.strides.resize(call.dims.size() - dims.size(), 0);
  for (size_t d = 0; d < dims.size(); ++d)
    places.strides.push_back(dims[d] == 1 ? 0 : strides[d]);
  return viewOf(call, places);
}

static Result<HostValue> slice(const Call &call) {
  graph::AttrReader reader(call.attrs);
  std::span<const int64_t> starts = reader.ints();
  reader.dims();
  std::span<const int64_t> steps = reader.ints();
  std::vector<int64_t> strides = stridesOf(call[0].dims);
  Places places;
  for (size_t d = 0; d < strides.size(); ++d) {
    places.offset += starts[d] * strides[d];
    places.strides.push_back(steps[d] * strides[d]);
  }
  return viewOf(call, places);
}

static Result<HostValue> flip(const Call &call) {
  Places places{0, stridesOf(call.dims)};
  for (int64_t axis : graph::AttrReader(call.attrs).ints()) {
    places.offset += (call.dims[axis] - 1) * places.strides[axis];
    places.strides[axis] = -places.strides[axis];
  }
  return viewOf(call, places);
}

static Result<HostValue> concat(const Call &call) {
  size_t axis = graph::AttrReader(call.attrs).integer();
  HostValue result = call.makeResult();
  Places places{0, stridesOf(call.dims)};
  for (const HostValue *operand : call.operands) {
    copyElements(result, places, *operand, {0, stridesOf(operand->dims)},
                 operand->dims);
    places.offset += operand->dims[axis] * places.strides[axis];
  }
  return result;
}

static Result<HostValue> pad(const Call &call) {
  graph::AttrReader reader(call.attrs);
  std::span<const int64_t> low = reader.ints();
  reader.dims();
  std::span<const int64_t> interior = reader.ints();
  Number value = reader.number();
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    result.set(i, value);
  std::vector<int64_t> strides = stridesOf(call.dims);
  Places places;
  for (size_t d = 0; d < strides.size(); ++d) {
    places.offset += low[d] * strides[d];
    places.strides.push_back((interior[d] + 1) * strides[d]);
  }
  copyElements(result, places, call[0], {0, stridesOf(call[0].dims)},
               call[0].dims);
  return result;
}

/// The given start, brought to where `size` elements fit before `extent`.
static int64_t startOf(const Call &call, int64_t size, int64_t extent) {
  return std::clamp<int64_t>(call[1].ints[0], 0,
                             std::max<int64_t>(extent - size, 0));
}

static Result<HostValue> dynamicSlice(const Call &call) {
  size_t axis = graph::AttrReader(call.attrs).integer();
  Places places{0, stridesOf(call[0].dims)};
  places.offset =
      startOf(call, call.dims[axis], call[0].dims[axis]) * places.strides[axis];
  return viewOf(call, places);
}

static Result<HostValue> dynamicPad(const Call &call) {
  size_t axis = graph::AttrReader(call.attrs).integer();
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    result.set(i, Number(0));
  Places places{0, stridesOf(call.dims)};
  places.offset =
      startOf(call, call[0].dims[axis], call.dims[axis]) * places.strides[axis];
  copyElements(result, places, call[0], {0, stridesOf(call[0].dims)},
               call[0].dims);
  return result;
}

namespace {
/// The attributes that window and unwindow share.
struct WindowLists {
  std::span<const int64_t> axes, sizes, strides, dilations;

  explicit WindowLists(graph::AttrReader &reader)
      : axes(reader.ints()), sizes(reader.ints()), strides(reader.ints()),
        dilations(reader.ints()) {}
  /// Where windows of a tensor with these strides have their elements.
  Places placesIn(std::vector<int64_t> places) const {
    std::vector<int64_t> steps = places;
    for (size_t j = 0; j < axes.size(); ++j) {
      steps[axes[j]] = places[axes[j]] * strides[j];
      steps.push_back(places[axes[j]] * dilations[j]);
    }
    return {0, steps};
  }
};
} // namespace

static Result<HostValue> window(const Call &call) {
  graph::AttrReader reader(call.attrs);
  WindowLists windows(reader);
  return viewOf(call, windows.placesIn(stridesOf(call[0].dims)));
}

static Result<HostValue> unwindow(const Call &call) {
  graph::AttrReader reader(call.attrs);
  size_t rank = reader.dims().size();
  WindowLists windows(reader);
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    result.set(i, Number(0));
  std::vector<int64_t> strides = stridesOf(call.dims);
  std::vector<int64_t> outer(strides.begin(), strides.begin() + rank);
  Places places = windows.placesIn(outer);
  for (size_t j = 0; j < windows.axes.size(); ++j)
    places.strides[rank + j] += strides[rank + j];
  copyElements(result, places, call[0], {0, stridesOf(call[0].dims)},
               call[0].dims);
  return result;
}

static Result<HostValue> iota(const Call &call) {
  graph::AttrReader reader(call.attrs);
  reader.dims();
  size_t axis = reader.integer();
  HostValue result = call.makeResult();
  std::vector<int64_t> index(call.dims.size());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    result.set(i, Number(index[axis]));
    nextIndex(index, call.dims);
  }
  return result;
}

static Result<HostValue> full(const Call &call) {
  graph::AttrReader reader(call.attrs);
  reader.dims();
  Number value = reader.number();
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    result.set(i, value);
  return result;
}

static Result<HostValue> extent(const Call &call) {
  HostValue result = call.makeResult();
  result.set(0, Number(graph::AttrReader(call.attrs).dim().value));
  return result;
}

std::span<const PrimitiveRow> viewPrimitives() {
  static const PrimitiveRow rows[] = {
      {"reshape", reshape},
      {"transpose", transpose},
      {"broadcast", broadcast},
      {"slice", slice},
      {"flip", flip},
      {"concat", concat},
      {"pad", pad},
      {"window", window},
      {"unwindow", unwindow},
      {"iota", iota},
      {"full", full},
      {"extent", extent},
      {"dynamic_slice", dynamicSlice},
      {"dynamic_pad", dynamicPad},
  };
  return rows;
}

} // namespace sinter::reference

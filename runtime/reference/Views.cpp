/// Reference loops of views and sources.
#include "runtime/reference/Primitives.h"

namespace sinter::reference {

static Result<HostValue> reshape(const Call &call) {
  HostValue result = call[0];
  result.dims = call.dims;
  return result;
}

static Result<HostValue> transpose(const Call &call) {
  graph::AttrReader reader(call.attrs);
  std::span<const int64_t> permutation = reader.ints();
  HostValue result = call.makeResult();
  std::vector<int64_t> strides = stridesOf(call[0].dims);
  std::vector<int64_t> index(call.dims.size());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d)
      from += index[d] * strides[permutation[d]];
    result.copy(i, call[0], from);
    nextIndex(index, call.dims);
  }
  return result;
}

static Result<HostValue> broadcast(const Call &call) {
  HostValue result = call.makeResult();
  std::span<const int64_t> dims = call[0].dims;
  size_t missing = call.dims.size() - dims.size();
  std::vector<int64_t> strides = stridesOf(dims);
  std::vector<int64_t> index(call.dims.size());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      from += dims[d] == 1 ? 0 : index[missing + d] * strides[d];
    result.copy(i, call[0], from);
    nextIndex(index, call.dims);
  }
  return result;
}

static Result<HostValue> slice(const Call &call) {
  graph::AttrReader reader(call.attrs);
  std::span<const int64_t> starts = reader.ints();
  reader.dims();
  std::span<const int64_t> steps = reader.ints();
  HostValue result = call.makeResult();
  std::vector<int64_t> strides = stridesOf(call[0].dims);
  std::vector<int64_t> index(call.dims.size());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d)
      from += (starts[d] + index[d] * steps[d]) * strides[d];
    result.copy(i, call[0], from);
    nextIndex(index, call.dims);
  }
  return result;
}

static Result<HostValue> concat(const Call &call) {
  size_t axis = graph::AttrReader(call.attrs).integer();
  HostValue result = call.makeResult();
  std::vector<int64_t> strides = stridesOf(call.dims);
  int64_t offset = 0;
  for (const HostValue *operand : call.operands) {
    std::vector<int64_t> index(operand->dims.size());
    for (int64_t i = 0, count = operand->elements(); i < count; ++i) {
      int64_t to = offset * strides[axis];
      for (size_t d = 0; d < index.size(); ++d)
        to += index[d] * strides[d];
      result.copy(to, *operand, i);
      nextIndex(index, operand->dims);
    }
    offset += operand->dims[axis];
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
  std::vector<int64_t> index(call.dims.size());
  for (int64_t i = 0, count = call[0].elements(); i < count; ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d)
      to += (low[d] + index[d] * (interior[d] + 1)) * strides[d];
    result.copy(to, call[0], i);
    nextIndex(index, call[0].dims);
  }
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
      {"reshape", reshape}, {"transpose", transpose}, {"broadcast", broadcast},
      {"slice", slice},     {"concat", concat},       {"pad", pad},
      {"iota", iota},       {"full", full},           {"extent", extent},
  };
  return rows;
}

} // namespace sinter::reference

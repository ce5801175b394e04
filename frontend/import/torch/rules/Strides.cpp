/// Views by strides: what they mean for elements, which have no memory here.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/generated/functions/Gather.h>

#include <algorithm>
#include <numeric>

namespace sinter::torch {

/// The axes from the one with the largest stride to the one with the smallest.
/// Empty where the strides are not those of dense elements in some order.
static std::optional<std::vector<int64_t>>
denseOrder(const std::vector<int64_t> &dims,
           const std::vector<int64_t> &strides) {
  std::vector<int64_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  // Axes of one element may have any stride: they stand in front.
  auto weight = [&](int64_t axis) {
    return dims[size_t(axis)] == 1 ? INT64_MAX : strides[size_t(axis)];
  };
  std::ranges::stable_sort(order, std::greater<>(), weight);
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    auto axis = size_t(order[i]);
    if (dims[axis] != 1 && strides[axis] != expected)
      return std::nullopt;
    expected *= dims[axis];
  }
  return order;
}

static std::vector<int64_t> stridesOf(Call &call, const TensorRecord &record) {
  std::vector<int64_t> strides;
  for (const SizeRecord &stride : record.strides) {
    if (!stride.number)
      call.unsupported("strides that depend on sizes");
    strides.push_back(*stride.number);
  }
  return strides;
}

/// The elements of a tensor as they stand in PyTorch's memory, and back.
static View storageOf(Call &call, const Tensor &x) {
  const TensorRecord *record = call.inputRecord("self");
  if (!record || int64_t(record->strides.size()) != x.rank())
    call.unsupported("a tensor whose strides the file does not say");
  if (record->offset.number.value_or(-1) != 0)
    call.unsupported("strides of a part of a tensor");
  std::vector<int64_t> dims = fixed(x.shape());
  auto order = denseOrder(dims, stridesOf(call, *record));
  if (!order)
    call.unsupported("strides of a view that is not dense");
  Dims ordered;
  std::vector<int64_t> back(order->size());
  for (size_t i = 0; i < order->size(); ++i) {
    ordered.emplace_back(dims[size_t((*order)[i])]);
    back[size_t((*order)[i])] = int64_t(i);
  }
  return {[order = *order](const Tensor &base) {
            return reshape(permute(base, order), {-1});
          },
          [ordered, back](const Tensor &, const Tensor &storage) {
            return permute(reshape(storage, ordered), back);
          }};
}

/// The place of every element of the result in the storage.
static Tensor placesOf(const std::vector<int64_t> &dims,
                       const std::vector<int64_t> &strides, int64_t offset,
                       DeviceId device) {
  Dims shape(dims.begin(), dims.end());
  Tensor places = full(shape, offset, {DType::i64, device});
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    Dims own(dims.size(), Dim(1));
    own[axis] = dims[axis];
    Tensor steps =
        arange(Dim(dims[axis]), {DType::i64, device}) * strides[axis];
    places = places + reshape(steps, own);
  }
  return places;
}

/// The part of the tensor's memory that sizes and strides name.
static View stridedPart(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> dims = call.integers("size"),
                       strides = call.integers("stride");
  int64_t offset = call.integer("storage_offset", 0);
  if (dims.size() != strides.size() || offset < 0)
    call.invalid("sizes and strides that do not fit");
  int64_t last = offset, count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t reach = 0;
    if (dims[i] < 0 || strides[i] < 0 ||
        __builtin_mul_overflow(std::max<int64_t>(dims[i] - 1, 0), strides[i],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(count, dims[i], &count))
      call.invalid("sizes and strides beyond the tensor");
  }
  View memory = storageOf(call, x);
  int64_t elements = fixed(Dim(memory.take(x).dim(0)));
  if (count > 0 && last >= elements)
    call.invalid("strides that reach beyond the tensor");
  Dims shape(dims.begin(), dims.end());
  Tensor places = reshape(placesOf(dims, strides, offset, x.device()), {-1});
  return {[=](const Tensor &base) {
            return reshape(index_select(memory.take(base), places, 0), shape);
          },
          [=](const Tensor &base, const Tensor &part) {
            Tensor storage =
                scatter(memory.take(base), places, reshape(part, {-1}), 0);
            return memory.put(base, storage);
          }};
}

static void asStridedRule(Call &call) {
  call.giveView("self", stridedPart(call));
}
static void asStridedScatterRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(stridedPart(call).put(x, call.tensor("src").to(x.dtype())));
}

static constexpr Operator rows[] = {
    {"aten.as_strided.default", asStridedRule},
    {"aten.as_strided_scatter.default", asStridedScatterRule},
};

std::span<const Operator> strideRows() { return rows; }

} // namespace sinter::torch

/// Bags of embeddings: rows that are looked up and brought to one for each bag.
#include "frontend/import/torch/rules/Rules.h"

namespace sinter::torch {

namespace {
/// How the rows of a bag become one, by PyTorch's codes.
enum class Bag : uint8_t { sum, mean, max };

struct Bags {
  Tensor owner; ///< which bag each index is of
  Tensor counts;
  Tensor isCounted; ///< whether a row has a part; undefined where all have
  Dim number;
};
} // namespace

/// Offsets tell where each bag begins.
static Bags bagsOf(Call &call, const Tensor &indices, DType dtype) {
  Tensor offsets = call.tensor("offsets").to(DType::i64);
  Bags bags;
  bags.number = offsets.dim(0);
  if (call.flag("include_last_offset")) {
    bags.number = bags.number - Dim(1);
    offsets = sliceAxis(offsets, 0, 0, bags.number);
  }
  Tensor place = iota(indices.shape(), 0, {DType::i64, indices.device()});
  bags.owner = searchsorted(offsets, place, true) - 1;
  int64_t padding = call.integer("padding_idx", -1);
  if (padding < 0 && call.has("padding_idx"))
    padding += padding == -1 ? 0 : fixed(call.tensor("weight").dim(0));
  if (padding >= 0)
    bags.isCounted = indices != padding;
  Tensor ones = bags.isCounted.defined()
                    ? bags.isCounted.to(dtype)
                    : sinter::ones(indices.shape(), {dtype, indices.device()});
  bags.counts = index_add(zeros({bags.number}, {dtype, indices.device()}), 0,
                          bags.owner, ones);
  return bags;
}

static void embeddingBagRule(Call &call) {
  Tensor weight = call.tensor("weight");
  Tensor indices = call.tensor("indices").to(DType::i64);
  call.ignore({"scale_grad_by_freq"});
  if (call.flag("sparse"))
    call.unsupported("sparse gradients");
  if (indices.rank() != 1)
    call.invalid("indices of rank " + std::to_string(indices.rank()));
  int64_t code = call.integer("mode", 0);
  if (code < 0 || code > 2)
    call.invalid("mode " + std::to_string(code));
  auto mode = Bag(code);
  Bags bags = bagsOf(call, indices, weight.dtype());
  Tensor taken = index_select(weight, indices, 0);
  if (call.has("per_sample_weights"))
    taken = taken * unsqueeze(call.tensor("per_sample_weights"), 1);
  Tensor empty =
      zeros({bags.number, weight.dim(1)}, {weight.dtype(), weight.device()});
  Tensor owners = broadcast(unsqueeze(bags.owner, 1), taken.shape());
  Tensor isCounted;
  if (bags.isCounted.defined())
    isCounted = broadcast(unsqueeze(bags.isCounted, 1), taken.shape());
  Tensor result;
  if (mode == Bag::max) {
    if (isCounted.defined())
      taken = where(isCounted, taken,
                    full({}, -std::numeric_limits<double>::infinity(),
                         {taken.dtype(), taken.device()}));
    result =
        scatter_reduce(empty, 0, owners, taken, ScatterReduce::amax, false);
    result = where(unsqueeze(bags.counts == 0, 1), empty, result);
  } else {
    if (isCounted.defined())
      taken = where(isCounted, taken, zeros_like(taken));
    result = scatter_add(empty, owners, taken, 0);
    if (mode == Bag::mean)
      result = result / unsqueeze(maximum(bags.counts, 1), 1);
  }
  call.give(result);
  // The other results serve a backward pass of PyTorch's own.
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(Value());
}

static constexpr Operator rows[] = {
    {"aten.embedding_bag.default", embeddingBagRule},
    {"aten.embedding_bag.padding_idx", embeddingBagRule},
    {"aten._embedding_bag.default", embeddingBagRule},
    {"aten._embedding_bag_forward_only.default", embeddingBagRule},
};

std::span<const Operator> bagRows() { return rows; }

} // namespace sinter::torch

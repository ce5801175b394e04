/// Embedding: a table of rows; EmbeddingBag: sums of them.
#include <sinter/nn/Embedding.h>

#include "frontend/Raise.h"
#include "frontend/nn/ComposedCall.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>

namespace sinter {

Tensor embedding(const Arg &weight, const Arg &indices,
                 int64_t padding_idx) try {
  detail::ComposedCall call("embedding", {&weight});
  Tensor table = detail::tensorOf(weight);
  Tensor places = call.index(indices, "indices");
  Tensor rows = embedding(table, places);
  Tensor isPadding = unsqueeze(places == padding_idx, -1);
  return where(isPadding, rows.detach(), rows);
} catch (...) {
  detail::raiseExhausted(weight.where);
}

Tensor embedding_bag(const Arg &weight, const Arg &indices, const Arg &offsets,
                     BagMode mode) try {
  detail::ComposedCall call("embedding_bag", {&indices});
  Tensor places = call.index(indices, "indices"),
         begins = call.index(offsets, "offsets").to(DType::i64);
  if (places.rank() != 1 || begins.rank() != 1)
    call.fail("expects indices [total] and offsets [n]", {places, begins});
  Tensor place = iota({places.dim(0)}, 0, {DType::i64, places.device()});
  Tensor bag = searchsorted(begins, place, /*right=*/true) - 1; // [total]
  Tensor rows = embedding(weight, places);
  Options options{rows.dtype(), rows.device()};
  Tensor none = zeros({begins.dim(0), rows.dim(1)}, options);
  Tensor target = broadcast(unsqueeze(bag, 1), rows.shape());
  if (mode == BagMode::max)
    return scatter_reduce(none, 0, target, rows, ScatterReduce::amax,
                          /*include_self=*/false);
  Tensor sums = scatter_add(none, target, rows, 0);
  if (mode == BagMode::sum)
    return sums;
  Tensor counts = scatter_add(zeros({begins.dim(0)}, options), bag,
                              ones({places.dim(0)}, options), 0);
  return sums / unsqueeze(maximum(counts, 1.0), 1);
} catch (...) {
  detail::raiseExhausted(weight.where);
}

namespace nn {

/// Normal, with a row of 0.
static Init normalWithout(int64_t row) {
  return [row](const Dims &shape, DType dtype, Generator &generator) {
    Tensor rows = normal(shape, generator, 0, 1, dtype);
    return where(iota({shape[0], Dim(1)}) == row, 0.0, rows);
  };
}

Embedding::Embedding(int64_t count, int64_t length,
                     const EmbeddingOptions &options, Where where) try
    : padding_idx(options.padding_idx) {
  detail::Arguments("embedding", where)
      .positive("count", count)
      .positive("length", length);
  if (padding_idx && *padding_idx < 0)
    *padding_idx += count;
  if (padding_idx && (*padding_idx < 0 || *padding_idx >= count))
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "embedding: padding_idx is " +
                                std::to_string(*options.padding_idx) +
                                ", none of " + std::to_string(count) + " rows",
                            "embedding"),
                  where);
  weight = Param("weight", {count, length},
                 padding_idx ? normalWithout(*padding_idx) : init::normal(0, 1),
                 {.dtype = options.dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Embedding::forward(const Tensor &indices) const try {
  return padding_idx ? embedding(weight, indices, *padding_idx)
                     : embedding(weight, indices);
} catch (...) {
  detail::raiseExhausted({});
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t length,
                           const EmbeddingBagOptions &options, Where where) try
    : weight("weight", {count, length}, init::normal(0, 1),
             {.dtype = options.dtype}, where),
      mode(options.mode) {
  detail::Arguments("embedding_bag", where)
      .positive("count", count)
      .positive("length", length);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor EmbeddingBag::forward(const Tensor &indices) const try {
  Arg operand(indices);
  detail::ComposedCall call("embedding_bag", {&operand});
  if (indices.rank() != 2)
    call.fail("without offsets, indices must be [n, size]", {indices});
  Tensor rows = embedding(weight, indices);
  switch (mode) {
  case BagMode::sum:
    return sum(rows, 1);
  case BagMode::mean:
    return mean(rows, 1);
  case BagMode::max:
    return amax(rows, 1);
  }
  call.fail("the mode is none", {});
} catch (...) {
  detail::raiseExhausted({});
}

Tensor EmbeddingBag::forward(const Tensor &indices, const Tensor &offsets) const
    try {
  return embedding_bag(weight, indices, offsets, mode);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace nn
} // namespace sinter

/// Embedding: a table of rows; EmbeddingBag: sums of them.
#pragma once

#include <sinter/BasicOps.h>
#include <sinter/Module.h>

#include <optional>
#include <source_location>

namespace sinter {

/// The same as embedding(weight, indices), but what index `padding_idx` gives
/// has no gradient.
Tensor embedding(const Arg &weight, const Arg &indices, int64_t padding_idx);

/// What is made of the rows of a bag.
enum class BagMode : uint8_t { sum, mean, max };
/// The rows of bags of several sizes, each bag as one: indices [total], of
/// which bag i begins at offset i; offsets ascend from 0. An empty bag gives 0.
Tensor embedding_bag(const Arg &weight, const Arg &indices, const Arg &offsets,
                     BagMode mode = BagMode::mean);

} // namespace sinter

namespace sinter::nn {

struct EmbeddingOptions {
  DType dtype = DType::f32;
  /// A row that is 0 at first and is not trained; negative ones count from the
  /// end.
  std::optional<int64_t> padding_idx = {};
};

/// One of `count` rows of `length` for each index. The name and the first
/// values are PyTorch's: `weight` [count, length], normal.
class Embedding {
public:
  using Where = std::source_location;

  Embedding() = default;
  Embedding(int64_t count, int64_t length, const EmbeddingOptions &options = {},
            Where where = Where::current());

  Tensor forward(const Tensor &indices) const;

  Param weight;
  std::optional<int64_t> padding_idx;

  SINTER_MODULE(Embedding, weight)
};

using sinter::BagMode;

struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean;
  DType dtype = DType::f32;
};

/// The sum, the mean or the largest elements of several rows. The name and the
/// first values are PyTorch's: `weight` [count, length], normal.
class EmbeddingBag {
public:
  using Where = std::source_location;

  EmbeddingBag() = default;
  EmbeddingBag(int64_t count, int64_t length,
               const EmbeddingBagOptions &options = {},
               Where where = Where::current());

  /// Bags of one size: indices [n, size] give [n, length].
  Tensor forward(const Tensor &indices) const;
  /// Bags of several sizes, as `embedding_bag`.
  Tensor forward(const Tensor &indices, const Tensor &offsets) const;

  Param weight;
  BagMode mode = BagMode::mean;

  SINTER_MODULE(EmbeddingBag, weight)
};

} // namespace sinter::nn

/// Embedding: a table of rows.
#pragma once

#include <sinter/Module.h>
#include <sinter/Ops.h>

#include <source_location>

namespace sinter::nn {

struct EmbeddingOptions {
  DType dtype = DType::f32;
};

/// One of `count` rows of `length` for each index. The name and the first
/// values are PyTorch's: `weight` [count, length], normal.
class Embedding {
public:
  using Where = std::source_location;

  Embedding() = default;
  Embedding(int64_t count, int64_t length, const EmbeddingOptions &options = {},
            Where where = Where::current())
      : weight("weight", {count, length}, init::normal(0, 1),
               {.dtype = options.dtype}, where) {}

  Tensor forward(const Tensor &indices) const {
    return embedding(weight, indices);
  }

  Param weight;

  SINTER_MODULE(Embedding, weight)
};

} // namespace sinter::nn

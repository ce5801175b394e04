/// Operators of models by themselves. With `step` a case is the gradients for
/// a cotangent that is given, and the result.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <memory>

namespace bench {

/// `h` heads of queries share `kv` of keys and values: by the op's option, or
/// in another `spelling`, `repeat` or `expand`.
std::unique_ptr<Work> makeSharedAttention(const Case &c);
/// A linear layer and gelu.
std::unique_ptr<Work> makeLinearGelu(const Case &c);
/// `n` rows of a table of `words`.
std::unique_ptr<Work> makeEmbedding(const Case &c);
/// Images [batch, c, h, w].
std::unique_ptr<Work> makeBatchNorm(const Case &c);
std::unique_ptr<Work> makeGroupNormSilu(const Case &c);
std::unique_ptr<Work> makePooling(const Case &c);

} // namespace bench

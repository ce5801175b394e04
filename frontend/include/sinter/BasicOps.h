/// Ops but for those of ops/Elementwise.td, Math.td and Activations.td: one
/// function per op, named by its mnemonic. Users include sinter/Ops.h; what
/// Sinter itself includes is this, so that a new elementwise op rebuilds
/// little.
#pragma once

#include <sinter/Tensor.h>

#include <sinter/generated/functions/Arithmetic.h>
#include <sinter/generated/functions/Attention.h>
#include <sinter/generated/functions/Contraction.h>
#include <sinter/generated/functions/Custom.h>
#include <sinter/generated/functions/Folds.h>
#include <sinter/generated/functions/Gather.h>
#include <sinter/generated/functions/Nn.h>
#include <sinter/generated/functions/Random.h>
#include <sinter/generated/functions/Reduce.h>
#include <sinter/generated/functions/Scan.h>
#include <sinter/generated/functions/Sort.h>
#include <sinter/generated/functions/View.h>
#include <sinter/generated/functions/Windows.h>

#include <optional>
#include <vector>

namespace sinter {

/// Matrix product of the last two axes; a vector counts as a row on the left
/// and a column on the right; leading axes broadcast.
Tensor matmul(const Arg &lhs, const Arg &rhs);

/// Elementwise lhs to the power of rhs. A plain number 0.5, 1, 2, 3, -0.5 or -1
/// on the right is a root, products or a quotient.
Tensor pow(const Arg &lhs, const Arg &rhs);

/// x without those of its axes that have size 1: of the named ones, or of all.
Tensor squeeze(const Arg &x, const Axes &axes = {});

/// x with a new axis of size 1. The axis counts in the result; -1 is the last.
Tensor unsqueeze(const Arg &x, int64_t axis);

/// Every steps[d]-th element from starts[d] up to limits[d]; negative starts
/// and limits count from the end. A start that varies from one evaluation to
/// the next while the size stays the same becomes an argument of the program.
Tensor slice(const Arg &x, const Axes &starts, const Dims &limits,
             const Axes &steps);
/// sizes[d] elements from starts[d] on: plain numbers, negative ones from the
/// end, or integer tensors of one element, which count from the beginning. A
/// start out of range is an error: of a number here, of a tensor when it is
/// evaluated.
Tensor slice(const Arg &x, const std::vector<Arg> &starts, const Dims &sizes);

/// Elements in order, and where they stood in x (i64).
struct Sorted {
  Tensor values;
  Tensor indices;
};
/// x in ascending order along an axis, or in descending order. Equal elements
/// keep their order in both; NaN counts as the largest.
Sorted sort(const Arg &x, int64_t axis = -1, bool descending = false);
/// The indices alone.
Tensor argsort(const Arg &x, int64_t axis = -1, bool descending = false);
/// The k largest elements along an axis, the largest first, or the k smallest.
/// Of equal ones the first come first. They are in order even where `sorted`
/// does not ask for it.
Sorted topk(const Arg &x, int64_t k, int64_t axis = -1, bool largest = true,
            bool sorted = true);

/// Elements of x at positions along an axis: element i of a line of the result
/// is element indices[i] of that line of x. Along other axes the indices may be
/// shorter than x: what is beyond has no part in it. A position out of range is
/// an error.
Tensor gather(const Arg &x, const Arg &indices, int64_t axis);
/// x with updates, which have the indices' shape, put at positions along an
/// axis, or folded into what stands there. Shapes as in gather.
Tensor scatter(const Arg &x, const Arg &indices, const Arg &updates,
               int64_t axis);
Tensor scatter_add(const Arg &x, const Arg &indices, const Arg &updates,
                   int64_t axis);
Tensor scatter_prod(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis);
Tensor scatter_amax(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis);
Tensor scatter_amin(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis);

struct AttentionOptions {
  /// Bool: true where a query may see a key. Float: added to the scores. Of the
  /// scores' shape [..., t, s], or one that broadcasts to it.
  std::optional<Tensor> mask = {};
  bool causal = false; ///< query i sees the keys up to i, besides the mask
  std::optional<double> scale = {}; ///< default: 1 / sqrt(d)
  /// Several heads (axis -3) of the query share one of key and value.
  bool enable_gqa = false;
};

/// softmax(query key^T * scale + mask) value, of query [..., t, d], key
/// [..., s, d] and value [..., s, e]; leading axes broadcast.
Tensor scaled_dot_product_attention(const Arg &query, const Arg &key,
                                    const Arg &value,
                                    const AttentionOptions &options = {});

} // namespace sinter

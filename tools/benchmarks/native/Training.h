/// Cases of several ops: convolutions, attention and training steps.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <sinter/Tensor.h>

#include <memory>

namespace bench {

/// An MLP `in`-`hidden`-`hidden`-`out` with relu, of `batch` rows.
std::unique_ptr<Work> makeMlpStep(const Case &c);

/// A transformer of `layers` blocks (norm first), `d` channels, `heads`, `t`
/// tokens of a vocabulary of `vocab`, `batch` sequences.
std::unique_ptr<Work> makeTransformerStep(const Case &c);

/// Burn's guide: two convolutions, pooling and two linear layers, with dropout,
/// on images of 28 x 28.
std::unique_ptr<Work> makeCnnStep(const Case &c);

/// A gated recurrent unit of `size` on `steps` steps of `batch` rows: a loop,
/// or with `unrolled` a recording of every step.
std::unique_ptr<Work> makeGruStep(const Case &c);

/// Images are in channels-last order unless `layout=first`.
std::unique_ptr<Work> makeConvolution(const Case &c);
std::unique_ptr<Work> makeConvolutionStep(const Case &c);
std::unique_ptr<Work> makeMaxPool(const Case &c);

/// A residual net: a stem and `blocks` blocks of two convolutions of 3 x 3 with
/// `c` channels, each normalized over the batch, on `h` x `w`, and a linear
/// layer over the mean of each channel.
std::unique_ptr<Work> makeResidualStep(const Case &c);

/// softmax(q k^T / sqrt(d)) v over the last two axes.
sinter::Tensor scaledAttention(const sinter::Tensor &q, const sinter::Tensor &k,
                               const sinter::Tensor &v, bool causal);

} // namespace bench

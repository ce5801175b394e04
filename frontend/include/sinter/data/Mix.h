/// Mix: batches whose images and labels are mixtures.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <source_location>
#include <utility>

namespace sinter::data {

/// A batch of images [n, c, h, w] and class numbers [n] becomes images and f32
/// labels [n, classes]: each with the one before it, by one random share for
/// the batch, drawn from Beta(alpha, alpha) of the thread's default generator.
class Mixing {
public:
  enum class Kind : uint8_t { mixup, cutmix };
  Mixing(Kind kind, double alpha, int64_t classes, std::source_location where);

  std::pair<Tensor, Tensor>
  operator()(const std::pair<Tensor, Tensor> &batch) const;

private:
  Kind kind;
  double alpha;
  int64_t classes;
  std::source_location line;
};

/// Images are added up by their shares (Zhang et al., mixup: Beyond empirical
/// risk minimization, 2017). Behind a batcher:
///
///     sn::data::DataLoader loader(train, options, sn::data::compose(
///         sn::data::Collate(), sn::data::mixup(0.2, 10)));
Mixing mixup(double alpha, int64_t classes,
             std::source_location where = std::source_location::current());
/// A random rectangle is the other image's; labels count pixels (Yun et al.,
/// CutMix, 2019).
Mixing cutmix(double alpha, int64_t classes,
              std::source_location where = std::source_location::current());

} // namespace sinter::data

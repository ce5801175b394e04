/// What metrics take of the outputs of steps.
#include <sinter/metrics/Outputs.h>

#include "frontend/Leaves.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

namespace sinter::metrics {

Tensor count_items(const Tensor &targets, const Tensor &mask) {
  if (mask.defined())
    return sum(mask.dtype() == DType::boolean ? mask : mask != 0);
  Dim count(1);
  for (const Dim &dim : targets.shape())
    count = count * dim;
  return sinter::detail::sizeScalar(count, targets.device(), SourceLine());
}

/// The items that a mean loss is of; a loss of each item says it by itself.
static LossInput lossOf(const Tensor &loss, const Tensor &targets,
                        const Tensor &mask) {
  bool isMean = loss.defined() && loss.rank() == 0 && targets.defined();
  return {loss, isMean ? count_items(targets, mask) : Tensor()};
}

ClassificationOutput::operator LossInput() const {
  return lossOf(loss, targets, mask);
}

MultiLabelOutput::operator LossInput() const {
  return lossOf(loss, targets, mask);
}

RegressionOutput::operator LossInput() const {
  return lossOf(loss, targets, mask);
}

} // namespace sinter::metrics

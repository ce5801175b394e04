/// The gradients of a module as one vector, and changes of its parameters.
#pragma once

#include <sinter/Fields.h>
#include <sinter/Transforms.h>

#include <map>
#include <source_location>
#include <string>

namespace sinter {

/// What `apply_weight_delta` adds: tensors by the paths of Params, or one
/// vector for all of them.
class WeightDelta {
public:
  WeightDelta(std::map<std::string, Tensor> byPath)
      : byPath(std::move(byPath)) {}
  /// As `flat_gradients` orders its elements.
  WeightDelta(Tensor flat) : flat(std::move(flat)) {}

  const std::map<std::string, Tensor> &paths() const { return byPath; }
  const Tensor &vector() const { return flat; } ///< empty when by path

private:
  std::map<std::string, Tensor> byPath;
  Tensor flat;
};

namespace detail {

/// The gradients of all Params that want one, each flattened, in the order of
/// `visit`, a tied one once; zeros where there is none. Of the widest dtype
/// among the Params. A module without such a Param is an error.
Tensor flattenGradients(const Fields &fields, const Gradients &gradients,
                        std::source_location where);

/// What flattenGradients made a vector of; each of its Param's dtype and shape.
/// A vector of another length is an error.
Gradients unflattenGradients(const Fields &fields, const Tensor &flat,
                             std::source_location where);

/// Records that each Param becomes itself plus `scale` times its delta, frozen
/// ones too where they are named by path; tied ones get the sum of theirs. A
/// path that is no Param's and a tensor of another shape are errors, and then
/// nothing was changed.
void addDelta(const Fields &fields, const WeightDelta &delta, double scale,
              std::source_location where);

} // namespace detail
} // namespace sinter

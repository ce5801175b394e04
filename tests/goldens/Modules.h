/// Modules of golden cases: filled from the case's tensors by PyTorch's names.
#pragma once

#include "tests/goldens/Call.h"

#include <string>

namespace sinter::goldens {

/// Gives each parameter of `module` the input `PREFIX` + path, and writes the
/// parameter's tensor to `values` under that name, so that gradients are those
/// of the parameter.
template <typename Module>
void fill(Module &module, const std::string &prefix, const Call &call,
          Values &values) {
  module.visit([&](const std::string &path, Param &param) {
    std::optional<Tensor> given = call.find(prefix + path);
    if (!given)
      return;
    param.set(given->detach().to(param.dtype()));
    if (param.requires_grad())
      values[prefix + path] = param.tensor();
  });
}

} // namespace sinter::goldens

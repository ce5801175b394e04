/// LoadedProgram: a file that was read and checked, which copies of a Model
/// share.
#pragma once

#include "frontend/import/torch/Archive.h"
#include "frontend/import/torch/Records.h"

#include <sinter/Torch.h>

#include <map>
#include <string>
#include <vector>

namespace sinter::torch {

struct LoadedProgram {
  std::string name;
  ProgramRecord record;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<std::string> notes;
  /// Names of the inputs and outputs of the graph as a caller says them; empty
  /// where a caller has nothing to do with them.
  std::vector<std::string> inputNames, outputNames;
};

/// The model of an archive that was read; its tensors are copied. Throws an
/// Error, as `load` does.
Model modelOf(Archive archive, const LoadOptions &options,
              const std::string &name);

/// Names for the leaves of a nested value, as PyTorch's pytree spec describes
/// it: keys of dicts and fields, indices of lists, joined by `_`. The root
/// itself is `root`. Empty where the text is not understood.
std::vector<std::string> leafNames(std::string_view spec,
                                   const std::string &root);

} // namespace sinter::torch

/// ArchivedWeights: the tensors of a PyTorch program as a weight file.
#pragma once

#include "runtime/params/weights/WeightFile.h"

#include <source_location>
#include <string>

namespace sinter::torch {

/// Parameters, buffers and constants, by their names in the state dict. Throws
/// what `load` throws, but for operators, which do not matter.
runtime::WeightFileRef openArchivedWeights(const std::string &path,
                                           std::source_location where);

} // namespace sinter::torch

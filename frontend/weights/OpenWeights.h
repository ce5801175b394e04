/// OpenWeights: weight files by their paths, those of models included.
#pragma once

#include "runtime/params/weights/WeightFile.h"

#include <source_location>
#include <string>

namespace sinter::detail {

/// The file that `path` names: the initializers of a model whose name ends in
/// `.onnx`, else what `WeightFile::open` makes of it. Throws what that says.
runtime::WeightFileRef openWeights(const std::string &path,
                                   std::source_location where);

/// The error of a file that has no tensor below `key`.
ErrorInfo nothingBelow(const char *call, const std::string &path,
                       const std::string &key);

} // namespace sinter::detail

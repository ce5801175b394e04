/// InitializerFile: the initializers of an ONNX model as a weight file.
#pragma once

#include "runtime/params/weights/WeightFile.h"

#include <source_location>
#include <string>

namespace sinter::onnx {

/// Initializers of the outermost graph, also those in other files of the
/// model's folder. Strings are left out, with a note. Throws what `load`
/// throws.
runtime::WeightFileRef openInitializers(const std::string &path,
                                        std::source_location where);

} // namespace sinter::onnx

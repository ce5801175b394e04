/// The stages of a compiled file.
#pragma once

#include "tools/sinter/Model.h"

#include <string>

namespace sinter::cli {

/// The text of a stage, made again from the graph in a file: by the compiler
/// that made it, or not at all. Its tiles are taken over where they are of the
/// target that is asked for.
Result<std::string> remakeStage(const FileParts &parts,
                                const std::string &stage,
                                runtime::CompileRequest request);

} // namespace sinter::cli

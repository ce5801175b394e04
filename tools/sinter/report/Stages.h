/// The IR of a program at the stages of the compiler, packed for a page.
#pragma once

#include "tools/sinter/Model.h"

#include <string>

namespace sinter::cli {

/// A JSON list of the stages from import to target: each with its name and its
/// text, deflated, as base64; or with the problem why there is none.
Result<std::string> stagesJson(const Model &model, const FileParts &parts,
                               const Arguments &arguments,
                               const runtime::CompileRequest &request);

} // namespace sinter::cli

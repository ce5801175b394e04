/// What a model file offers, as text for people.
#pragma once

#include "runtime/program/ModelInfo.h"
#include "tools/sinter/Model.h"

#include <string>
#include <vector>

namespace sinter::cli {

/// Entries with their inputs and outputs, state, weights, metadata. `parts` are
/// those of the file, one per program. An error where that is more than `limit`
/// bytes.
Result<std::string> signatureText(const runtime::ModelInfo &info,
                                  const std::vector<FileParts> &parts,
                                  size_t limit);

} // namespace sinter::cli

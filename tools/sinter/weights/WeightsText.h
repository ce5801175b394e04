/// What a weight file holds, as text or JSON.
#pragma once

#include "sinter/runtime/Result.h"
#include "tools/sinter/Arguments.h"

#include <string>

namespace sinter::cli {

/// Whether a path is looked at as a weight file: it is that of no model, or
/// the user says so.
bool isWeightPath(const std::string &path, const Arguments &arguments);

/// Tensors with types, shapes, bytes and ties, metadata, notes and totals. With
/// `--json` as JSON, with `--sha256` also digests of dense elements.
Result<std::string> weightsText(const std::string &path,
                                const Arguments &arguments);

} // namespace sinter::cli

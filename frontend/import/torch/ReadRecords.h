/// Reads the JSON texts of torch.export archives.
#pragma once

#include "frontend/import/torch/Records.h"
#include "sinter/runtime/Result.h"

#include <map>
#include <string>
#include <string_view>

namespace sinter::torch {

/// A program. Trusts nothing: an `io` error names the place in the text, an
/// `unsupported` one a version that is not read.
Result<ProgramRecord> readProgram(std::string_view text);
/// The payloads of `*_weights_config.json` or `*_constants_config.json`, by the
/// names of their tensors.
Result<std::map<std::string, PayloadRecord>>
readPayloads(std::string_view text);

} // namespace sinter::torch

/// ConvertWeights: a weight file written in another format.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/Weights.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter::cli {

struct ConvertOptions {
  /// What becomes of names, and which are taken.
  LoadStateOptions names;
  std::optional<DType> dtype; ///< of all floats
  uint64_t shardBytes = 0;    ///< the most of one file; 0: one file
  bool dropTies = false;      ///< a tensor of two names is written once
};

/// What was written.
struct Converted {
  std::string format; ///< of the input
  std::vector<std::string> files;
  size_t numTensors = 0, numCast = 0, numDequantized = 0;
  uint64_t bytes = 0;
  std::vector<std::string> unused;                       ///< without the prefix
  std::vector<std::pair<std::string, std::string>> ties; ///< name, earlier name
  std::vector<std::string> notes;
};

/// Writes `to`, whose name ends in `.safetensors` or `.npz`. Files that are
/// there are replaced, those of the input are refused. Throws.
Converted convertWeights(const std::string &from, const std::string &to,
                         const ConvertOptions &options);

} // namespace sinter::cli

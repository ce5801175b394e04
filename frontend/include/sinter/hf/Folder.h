/// What loading a folder of Hugging Face is given, and what it tells.
#pragma once

#include <sinter/Weights.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct LoadOptions {
  /// Of the parameters; default: the thread's default device.
  std::optional<DeviceId> device = {};
  /// Of the parameters; default: what config.json says, else that of the first
  /// float tensor of the weights.
  std::optional<DType> dtype = {};
  /// As LoadStateOptions::mmap.
  bool mmap = false;
  /// Keys of config.json that are not to be taken seriously: without this, one
  /// that is not known and is neither null, false, 0 nor empty is an Error.
  std::vector<std::string> ignored_keys = {};
};

/// What was made of a folder.
struct FolderReport {
  std::string architecture; ///< as config.json says, or empty
  std::string weights;      ///< the file that they were read from
  /// Keys of config.json that change nothing that is computed here.
  std::vector<std::string> ignored_keys;
  /// `embeddings.LayerNorm.gamma -> bert.embeddings.LayerNorm.weight`
  std::vector<std::string> renamed;
  /// Tensors: `unused` are those that the module has no place for.
  LoadReport tensors;

  /// A few lines.
  std::string text() const;
};

} // namespace sinter::hf

/// LoadedModel: a file that was read and checked, which copies of a Model
/// share.
#pragma once

#include "frontend/import/onnx/Records.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "frontend/import/onnx/Value.h"
#include "runtime/files/MappedFile.h"

#include <sinter/Onnx.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter::onnx {

struct LoadedModel {
  std::string name;
  /// While it is loaded, or the caller's bytes:
  FileRef file;
  std::span<const std::byte> memory;
  ModelRecord record;
  mutable ExternalFiles externals;
  std::vector<ValueInfo> inputs, outputs;
  /// Initializers that are known on the host.
  std::map<std::string, KnownRef> known;

  std::span<const std::byte> bytes() const {
    return file ? file->bytes() : memory;
  }
};

} // namespace sinter::onnx

/// Archive: the file that torch.export.save writes.
#pragma once

#include "frontend/import/torch/Records.h"
#include "runtime/params/weights/WeightFile.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::torch {

/// A tensor of an archive. Its bytes live as long as the archive.
struct ArchivedTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  /// Dense and row-major: of the file, or `own`.
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> own;
  bool isParameter = false;
};
/// Whether two are one: tied weights.
bool isSame(const ArchivedTensor &a, const ArchivedTensor &b);
using ArchivedTensors = std::map<std::string, ArchivedTensor>;

/// A program and its tensors. Three layouts are read: `models/NAME.json` with
/// raw bytes in `data/` (torch 2.9 and later) or with tensors pickled there
/// (2.8), and `serialized_exported_program.json` (before). Of pickles the
/// tensors are read, and nothing is executed; other payloads that are pickled
/// are an `unsupported` error where they are used.
struct Archive {
  ProgramRecord program;
  ArchivedTensors weights, constants;
  /// Names of what only Python could read.
  std::vector<std::string> pickled;
  /// Whose tensors these are, where they are pickled.
  std::vector<runtime::WeightFileRef> files;
};

/// Trusts nothing; errors of kind `io` and `unsupported` say what is wrong.
/// With `checksAll` tensors are compared with their checksums, which reads
/// them. What it gives refers to `bytes`.
Result<Archive> readArchive(std::span<const std::byte> bytes, bool checksAll);

} // namespace sinter::torch

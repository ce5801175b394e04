/// The safetensors file format: named, dense, little-endian tensors.
#pragma once

#include "runtime/files/MappedFile.h"
#include "sinter/runtime/DType.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// A tensor in host memory that somebody else owns.
struct NamedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data; ///< dense, row-major
};

/// Free-form strings of a file's `__metadata__`.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// A safetensors file that was checked in full when opened.
class SafetensorsFile {
public:
  /// Maps and checks the file; trusts nothing. An error of kind `io` (or
  /// `unsupported` for a dtype without a code) names the file, the tensor and
  /// what is wrong. Data is not touched, but for bool tensors, whose bytes
  /// must be 0 or 1.
  static Result<SafetensorsFile> open(const std::string &path);
  /// The same of a file that is mapped; `path` stands in errors.
  static Result<SafetensorsFile> check(const std::string &path,
                                       MappedFile mapped);

  const std::string &path() const { return name; }
  /// The whole file, as it is mapped.
  std::span<const std::byte> bytes() const { return file.bytes(); }
  /// In the order of their names; `data` points into the mapping.
  std::span<const NamedTensor> tensors() const { return entries; }
  const Metadata &metadata() const { return strings; }
  /// The tensor of that name, or null.
  const NamedTensor *find(std::string_view tensor) const;
  /// As `MappedFile::leave`.
  void leave(std::span<const std::byte> part) const { file.leave(part); }

private:
  SafetensorsFile(std::string path, MappedFile file)
      : name(std::move(path)), file(std::move(file)) {}

  std::string name;
  MappedFile file;
  std::vector<NamedTensor> entries;
  Metadata strings;
};

/// Writes a file that `SafetensorsFile` reads. Deterministic: entries are
/// ordered by alignment, then name, metadata by key; a name given twice is an
/// error. The file at `path` is replaced at once or stays as it was.
Status writeSafetensors(const std::string &path,
                        std::span<const NamedTensor> tensors,
                        const Metadata &metadata = {});

/// A tensor whose elements are made when they are written.
struct MadeTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  /// Dense and row-major; they stay until those of the next tensor are asked
  /// for. Perhaps called twice.
  std::function<Result<std::span<const std::byte>>()> elements;
};
/// The same of tensors of which one is in memory at a time.
Status writeSafetensors(const std::string &path,
                        std::span<const MadeTensor> tensors,
                        const Metadata &metadata = {});
/// What stands before the elements of a file, and their order.
struct SafetensorsLayout {
  std::string head;          ///< of `metadata` first, then the tensors
  std::vector<size_t> order; ///< numbers of the tensors
};
/// As writeSafetensors lays them out; `elements` are not asked for.
Result<SafetensorsLayout> layoutSafetensors(const std::string &path,
                                            std::span<const MadeTensor> tensors,
                                            const Metadata &metadata);
/// Whether files have tensors of that dtype.
bool isSafetensorsDType(DType dtype);

} // namespace sinter::runtime

/// TorchWeights: the tensors of one of PyTorch's archives.
#pragma once

#include "runtime/files/MappedFile.h"
#include "runtime/params/Zip.h"
#include "runtime/params/weights/WeightFile.h"
#include "runtime/params/weights/torch/Contents.h"

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sinter::runtime::torch {

/// Bytes that tensors are views of.
struct Stored {
  /// Where they stand; empty where they are packed.
  std::span<const std::byte> bytes;
  uint64_t size = 0;
  /// In a zip archive.
  const ZipEntry *entry = nullptr;
  bool swapped = false; ///< numbers are big-endian
  mutable std::atomic<bool> isChecked = false;
};

class TorchWeights final : public WeightFile {
public:
  TorchWeights(const std::string &path, std::string format, MappedFile mapped)
      : WeightFile(path, std::move(format)), file(std::move(mapped)) {}

  /// `NAME/data.pkl` and `NAME/data/KEY`.
  Status readZip();
  /// Pickles one after the other, then the storages.
  Status readLegacy();

  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override;
  Status check(const WeightTensor &tensor) const override;
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  /// Where the elements of a tensor are.
  struct Part {
    const Stored *stored = nullptr;
    uint64_t offset = 0, bytes = 0; ///< from the first to the last element
  };

  MappedFile file;
  ZipArchive archive;
  std::deque<std::vector<std::byte>> made;
  std::deque<Stored> stored;
  std::map<std::string, const Stored *, std::less<>> storages;
  /// Bytes of arrays, which tensors may share as they do storages.
  std::map<std::tuple<const std::byte *, size_t, bool>, const Stored *> arrays;
  std::vector<Part> parts; ///< one a tensor

  Result<std::span<const std::byte>> bytesOf(const ZipEntry &entry);
  /// The storages `FOLDER/KEY`.
  void listStorages(const std::string &folder, bool swapped);
  Status readPickleEntry(const ZipEntry &entry, const std::string &prefix);
  /// Names begin with `prefix`.
  Status takeValue(const pickle::Pickle &data, const std::string &prefix);
  Status readStorages(std::span<const std::byte> rest,
                      const pickle::Pickle &keys, const pickle::Pickle &data);
  Status take(Contents contents, const std::string &prefix);
  Status add(const std::string &tensor, const RebuiltTensor &rebuilt);
  Result<const Stored *> storedOf(const RebuiltTensor &rebuilt);
  void tie();
  Status checkRepeats() const;
  /// To be called when all tensors are there.
  Status finishTensors();
  Status checkBytes(const Stored &of) const;
  ErrorInfo error(std::string_view what, ErrorKind kind = ErrorKind::io) const;
};

} // namespace sinter::runtime::torch

/// TensorBytes: the elements of a stored tensor, wherever they are stored.
#pragma once

#include "frontend/import/onnx/Records.h"
#include "runtime/files/FileDescriptor.h"
#include "runtime/files/MappedFile.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sinter::onnx {

/// A file that lives as long as somebody needs its bytes.
using FileRef = std::shared_ptr<const runtime::MappedFile>;

/// The files beside a model that hold its tensors. None is outside of the
/// model's folder, by name or by a link.
class ExternalFiles {
public:
  /// The folder that has this path now, wherever it is moved. Without one there
  /// are no files, as of a model in memory.
  void setFolder(const std::string &path);

  /// The bytes of `tensor`, which is external; they live until `close`. Throws
  /// an Error of kind io, also where tensors take many times the bytes that
  /// the files have.
  std::span<const std::byte> bytesOf(const TensorRecord &tensor);
  /// Gives up the files.
  void close();
  /// The one that has these bytes, or null. By several threads, while none
  /// opens or closes a file.
  FileRef fileOf(std::span<const std::byte> bytes) const;

private:
  FileDescriptor folder{-1};
  std::mutex mutex;
  std::map<std::string, FileRef> files;
  size_t mappedBytes = 0, takenBytes = 0;
};

/// Dense elements as they are in memory: bytes of a file, or own ones.
struct TensorBytes {
  std::span<const std::byte> bytes;
  std::vector<std::byte> own;
};

/// The elements of a tensor as they are stored, those of less than 8 bits
/// together in bytes.
TensorBytes storedOf(const TensorRecord &tensor, ExternalFiles &files);
/// The elements of a tensor. Of types of less than 8 bits each has a byte of
/// its own, with the sign of its type. Strings are an Error of kind unsupported
/// by name.
TensorBytes elementsOf(const TensorRecord &tensor, ExternalFiles &files);

} // namespace sinter::onnx

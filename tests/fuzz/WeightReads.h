/// WeightReads: weight files of bytes, opened and read in full.
#pragma once

#include "runtime/params/weights/Readers.h"
#include "tests/fuzz/Fuzzer.h"

#include <sys/mman.h>
#include <unistd.h>

namespace sinter::fuzz {

/// The bytes as a file that is mapped.
inline runtime::MappedFile mappedBytes(std::span<const std::byte> bytes) {
  int descriptor = ::memfd_create("weights", MFD_CLOEXEC);
  require(descriptor >= 0);
  require(::write(descriptor, bytes.data(), bytes.size()) ==
          static_cast<ssize_t>(bytes.size()));
  auto mapped = runtime::MappedFile::map(descriptor, "weights");
  ::close(descriptor);
  require(mapped.ok());
  return std::move(*mapped);
}

/// Reads what does not repeat a few bytes a million times.
inline void readTensor(const runtime::WeightFile &file,
                       const runtime::WeightTensor &tensor) {
  constexpr size_t most = size_t(1) << 20;
  size_t bytes = byteWidth(tensor.dtype);
  for (int64_t dim : tensor.dims) {
    require(dim >= 0);
    bytes *= static_cast<size_t>(dim);
  }
  require(file.find(tensor.name) == &tensor);
  require(tensor.strides.empty() ||
          tensor.strides.size() == tensor.dims.size());
  require(tensor.tiedTo.empty() || file.find(tensor.tiedTo) < &tensor);
  std::span<const std::byte> view = file.view(tensor);
  require(view.empty() || view.size() == bytes);
  bool isWhole = file.check(tensor).ok();
  if (bytes > most)
    return;
  auto dense = file.read(tensor);
  require(dense ? dense->size() == bytes : !dense.error().message.empty());
  // Numbers that cannot be read have no view, but for wrong checksums.
  require(dense || view.empty() || !isWhole);
}

/// All tensors of a file that could be opened; else its error names the file.
inline void readAll(const Result<runtime::WeightFileRef> &file) {
  if (!file)
    return require(file.error().message.starts_with("weights: "));
  for (const runtime::WeightTensor &tensor : (*file)->tensors())
    readTensor(**file, tensor);
}

} // namespace sinter::fuzz

/// WeightStore: the tensors of a model file, checked when they are first used.
#pragma once

#include "runtime/params/Safetensors.h"
#include "runtime/program/CheckedSection.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Opening reads nothing; what is used is mapped or pointed to, never copied.
/// Thread-safe.
class WeightStore {
public:
  /// `info` is that of `file`, whose bytes must outlive this. Files that it
  /// names are looked for in `folder`; an empty one has none.
  WeightStore(const ModelFile &file, const ModelInfo &info, std::string folder);
  ~WeightStore();
  WeightStore(const WeightStore &) = delete;

  size_t size() const { return tensors.size(); }
  /// The dense bytes of a tensor, valid as long as this. The first use checks
  /// the digests of the blocks that hold it, or of the file beside; an error
  /// of kind `io` says what is wrong, and the next call tries again.
  Result<std::span<const std::byte>> bytesOf(uint32_t tensor);

private:
  Result<std::span<const std::byte>> externalBytes(const StoredTensor &tensor);
  Result<const SafetensorsFile *> open(const ExternalFile &external);
  Result<std::span<const std::byte>> zeroBytes(uint64_t bytes);

  std::string folder;
  std::vector<StoredTensor> tensors;
  std::vector<ExternalFile> externals;
  std::vector<char> checked; ///< per tensor: its bytes are values of its dtype
  CheckedSection section;
  std::map<std::string, SafetensorsFile> opened;
  /// Pages that nobody wrote: they take no memory.
  std::map<uint64_t, void *> zeros; ///< by size
  ForkMutex mutex;
};

} // namespace sinter::runtime

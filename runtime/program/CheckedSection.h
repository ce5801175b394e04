/// CheckedSection: a section whose blocks are checked when they are first used.
#pragma once

#include "runtime/program/ModelReader.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

/// The constants or the weights of a file. Not thread-safe.
class CheckedSection {
public:
  CheckedSection() = default;
  /// `kind` is that of a large section. The file's bytes must outlive this.
  CheckedSection(const ModelFile &file, SectionKind kind);

  /// A part of it, once the digests of the blocks that hold it are checked. An
  /// error of kind `io` names section and block; the next call tries again.
  Result<std::span<const std::byte>> part(uint64_t offset, uint64_t bytes);

private:
  /// Checks a block and those behind it that are to be checked, some at a time.
  Status check(uint64_t first, uint64_t end);

  SectionKind kind = SectionKind::constants;
  std::span<const std::byte> section;
  std::span<const std::byte> digests; ///< empty: all is checked
  std::vector<bool> checked;          ///< per block
};

} // namespace sinter::runtime

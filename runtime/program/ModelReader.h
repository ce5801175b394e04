/// ModelReader: checks the outer layout of a model file, byte by byte.
#pragma once

#include "runtime/program/FileFormat.h"
#include "runtime/support/Result.h"

#include <cstddef>
#include <span>
#include <vector>

namespace sinter::runtime {

/// A part of a file, pointing into its bytes.
struct Section {
  SectionKind kind = SectionKind::program;
  uint32_t index = 0;
  std::span<const std::byte> bytes;
};

struct ModelFile {
  Digest contentDigest = {};
  std::vector<Section> sections; ///< in file order

  /// The section, or null.
  const Section *find(SectionKind kind, uint32_t index = 0) const;
  uint32_t count(SectionKind kind) const;
};

/// Checks magic, version, sizes, order, padding and every digest. An error of
/// kind `io` says what is wrong and where.
Result<ModelFile> readModel(std::span<const std::byte> file);

} // namespace sinter::runtime

/// ModelReader: checks the outer layout of a model file, byte by byte.
#pragma once

#include "runtime/program/FileFormat.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// A part of a file, pointing into its bytes.
struct Section {
  SectionKind kind = SectionKind::program;
  uint32_t index = 0;
  std::span<const std::byte> bytes;
};

/// A section that this build does not know and may do without.
struct OtherSection {
  SectionEntry entry; ///< with its digest
  std::span<const std::byte> bytes;
};

struct ModelFile {
  Digest contentDigest = {};
  std::vector<Section> sections;    ///< in file order
  std::vector<OtherSection> others; ///< behind those

  /// The section, or null.
  const Section *find(SectionKind kind, uint32_t index = 0) const;
  /// The section's bytes; none where it is absent.
  std::span<const std::byte> bytesOf(SectionKind kind,
                                     uint32_t index = 0) const;
  /// The same as text.
  std::string_view textOf(SectionKind kind, uint32_t index = 0) const;
  uint32_t count(SectionKind kind) const;
};

/// Which digests are checked at once.
enum class ModelCheck : uint8_t {
  everything,
  untilUse, ///< all but those of large sections of more than one block
};

/// Checks magic, version, sizes, order, padding and digests. An error of kind
/// `io` says what is wrong and where. Bytes whose digests are not checked are
/// not read. A section that is not known is skipped where it is optional, else
/// refused by its name.
Result<ModelFile> readModel(std::span<const std::byte> file,
                            ModelCheck check = ModelCheck::everything);

} // namespace sinter::runtime

/// ProgramMover: programs of files into another file.
#pragma once

#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace sinter::runtime {

/// Adds programs of checked files to a writer. Equal constants are kept once.
class ProgramMover {
public:
  explicit ProgramMover(ModelWriter &writer) : writer(writer) {}

  /// The number that program `index` of `model` has in the new file.
  Result<uint32_t> add(const ModelFile &model, uint32_t index);
  /// Gives the writer the constants, once all programs are added.
  void finish() { writer.setConstants(std::move(constants)); }

private:
  uint64_t placeOf(std::span<const std::byte> constant);

  ModelWriter &writer;
  std::vector<std::byte> constants;
  std::map<Digest, uint64_t> places; ///< of constants, by their digests
};

} // namespace sinter::runtime

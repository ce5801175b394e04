/// EmbedModel: a model file's programs as tables, code and weights, for an
/// object of fixed sizes.
#pragma once

#include "runtime/embedded/Plan.h"
#include "runtime/program/ModelInfo.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/Model.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

/// Bytes at a place of a section; what is between them is zero.
struct PlacedBytes {
  uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// A kernel's function.
struct CodeSymbol {
  std::string name;
  uint64_t offset = 0;
};

/// An input, output or state, for the header.
struct EmbeddedPort {
  std::string name;
  std::string description;
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  bool isScalar = false;
};
struct EmbeddedEntry {
  std::string name;
  std::string description;
  std::vector<EmbeddedPort> inputs, outputs;
};

/// What an object holds.
struct EmbeddedModel {
  uint16_t machine = 0; ///< as ELF has it
  std::string features;
  std::vector<std::byte> plan;
  std::vector<std::byte> code;
  std::vector<CodeSymbol> symbols;
  std::vector<PlacedBytes> weights; ///< ascending
  uint64_t weightBytes = 0;
  uint64_t memoryBytes = 0;
  std::vector<EmbeddedEntry> entries;
  std::vector<EmbeddedPort> stored;
  /// What the spans above point into.
  std::vector<std::shared_ptr<const void>> keeps;
};

/// Of a `.sinter` file's bytes, with a program of the cpu target for each
/// entry; `folder` is where files lie that it names. `sizes` are those of its
/// open axes, by name. An error of kind `unsupported` says what of a model
/// cannot be embedded, of kind `invalid_argument` which sizes are missing.
Result<EmbeddedModel> embedModel(std::shared_ptr<const ModelBytes> file,
                                 const std::string &folder,
                                 const std::map<std::string, int64_t> &sizes);

} // namespace sinter::cli

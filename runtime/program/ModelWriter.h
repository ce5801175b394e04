/// ModelWriter: puts a model file together. The same contents give the same
/// bytes.
#pragma once

#include "sinter/generated/program_generated.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Collects the parts of a file in any order; `finish` writes it.
class ModelWriter {
public:
  /// Adds a program and its native code. `program` is a flatbuffer whose root
  /// is fb::Program. Programs keep their order; with the same requirements the
  /// first one is taken.
  void addProgram(std::vector<std::byte> program, std::vector<std::byte> image);
  /// Packs the object form, then adds it.
  void addProgram(const fb::ProgramT &program, std::vector<std::byte> image);
  /// Raw bytes that the programs' Constant entries point into.
  void setConstants(std::vector<std::byte> bytes);
  /// The portable graph as `sinter`-dialect text.
  void setGraph(std::string text);
  /// One `file:line` (or empty) per post-order number. Without this call the
  /// file has no debug section.
  void setSites(std::vector<std::string> sites);

  /// The file's bytes. An error when a program is missing or too large.
  Result<std::vector<std::byte>> finish() const;

private:
  struct Entry {
    std::vector<std::byte> program;
    std::vector<std::byte> image;
  };
  std::vector<Entry> programs;
  std::vector<std::byte> constants;
  std::string graph;
  std::vector<std::byte> debug;
};

/// One file with the programs of all, in order: files of one graph, each for
/// other targets. Equal constants are kept once. An error of kind
/// `invalid_argument` where graphs or source lines differ.
Result<std::vector<std::byte>>
joinModels(std::span<const std::vector<std::byte>> files);

/// The same file without its debug section; the content digest stays.
Result<std::vector<std::byte>> stripModel(std::span<const std::byte> file);

} // namespace sinter::runtime

/// ModelWriter: puts a model file together. The same contents give the same
/// bytes.
#pragma once

#include "runtime/program/ModelInfo.h"
#include "sinter/generated/program_generated.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// Collects the parts of a file in any order; `finish` or `write` makes it.
class ModelWriter {
public:
  /// Adds a program and its native code; gives its number. `program` is a
  /// flatbuffer whose root is fb::Program. Programs keep their order; with the
  /// same requirements the first one is taken.
  uint32_t addProgram(std::vector<std::byte> program,
                      std::vector<std::byte> image);
  /// Packs the object form, then adds it.
  uint32_t addProgram(const fb::ProgramT &program,
                      std::vector<std::byte> image);
  /// Raw bytes that the programs' Constant entries point into.
  void setConstants(std::vector<std::byte> bytes);
  /// The portable graph of an entry as `sinter`-dialect text.
  void setGraph(std::string text, uint32_t entry = 0);
  /// One `file:line` (or empty) per post-order number of an entry's graph.
  /// Without this call the file has no debug section.
  void setSites(std::vector<std::string> sites, uint32_t entry = 0);
  /// Entry points, state and named tensors. `data` are the tensors' bytes, one
  /// per tensor, empty for those of external files and those that are `zeros`;
  /// they must live until the file is made. Where they are in the file is the
  /// writer's to say: equal ones are stored once, zeros not at all.
  void setModel(ModelInfo info, std::vector<std::span<const std::byte>> data);

  /// The file's bytes. An error when a program is missing, there is too much,
  /// or the model does not fit the programs.
  Result<std::vector<std::byte>> finish() const;
  /// Writes the file as replaceFile does: the bytes of tensors are not copied.
  Status write(const std::string &path) const;

private:
  friend Result<std::vector<std::byte>>
  stripModel(std::span<const std::byte> file);
  friend Status writeSigned(const std::string &path,
                            std::span<const std::byte> file,
                            std::string_view signature);

  struct Entry {
    std::vector<std::byte> program;
    std::vector<std::byte> image;
  };
  class Layout;
  Result<Layout> layOut() const;
  /// The sections of a file but for its signature, with or without debug.
  static Layout copyOf(const ModelFile &model, bool debug);

  std::vector<Entry> programs;
  std::vector<std::byte> constants;
  std::map<uint32_t, std::string> graphs; ///< by entry
  std::map<uint32_t, std::vector<std::byte>> debugs;
  std::optional<ModelInfo> model;
  std::vector<std::span<const std::byte>> data;
};

/// The bytes of a file's tensors as setModel takes them.
std::vector<std::span<const std::byte>>
tensorData(const ModelInfo &info, std::span<const std::byte> weights);

/// One file with the programs of all, in order: files of one graph, each for
/// other targets, or of models that are equal in everything else. Equal
/// constants are kept once; sections that are not known are left out. An error
/// of kind `invalid_argument` where graphs, source lines or models differ.
Result<std::vector<std::byte>>
joinModels(std::span<const std::vector<std::byte>> files);

/// The same file without its debug sections and signature.
Result<std::vector<std::byte>> stripModel(std::span<const std::byte> file);

/// Writes the same file with this text for its signature, as replaceFile.
Status writeSigned(const std::string &path, std::span<const std::byte> file,
                   std::string_view signature);

} // namespace sinter::runtime

/// One entry of a `.sinter` file, with what the file gives it.
#pragma once

#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/Program.h"
#include "runtime/program/WeightStore.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/trust/Trust.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

/// Its program, compiled now where the file has none for the device, and its
/// weights, the first values of its state and its constants.
class ModelEntry {
public:
  /// An empty name is that of a file's only entry.
  static Result<std::shared_ptr<ModelEntry>> open(const std::string &path,
                                                  const std::string &name,
                                                  runtime::Device &device,
                                                  const TrustChoice &trust);

  const runtime::EntryPoint &point() const { return info.entries[number]; }
  const std::shared_ptr<const runtime::Program> &program() const {
    return loaded;
  }
  bool isGiven(size_t input) const {
    return point().inputs[input].kind == runtime::SlotKind::given;
  }
  /// What the file has for an input that is not given; of random numbers the
  /// key of `seed`.
  Result<runtime::Binding> bindingOf(size_t input, uint64_t seed) {
    return bindingOf(point().inputs[input], seed);
  }
  /// Sets the counters of random numbers, once all other inputs are bound.
  Status placeDraws(std::vector<runtime::Binding> &bindings) const;
  /// A program that runs before the entry's own and gives it values.
  struct Part {
    const runtime::EntryPoint *point = nullptr;
    std::shared_ptr<const runtime::Program> program;
    std::vector<runtime::Binding> inputs; ///< passed ones are bound in a run
  };
  /// Those of the entry, in order, given what its own program is given.
  Result<std::vector<Part>>
  bindParts(std::span<const runtime::Binding> bindings);

private:
  ModelEntry() = default;
  Result<runtime::Binding> bindingOf(const runtime::EntryInput &input,
                                     uint64_t seed);

  std::shared_ptr<const runtime::FileBytes> file;
  runtime::ModelInfo info;
  uint32_t number = 0;
  std::shared_ptr<const runtime::Program> loaded;
  std::vector<std::shared_ptr<const runtime::Program>> parts;
  std::unique_ptr<runtime::WeightStore> weights;
};

} // namespace sinter::cli

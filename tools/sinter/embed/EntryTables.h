/// EntryTables: one entry of a model as the tables of its runs.
#pragma once

#include "runtime/program/BoundPlan.h"
#include "runtime/program/WeightStore.h"
#include "tools/sinter/embed/KeptMemory.h"
#include "tools/sinter/embed/TableWriter.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

/// What an entry is made of. Phases of the program have the offsets of their
/// functions as handles.
struct EntrySource {
  const runtime::ModelInfo &info;
  const runtime::EntryPoint &point;
  runtime::ProgramData program;
  std::span<const std::byte> constants;
  const FileParts &parts;
  runtime::WeightStore &store;
};

class EntryTables {
public:
  EntryTables(EntrySource source, KeptMemory &kept, SharedMemory &shared)
      : source(std::move(source)), kept(kept), shared(shared) {}

  /// Fixes its sizes, and has what is shared large enough for them.
  Status bind(const std::map<std::string, int64_t> &sizes);
  /// Once what is shared has its places.
  Result<embedded::Entry> make(TableWriter &writer);
  /// The caller's side.
  const EmbeddedEntry &ports() const { return described; }

private:
  Result<std::vector<int64_t>>
  symbolsOf(const std::map<std::string, int64_t> &sizes) const;
  EmbeddedPort portOf(const runtime::Port &port, const std::string &name,
                      const std::string &description) const;
  uint32_t usersOf(runtime::SlotKind kind, uint32_t number) const;
  std::optional<uint32_t> grantedTo(size_t output) const;
  int32_t storedNumber(const runtime::EntryOutput &output) const;

  Status addInputs(TableWriter &writer);
  Result<embedded::Buffer> placeInput(size_t input);
  Result<embedded::Buffer> placeTensor(uint32_t tensor);
  embedded::Buffer addWord(const embedded::Word &word);
  void addOutputs(TableWriter &writer);
  void addBuffers();
  void addLoops(TableWriter &writer);
  void addStep(TableWriter &writer, uint32_t number);
  uint32_t prepare(const runtime::StepData &step,
                   const runtime::BoundPhase &phase, uint32_t firstArgument,
                   bool inLoop);

  EntrySource source;
  KeptMemory &kept;
  SharedMemory &shared;
  std::shared_ptr<const runtime::BoundPlan> plan;
  std::vector<std::vector<int64_t>> inputDims;
  EmbeddedEntry described;
  embedded::Entry entry;
  std::vector<embedded::Buffer> inputs, outputs; ///< of the program
  std::vector<embedded::Word> words;
  std::vector<embedded::Buffer> buffers;
  std::vector<uint32_t> arguments;
  std::vector<embedded::Step> steps;
  std::vector<embedded::Phase> phases;
  std::vector<embedded::Loop> loops;
  std::vector<uint32_t> replaced;
};

} // namespace sinter::cli

/// Lays a model out: what is kept, where it is, what is called in which order.
#include "tools/sinter/embed/EmbedModel.h"

#include "runtime/device/KernelAbi.h"
#include "runtime/device/cpu/CheckImage.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/program/BoundPlan.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/WeightStore.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/embed/EntryTables.h"

#include <algorithm>
#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace sinter::cli {

using namespace runtime;

namespace {

class Embedder {
public:
  Embedder(std::shared_ptr<const ModelBytes> bytes, std::string folder,
           const std::map<std::string, int64_t> &sizes)
      : bytes(std::move(bytes)), folder(std::move(folder)), sizes(sizes) {}

  Result<EmbeddedModel> make();

private:
  Result<std::vector<const FileParts *>> programsOfEntries() const;
  Status addCode(const FileParts &parts, const std::string &entry,
                 ProgramData &program);
  Status checkSizes() const;
  Status listKept();
  Status keep(const std::string &name, uint32_t tensor, int32_t &number);
  Status addEntry(uint32_t number, const FileParts &parts);
  void placeShared();
  Result<EmbeddedModel> finish();

  std::shared_ptr<const ModelBytes> bytes;
  std::string folder;
  const std::map<std::string, int64_t> &sizes;
  ModelFile file;
  ModelInfo info;
  std::vector<FileParts> all;
  std::shared_ptr<WeightStore> store;
  EmbeddedModel made;
  TableWriter writer;
  KeptMemory kept;
  std::vector<EntryTables> tables;
  SharedMemory shared;
};

/// One for each entry.
Result<std::vector<const FileParts *>> Embedder::programsOfEntries() const {
  std::vector<const FileParts *> chosen;
  for (const EntryPoint &entry : info.entries) {
    if (!entry.parts.empty())
      return makeError(ErrorKind::unsupported,
                       fmt::format("embed: entry '{}' has sizes that values "
                                   "decide; an object's sizes are fixed",
                                   entry.name));
    const FileParts *found = nullptr;
    for (uint32_t number : entry.programs) {
      const FileParts &parts = all[number];
      if (parts.program.target != "cpu")
        continue;
      if (found)
        return makeError(ErrorKind::invalid_argument,
                         "embed: the file has several programs for cpu; an "
                         "object is of one: sinter compile --emit object "
                         "with one --target");
      found = &parts;
    }
    if (!found)
      return makeError(ErrorKind::unsupported,
                       fmt::format("embed: the file has no program for cpu of "
                                   "entry '{}'; compile one (--target)",
                                   entry.name));
    chosen.push_back(found);
  }
  return chosen;
}

/// The image as it is in memory, behind those before. Phases get the offsets of
/// their functions as handles.
Status Embedder::addCode(const FileParts &parts, const std::string &entry,
                         ProgramData &program) {
  made.machine = missingFeatures("aarch64", program.variant).empty()
                     ? EM_AARCH64
                     : EM_X86_64;
  if (program.kernels.empty())
    return {};
  SINTER_TRY_ASSIGN(CpuImageContents image, readCpuImage(parts.image));
  uint64_t most = 16 * parts.image.size() + (uint64_t(1) << 20);
  for (const CpuImageSegment &segment : image.segments)
    if (image.machine != made.machine || segment.address > most ||
        segment.size > most)
      return makeError(ErrorKind::io,
                       fmt::format("model file: the image of entry '{}' is not "
                                   "of its processor, or too large",
                                   entry));
  uint64_t start = (made.code.size() + embedded::codeAlignment - 1) /
                   embedded::codeAlignment * embedded::codeAlignment;
  std::map<std::string, uint64_t, std::less<>> places;
  for (CpuImageSymbol &symbol : image.symbols)
    places.emplace(std::move(symbol.name), start + symbol.address);
  // Kernels write nothing of their own: what can be written is the dynamic
  // loader's.
  for (const CpuImageSegment &segment : image.segments) {
    if (segment.isWritable)
      continue;
    made.code.resize(std::max<uint64_t>(
        made.code.size(), start + segment.address + segment.size));
    std::ranges::copy(segment.bytes, made.code.begin() + ptrdiff_t(start) +
                                         ptrdiff_t(segment.address));
  }
  for (KernelData &kernel : program.kernels)
    for (PhaseData &phase : kernel.phases) {
      auto found = places.find(phase.symbol);
      if (found == places.end() || found->second >= made.code.size())
        return makeError(ErrorKind::io,
                         fmt::format("model file: the image of entry '{}' "
                                     "lacks `{}`",
                                     entry, phase.symbol));
      phase.function = reinterpret_cast<KernelHandle>(uintptr_t(found->second));
      made.symbols.push_back({phase.symbol, found->second});
    }
  return {};
}

Status Embedder::keep(const std::string &name, uint32_t tensor,
                      int32_t &number) {
  const StoredTensor &stored = info.tensors[tensor];
  number = int32_t(kept.stored.size());
  embedded::Stored entry;
  entry.name = writer.add(name);
  entry.isZero = stored.zeros;
  entry.bytes = stored.bytes;
  if (!stored.zeros) {
    SINTER_TRY_ASSIGN(std::span<const std::byte> value, store->bytesOf(tensor));
    entry.initial = kept.weights.place(value);
  }
  kept.stored.push_back(entry);
  made.stored.push_back({name, {}, stored.dtype, stored.dims, false});
  return {};
}

/// Every name is one of an open axis.
Status Embedder::checkSizes() const {
  std::set<std::string> known;
  for (const EntryPoint &entry : info.entries)
    for (const DynamicDim &dim : entry.dims)
      known.insert(dim.name);
  bool isNamed = !known.empty();
  for (const FileParts &parts : all)
    for (uint32_t i = 0; !isNamed && i < parts.program.numSymbols; ++i)
      known.insert(fmt::format("s{}", i));
  for (const auto &[name, size] : sizes)
    if (!known.contains(name))
      return makeError(
          ErrorKind::invalid_argument,
          fmt::format("embed: the model has no open axis '{}'; it has {}",
                      printable(name),
                      known.empty() ? "none"
                                    : printable(fmt::format(
                                          "{}", fmt::join(known, ", ")))));
  return {};
}

/// State, and weights that an entry replaces. Other weights stay where they
/// are.
Status Embedder::listKept() {
  kept.states.resize(info.states.size());
  kept.parameters.resize(info.numWeights(), -1);
  for (size_t i = 0; i < info.states.size(); ++i)
    SINTER_TRY(
        keep(info.states[i].name, info.states[i].initial, kept.states[i]));
  for (const EntryPoint &entry : info.entries)
    for (const EntryOutput &output : entry.outputs)
      if (output.isWeight && output.updates >= 0 &&
          kept.parameters[output.updates] < 0)
        SINTER_TRY(keep(info.tensors[output.updates].name,
                        uint32_t(output.updates),
                        kept.parameters[output.updates]));
  return {};
}

Status Embedder::addEntry(uint32_t number, const FileParts &parts) {
  const EntryPoint &point = info.entries[number];
  ProgramData program = parts.program;
  SINTER_TRY(addCode(parts, point.name, program));
  if (made.features.empty())
    made.features = program.variant;
  else if (made.features != program.variant)
    return makeError(ErrorKind::unsupported,
                     "embed: its entries are for several processors");
  EntrySource source{.info = info,
                     .point = point,
                     .program = std::move(program),
                     .constants = file.bytesOf(SectionKind::constants),
                     .parts = parts,
                     .store = *store};
  return tables.emplace_back(std::move(source), kept, shared).bind(sizes);
}

/// What a run uses is close together, temporaries last.
void Embedder::placeShared() {
  for (embedded::Stored &stored : kept.stored)
    stored.at[0] = stored.at[1] = kept.memory.take(stored.bytes);
  shared.wordsAt = kept.memory.take(8 * shared.words);
  shared.outputsAt = kept.memory.take(shared.outputBytes);
  shared.temporariesAt = kept.memory.take(shared.temporaryBytes);
}

Result<EmbeddedModel> Embedder::finish() {
  std::vector<embedded::Entry> entries;
  for (EntryTables &each : tables) {
    SINTER_TRY_ASSIGN(embedded::Entry entry, each.make(writer));
    entries.push_back(entry);
    made.entries.push_back(each.ports());
  }
  embedded::Plan plan;
  plan.kernelAbi = kernelAbiVersion;
  plan.features = writer.add(made.features);
  plan.numReady = kept.numReady;
  plan.entries = writer.add(entries);
  MemoryLayout &memory = kept.memory;
  auto pointers = [&](uint64_t count) { return memory.take(8 * count); };
  plan.current = memory.take(kept.stored.size());
  plan.ready = memory.take(kept.numReady);
  plan.words = shared.wordsAt;
  plan.addresses = pointers(shared.buffers);
  plan.arguments = pointers(shared.arguments);
  plan.places = pointers(shared.outputs);
  plan.stored = writer.add(kept.stored);
  plan.zeros = writer.add(kept.zeros);
  plan.memoryBytes = memory.bytes();
  made.memoryBytes = plan.memoryBytes;
  made.plan = writer.finish(plan);
  made.weights = kept.weights.list();
  made.weightBytes = kept.weights.bytes();
  made.keeps = {bytes, store};
  return std::move(made);
}

Result<EmbeddedModel> Embedder::make() {
  // Digests are checked where the parts are read.
  SINTER_TRY_ASSIGN(file, readModel(bytes->bytes(), ModelCheck::untilUse));
  SINTER_TRY_ASSIGN(info, readModelInfo(file));
  SINTER_TRY_ASSIGN(all, partsOf(bytes));
  SINTER_TRY(checkSizes());
  SINTER_TRY_ASSIGN(std::vector<const FileParts *> chosen, programsOfEntries());
  store =
      std::make_shared<WeightStore>(file, info, folder.empty() ? "." : folder);
  SINTER_TRY(listKept());
  for (uint32_t i = 0; i < chosen.size(); ++i)
    SINTER_TRY(addEntry(i, *chosen[i]));
  placeShared();
  return finish();
}

} // namespace

Result<EmbeddedModel> embedModel(std::shared_ptr<const ModelBytes> file,
                                 const std::string &folder,
                                 const std::map<std::string, int64_t> &sizes) {
  return Embedder(std::move(file), folder, sizes).make();
}

} // namespace sinter::cli

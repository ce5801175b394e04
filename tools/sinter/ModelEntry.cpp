/// Opens entries of model files.
#include "tools/sinter/ModelEntry.h"

#include "runtime/files/MappedFile.h"
#include "runtime/program/CompileEntry.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/PassedValues.h"
#include "runtime/support/Printable.h"

#include <filesystem>
#include <fmt/format.h>

namespace sinter::cli {

using namespace runtime;

static Result<uint32_t> findEntry(const ModelInfo &info,
                                  const std::string &name) {
  std::string names;
  auto seen = std::span(info.entries).first(info.numPublic());
  for (const EntryPoint &entry : seen)
    names += (names.empty() ? "" : ", ") + printableName(entry.name);
  if (name.empty() && seen.size() > 1)
    return makeError(ErrorKind::invalid_argument,
                     "the file has several entries, --entry names one: " +
                         names);
  int64_t number = name.empty() ? 0 : info.findEntry(name);
  if (number < 0)
    return makeError(
        ErrorKind::invalid_argument,
        fmt::format("the file has no entry '{}', it has: {}", name, names));
  return uint32_t(number);
}

Result<std::shared_ptr<ModelEntry>> ModelEntry::open(const std::string &path,
                                                     const std::string &name,
                                                     Device &device,
                                                     const TrustChoice &trust) {
  auto inFile = [&](ErrorInfo error) {
    error.message = path + ": " + error.message;
    return error;
  };
  SINTER_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  std::shared_ptr<ModelEntry> entry(new ModelEntry);
  entry->file = std::make_shared<FileBytes>(std::move(mapped));
  bool graphAlone = trust.trust == ModelTrust::graph;
  auto model = readModel(entry->file->bytes(), ModelCheck::untilUse);
  if (!model)
    return inFile(model.takeError());
  auto info = readModelInfo(*model);
  if (!info)
    return inFile(info.takeError());
  entry->info = std::move(*info);
  std::string folder = std::filesystem::path(path).parent_path();
  if (folder.empty())
    folder = ".";
  if (Status trusted =
          checkTrust({*model, entry->info, folder}, trust.trust, trust.keys);
      !trusted)
    return inFile(trusted.takeError());
  auto number = findEntry(entry->info, name);
  if (!number)
    return inFile(number.takeError());
  entry->number = *number;
  SINTER_TRY_ASSIGN(
      entry->loaded,
      loadOrCompileEntry(entry->file, *number, device, path, graphAlone));
  for (uint32_t part : entry->point().parts) {
    SINTER_TRY_ASSIGN(
        auto program,
        loadOrCompileEntry(entry->file, part, device, path, graphAlone));
    entry->parts.push_back(std::move(program));
  }
  entry->weights = std::make_unique<WeightStore>(*model, entry->info, folder);
  return entry;
}

Result<Binding> ModelEntry::bindingOf(const EntryInput &input, uint64_t seed) {
  Binding binding;
  if (input.kind == SlotKind::constant)
    binding.scalarBits = input.scalarBits;
  if (input.kind == SlotKind::random && input.number == 0)
    binding.scalarBits = seed;
  if (input.kind != SlotKind::weight && input.kind != SlotKind::state)
    return binding;
  uint32_t tensor = input.kind == SlotKind::weight
                        ? input.number
                        : info.states[input.number].initial;
  SINTER_TRY_ASSIGN(std::span<const std::byte> bytes, weights->bytesOf(tensor));
  Device &device = loaded->device();
  SINTER_TRY_ASSIGN(binding.buffer, device.allocate(bytes.size()));
  if (!bytes.empty())
    SINTER_TRY(device.copyIn(*binding.buffer, 0, bytes));
  binding.dims = info.tensors[tensor].dims;
  return binding;
}

Status ModelEntry::placeDraws(std::vector<Binding> &bindings) const {
  std::vector<std::vector<int64_t>> dims;
  for (const Binding &binding : bindings)
    dims.push_back(binding.dims);
  SINTER_TRY_ASSIGN(RandomDraws draws, randomDraws(point(), dims));
  for (size_t i = 0; i < bindings.size(); ++i)
    if (point().inputs[i].randomExpr >= 0)
      bindings[i].scalarBits = draws.offsets[i];
  return {};
}

Result<std::vector<ModelEntry::Part>>
ModelEntry::bindParts(std::span<const Binding> bindings) {
  std::vector<Part> bound;
  std::vector<const EntryPoint *> points;
  std::vector<const Program *> programs;
  for (size_t i = 0; i < parts.size(); ++i) {
    bound.push_back({&info.entries[point().parts[i]], parts[i], {}});
    points.push_back(bound[i].point);
    programs.push_back(parts[i].get());
  }
  points.push_back(&point());
  programs.push_back(loaded.get());
  SINTER_TRY(checkPassedTypes(points, programs));
  std::vector<Binding> given;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (isGiven(i))
      given.push_back(bindings[i]);
  for (Part &part : bound) {
    auto next = given.begin();
    for (const EntryInput &input : part.point->inputs) {
      if (input.kind == SlotKind::given) {
        part.inputs.push_back(*next++);
        continue;
      }
      SINTER_TRY_ASSIGN(Binding binding, bindingOf(input, 0));
      part.inputs.push_back(std::move(binding));
    }
  }
  return bound;
}

} // namespace sinter::cli

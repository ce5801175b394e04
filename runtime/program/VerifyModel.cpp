/// Checks a model section while copying it.
#include "runtime/program/VerifyModel.h"

#include "runtime/program/ReadExprs.h"
#include "runtime/program/SectionReader.h"
#include "runtime/support/Printable.h"

#include <algorithm>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr size_t maxNameLength = 4096;
constexpr uint64_t tensorAlignment = 256;

const fb::Model *rootOf(std::span<const std::byte> section) {
  auto *data = reinterpret_cast<const uint8_t *>(section.data());
  flatbuffers::Verifier verifier(data, section.size(), /*max_depth=*/16,
                                 CopyBudget::tablesIn(section.size()));
  return verifier.VerifyBuffer<fb::Model>(nullptr)
             ? flatbuffers::GetRoot<fb::Model>(data)
             : nullptr;
}

/// Copies the lists of a model section; knows nothing of the programs.
class Reader : SectionReader {
public:
  Reader(const fb::Model &source, CopyBudget &budget, uint64_t weightBytes)
      : SectionReader("the model section", budget), source(source),
        weightBytes(weightBytes) {}

  Result<ModelInfo> read() {
    SINTER_TRY(readExternals());
    SINTER_TRY(readTensors());
    SINTER_TRY(checkPlaces());
    SINTER_TRY(readStates());
    SINTER_TRY(readMetadata());
    SINTER_TRY(readEntries());
    return std::move(info);
  }

private:
  Status copyName(const flatbuffers::String *from, const char *what,
                  std::string &to);
  Status readExternals();
  Status readTensors();
  Status readTensor(const fb::StoredTensor &from);
  Status readPlace(const fb::StoredTensor &from, StoredTensor &tensor);
  Status checkPlaces() const;
  Status readStates();
  Status readMetadata();
  Status readEntries();
  Status readEntry(const fb::Entry &from, EntryPoint &entry);
  Status readInput(const fb::EntryInput &from, EntryPoint &entry);
  Status readOutput(const fb::EntryOutput &from, EntryPoint &entry);
  Status readDims(const fb::Entry &from, EntryPoint &entry);
  Status checkParts() const;
  Status checkPart(const EntryPoint &entry, const EntryPoint &part) const;
  Status checkPassed(const EntryPoint &entry, size_t passed) const;
  Status checkExpr(const EntryPoint &entry, int32_t expr) const;

  const fb::Model &source;
  const uint64_t weightBytes;
  ModelInfo info;
};

/// What stands on lines of reports, in errors and in paths of parameters.
Status Reader::copyName(const flatbuffers::String *from, const char *what,
                        std::string &to) {
  SINTER_TRY(copyText(from, to));
  auto isControl = [](char c) { return uint8_t(c) < 32 || c == 127; };
  if (to.size() > maxNameLength || std::ranges::any_of(to, isControl))
    return brokenModel("the name of {} '{}' is too long or holds control "
                       "characters",
                       what, printableName(to.substr(0, 64)));
  return {};
}

//===- Tensors ------------------------------------------------------------===//

Status Reader::readExternals() {
  SINTER_TRY(makeRoom(source.externals(), "external files", info.externals));
  Names names("the external files");
  for (uint32_t i = 0; i < sizeOf(source.externals()); ++i) {
    const fb::ExternalFile &from = *source.externals()->Get(i);
    ExternalFile file;
    SINTER_TRY(copyName(from.name(), "an external file", file.name));
    SINTER_TRY(names.add(file.name));
    if (file.name.find('/') != file.name.npos || file.name == "." ||
        file.name == "..")
      return brokenModel("an external file is named '{}', which is no file "
                         "beside this one",
                         printableName(file.name));
    if (sizeOf(from.digest()) != sizeof(Digest))
      return brokenModel("an external file has a digest of {} bytes",
                         sizeOf(from.digest()));
    file.bytes = from.bytes();
    std::memcpy(file.digest.data(), from.digest()->data(), sizeof(Digest));
    info.externals.push_back(std::move(file));
  }
  return {};
}

/// The bytes of so many elements; false where they cannot be counted.
bool countBytes(const StoredTensor &tensor, uint64_t &bytes) {
  bytes = byteWidth(tensor.dtype);
  constexpr uint64_t most = uint64_t(1) << 62;
  for (int64_t dim : tensor.dims) {
    if (dim < 0 || (dim > 0 && bytes > most / uint64_t(dim)))
      return false;
    bytes *= uint64_t(dim);
  }
  return true;
}

Status Reader::readPlace(const fb::StoredTensor &from, StoredTensor &tensor) {
  tensor.offset = from.offset();
  tensor.zeros = from.zeros();
  SINTER_TRY(copyText(from.external_name(), tensor.externalName));
  std::string name = printableName(tensor.name);
  if (from.external() < -1 || from.external() >= int64_t(info.externals.size()))
    return brokenModel("tensor '{}' is in external file {} of {}", name,
                       from.external(), info.externals.size());
  bool isExternal = from.external() >= 0;
  if (isExternal != !tensor.externalName.empty())
    return brokenModel("tensor '{}' is in a file without a name, or has a name "
                       "in no file",
                       name);
  if (isExternal) {
    SINTER_TRY(take(info.externals[size_t(from.external())].name.size()));
    tensor.externalFile = info.externals[size_t(from.external())].name;
  }
  if (isExternal || tensor.zeros) {
    if (tensor.offset != 0 || (isExternal && tensor.zeros))
      return brokenModel("tensor '{}' is at two places", name);
    return {};
  }
  if (tensor.offset % tensorAlignment != 0)
    return brokenModel("tensor '{}' is not aligned to {} bytes", name,
                       tensorAlignment);
  if (tensor.offset > weightBytes || tensor.bytes > weightBytes - tensor.offset)
    return brokenModel("tensor '{}' is not in the weights section", name);
  return {};
}

Status Reader::readTensor(const fb::StoredTensor &from) {
  StoredTensor tensor;
  SINTER_TRY(copyName(from.name(), "a tensor", tensor.name));
  std::string name = printableName(tensor.name);
  if (from.dtype() >= numDTypes || !isStorable(DType(from.dtype())))
    return brokenModel("tensor '{}' has dtype code {}", name, from.dtype());
  tensor.dtype = DType(from.dtype());
  const auto *dims = from.dims();
  if (sizeOf(dims) > maxRank)
    return brokenModel("tensor '{}' has rank {}", name, sizeOf(dims));
  // The flatbuffer verifier looks at the list's length only.
  if (dims && reinterpret_cast<uintptr_t>(dims->Data()) % alignof(int64_t))
    return brokenModel("a list of dims is not aligned");
  SINTER_TRY(makeRoom(dims, "dims", tensor.dims));
  for (uint32_t i = 0; i < sizeOf(dims); ++i)
    tensor.dims.push_back(dims->Get(i));
  uint64_t bytes = 0;
  if (!countBytes(tensor, bytes) || bytes != from.bytes())
    return brokenModel("tensor '{}' has {} bytes, its dims say otherwise", name,
                       from.bytes());
  tensor.bytes = bytes;
  SINTER_TRY(readPlace(from, tensor));
  info.tensors.push_back(std::move(tensor));
  return {};
}

Status Reader::readTensors() {
  SINTER_TRY(makeRoom(source.tensors(), "tensors", info.tensors));
  Names names("the tensors");
  for (uint32_t i = 0; i < sizeOf(source.tensors()); ++i) {
    SINTER_TRY(readTensor(*source.tensors()->Get(i)));
    SINTER_TRY(take(info.tensors.back().name.size()));
    SINTER_TRY(names.add(info.tensors.back().name));
  }
  return {};
}

/// Equal tensors may be at one place, others share nothing.
Status Reader::checkPlaces() const {
  std::vector<const StoredTensor *> inside;
  for (const StoredTensor &tensor : info.tensors)
    if (tensor.externalFile.empty() && !tensor.zeros && tensor.bytes > 0)
      inside.push_back(&tensor);
  auto placeOf = [](const StoredTensor *tensor) {
    return std::pair(tensor->offset, tensor->bytes);
  };
  std::ranges::sort(inside, {}, placeOf);
  for (size_t i = 1; i < inside.size(); ++i) {
    const StoredTensor &before = *inside[i - 1], &after = *inside[i];
    if (placeOf(&before) != placeOf(&after) &&
        before.bytes > after.offset - before.offset)
      return brokenModel("tensors '{}' and '{}' overlap",
                         printableName(before.name), printableName(after.name));
  }
  return {};
}

Status Reader::readStates() {
  SINTER_TRY(makeRoom(source.states(), "states", info.states));
  if (sizeOf(source.states()) > info.tensors.size())
    return brokenModel("{} states begin with {} tensors",
                       sizeOf(source.states()), info.tensors.size());
  size_t first = info.tensors.size() - sizeOf(source.states());
  Names names("the states");
  for (uint32_t i = 0; i < sizeOf(source.states()); ++i) {
    const fb::State &from = *source.states()->Get(i);
    StateInfo state;
    SINTER_TRY(copyName(from.name(), "a state", state.name));
    SINTER_TRY(take(state.name.size()));
    SINTER_TRY(names.add(state.name));
    SINTER_TRY(copyText(from.description(), state.description));
    state.initial = from.initial();
    if (state.initial != first + i)
      return brokenModel("state '{}' begins with tensor {}, expected {}",
                         printableName(state.name), state.initial, first + i);
    info.states.push_back(std::move(state));
  }
  return {};
}

Status Reader::readMetadata() {
  SINTER_TRY(makeRoom(source.metadata(), "metadata", info.metadata));
  for (uint32_t i = 0; i < sizeOf(source.metadata()); ++i) {
    const fb::Metadata &from = *source.metadata()->Get(i);
    std::string key, value;
    SINTER_TRY(copyName(from.key(), "metadata", key));
    SINTER_TRY(copyText(from.value(), value));
    if (key.empty() ||
        (!info.metadata.empty() && key <= info.metadata.back().first))
      return brokenModel("the metadata's keys are not in order");
    info.metadata.emplace_back(std::move(key), std::move(value));
  }
  return {};
}

//===- Entry points -------------------------------------------------------===//

Status Reader::checkExpr(const EntryPoint &entry, int32_t expr) const {
  if (expr < -1 || expr >= int64_t(entry.exprs.size()))
    return brokenModel("entry '{}' draws expr {} of {}",
                       printableName(entry.name), expr, entry.exprs.size());
  return {};
}

Status Reader::readInput(const fb::EntryInput &from, EntryPoint &entry) {
  EntryInput input;
  SINTER_TRY(copyName(from.name(), "an input", input.name));
  SINTER_TRY(copyText(from.description(), input.description));
  std::string where = fmt::format("input {} of entry '{}'", entry.inputs.size(),
                                  printableName(entry.name));
  if (uint8_t(from.kind()) > uint8_t(SlotKind::passed))
    return brokenModel("{} has kind {}", where, uint8_t(from.kind()));
  input.kind = SlotKind(from.kind());
  input.number = from.number();
  input.scalarBits = from.scalar_bits();
  input.randomExpr = from.random_expr();
  input.count = from.count();
  constexpr size_t later = size_t(1) << 32; // checked with the parts
  size_t limits[] = {1, info.numWeights(), info.states.size(), 1, 3, later};
  if (input.number >= limits[size_t(input.kind)])
    return brokenModel("{} is {} {} of {}", where, toString(input.kind),
                       input.number, limits[size_t(input.kind)]);
  if (input.scalarBits != 0 && input.kind != SlotKind::constant)
    return brokenModel("{} has a value and is no constant", where);
  bool isCounter = input.kind == SlotKind::random && input.number == 2;
  if (isCounter != (input.randomExpr >= 0) ||
      (isCounter && entry.randomExpr < 0))
    return brokenModel("{}: only counters have a place among random numbers",
                       where);
  SINTER_TRY(checkExpr(entry, input.randomExpr));
  entry.inputs.push_back(std::move(input));
  return {};
}

Status Reader::readOutput(const fb::EntryOutput &from, EntryPoint &entry) {
  EntryOutput output;
  SINTER_TRY(copyName(from.name(), "an output", output.name));
  SINTER_TRY(copyText(from.description(), output.description));
  output.updates = from.updates();
  output.isWeight = from.is_weight();
  size_t limit = output.isWeight ? info.numWeights() : info.states.size();
  if (output.updates < -1 || output.updates >= int64_t(limit) ||
      (output.isWeight && output.updates < 0))
    return brokenModel("output {} of entry '{}' becomes {} {} of {}",
                       entry.outputs.size(), printableName(entry.name),
                       output.isWeight ? "weight" : "state", output.updates,
                       limit);
  entry.outputs.push_back(std::move(output));
  return {};
}

Status Reader::readDims(const fb::Entry &from, EntryPoint &entry) {
  SINTER_TRY(makeRoom(from.dims(), "dynamic dims", entry.dims));
  if (sizeOf(from.dims()) > maxSymbols)
    return brokenModel("entry '{}' has {} dynamic dims",
                       printableName(entry.name), sizeOf(from.dims()));
  Names names("the dynamic dims");
  for (uint32_t i = 0; i < sizeOf(from.dims()); ++i) {
    const fb::DynamicDim &own = *from.dims()->Get(i);
    DynamicDim dim;
    SINTER_TRY(copyName(own.name(), "a dim", dim.name));
    SINTER_TRY(take(dim.name.size()));
    SINTER_TRY(names.add(dim.name));
    dim.input = own.input();
    dim.axis = own.axis();
    entry.dims.push_back(std::move(dim));
  }
  SINTER_TRY(take(sizeOf(from.exprs()) * sizeof(Expr)));
  auto exprs = readExprs(from.exprs(), uint32_t(entry.dims.size()));
  if (!exprs)
    return brokenModel("entry '{}': {}", printableName(entry.name),
                       exprs.error().message);
  entry.exprs = std::move(*exprs);
  return {};
}

Status Reader::readEntry(const fb::Entry &from, EntryPoint &entry) {
  SINTER_TRY(copyName(from.name(), "an entry", entry.name));
  SINTER_TRY(copyText(from.description(), entry.description));
  SINTER_TRY(readDims(from, entry));
  entry.randomExpr = from.random_expr();
  SINTER_TRY(checkExpr(entry, entry.randomExpr));
  SINTER_TRY(makeRoom(from.inputs(), "inputs", entry.inputs));
  for (uint32_t i = 0; i < sizeOf(from.inputs()); ++i)
    SINTER_TRY(readInput(*from.inputs()->Get(i), entry));
  SINTER_TRY(makeRoom(from.outputs(), "outputs", entry.outputs));
  for (uint32_t i = 0; i < sizeOf(from.outputs()); ++i)
    SINTER_TRY(readOutput(*from.outputs()->Get(i), entry));
  SINTER_TRY(makeRoom(from.programs(), "programs", entry.programs));
  for (uint32_t i = 0; i < sizeOf(from.programs()); ++i)
    entry.programs.push_back(from.programs()->Get(i));
  SINTER_TRY(makeRoom(from.parts(), "parts", entry.parts));
  for (uint32_t i = 0; i < sizeOf(from.parts()); ++i)
    entry.parts.push_back(from.parts()->Get(i));
  return {};
}

Status Reader::readEntries() {
  SINTER_TRY(makeRoom(source.entries(), "entries", info.entries));
  Names names("the entries");
  for (uint32_t i = 0; i < sizeOf(source.entries()); ++i) {
    EntryPoint entry;
    SINTER_TRY(readEntry(*source.entries()->Get(i), entry));
    SINTER_TRY(take(entry.name.size()));
    SINTER_TRY(names.add(entry.name));
    info.entries.push_back(std::move(entry));
  }
  return checkParts();
}

static std::vector<std::string_view> givenNames(const EntryPoint &entry) {
  std::vector<std::string_view> names;
  for (const EntryInput &input : entry.inputs)
    if (input.kind == SlotKind::given)
      names.push_back(input.name);
  return names;
}

/// What it is given, it is given as its entry is; and it changes nothing.
Status Reader::checkPart(const EntryPoint &entry,
                         const EntryPoint &part) const {
  bool draws =
      std::ranges::count(part.inputs, SlotKind::random, &EntryInput::kind) > 0;
  bool updates = std::ranges::any_of(
      part.outputs, [](const EntryOutput &each) { return each.updates >= 0; });
  if (!part.parts.empty() || draws || updates ||
      givenNames(part) != givenNames(entry))
    return brokenModel("part '{}' of entry '{}' has parts, draws, changes "
                       "state, or is given something else",
                       printableName(part.name), printableName(entry.name));
  return {};
}

/// Of an entry before which the parts have given that many values.
Status Reader::checkPassed(const EntryPoint &entry, size_t passed) const {
  for (const EntryInput &input : entry.inputs) {
    bool isPassed = input.kind == SlotKind::passed;
    bool fits = isPassed
                    ? input.number < passed && input.count < int64_t(passed) &&
                          input.count >= -1
                    : input.count == -1;
    if (!fits)
      return brokenModel("an input of entry '{}' is passed value {}, counted "
                         "by {}, of {}",
                         printableName(entry.name), input.number, input.count,
                         passed);
  }
  return {};
}

Status Reader::checkParts() const {
  std::vector<bool> isPart(info.entries.size());
  for (size_t i = 0; i < info.entries.size(); ++i)
    for (uint32_t part : info.entries[i].parts) {
      if (part <= i || part >= isPart.size() || isPart[part])
        return brokenModel("entry '{}' has part {} of {}",
                           printableName(info.entries[i].name), part,
                           isPart.size());
      isPart[part] = true;
    }
  if (!std::ranges::is_sorted(isPart))
    return brokenModel("a part stands before an entry");
  for (size_t i = 0; i < info.entries.size() && !isPart[i]; ++i) {
    const EntryPoint &entry = info.entries[i];
    size_t passed = 0;
    for (uint32_t number : entry.parts) {
      const EntryPoint &part = info.entries[number];
      SINTER_TRY(checkPart(entry, part));
      SINTER_TRY(checkPassed(part, passed));
      passed += part.outputs.size();
    }
    SINTER_TRY(checkPassed(entry, passed));
  }
  return {};
}

} // namespace

Result<ModelInfo>
sinter::runtime::verifyModel(std::span<const std::byte> section,
                             uint64_t weightBytes) {
  const fb::Model *source = rootOf(section);
  if (!source)
    return brokenModel("the model section is not a valid flatbuffer");
  CopyBudget budget(section.size());
  return Reader(*source, budget, weightBytes).read();
}

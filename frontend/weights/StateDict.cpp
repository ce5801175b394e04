/// The tensors of a weight file, and quantized ones.
#include <sinter/StateDict.h>

#include "frontend/Raise.h"
#include "frontend/weights/NameChanges.h"
#include "frontend/weights/OpenWeights.h"
#include "frontend/weights/ReadTensor.h"
#include "runtime/params/weights/WeightFile.h"
#include "runtime/params/weights/gguf/Blocks.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::raise;
using runtime::WeightTensor;

static uint64_t elementsOf(std::span<const int64_t> dims) {
  uint64_t count = 1;
  for (int64_t dim : dims)
    count *= uint64_t(dim);
  return count;
}

//===- QuantizedTensor ----------------------------------------------------===//

QuantizedTensor::QuantizedTensor(runtime::WeightFileRef file,
                                 const WeightTensor &stored)
    : file(std::move(file)), stored(&stored), format(stored.type),
      extents(stored.dims), blocks(stored.data) {
  if (auto *known = runtime::gguf::findBlockFormat(stored.type)) {
    elementsOfBlock = int64_t(known->elements);
    bytesOfBlock = int64_t(known->bytes);
  }
}

int64_t QuantizedTensor::numel() const { return int64_t(elementsOf(extents)); }

Tensor QuantizedTensor::dequantize(Options options, Where where) const try {
  detail::held(file, "dequantize", where);
  DType dtype = options.dtype.value_or(stored->dtype);
  if (!isFloat(dtype))
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("dequantize: {} is no float", name(dtype)),
                    "dequantize"),
          where);
  return detail::readTensor(file, *stored, {dtype},
                            {options.device.value_or(default_device())}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- StateDict ----------------------------------------------------------===//

StateDict::StateDict(runtime::WeightFileRef opened) try
    : file(std::move(opened)) {
  if (!file)
    return;
  for (const WeightTensor &tensor : file->tensors()) {
    places.emplace(tensor.name, entries.size());
    entries.push_back({tensor.name, &tensor, {}});
  }
} catch (...) {
  detail::raiseExhausted({});
}

std::vector<std::string> StateDict::names() const try {
  std::vector<std::string> all;
  all.reserve(entries.size());
  for (const Entry &entry : entries)
    all.push_back(entry.name);
  return all;
} catch (...) {
  detail::raiseExhausted({});
}

const StateDict::Entry *StateDict::find(std::string_view name) const {
  auto found = places.find(name);
  return found == places.end() ? nullptr : &entries[found->second];
}

const StateDict::Entry &StateDict::existing(const char *call,
                                            std::string_view name,
                                            Where where) const {
  if (const Entry *entry = find(name))
    return *entry;
  raise(
      makeError(ErrorKind::invalid_argument,
                fmt::format("{}: {} tensor is called '{}'", call,
                            file ? path() + ": no" : "no", printableName(name)),
                call),
      where);
}

WeightInfo StateDict::info(std::string_view name, Where where) const try {
  const Entry &entry = existing("info", name, where);
  WeightInfo info;
  info.name = entry.name;
  if (!entry.stored) {
    info.dtype = entry.value.dtype();
    info.type = sinter::name(info.dtype);
    for (Dim dim : entry.value.shape())
      info.dims.push_back(dim.value);
    info.bytes = elementsOf(info.dims) * byteWidth(info.dtype);
    return info;
  }
  const WeightTensor &stored = *entry.stored;
  info.type = stored.type;
  info.dtype = stored.dtype;
  info.dims = stored.dims;
  info.bytes = stored.isBlocks
                   ? stored.data.size()
                   : elementsOf(stored.dims) * byteWidth(stored.dtype);
  info.quantized = stored.isBlocks;
  // What it is tied to may have another name here, or be gone.
  if (stored.tiedTo.empty())
    return info;
  auto changed = renamed.find(stored.tiedTo);
  const Entry *other =
      find(changed == renamed.end() ? stored.tiedTo : changed->second);
  if (other && other->stored && other->stored->name == stored.tiedTo)
    info.tied_to = other->name;
  return info;
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor StateDict::at(std::string_view name, Options options, Where where) const
    try {
  const Entry &entry = existing("at", name, where);
  if (!entry.stored) {
    Tensor value = entry.value;
    if (options.device)
      value = value.to(*options.device, where);
    return options.dtype ? value.to(*options.dtype, where) : value;
  }
  const WeightTensor &stored = *entry.stored;
  DType dtype = options.dtype.value_or(stored.dtype);
  bool isCast =
      dtype == stored.dtype || (isFloat(dtype) && isFloat(stored.dtype));
  detail::TensorForm form{isCast ? dtype : stored.dtype};
  detail::TensorPlace place{options.device.value_or(default_device()), mmap};
  Tensor value = detail::readTensor(file, stored, form, place, where);
  return isCast ? value : value.to(dtype, where);
} catch (...) {
  detail::raiseExhausted(where);
}

QuantizedTensor StateDict::quantized(std::string_view name, Where where) const
    try {
  const Entry &entry = existing("quantized", name, where);
  if (!entry.stored || !entry.stored->isBlocks)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("quantized: '{}' holds no blocks but {}",
                                printableName(name), info(name, where).type),
                    "quantized"),
          where);
  return QuantizedTensor(file, *entry.stored);
} catch (...) {
  detail::raiseExhausted(where);
}

void StateDict::set(std::string name, Tensor tensor, Where where) try {
  if (!tensor.defined())
    detail::throwEmpty("set", where);
  auto [place, isNew] = places.emplace(name, entries.size());
  if (isNew)
    entries.emplace_back().name = std::move(name);
  Entry &entry = entries[place->second];
  entry.stored = nullptr;
  entry.value = std::move(tensor);
} catch (...) {
  detail::raiseExhausted(where);
}

void StateDict::noteName(const Entry &entry) {
  if (entry.stored)
    renamed.insert_or_assign(entry.stored->name, entry.name);
}

void StateDict::rename(std::string_view name, std::string to, Where where) try {
  existing("rename", name, where);
  if (name == to)
    return;
  auto [place, isFree] = places.emplace(to, 0);
  if (!isFree)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("rename: '{}' is taken", printableName(to)),
                    "rename"),
          where);
  auto old = places.find(name);
  place->second = old->second;
  places.erase(old);
  Entry &entry = entries[place->second];
  entry.name = std::move(to);
  noteName(entry);
} catch (...) {
  detail::raiseExhausted(where);
}

bool StateDict::erase(std::string_view name) try {
  auto found = places.find(name);
  if (found == places.end())
    return false;
  size_t place = found->second;
  places.erase(found);
  entries.erase(entries.begin() + ptrdiff_t(place));
  for (auto &[other, at] : places)
    at -= at > place;
  return true;
} catch (...) {
  detail::raiseExhausted({});
}

std::string StateDict::format() const try {
  return file ? file->format() : std::string();
} catch (...) {
  detail::raiseExhausted({});
}

std::string StateDict::path() const try {
  return file ? file->path() : std::string();
} catch (...) {
  detail::raiseExhausted({});
}

std::span<const std::pair<std::string, std::string>>
StateDict::metadata() const {
  if (!file)
    return {};
  return file->metadata();
}
std::span<const std::string> StateDict::notes() const {
  if (!file)
    return {};
  return file->notes();
}

void StateDict::keepBelow(const std::string &key, Where where) {
  std::vector<Entry> kept;
  for (Entry &entry : entries)
    if (auto rest = detail::withoutPrefix(entry.name, key + "."))
      kept.push_back({std::move(*rest), entry.stored, std::move(entry.value)});
  if (kept.empty())
    raise(detail::nothingBelow("read_state", path(), key), where);
  entries = std::move(kept);
  places.clear();
  for (const Entry &entry : entries) {
    places.emplace(entry.name, places.size());
    noteName(entry);
  }
}

StateDict read_state(const std::string &path, const ReadStateOptions &options,
                     std::source_location where) try {
  StateDict state(detail::openWeights(path, where));
  state.mmap = options.mmap;
  if (!options.top_level_key.empty())
    state.keepBelow(options.top_level_key, where);
  return state;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter

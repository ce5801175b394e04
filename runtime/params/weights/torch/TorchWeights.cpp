/// Finds the bytes of the tensors in PyTorch's archives.
#include "runtime/params/weights/torch/TorchWeights.h"

#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/Strided.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

namespace sinter::runtime::torch {

using weights::tensorError;

namespace {

/// A view may repeat its elements: it may take so much, or so many times what
/// it is a view of. So may all tensors of a file together.
constexpr uint64_t freeBytes = uint64_t(64) << 20, mostRepeats = 64;

bool isBit(std::byte byte) { return byte <= std::byte{1}; }

/// Bytes that a byte order is about.
size_t wordOf(DType dtype) {
  bool isPair = dtype == DType::c64 || dtype == DType::c128;
  return byteWidth(dtype) / (isPair ? 2 : 1);
}

} // namespace

ErrorInfo TorchWeights::error(std::string_view what, ErrorKind kind) const {
  return weights::fileError(path(), std::string(what), kind);
}

Status TorchWeights::take(Contents contents, const std::string &prefix) {
  for (std::vector<std::byte> &bytes : contents.made)
    made.push_back(std::move(bytes));
  for (auto &[key, text] : contents.metadata)
    strings.emplace_back(prefix + key, std::move(text));
  for (std::string &note : contents.notes)
    remarks.push_back(std::move(note));
  for (const auto &[tensor, rebuilt] : contents.tensors)
    SINTER_TRY(add(prefix + tensor, rebuilt));
  return {};
}

/// The bytes that it is a view of, which must be as many as it says.
Result<const Stored *> TorchWeights::storedOf(const RebuiltTensor &rebuilt) {
  if (!rebuilt.storage) {
    std::tuple key(rebuilt.bytes.data(), rebuilt.bytes.size(), rebuilt.swapped);
    auto [known, isNew] = arrays.try_emplace(key);
    if (!isNew)
      return known->second;
    Stored &own = stored.emplace_back();
    own.bytes = rebuilt.bytes;
    own.size = rebuilt.bytes.size();
    own.swapped = rebuilt.swapped;
    own.isChecked = true;
    known->second = &own;
    return known->second;
  }
  const StorageId &id = *rebuilt.storage;
  auto found = storages.find(id.key);
  if (found == storages.end())
    return error(
        fmt::format("the storage '{}' is missing", printableName(id.key)));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(uint64_t(id.numel), byteWidth(id.dtype), &bytes) ||
      bytes > found->second->size)
    return error(fmt::format("the storage '{}' has {} bytes, not {} of {} each",
                             printableName(id.key), found->second->size,
                             id.numel, byteWidth(id.dtype)));
  return found->second;
}

Status TorchWeights::add(const std::string &tensor,
                         const RebuiltTensor &rebuilt) {
  auto fail = [&](const std::string &what, ErrorKind kind = ErrorKind::io) {
    return tensorError(path(), tensor, what, kind);
  };
  auto found = storedOf(rebuilt);
  if (!found)
    return fail(found.error().message.substr(path().size() + 2));
  const Stored &from = **found;
  auto extent = weights::extentOf(rebuilt.dims, rebuilt.strides);
  if (!extent || rebuilt.dims.size() > maxRank)
    return fail(fmt::format("a size ({}) with strides ({}) is not possible",
                            fmt::join(rebuilt.dims, ", "),
                            fmt::join(rebuilt.strides, ", ")));
  int64_t width = static_cast<int64_t>(byteWidth(rebuilt.dtype));
  int64_t first = rebuilt.offset, begin = 0, bytes = 0, dense = 0;
  int64_t shift = rebuilt.storage ? rebuilt.storage->viewOffset : 0;
  bool overflows = __builtin_add_overflow(first, shift, &first) ||
                   __builtin_mul_overflow(first, width, &begin) ||
                   __builtin_mul_overflow(extent->reach, width, &bytes) ||
                   __builtin_mul_overflow(extent->count, width, &dense);
  if (overflows || rebuilt.offset < 0 || uint64_t(begin) > from.size ||
      uint64_t(bytes) > from.size - uint64_t(begin))
    return fail(
        fmt::format("it reaches beyond its storage of {} bytes", from.size));
  if (uint64_t(dense) > std::max(freeBytes, mostRepeats * uint64_t(bytes)))
    return fail(fmt::format("a view repeats {} bytes to {}", bytes, dense),
                ErrorKind::unsupported);
  WeightTensor entry;
  entry.name = tensor;
  entry.type = rebuilt.type;
  entry.dtype = rebuilt.dtype;
  entry.dims = rebuilt.dims;
  if (!weights::isRowMajor(rebuilt.dims, rebuilt.strides))
    entry.strides = rebuilt.strides;
  bool isInPlace = !from.bytes.empty() && !from.swapped;
  if (isInPlace)
    entry.data = from.bytes.subspan(uint64_t(begin), uint64_t(bytes));
  if (isInPlace && entry.dtype == DType::boolean &&
      !std::ranges::all_of(entry.data, isBit))
    return fail("a bool byte is neither 0 nor 1");
  entries.push_back(std::move(entry));
  parts.push_back({&from, uint64_t(begin), uint64_t(bytes)});
  return {};
}

/// An error where the tensors are much more than the storages. One that is as
/// another counts with what it repeats alone.
Status TorchWeights::checkRepeats() const {
  uint64_t held = 0, dense = 0;
  for (const Stored &each : stored)
    held += each.size;
  for (size_t i = 0; i < entries.size(); ++i) {
    uint64_t own = byteWidth(entries[i].dtype);
    for (int64_t dim : entries[i].dims)
      own *= static_cast<uint64_t>(dim);
    own -= entries[i].tiedTo.empty() ? 0 : std::min(own, parts[i].bytes);
    if (__builtin_add_overflow(dense, own, &dense))
      dense = std::numeric_limits<uint64_t>::max();
  }
  if (dense / mostRepeats <= held || dense <= freeBytes)
    return {};
  return error(fmt::format("its tensors repeat {} bytes to {}", held, dense),
               ErrorKind::unsupported);
}

Status TorchWeights::finishTensors() {
  SINTER_TRY(finish());
  tie();
  return checkRepeats();
}

void TorchWeights::tie() {
  using Key = std::tuple<const Stored *, uint64_t, DType, std::vector<int64_t>,
                         std::vector<int64_t>>;
  std::map<Key, size_t> first;
  for (size_t i = 0; i < entries.size(); ++i) {
    WeightTensor &entry = entries[i];
    if (parts[i].bytes == 0)
      continue;
    Key key{parts[i].stored, parts[i].offset, entry.dtype, entry.dims,
            entry.strides};
    auto [known, isNew] = first.emplace(std::move(key), i);
    if (!isNew)
      entry.tiedTo = entries[known->second].name;
  }
}

Status TorchWeights::checkBytes(const Stored &of) const {
  if (of.isChecked)
    return {};
  Status checked = of.entry ? archive.check(*of.entry) : Status();
  if (!checked)
    return error(checked.error().message);
  of.isChecked = true;
  return {};
}

Status TorchWeights::check(const WeightTensor &tensor) const {
  return checkBytes(*parts[numberOf(tensor)].stored);
}

Result<std::vector<std::byte>>
TorchWeights::read(const WeightTensor &tensor) const {
  const Part &part = parts[numberOf(tensor)];
  std::span<const std::byte> all = part.stored->bytes;
  std::vector<std::byte> inflated;
  if (all.empty() && part.stored->entry) {
    auto bytes = archive.read(*part.stored->entry);
    if (!bytes)
      return error(bytes.error().message, bytes.error().kind);
    inflated = std::move(*bytes);
    all = inflated;
  } else {
    SINTER_TRY(checkBytes(*part.stored));
  }
  std::span<const std::byte> from = all.subspan(part.offset, part.bytes);
  size_t width = byteWidth(tensor.dtype), count = 1;
  for (int64_t dim : tensor.dims)
    count *= static_cast<size_t>(dim);
  std::vector<std::byte> dense(count * width);
  if (tensor.strides.empty())
    std::ranges::copy(from, dense.begin());
  else
    weights::gather(from, tensor.dims, tensor.strides, width, dense);
  if (tensor.dtype == DType::boolean && !std::ranges::all_of(dense, isBit))
    return tensorError(path(), tensor.name, "a bool byte is neither 0 nor 1");
  size_t word = wordOf(tensor.dtype);
  for (size_t at = 0; part.stored->swapped && at < dense.size(); at += word)
    std::reverse(&dense[at], &dense[at] + word);
  return dense;
}

} // namespace sinter::runtime::torch

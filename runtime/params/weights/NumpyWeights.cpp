/// NumPy's files as weight files.
#include "runtime/params/Npz.h"
#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/Strided.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace sinter::runtime::weights {

namespace {

constexpr std::string_view extension = ".npy";

/// The entry of an array whose file is mapped where `file` says; empty where it
/// is packed.
Result<WeightTensor> entryOf(NpyLayout layout,
                             std::span<const std::byte> file) {
  WeightTensor entry;
  entry.type = name(layout.dtype);
  entry.dtype = layout.dtype;
  entry.dims = std::move(layout.dims);
  if (file.empty() || layout.swapped)
    return entry;
  entry.data = file.subspan(layout.dataAt, layout.bytes);
  auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
  if (entry.dtype == DType::boolean && !std::ranges::all_of(entry.data, isBit))
    return makeError(ErrorKind::io, "npy: a bool byte is neither 0 nor 1");
  if (!layout.columnMajor)
    return entry;
  std::vector<int64_t> strides = denseStrides(entry.dims, true);
  if (!isRowMajor(entry.dims, strides))
    entry.strides = std::move(strides);
  return entry;
}

Result<std::vector<std::byte>> parseBytes(std::span<const std::byte> file) {
  SINTER_TRY_ASSIGN(HostArray array, parseNpy(file));
  return std::move(array.bytes);
}

class NpyWeights final : public WeightFile {
public:
  NpyWeights(const std::string &path, MappedFile mapped)
      : WeightFile(path, "npy"), file(std::move(mapped)) {}

  Status readLayout() {
    auto layout = readNpyLayout(file.bytes(), file.bytes().size());
    if (!layout)
      return inFile(path(), layout.takeError());
    auto entry = entryOf(std::move(*layout), file.bytes());
    if (!entry)
      return inFile(path(), entry.takeError());
    entry->name = std::filesystem::path(path()).stem();
    entries.push_back(std::move(*entry));
    return finish();
  }
  Result<std::vector<std::byte>> read(const WeightTensor &) const override {
    auto bytes = parseBytes(file.bytes());
    if (!bytes)
      return inFile(path(), bytes.takeError());
    return bytes;
  }
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  MappedFile file;
};

class NpzWeights final : public WeightFile {
public:
  NpzWeights(const std::string &path, MappedFile mapped)
      : WeightFile(path, "npz"), file(std::move(mapped)) {}

  Status readEntries() {
    auto parsed = ZipArchive::parse(file.bytes());
    if (!parsed)
      return inFile(path(), parsed.takeError());
    archive = std::move(*parsed);
    for (const ZipEntry &entry : archive.entries()) {
      auto tensor = readEntry(entry);
      if (!tensor)
        return inEntry(entry, tensor.takeError());
      entries.push_back(std::move(*tensor));
    }
    return finish();
  }
  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override {
    const ZipEntry &entry = archive.entries()[numberOf(tensor)];
    auto unpacked = archive.read(entry);
    if (!unpacked)
      return inFile(path(), unpacked.takeError());
    auto bytes = takeNpyElements(std::move(*unpacked));
    if (!bytes)
      return inEntry(entry, bytes.takeError());
    return bytes;
  }
  Status check(const WeightTensor &tensor) const override {
    const ZipEntry &entry = archive.entries()[numberOf(tensor)];
    Status checked = entry.deflated ? Status() : archive.check(entry);
    return checked ? Status() : inFile(path(), checked.takeError());
  }
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  MappedFile file;
  ZipArchive archive;

  ErrorInfo inEntry(const ZipEntry &entry, ErrorInfo error) const {
    return inFile(fmt::format("{}: '{}'", path(), printableName(entry.name)),
                  std::move(error));
  }
  Result<WeightTensor> readEntry(const ZipEntry &entry) const {
    if (!entry.name.ends_with(extension))
      return makeError(ErrorKind::io, "npz: no .npy file");
    SINTER_TRY_ASSIGN(auto front, archive.readFront(entry, maxNpyFront));
    SINTER_TRY_ASSIGN(NpyLayout layout, readNpyLayout(front, entry.size));
    std::span<const std::byte> mapped =
        entry.deflated ? std::span<const std::byte>() : archive.packed(entry);
    SINTER_TRY_ASSIGN(WeightTensor tensor, entryOf(std::move(layout), mapped));
    tensor.name = entry.name.substr(0, entry.name.size() - extension.size());
    return tensor;
  }
};

} // namespace

Result<WeightFileRef> openNpy(const std::string &path, MappedFile file) {
  auto result = std::make_shared<NpyWeights>(path, std::move(file));
  SINTER_TRY(result->readLayout());
  return WeightFileRef(std::move(result));
}

Result<WeightFileRef> openNpz(const std::string &path, MappedFile file) {
  auto result = std::make_shared<NpzWeights>(path, std::move(file));
  SINTER_TRY(result->readEntries());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime::weights

/// The two layouts of PyTorch's archives.
#include "runtime/params/weights/Readers.h"
#include "runtime/params/weights/torch/TorchWeights.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace sinter::runtime {

using namespace std::string_view_literals;

namespace torch {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

namespace {

constexpr std::string_view pickleName = "data.pkl";

/// `torch.serialization.MAGIC_NUMBER`, 0x1950a86a20f9469cfc6c.
constexpr std::string_view magicBytes =
    "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr std::string_view magicDigits = "119547037146038801333356"sv;
constexpr int64_t legacyProtocol = 1001;

/// A deflated pickle may have so many bytes, or so many times those that it
/// takes in the archive: real ones shrink to a tenth.
constexpr uint64_t freePickleBytes = uint64_t(4) << 20, mostDeflated = 20;

const ZipEntry *entryOf(const ZipArchive &archive, const std::string &name) {
  auto found = std::ranges::find(archive.entries(), name, &ZipEntry::name);
  return found == archive.entries().end() ? nullptr : &*found;
}

/// The folder in an archive that all is in, with its slash.
std::optional<std::string> rootOf(const ZipArchive &archive) {
  std::optional<std::string> root;
  for (const ZipEntry &entry : archive.entries()) {
    if (!entry.name.ends_with(pickleName))
      continue;
    std::string before =
        entry.name.substr(0, entry.name.size() - pickleName.size());
    bool isFolder = before.empty() || before.find('/') == before.size() - 1;
    if (isFolder && (!root || before < *root))
      root = before;
  }
  return root;
}

} // namespace

/// The bytes of an entry, checked.
Result<std::span<const std::byte>>
TorchWeights::bytesOf(const ZipEntry &entry) {
  if (entry.deflated) {
    auto bytes = archive.read(
        entry, std::max(freePickleBytes, mostDeflated * entry.packed));
    if (!bytes)
      return error(bytes.error().message, bytes.error().kind);
    return std::span<const std::byte>(made.emplace_back(std::move(*bytes)));
  }
  Status checked = archive.check(entry);
  if (!checked)
    return error(checked.error().message);
  return archive.packed(entry);
}

Status TorchWeights::readZip() {
  auto parsed = ZipArchive::parse(file.bytes());
  if (!parsed)
    return error(parsed.error().message, parsed.error().kind);
  archive = std::move(*parsed);
  std::optional<std::string> root = rootOf(archive);
  if (!root)
    return error("no data.pkl is in the archive");
  bool swapped = false;
  if (const ZipEntry *order = entryOf(archive, *root + "byteorder")) {
    auto text = archive.readFront(*order, 8);
    swapped =
        text && text->size() == 3 && std::memcmp(text->data(), "big", 3) == 0;
  }
  listStorages(*root + "data/", swapped);
  SINTER_TRY(
      readPickleEntry(*entryOf(archive, *root + std::string(pickleName)), ""));
  if (const ZipEntry *constants = entryOf(archive, *root + "constants.pkl")) {
    remarks.push_back("a TorchScript archive: its weights, but no code");
    // Those of a frozen module are constants.
    listStorages(*root + "constants/", swapped);
    SINTER_TRY(readPickleEntry(*constants, "constants."));
  }
  return finishTensors();
}

void TorchWeights::listStorages(const std::string &folder, bool swapped) {
  storages.clear();
  for (const ZipEntry &entry : archive.entries()) {
    if (!entry.name.starts_with(folder))
      continue;
    Stored &storage = stored.emplace_back();
    if (!entry.deflated)
      storage.bytes = archive.packed(entry);
    storage.size = entry.size;
    storage.entry = &entry;
    storage.swapped = swapped;
    storages.emplace(entry.name.substr(folder.size()), &storage);
  }
}

Status TorchWeights::readPickleEntry(const ZipEntry &entry,
                                     const std::string &prefix) {
  SINTER_TRY_ASSIGN(std::span<const std::byte> bytes, bytesOf(entry));
  auto data = Pickle::parse(bytes);
  if (!data)
    return error(data.error().message, data.error().kind);
  return takeValue(*data, prefix);
}

Status TorchWeights::takeValue(const Pickle &data, const std::string &prefix) {
  const Value &root = data.root();
  bool isContainer = root.is(Kind::dict) || root.is(Kind::list) ||
                     root.is(Kind::tuple) || root.is(Kind::object);
  if (!isContainer)
    return error("no tensors are in it: the value is no dictionary, list or "
                 "object");
  // Nothing is read by a storage that cannot be, even one without a tensor.
  for (const Value &each : data.persistents())
    if (auto storage = storageOf(data, each); !storage)
      return error(storage.error().message, storage.error().kind);
  std::string stem = std::filesystem::path(path()).stem();
  auto contents = contentsOf(data, stem);
  if (!contents)
    return error(contents.error().message, contents.error().kind);
  return take(std::move(*contents), prefix);
}

/// The storages stand in the order of their keys: a count, then the elements.
Status TorchWeights::readStorages(std::span<const std::byte> rest,
                                  const Pickle &keys, const Pickle &data) {
  std::map<std::string_view, StorageId> known;
  for (const Value &each : data.persistents()) {
    auto storage = storageOf(data, each);
    if (!storage)
      return error(storage.error().message, storage.error().kind);
    if (*storage)
      known.emplace((*storage)->key, **storage);
  }
  if (!keys.root().is(Kind::list))
    return error("the keys of the storages are no list");
  for (const Value &key : keys.items(keys.root())) {
    auto found = key.is(Kind::text) ? known.find(key.text()) : known.end();
    if (found == known.end())
      return error("a storage that nothing refers to");
    std::string shown = printableName(key.text());
    uint64_t count = 0, bytes = 0;
    if (rest.size() < sizeof(count))
      return error(fmt::format("the storage '{}' is cut off", shown));
    std::memcpy(&count, rest.data(), sizeof(count));
    rest = rest.subspan(sizeof(count));
    size_t width = byteWidth(found->second.dtype);
    if (__builtin_mul_overflow(count, width, &bytes) || bytes > rest.size())
      return error(fmt::format("the storage '{}' is cut off", shown));
    Stored &storage = stored.emplace_back();
    storage.bytes = rest.first(bytes);
    storage.size = bytes;
    storage.isChecked = true;
    if (!storages.emplace(key.text(), &storage).second)
      return error(fmt::format("the storage '{}' is there twice", shown));
    rest = rest.subspan(bytes);
  }
  if (!rest.empty())
    return error(fmt::format("{} bytes follow the storages", rest.size()));
  return {};
}

Status TorchWeights::readLegacy() {
  std::span<const std::byte> rest = file.bytes();
  auto next = [&]() -> Result<Pickle> {
    auto parsed = Pickle::parse(rest);
    if (!parsed)
      return error(parsed.error().message, parsed.error().kind);
    rest = rest.subspan(parsed->size());
    return std::move(*parsed);
  };
  SINTER_TRY_ASSIGN(Pickle magic, next());
  std::string_view number =
      magic.root().is(Kind::big) ? magic.root().text() : std::string_view();
  if (number != magicBytes && number != magicDigits)
    return error("a pickle, but not one of PyTorch's archives: no magic number "
                 "is in front");
  SINTER_TRY_ASSIGN(Pickle protocol, next());
  if (!protocol.root().is(Kind::integer) ||
      protocol.root().integer() != legacyProtocol)
    return error("the version of the archive is unknown",
                 ErrorKind::unsupported);
  SINTER_TRY_ASSIGN(Pickle system, next());
  SINTER_TRY_ASSIGN(Pickle data, next());
  SINTER_TRY_ASSIGN(Pickle keys, next());
  SINTER_TRY(readStorages(rest, keys, data));
  SINTER_TRY(takeValue(data, ""));
  return finishTensors();
}

} // namespace torch

Result<WeightFileRef> weights::openTorchZip(const std::string &path,
                                            MappedFile file) {
  auto result =
      std::make_shared<torch::TorchWeights>(path, "torch zip", std::move(file));
  SINTER_TRY(result->readZip());
  return WeightFileRef(std::move(result));
}

Result<WeightFileRef> weights::openTorchLegacy(const std::string &path,
                                               MappedFile file) {
  auto result = std::make_shared<torch::TorchWeights>(path, "torch legacy",
                                                      std::move(file));
  SINTER_TRY(result->readLegacy());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime

/// Tells the formats of weight files, and what their readers share.
#include "runtime/params/weights/WeightFile.h"

#include "runtime/files/FileKind.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Zip.h"
#include "runtime/params/weights/Readers.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>
#include <utility>

namespace sinter::runtime {

using namespace std::string_view_literals;

namespace {

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

bool isSafetensors(std::string_view text) {
  uint64_t length = 0;
  if (text.size() <= sizeof(length))
    return false;
  std::memcpy(&length, text.data(), sizeof(length));
  return text[sizeof(length)] == '{' && length <= text.size() - sizeof(length);
}

bool isJsonObject(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

bool isZip(std::string_view text) {
  return text.starts_with("PK\3\4"sv) || text.starts_with("PK\5\6"sv);
}

/// Whose archive a zip is, by the names in it.
Result<WeightFileRef> openZip(const std::string &path, MappedFile file) {
  auto archive = ZipArchive::parse(file.bytes());
  if (!archive)
    return weights::fileError(path, archive.error().message,
                              archive.error().kind);
  bool isTorch = false, isProgram = false, isOld = false;
  for (const ZipEntry &entry : archive->entries()) {
    isTorch |= entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
    isProgram |= entry.name.ends_with("archive_format");
    isOld |= entry.name.ends_with("/model.json");
  }
  if (isProgram)
    return weights::fileError(path, "a program of torch.export, no weight file",
                              ErrorKind::unsupported);
  if (isTorch)
    return weights::openTorchZip(path, std::move(file));
  if (isOld)
    return weights::fileError(
        path, "TorchScript archives from before PyTorch 1.4 are not supported",
        ErrorKind::unsupported);
  return weights::openNpz(path, std::move(file));
}

/// Pickles begin with their protocol; those of protocol 1 with the number that
/// PyTorch's archives begin with.
bool isPickle(std::string_view text) {
  return (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 &&
          text[1] <= 5) ||
         text.starts_with("L119547037146038801333356L\n"sv);
}

/// A map whose first key is a text.
bool isMessagePackMap(std::string_view text) {
  if (text.size() < 2)
    return false;
  auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  size_t key = byte(0) == 0xde ? 3 : byte(0) == 0xdf ? 5 : 1;
  bool isMap = key > 1 || (byte(0) > 0x80 && byte(0) < 0x90);
  if (!isMap || text.size() <= key)
    return false;
  return (byte(key) >= 0xa0 && byte(key) < 0xc0) ||
         (byte(key) >= 0xd9 && byte(key) <= 0xdb);
}

/// PyTorch's archives from before 0.1.10.
bool isTar(std::string_view text) {
  constexpr size_t magicAt = 257;
  return text.size() > magicAt && text.substr(magicAt).starts_with("ustar"sv);
}

} // namespace

Result<WeightFileRef> weights::openTensors(const std::string &path,
                                           MappedFile file) {
  std::string_view text = textOf(file.bytes());
  if (isSafetensors(text))
    return openSafetensors(path, std::move(file));
  if (text.starts_with("\x93NUMPY"sv))
    return openNpy(path, std::move(file));
  if (isZip(text))
    return openZip(path, std::move(file));
  if (text.starts_with("GGUF"sv))
    return openGguf(path, std::move(file));
  if (text.starts_with("NRUB"sv))
    return openBurnpack(path, std::move(file));
  if (isMessagePackMap(text))
    return openFlax(path, std::move(file));
  if (isPickle(text))
    return openTorchLegacy(path, std::move(file));
  if (isTar(text))
    return fileError(path, "tar archives of PyTorch are not supported",
                     ErrorKind::unsupported);
  // A damaged one, which its reader tells about.
  if (text.size() > sizeof(uint64_t) && text[sizeof(uint64_t)] == '{')
    return openSafetensors(path, std::move(file));
  return fileError(path, otherFile("no weight file", file.bytes()));
}

ErrorInfo weights::fileError(const std::string &path, const std::string &what,
                             ErrorKind kind) {
  return makeError(kind, path + ": " + what);
}

ErrorInfo weights::tensorError(const std::string &path,
                               const std::string &tensor,
                               const std::string &what, ErrorKind kind) {
  return makeError(kind, fmt::format("{}: tensor '{}': {}", path,
                                     printableName(tensor), what));
}

Result<WeightFileRef> WeightFile::open(const std::string &path) {
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  std::string_view text = textOf(file.bytes());
  if (isJsonObject(text) && !isSafetensors(text))
    return weights::openShards(path, file.bytes());
  return weights::openTensors(path, std::move(file));
}

Result<WeightFileRef> WeightFile::parse(std::span<const std::byte> bytes,
                                        const std::string &name) {
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::copyOf(bytes));
  return weights::openTensors(name, std::move(file));
}

const WeightTensor *WeightFile::find(std::string_view tensor) const {
  auto found = numbers.find(tensor);
  return found == numbers.end() ? nullptr : &entries[found->second];
}

std::span<const std::byte> WeightFile::view(const WeightTensor &tensor) const {
  if (tensor.isBlocks || !tensor.strides.empty())
    return {};
  return tensor.data;
}

Status WeightFile::check(const WeightTensor &tensor) const {
  (void)tensor;
  return {};
}

Status WeightFile::finish() {
  for (auto &[key, text] : strings)
    for (std::string *each : {&key, &text})
      if (!isUtf8(*each))
        *each = printable(*each);
  for (size_t number = 0; number < entries.size(); ++number) {
    const std::string &tensor = entries[number].name;
    if (!isUtf8(tensor))
      return weights::tensorError(name, tensor, "the name is no UTF-8");
    if (!numbers.emplace(tensor, number).second)
      return weights::tensorError(name, tensor, "the name is there twice");
  }
  return {};
}

size_t WeightFile::numberOf(const WeightTensor &tensor) const {
  auto found = numbers.find(tensor.name);
  assert(found != numbers.end() && "a tensor of another file");
  return found->second;
}

} // namespace sinter::runtime

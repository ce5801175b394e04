/// Elements of stored tensors.
#include "frontend/import/onnx/TensorBytes.h"

#include "frontend/Raise.h"
#include "frontend/import/onnx/CheckModel.h"
#include "frontend/import/onnx/Wire.h"
#include "runtime/files/SystemError.h"

#include <fmt/format.h>

#include <cstring>
#include <fcntl.h>

namespace sinter::onnx {

//===- External files -----------------------------------------------------===//

/// The parts of a relative path; throws where it leads, or may lead, away.
static std::vector<std::string> partsOf(const TensorRecord &tensor) {
  const std::string &path = tensor.external->location;
  auto refuse = [&] {
    throwMalformed(fmt::format("tensor '{}' is in the file '{}', which is not "
                               "in the model's folder",
                               tensor.name, path));
  };
  if (path.empty() || path.front() == '/' ||
      path.find('\0') != std::string::npos)
    refuse();
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (part == "..")
      refuse();
    if (!part.empty() && part != ".")
      parts.push_back(part);
    begin = end + 1;
  }
  if (parts.empty())
    refuse();
  return parts;
}

/// Opened part by part, so that none of them is a link.
static FileDescriptor openInside(const FileDescriptor &folder,
                                 const TensorRecord &tensor) {
  std::vector<std::string> parts = partsOf(tensor);
  FileDescriptor at(-1);
  for (size_t i = 0; i < parts.size() && (i == 0 || at); ++i) {
    bool isLast = i + 1 == parts.size();
    int flags = isLast ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    at = FileDescriptor(::openat(i == 0 ? folder.get() : at.get(),
                                 parts[i].c_str(),
                                 flags | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

void ExternalFiles::setFolder(const std::string &path) {
  folder =
      FileDescriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::span<const std::byte> ExternalFiles::bytesOf(const TensorRecord &tensor) {
  const ExternalData &data = *tensor.external;
  if (!folder)
    throwMalformed(fmt::format("tensor '{}' is in the file '{}', and a model "
                               "in memory has no folder",
                               tensor.name, data.location));
  std::lock_guard lock(mutex);
  auto found = files.find(data.location);
  if (found == files.end()) {
    FileDescriptor file = openInside(folder, tensor);
    if (!file)
      detail::raise(runtime::systemError(data.location,
                                         "onnx: tensor '" + tensor.name +
                                             "': cannot open in the model's "
                                             "folder"),
                    {});
    auto mapped = std::make_shared<const runtime::MappedFile>(detail::unwrap(
        runtime::MappedFile::map(file.get(), data.location), {}));
    mappedBytes += mapped->bytes().size();
    found = files.emplace(data.location, std::move(mapped)).first;
  }
  std::span<const std::byte> all = found->second->bytes();
  size_t wanted = packedBytes(tensor.type, countElements(tensor));
  if (data.length && size_t(*data.length) != wanted)
    throwMalformed(fmt::format("tensor '{}' has {} bytes of {}, not {}",
                               tensor.name, *data.length, data.location,
                               wanted));
  if (size_t(data.offset) > all.size() ||
      wanted > all.size() - size_t(data.offset))
    throwMalformed(fmt::format("tensor '{}' goes beyond the end of {}",
                               tensor.name, data.location));
  // Loading reads a tensor at most three times; few share bytes.
  takenBytes += wanted;
  if (takenBytes > 12 * mappedBytes + (size_t(1) << 20))
    throwMalformed(fmt::format("tensor '{}' and others take many times the "
                               "bytes of {}",
                               tensor.name, data.location));
  return all.subspan(size_t(data.offset), wanted);
}

void ExternalFiles::close() {
  std::lock_guard lock(mutex);
  files.clear();
  mappedBytes = takenBytes = 0;
}

FileRef ExternalFiles::fileOf(std::span<const std::byte> bytes) const {
  for (const auto &[name, file] : files)
    if (file->has(bytes))
      return file;
  return nullptr;
}

//===- Elements -----------------------------------------------------------===//

static bool isSignedPart(ElementType type) {
  return type == ElementType::i4 || type == ElementType::i2;
}

/// One byte for each element of less than 8 bits; the first is the lowest.
static std::vector<std::byte> unpacked(std::span<const std::byte> packed,
                                       ElementType type, int64_t elements) {
  unsigned bits = elementBits(type), perByte = 8 / bits;
  unsigned shift = 8 - bits;
  std::vector<std::byte> own(static_cast<size_t>(elements));
  for (size_t i = 0; i < own.size(); ++i) {
    auto word = uint8_t(uint8_t(packed[i / perByte]) >> (i % perByte * bits));
    auto high = uint8_t(word << shift);
    own[i] = std::byte(isSignedPart(type) ? uint8_t(int8_t(high) >> shift)
                                          : uint8_t(high >> shift));
  }
  return own;
}

/// Whether numbers stand in the file as they do in memory, one after the other.
static bool areDense(const TensorRecord &tensor) {
  return tensor.numbers.size() == 1 &&
         (tensor.field == NumberField::f32 || tensor.field == NumberField::f64);
}

static std::vector<std::byte> fromNumbers(const TensorRecord &tensor,
                                          int64_t elements) {
  size_t width = std::max(elementBits(tensor.type) / 8, 1U);
  WireType scalar = WireType::varint;
  if (tensor.field == NumberField::f32 || tensor.field == NumberField::f64) {
    scalar = tensor.field == NumberField::f32 ? WireType::fixed32
                                              : WireType::fixed64;
    width = tensor.field == NumberField::f32 ? 4 : 8;
  }
  std::vector<std::byte> own;
  own.reserve(packedBytes(tensor.type, elements));
  for (std::span<const std::byte> part : tensor.numbers) {
    WireReader::NumberReader reader(part, scalar);
    for (uint64_t bits; reader.next(bits);) {
      auto *bytes = reinterpret_cast<const std::byte *>(&bits);
      own.insert(own.end(), bytes, bytes + width);
    }
  }
  return own;
}

TensorBytes storedOf(const TensorRecord &tensor, ExternalFiles &files) {
  TensorBytes result;
  if (tensor.external)
    result.bytes = files.bytesOf(tensor);
  else if (tensor.raw)
    result.bytes = *tensor.raw;
  else if (areDense(tensor))
    result.bytes = tensor.numbers.front();
  else
    result.bytes = result.own = fromNumbers(tensor, countElements(tensor));
  return result;
}

TensorBytes elementsOf(const TensorRecord &tensor, ExternalFiles &files) {
  if (tensor.type == ElementType::string)
    detail::raise(
        makeError(ErrorKind::unsupported,
                  fmt::format("onnx: tensor '{}' holds strings", tensor.name)),
        {});
  int64_t elements = countElements(tensor);
  TensorBytes result = storedOf(tensor, files);
  if (elementBits(tensor.type) < 8)
    result.bytes = result.own = unpacked(result.bytes, tensor.type, elements);
  if (tensor.type == ElementType::boolean)
    for (std::byte byte : result.bytes)
      if (uint8_t(byte) > 1)
        throwMalformed(fmt::format("tensor '{}' has a bool of {}", tensor.name,
                                   uint8_t(byte)));
  return result;
}

} // namespace sinter::onnx

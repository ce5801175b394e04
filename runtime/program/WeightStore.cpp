/// Finds, checks and maps tensors.
#include "runtime/program/WeightStore.h"

#include "runtime/program/ModelError.h"
#include "runtime/support/Printable.h"

#include <algorithm>
#include <mutex>

#include <sys/mman.h>

using namespace sinter;
using namespace sinter::runtime;

WeightStore::WeightStore(const ModelFile &file, const ModelInfo &info,
                         std::string folder)
    : folder(std::move(folder)), tensors(info.tensors),
      externals(info.externals), checked(info.tensors.size()),
      section(file, SectionKind::weights) {}

WeightStore::~WeightStore() {
  for (auto [bytes, pages] : zeros)
    munmap(pages, bytes);
}

Result<std::span<const std::byte>> WeightStore::zeroBytes(uint64_t bytes) {
  if (bytes == 0)
    return std::span<const std::byte>();
  void *&pages = zeros[bytes];
  if (!pages) {
    void *mapped = mmap(nullptr, bytes, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      zeros.erase(bytes);
      return makeError(
          ErrorKind::out_of_memory,
          fmt::format("model file: no room for {} bytes of zeros", bytes));
    }
    pages = mapped;
  }
  return std::span(static_cast<const std::byte *>(pages), bytes);
}

Result<const SafetensorsFile *>
WeightStore::open(const ExternalFile &external) {
  if (auto found = opened.find(external.name); found != opened.end())
    return &found->second;
  std::string name = printableName(external.name);
  if (folder.empty())
    return brokenModel("the weights are in '{}' beside the file, and what was "
                       "loaded is no file",
                       name);
  SINTER_TRY_ASSIGN(SafetensorsFile file,
                    SafetensorsFile::open(folder + "/" + external.name));
  if (file.bytes().size() != external.bytes ||
      sectionDigest(file.bytes()) != external.digest)
    return brokenModel("'{}' beside it is another file than the one that was "
                       "written with the model: size or digest differ",
                       name);
  return &opened.emplace(external.name, std::move(file)).first->second;
}

Result<std::span<const std::byte>>
WeightStore::externalBytes(const StoredTensor &tensor) {
  auto external =
      std::ranges::find(externals, tensor.externalFile, &ExternalFile::name);
  SINTER_TRY_ASSIGN(const SafetensorsFile *file, open(*external));
  const NamedTensor *found = file->find(tensor.externalName);
  if (!found)
    return brokenModel("'{}' has no tensor '{}'",
                       printableName(tensor.externalFile),
                       printableName(tensor.externalName));
  if (found->dtype != tensor.dtype || found->shape != tensor.dims)
    return brokenModel("tensor '{}' of '{}' has another type than the model "
                       "says",
                       printableName(tensor.externalName),
                       printableName(tensor.externalFile));
  return found->data;
}

Result<std::span<const std::byte>> WeightStore::bytesOf(uint32_t index) {
  const StoredTensor &tensor = tensors[index];
  std::lock_guard lock(mutex);
  if (tensor.zeros)
    return zeroBytes(tensor.bytes);
  if (!tensor.externalFile.empty())
    return externalBytes(tensor);
  SINTER_TRY_ASSIGN(std::span<const std::byte> bytes,
                    section.part(tensor.offset, tensor.bytes));
  if (!checked[index] && tensor.dtype == DType::boolean &&
      std::ranges::any_of(bytes,
                          [](std::byte byte) { return byte > std::byte(1); }))
    return brokenModel("tensor '{}' is bool and has other bytes than 0 and 1",
                       printableName(tensor.name));
  checked[index] = true;
  return bytes;
}

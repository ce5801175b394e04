/// Reading and writing of `.npz` files.
#include "runtime/params/Npz.h"

#include "runtime/files/MappedFile.h"

#include <fmt/format.h>

#include <deque>
#include <string_view>

namespace sinter::runtime {

static constexpr std::string_view extension = ".npy";

Result<std::vector<NamedArray>> parseNpz(std::span<const std::byte> file,
                                         uint64_t limit) {
  SINTER_TRY_ASSIGN(ZipArchive archive, ZipArchive::parse(file));
  std::vector<NamedArray> arrays;
  for (const ZipEntry &entry : archive.entries()) {
    if (!entry.name.ends_with(extension))
      return makeError(ErrorKind::io,
                       fmt::format("npz: '{}' is no .npy file", entry.name));
    SINTER_TRY_ASSIGN(auto bytes, archive.read(entry, limit));
    limit -= bytes.size();
    Result<HostArray> array = parseNpy(bytes);
    if (!array)
      return inFile(fmt::format("'{}'", entry.name), array.takeError());
    std::string name =
        entry.name.substr(0, entry.name.size() - extension.size());
    arrays.emplace_back(std::move(name), std::move(*array));
  }
  return arrays;
}

Result<std::vector<NamedArray>> readNpz(const std::string &path,
                                        uint64_t limit) {
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  auto arrays = parseNpz(file.bytes(), limit);
  if (!arrays)
    return inFile(path, arrays.takeError());
  return arrays;
}

Status writeNpz(const std::string &path, std::span<const NamedTensor> tensors,
                ZipMethod method) {
  ZipWriter writer;
  std::deque<std::string> headers; // stay until the file is written
  for (const NamedTensor &tensor : tensors) {
    auto header = npyHeader(tensor.dtype, tensor.shape);
    if (!header)
      return inFile(fmt::format("{}: '{}'", path, tensor.name),
                    header.takeError());
    std::span<const std::byte> parts[] = {
        std::as_bytes(std::span(headers.emplace_back(std::move(*header)))),
        tensor.data};
    SINTER_TRY(writer.add(tensor.name + std::string(extension), parts, method));
  }
  return writer.write(path);
}

} // namespace sinter::runtime

/// Tensors of PyTorch programs as a weight file.
#include "frontend/import/torch/ArchivedWeights.h"

#include "frontend/Raise.h"
#include "frontend/import/torch/Archive.h"
#include "runtime/files/MappedFile.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace sinter::torch {

namespace {

class ArchivedWeights final : public runtime::WeightFile {
public:
  ArchivedWeights(const std::string &path, std::source_location where)
      : WeightFile(path, "torch.export program"),
        file(detail::unwrap(runtime::MappedFile::open(path), where)),
        archive(detail::unwrap(opened(path, file), where)) {
    for (const ArchivedTensors *all : {&archive.weights, &archive.constants})
      for (const auto &[name, tensor] : *all)
        add(name, tensor);
    for (const std::string &name : archive.pickled)
      remarks.push_back(
          fmt::format("'{}' is left out: only Python could read it", name));
    detail::unwrap(finish(), where);
  }

  Result<std::vector<std::byte>>
  read(const runtime::WeightTensor &tensor) const override {
    std::span<const std::byte> bytes = stored[numberOf(tensor)]->bytes;
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  static Result<Archive> opened(const std::string &path,
                                const runtime::MappedFile &file) {
    auto archive = readArchive(file.bytes(), true);
    if (!archive)
      return makeError(archive.error().kind,
                       fmt::format("{}: {}", path, archive.error().message));
    return archive;
  }

  void add(const std::string &name, const ArchivedTensor &tensor) {
    runtime::WeightTensor entry;
    entry.name = name;
    entry.type = std::string(sinter::name(tensor.dtype));
    entry.dtype = tensor.dtype;
    entry.dims = tensor.dims;
    entry.data = tensor.bytes;
    auto [first, last] = byPlace.equal_range(tensor.bytes.data());
    for (auto each = first; each != last && entry.tiedTo.empty(); ++each)
      if (isSame(*stored[each->second], tensor))
        entry.tiedTo = entries[each->second].name;
    if (entry.tiedTo.empty())
      byPlace.emplace(tensor.bytes.data(), stored.size());
    entries.push_back(std::move(entry));
    stored.push_back(&tensor);
  }

  runtime::MappedFile file;
  Archive archive;
  std::vector<const ArchivedTensor *> stored;
  std::multimap<const void *, size_t> byPlace; ///< those that are not tied
};

} // namespace

runtime::WeightFileRef openArchivedWeights(const std::string &path,
                                           std::source_location where) {
  return std::make_shared<const ArchivedWeights>(path, where);
}

} // namespace sinter::torch

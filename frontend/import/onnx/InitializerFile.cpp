/// Initializers of ONNX models as a weight file.
#include "frontend/import/onnx/InitializerFile.h"

#include "frontend/Raise.h"
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Error.h>

#include <fmt/format.h>

#include <mutex>

namespace sinter::onnx {

namespace {

class InitializerFile final : public runtime::WeightFile {
public:
  InitializerFile(const std::string &path, std::source_location where)
      : WeightFile(path, "ONNX initializers"),
        file(std::make_shared<const runtime::MappedFile>(
            detail::unwrap(runtime::MappedFile::open(path), where))) {
    size_t slash = path.rfind('/');
    externals.setFolder(slash == path.npos ? "."
                        : slash == 0       ? "/"
                                           : path.substr(0, slash));
    record = readModel(file->bytes());
    for (const auto &tensor : record.graph.initializers)
      add(*tensor);
    detail::unwrap(finish(), where);
  }

  Result<std::vector<std::byte>>
  read(const runtime::WeightTensor &tensor) const override {
    try {
      TensorBytes elements = elementsOf(*records[numberOf(tensor)], externals);
      return std::vector<std::byte>(elements.bytes.begin(),
                                    elements.bytes.end());
    } catch (const Error &error) {
      return makeError(error.kind(),
                       fmt::format("{}: {}", path(), error.message()));
    }
  }
  void leave(std::span<const std::byte> part) const override {
    file->leave(part);
    if (FileRef other = externals.fileOf(part))
      other->leave(part);
  }

private:
  void add(const TensorRecord &tensor) {
    std::optional<DType> dtype = computedAs(tensor.type);
    if (!dtype) {
      remarks.push_back(fmt::format("'{}' is left out: its elements are {}",
                                    printableName(tensor.name),
                                    elementName(tensor.type)));
      return;
    }
    TensorBytes elements = elementsOf(tensor, externals);
    runtime::WeightTensor entry;
    entry.name = tensor.name;
    entry.type = elementName(tensor.type);
    entry.dtype = *dtype;
    entry.dims = tensor.dims;
    // What had to be made is made again when it is read.
    if (elements.own.empty())
      entry.data = elements.bytes;
    entries.push_back(std::move(entry));
    records.push_back(&tensor);
  }

  FileRef file;
  mutable ExternalFiles externals;
  ModelRecord record;
  std::vector<const TensorRecord *> records;
};

} // namespace

runtime::WeightFileRef openInitializers(const std::string &path,
                                        std::source_location where) {
  try {
    return std::make_shared<const InitializerFile>(path, where);
  } catch (const Error &error) {
    std::string what = error.message();
    if (what.starts_with("onnx: "))
      what.erase(0, 6);
    bool isNamed = what.starts_with(path);
    detail::raise(makeError(error.kind(), isNamed ? what : path + ": " + what),
                  where);
  }
}

} // namespace sinter::onnx

/// Safetensors as a weight file.
#include "runtime/params/SafetensorsFormat.h"
#include "runtime/params/weights/Readers.h"

#include <algorithm>
#include <utility>

namespace sinter::runtime::weights {

namespace {

class SafetensorsWeights final : public WeightFile {
public:
  explicit SafetensorsWeights(SafetensorsFile opened)
      : WeightFile(opened.path(), "safetensors"), file(std::move(opened)) {
    strings = file.metadata();
    for (const NamedTensor &tensor : file.tensors()) {
      auto type =
          std::ranges::find(safetensors::dtypeNames, tensor.dtype,
                            &std::pair<std::string_view, DType>::second);
      WeightTensor &entry = entries.emplace_back();
      entry.name = tensor.name;
      entry.type = type->first;
      entry.dtype = tensor.dtype;
      entry.dims = tensor.shape;
      entry.data = tensor.data;
    }
  }
  using WeightFile::finish;

  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override {
    return std::vector<std::byte>(tensor.data.begin(), tensor.data.end());
  }
  void leave(std::span<const std::byte> part) const override {
    file.leave(part);
  }

private:
  SafetensorsFile file;
};

} // namespace

Result<WeightFileRef> openSafetensors(const std::string &path,
                                      MappedFile file) {
  SINTER_TRY_ASSIGN(SafetensorsFile checked,
                    SafetensorsFile::check(path, std::move(file)));
  auto result = std::make_shared<SafetensorsWeights>(std::move(checked));
  SINTER_TRY(result->finish());
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime::weights

/// ImportedModel: a model of another framework's file, whichever it is.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Export.h>
#include <sinter/Onnx.h>
#include <sinter/Torch.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sinter::cli {

/// An axis of an input.
struct ImportedAxis {
  std::string name;            ///< of one that is left open, or empty
  std::optional<int64_t> size; ///< of one that is not
  int64_t least = 0;           ///< of one that is
  int64_t most = INT64_MAX;
};

struct ImportedInput {
  std::string name, type;
  std::optional<DType> dtype;
  std::optional<std::vector<ImportedAxis>> shape;
};

class ImportedModel {
public:
  using NamedTensors = std::map<std::string, Tensor>;

  /// Reads an `.onnx` or `.pt2` file. An Error where that fails.
  static ImportedModel load(const std::string &path);

  const std::string &name() const;
  std::vector<ImportedInput> inputs() const;
  std::vector<std::string> outputs() const;
  NamedTensors run(const NamedTensors &inputs) const;
  /// Gives the parameters of a file the names that they have here.
  void nameParameters(ModelExport &file) const;

private:
  explicit ImportedModel(onnx::Model model) : model(std::move(model)) {}
  explicit ImportedModel(torch::Model model) : model(std::move(model)) {}

  std::variant<onnx::Model, torch::Model> model;
};

} // namespace sinter::cli

/// Models of other frameworks' files.
#include "tools/sinter/import/ImportedModel.h"

namespace sinter::cli {

ImportedModel ImportedModel::load(const std::string &path) {
  if (path.ends_with(".pt2"))
    return ImportedModel(torch::load(path, {.mmap = true}));
  onnx::Model model = onnx::load(path, {.mmap = true});
  model.eval();
  return ImportedModel(std::move(model));
}

const std::string &ImportedModel::name() const {
  return std::visit(
      [](const auto &own) -> const std::string & { return own.name(); }, model);
}

static ImportedAxis axisOf(const onnx::Axis &axis) {
  bool isKnown = axis.size && *axis.size >= 0;
  return {axis.name, isKnown ? axis.size : std::nullopt};
}
static ImportedAxis axisOf(const torch::Axis &axis) {
  return {axis.name, axis.size, axis.least.value_or(0),
          axis.most.value_or(INT64_MAX)};
}

static ImportedInput inputOf(const onnx::ValueInfo &info) {
  ImportedInput input{info.name, info.type, info.dtype, {}};
  if (info.shape) {
    input.shape.emplace();
    for (const onnx::Axis &axis : *info.shape)
      input.shape->push_back(axisOf(axis));
  }
  return input;
}
static ImportedInput inputOf(const torch::ValueInfo &info) {
  ImportedInput input{info.name, info.type, info.dtype, {{}}};
  for (const torch::Axis &axis : info.shape)
    input.shape->push_back(axisOf(axis));
  return input;
}

std::vector<ImportedInput> ImportedModel::inputs() const {
  std::vector<ImportedInput> all;
  std::visit(
      [&](const auto &own) {
        for (const auto &info : own.inputs())
          all.push_back(inputOf(info));
      },
      model);
  return all;
}

std::vector<std::string> ImportedModel::outputs() const {
  std::vector<std::string> names;
  std::visit(
      [&](const auto &own) {
        for (const auto &info : own.outputs())
          names.push_back(info.name);
      },
      model);
  return names;
}

ImportedModel::NamedTensors
ImportedModel::run(const NamedTensors &inputs) const {
  return std::visit([&](const auto &own) { return own.run(inputs); }, model);
}

void ImportedModel::nameParameters(ModelExport &file) const {
  std::visit([&](const auto &own) { file.name(own); }, model);
}

} // namespace sinter::cli

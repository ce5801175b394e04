/// Loads models: files become modules.
#include "frontend/import/onnx/LoadedModel.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/import/onnx/OwnTensors.h"
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/Wire.h"
#include "runtime/support/Progress.h"

#include <sinter/Held.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <set>

namespace sinter::onnx {

//===- What the file describes --------------------------------------------===//

static std::string typeText(const TypeRecord &type) {
  using Kind = TypeRecord::Kind;
  if (type.kind == Kind::sequence || type.kind == Kind::optional)
    return fmt::format("{}({})",
                       type.kind == Kind::sequence ? "sequence" : "optional",
                       type.inner ? typeText(*type.inner) : "?");
  if (type.kind != Kind::tensor)
    return "?";
  std::optional<DType> dtype = computedAs(type.element);
  std::string text =
      dtype ? std::string(sinter::name(*dtype)) : elementName(type.element);
  if (!type.shape)
    return text + "[...]";
  text += '[';
  for (const AxisRecord &axis : *type.shape) {
    text += text.back() == '[' ? "" : ",";
    text += axis.size           ? std::to_string(*axis.size)
            : axis.name.empty() ? "?"
                                : axis.name;
  }
  return text + ']';
}

static ValueInfo infoOf(const ValueRecord &value) {
  ValueInfo info{value.name, typeText(value.type), {}, {}};
  if (value.type.kind == TypeRecord::Kind::tensor)
    info.dtype = computedAs(value.type.element);
  if (value.type.shape) {
    info.shape.emplace();
    for (const AxisRecord &axis : *value.type.shape)
      info.shape->push_back({axis.name, axis.size});
  }
  return info;
}

static void describe(LoadedModel &loaded) {
  const GraphRecord &graph = loaded.record.graph;
  std::set<std::string> stored;
  for (const auto &initializer : graph.initializers)
    stored.insert(initializer->name);
  for (const ValueRecord &input : graph.inputs)
    if (!stored.contains(input.name))
      loaded.inputs.push_back(infoOf(input));
  for (const ValueRecord &output : graph.outputs)
    loaded.outputs.push_back(infoOf(output));
}

//===- Initializers -------------------------------------------------------===//

/// Names of the means and variances of normalizations, which are not trained.
static std::set<std::string> statisticsOf(const GraphRecord &graph) {
  std::set<std::string> names;
  for (const NodeRecord &node : graph.nodes)
    if (node.op == "BatchNormalization" && node.inputs.size() >= 5)
      names.insert({node.inputs[3], node.inputs[4]});
  return names;
}

/// The same as what no run changes: kernels keep what they copied of it.
static Tensor constantOf(const Tensor &leaf) {
  const graph::NodeRef &node = leaf.node();
  return Tensor(graph::NodeFactory::leaf(
      graph::InputKind::parameter, node->dtype(), node->dims(), node->value()));
}

static FileRef fileOf(const LoadedModel &loaded,
                      std::span<const std::byte> bytes) {
  if (loaded.file && loaded.file->has(bytes))
    return loaded.file;
  return loaded.externals.fileOf(bytes);
}

static Tensor leafOf(const LoadedModel &loaded, const TensorRecord &tensor,
                     DType dtype, const LoadOptions &options) {
  TensorBytes elements = elementsOf(tensor, loaded.externals);
  Dims dims(tensor.dims.begin(), tensor.dims.end());
  FileRef file = fileOf(loaded, elements.bytes);
  DeviceId id = options.device.value_or(default_device());
  if (options.mmap && file) {
    auto keep = [file] { (void)file; };
    if (auto leaf =
            detail::borrowedLeaf(elements.bytes, dtype, dims, id, keep, {}))
      return *leaf;
  }
  // What was copied is left: large weights are in memory once.
  detail::Copied leave;
  if (file)
    leave = [&](std::span<const std::byte> part) { file->leave(part); };
  return detail::leafOf(elements.bytes, dtype, dims, {{}, id}, {}, leave);
}

/// Floats with axes are parameters; small tensors of others are known; large
/// ones are constants.
Model loadModel(std::shared_ptr<const LoadedModel> loaded,
                const LoadOptions &options) {
  Model model;
  std::set<std::string> statistics = statisticsOf(loaded->record.graph);
  const auto &tensors = loaded->record.graph.initializers;
  ProgressStep progress("reading tensor", tensors.size());
  for (const auto &tensor : tensors) {
    progress.at(size_t(&tensor - tensors.data()));
    std::optional<DType> dtype = computedAs(tensor->type);
    if (!dtype || loaded->known.contains(tensor->name))
      continue;
    Tensor leaf = leafOf(*loaded, *tensor, *dtype, options);
    if (isFloat(*dtype) && isComputable(*dtype))
      model.parameters.add(
          tensor->name,
          Param(leaf, tensor->name, !statistics.contains(tensor->name)));
    else
      model.constants.emplace(tensor->name, constantOf(leaf));
  }
  model.loaded = std::move(loaded);
  return model;
}

static void findKnown(LoadedModel &loaded) {
  for (const auto &tensor : loaded.record.graph.initializers) {
    std::optional<DType> dtype = computedAs(tensor->type);
    if (!dtype || (isFloat(*dtype) && !tensor->dims.empty()))
      continue;
    TensorBytes elements = elementsOf(*tensor, loaded.externals);
    if (KnownRef known = knownOf(elements.bytes, *dtype, tensor->dims))
      loaded.known.emplace(tensor->name, known);
  }
}

//===- Files --------------------------------------------------------------===//

/// Errors of a file say which file.
[[noreturn]] static void raiseIn(const std::string &name, const Error &error,
                                 const SourceLine &where) {
  std::string what = error.message();
  if (what.starts_with("onnx: "))
    what.erase(0, 6);
  detail::raise(
      makeError(error.kind(), fmt::format("onnx: {}: {}", name, what)), where);
}

static Model loadBytes(std::shared_ptr<LoadedModel> loaded,
                       const LoadOptions &options, const SourceLine &where) {
  detail::SourceScope scope(where);
  try {
    loaded->record = readModel(loaded->bytes());
    describe(*loaded);
    findKnown(*loaded);
    Model model = loadModel(loaded, options);
    // A file that is cut later must not end the process.
    ownTensors(loaded->record, loaded->externals);
    loaded->file.reset();
    loaded->memory = {};
    return model;
  } catch (const Error &error) {
    raiseIn(loaded->name, error, where);
  }
}

Model load(const std::string &path, const LoadOptions &options,
           std::source_location where) try {
  auto loaded = std::make_shared<LoadedModel>();
  loaded->name = path;
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "."
                       : slash == 0               ? "/"
                                                  : path.substr(0, slash);
  loaded->file = std::make_shared<const runtime::MappedFile>(
      detail::unwrap(runtime::MappedFile::open(path), where));
  loaded->externals.setFolder(folder);
  return loadBytes(std::move(loaded), options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Model load(std::span<const std::byte> bytes, const LoadOptions &options,
           const std::string &name, std::source_location where) try {
  auto loaded = std::make_shared<LoadedModel>();
  loaded->name = name;
  loaded->memory = bytes;
  return loadBytes(std::move(loaded), options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::onnx

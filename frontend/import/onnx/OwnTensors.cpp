/// Copies tensors out of the files that they stand in.
#include "frontend/import/onnx/OwnTensors.h"

#include "frontend/import/onnx/CheckModel.h"
#include "frontend/import/onnx/Value.h"

namespace sinter::onnx {

using TensorRef = std::shared_ptr<const TensorRecord>;

/// The same with bytes that live as long as it does; without any if `isKept`
/// does not hold.
static TensorRef owned(const TensorRecord &tensor, ExternalFiles &files,
                       bool isKept) {
  auto copy = std::make_shared<TensorRecord>(tensor);
  copy->numbers.clear();
  copy->external.reset();
  if (isKept && tensor.type != ElementType::string) {
    TensorBytes stored = storedOf(tensor, files);
    copy->own.assign(stored.bytes.begin(), stored.bytes.end());
  }
  copy->raw = std::span<const std::byte>(copy->own);
  return copy;
}

static void ownNodes(std::vector<NodeRecord> &nodes, ExternalFiles &files);

static std::shared_ptr<const GraphRecord> owned(const GraphRecord &graph,
                                                ExternalFiles &files) {
  auto copy = std::make_shared<GraphRecord>(graph);
  for (TensorRef &tensor : copy->initializers)
    tensor = owned(*tensor, files, true);
  ownNodes(copy->nodes, files);
  return copy;
}

static void ownAttributes(std::vector<AttributeRecord> &attributes,
                          ExternalFiles &files) {
  for (AttributeRecord &attribute : attributes) {
    if (attribute.tensor)
      attribute.tensor = owned(*attribute.tensor, files, true);
    if (attribute.graph)
      attribute.graph = owned(*attribute.graph, files);
  }
}

static void ownNodes(std::vector<NodeRecord> &nodes, ExternalFiles &files) {
  for (NodeRecord &node : nodes)
    ownAttributes(node.attributes, files);
}

void ownTensors(ModelRecord &model, ExternalFiles &files) {
  for (TensorRef &tensor : model.graph.initializers)
    tensor = owned(*tensor, files, countElements(*tensor) <= Known::most);
  ownNodes(model.graph.nodes, files);
  for (FunctionRecord &function : model.functions) {
    ownAttributes(function.defaults, files);
    ownNodes(function.nodes, files);
  }
  files.close();
}

} // namespace sinter::onnx

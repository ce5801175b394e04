/// `sinter inspect` of ONNX models.
#include "frontend/import/onnx/Operators.h"
#include "frontend/import/onnx/ReadRecords.h"
#include "runtime/files/MappedFile.h"
#include "tools/sinter/import/ImportModel.h"

#include "runtime/support/Printable.h"

#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <fmt/format.h>
#include <map>

namespace sinter::cli {

namespace {
class Summary {
public:
  explicit Summary(const onnx::ModelRecord &record) : record(record) {
    add(record.graph, record.opsets);
    for (const onnx::FunctionRecord &function : record.functions)
      for (const onnx::NodeRecord &node : function.nodes)
        add(node, function.opsets);
  }

  std::string text() const {
    std::string all = fmt::format("{} nodes:\n", numNodes);
    for (const auto &[op, count] : counts)
      all += fmt::format("  {:5} {}\n", count, printableName(op));
    all += fmt::format("{} initializers, {} elements, {} bytes\n", numTensors,
                       numElements, numBytes);
    all += fmt::format("{} nodes are not supported{}\n", numMissing,
                       numMissing == 0 ? "" : ":");
    return all + missing;
  }

private:
  void add(const onnx::GraphRecord &graph, const onnx::Opsets &opsets) {
    for (const onnx::NodeRecord &node : graph.nodes)
      add(node, opsets);
    for (const auto &tensor : graph.initializers) {
      size_t elements = 1;
      for (int64_t dim : tensor->dims)
        elements *= size_t(dim);
      ++numTensors;
      numElements += elements;
      numBytes += (elements * onnx::elementBits(tensor->type) + 7) / 8;
    }
  }

  void add(const onnx::NodeRecord &node, const onnx::Opsets &opsets) {
    std::string op =
        node.domain.empty() ? node.op : node.domain + "." + node.op;
    ++numNodes;
    ++counts[op];
    for (const onnx::AttributeRecord &attribute : node.attributes)
      if (attribute.graph)
        add(*attribute.graph, opsets);
    auto found = opsets.find(node.domain);
    int64_t opset = found == opsets.end() ? 0 : found->second;
    if (isFunction(node) || onnx::findOperator(node.domain, node.op, opset))
      return;
    ++numMissing;
    missing +=
        fmt::format("  {} (opset {}), node {}{}\n", printableName(op), opset,
                    printableName(node.name),
                    onnx::isInAnotherVersion(node.domain, node.op)
                        ? ": the operator is not supported in this version"
                        : "");
  }

  bool isFunction(const onnx::NodeRecord &node) const {
    for (const onnx::FunctionRecord &function : record.functions)
      if (function.name == node.op && function.domain == node.domain)
        return true;
    return false;
  }

  const onnx::ModelRecord &record;
  std::map<std::string, size_t> counts;
  std::string missing;
  size_t numNodes = 0, numTensors = 0, numElements = 0, numBytes = 0,
         numMissing = 0;
};
} // namespace

static std::string portText(const char *kind, const onnx::ValueInfo &info) {
  return fmt::format("{} {}: {}\n", kind, printableName(info.name),
                     printableName(info.type));
}

Result<std::string> onnxText(const std::string &path) {
  SINTER_TRY_ASSIGN(runtime::MappedFile file, runtime::MappedFile::open(path));
  try {
    onnx::ModelRecord record = onnx::readModel(file.bytes());
    onnx::Model model = onnx::load(path, {.mmap = true});
    std::string text = fmt::format("onnx, IR version {}", record.irVersion);
    for (const auto &[domain, version] : record.opsets)
      text += fmt::format(", {} {}",
                          printableName(domain.empty() ? "ai.onnx" : domain),
                          version);
    text += '\n';
    for (const onnx::ValueInfo &input : model.inputs())
      text += portText("input", input);
    for (const onnx::ValueInfo &output : model.outputs())
      text += portText("output", output);
    return text + Summary(record).text();
  } catch (const Error &error) {
    return makeError(error.kind(), error.message());
  }
}

} // namespace sinter::cli

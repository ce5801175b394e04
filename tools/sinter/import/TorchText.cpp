/// `sinter inspect` of PyTorch programs.
#include "frontend/import/torch/Archive.h"
#include "frontend/import/torch/Operators.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/import/ImportModel.h"

#include "frontend/Raise.h"

#include <sinter/Error.h>
#include <sinter/Torch.h>

#include <fmt/format.h>
#include <map>

namespace sinter::cli {

namespace {
/// How often a program has each operator, and those that are not supported.
class TorchSummary {
public:
  explicit TorchSummary(const torch::GraphRecord &graph) { add(graph); }

  std::string text() const {
    std::string all = fmt::format("{} nodes:\n", numNodes);
    for (const auto &[target, count] : counts)
      all += fmt::format("  {:5} {}\n", count, printableName(target));
    all += fmt::format("{} nodes are not supported{}\n", numMissing,
                       numMissing == 0 ? "" : ":");
    return all + missing;
  }

private:
  void add(const torch::ArgumentRecord &argument) {
    if (argument.graph)
      add(*argument.graph);
    for (const torch::ArgumentRecord &element : argument.elements)
      add(element);
  }
  void add(const torch::GraphRecord &graph) {
    for (const torch::NodeRecord &node : graph.nodes) {
      ++numNodes;
      ++counts[node.target];
      for (const torch::NamedArgument &input : node.inputs)
        add(input.value);
      if (torch::findOperator(node.target).row)
        continue;
      ++numMissing;
      missing += fmt::format("  {}", printableName(node.target));
      if (!node.line.file.empty())
        missing += fmt::format(", {}:{}", printableName(node.line.file),
                               node.line.line);
      missing += '\n';
    }
  }

  std::map<std::string, size_t> counts;
  std::string missing;
  size_t numNodes = 0, numMissing = 0;
};
} // namespace

static std::string tensorsText(const torch::Archive &archive) {
  size_t tensors = 0, elements = 0, bytes = 0;
  for (const auto *all : {&archive.weights, &archive.constants})
    for (const auto &[name, tensor] : *all) {
      ++tensors;
      elements += tensor.bytes.size() / byteWidth(tensor.dtype);
      bytes += tensor.bytes.size();
    }
  return fmt::format("{} tensors, {} elements, {} bytes\n", tensors, elements,
                     bytes);
}

/// Inputs and outputs, where all of the program is known.
static std::string portsText(const std::string &path) {
  std::string text;
  try {
    torch::Model model = torch::load(path, {.mmap = true});
    for (const torch::ValueInfo &input : model.inputs()) {
      text += fmt::format("input {}: {}", printableName(input.name),
                          printableName(input.type));
      for (const torch::Axis &axis : input.shape)
        if (axis.most)
          text += fmt::format(", {} {} to {}", printableName(axis.name),
                              axis.least.value_or(0), *axis.most);
        else if (axis.least && *axis.least > 0)
          text += fmt::format(", {} from {}", printableName(axis.name),
                              *axis.least);
      text += '\n';
    }
    for (const torch::ValueInfo &output : model.outputs())
      text += fmt::format("output {}: {}\n", printableName(output.name),
                          printableName(output.type));
    for (const std::string &note : model.notes())
      text += fmt::format("note: {}\n", printable(note));
  } catch (const Error &error) {
    text +=
        fmt::format("it cannot be loaded: {}\n", printable(error.message()));
  }
  return text;
}

Result<std::string> torchText(const std::string &path) {
  SINTER_TRY_ASSIGN(runtime::MappedFile file, runtime::MappedFile::open(path));
  auto archive = torch::readArchive(file.bytes(), false);
  if (!archive)
    return makeError(archive.error().kind,
                     fmt::format("{}: {}", path, archive.error().message));
  const torch::ProgramRecord &program = archive->program;
  std::string text = fmt::format(
      "program of torch.export, schema {}.{}, torch {}\n", program.major,
      program.minor, printableName(program.torchVersion));
  return text + portsText(path) + TorchSummary(program.graph).text() +
         tensorsText(*archive);
}

} // namespace sinter::cli

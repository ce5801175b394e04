/// Writes the function of a ModelExport as an ONNX model.
#include <sinter/OnnxExport.h>

#include "frontend/ExportParts.h"
#include "frontend/HostBytes.h"
#include "frontend/Raise.h"
#include "frontend/export/onnx/GraphWriter.h"

#include <sinter/Error.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::ExportedEntry;
using detail::ExportParts;
using detail::unwrap;
using runtime::SlotKind;

[[noreturn]] static void refuse(const std::string &what,
                                const SourceLine &where) {
  detail::raise(
      makeError(ErrorKind::unsupported, "export_onnx: " + what, "export_onnx"),
      where);
}

namespace {
/// One `write_onnx`.
class OnnxMaker {
public:
  OnnxMaker(const ExportParts &parts, const OnnxFileOptions &options,
            const SourceLine &where)
      : parts(parts), entry(parts.entries[0]), graph(entry.graph),
        file(options.opset), writer(file, graph), where(where) {}

  void make() {
    reserveNames();
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      addInput(i);
    nameSymbols();
    for (size_t i = 0; i < outputs.size(); ++i)
      reserveOutput(i);
    writer.writeAll();
    for (size_t i = 0; i < outputs.size(); ++i)
      addOutput(i);
  }
  void write(const std::string &path, bool isBeside) const {
    unwrap(file.write(path, isBeside), where);
  }

private:
  void reserveNames();
  void addInput(size_t index);
  void addTensor(uint32_t value, const Tensor &tensor, std::string name);
  void nameSymbols();
  void reserveOutput(size_t index);
  void addOutput(size_t index);
  std::vector<onnx::WrittenDim> dimsOf(uint32_t value) const;

  const ExportParts &parts;
  const ExportedEntry &entry;
  const graph::Graph &graph;
  onnx::ModelFile file;
  onnx::GraphWriter writer;
  const SourceLine &where;
  std::vector<std::string> outputs;
  std::map<uint32_t, size_t> outputOf; ///< by value: the first of it
  std::vector<std::vector<std::byte>> bytes;
};
} // namespace

/// Inputs and outputs have the names that they were given.
void OnnxMaker::reserveNames() {
  for (const detail::InputSlot &input : entry.inputs)
    if (input.slot.kind == SlotKind::given && input.cell < 0 &&
        input.tensor < 0)
      file.uniqueName(input.slot.name);
  for (const detail::OutputSlot &output : entry.outputs) {
    if (output.cell >= 0)
      refuse(fmt::format("the function changes parameter '{}'; a model of "
                         "ONNX has no state",
                         parts.cells[size_t(output.cell)].cell->name()),
             where);
    outputs.push_back(file.uniqueName(output.slot.name));
    if (outputs.back() != output.slot.name)
      refuse(fmt::format("an input and an output are named '{}'",
                         output.slot.name),
             where);
  }
}

void OnnxMaker::addTensor(uint32_t value, const Tensor &tensor,
                          std::string name) {
  tensor.eval(where);
  bytes.push_back(unwrap(detail::readBytes(*tensor.node()), where));
  std::vector<int64_t> dims;
  for (Dim dim : tensor.shape())
    dims.push_back(dim.value);
  name = file.uniqueName(name.empty() ? "constant" : name);
  file.initializer(name, tensor.dtype(), dims, bytes.back());
  writer.bind(value, std::move(name));
}

void OnnxMaker::addInput(size_t index) {
  const detail::InputSlot &input = entry.inputs[index];
  uint32_t value = graph.inputs[index].value;
  if (input.cell >= 0) {
    const detail::ExportedCell &cell = parts.cells[size_t(input.cell)];
    auto named = parts.cellNames.find(cell.cell.get());
    addTensor(value, cell.value,
              named == parts.cellNames.end() ? cell.cell->name()
                                             : named->second);
  } else if (input.tensor >= 0) {
    const Tensor &tensor = parts.tensors[size_t(input.tensor)].value;
    auto named = parts.tensorNames.find(tensor.node().get());
    addTensor(value, tensor,
              named == parts.tensorNames.end() ? "" : named->second);
  } else if (input.slot.kind == SlotKind::constant) {
    DType dtype = graph.values[value].dtype;
    auto *first = reinterpret_cast<const std::byte *>(&input.slot.scalarBits);
    bytes.emplace_back(first, first + byteWidth(dtype));
    std::string name = file.uniqueName("number");
    file.initializer(name, dtype, {}, bytes.back());
    writer.bind(value, std::move(name));
  } else if (input.slot.kind == SlotKind::random) {
    refuse("the function draws random numbers, which have other bits elsewhere",
           where);
  } else {
    file.input(input.slot.name, graph.values[value].dtype, dimsOf(value));
    writer.bind(value, input.slot.name);
  }
}

/// Sizes are taken of the inputs that have them.
void OnnxMaker::nameSymbols() {
  std::vector<bool> isNamed(graph.numSymbols);
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const graph::Value &value = graph.values[graph.inputs[i].value];
    for (size_t axis = 0; axis < value.dims.size(); ++axis) {
      const Expr &dim = graph.exprs[value.dims[axis]];
      if (dim.op != ExprOp::symbol || isNamed[size_t(dim.value)])
        continue;
      isNamed[size_t(dim.value)] = true;
      std::string all = file.uniqueName("shape"), one = file.uniqueName("size");
      std::string from = writer.nameOf(graph.inputs[i].value);
      file.node("Shape", {&from, 1}, {&all, 1}, {});
      std::string operands[] = {all, file.integers({int64_t(axis)})};
      file.node("Gather", operands, {&one, 1}, {});
      writer.bindSymbol(uint32_t(dim.value), one);
    }
  }
}

std::vector<onnx::WrittenDim> OnnxMaker::dimsOf(uint32_t value) const {
  std::vector<onnx::WrittenDim> dims;
  for (uint32_t expr : graph.values[value].dims) {
    onnx::WrittenDim dim;
    if (auto size = writer.sizeOf(expr))
      dim.size = *size;
    for (const runtime::DynamicDim &named : entry.point.dims)
      if (graph.values[graph.inputs[named.input].value].dims[named.axis] ==
          expr)
        dim.name = named.name;
    dims.push_back(std::move(dim));
  }
  return dims;
}

void OnnxMaker::reserveOutput(size_t index) {
  uint32_t value = graph.outputs[index];
  if (graph.values[value].op == graph::leafOp ||
      !outputOf.emplace(value, index).second)
    return;
  writer.reserve(value, outputs[index]);
}

/// What is an input, or another output already, is copied.
void OnnxMaker::addOutput(size_t index) {
  uint32_t value = graph.outputs[index];
  std::string from = writer.nameOf(value);
  if (from != outputs[index])
    file.node("Identity", {&from, 1}, {&outputs[index], 1}, {});
  file.output(outputs[index], graph.values[value].dtype, dimsOf(value));
}

void ModelExport::write_onnx(const std::string &path,
                             const OnnxFileOptions &options, Where where) const
    try {
  constexpr int64_t oldest = 17, newest = 23;
  if (options.opset < oldest || options.opset > newest)
    detail::refuseExport(fmt::format("opset {}: {} to {} are written",
                                     options.opset, oldest, newest),
                         where);
  if (parts->entries.size() != 1)
    detail::refuseExport(fmt::format("an ONNX model has one function, not {}",
                                     parts->entries.size()),
                         where);
  if (!parts->entries[0].parts.empty())
    detail::refuseExport("values decide sizes in the function, which an ONNX "
                         "model has no form for",
                         where);
  OnnxMaker maker(*parts, options, where);
  maker.make();
  maker.write(path, options.weights == WeightPlace::beside);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter

/// Writes the function of a ModelExport as a module in C++.
#include <sinter/CppExport.h>

#include "frontend/ExportParts.h"
#include "frontend/HostBytes.h"
#include "frontend/Raise.h"
#include "frontend/export/cpp/GraphCode.h"
#include "frontend/export/cpp/Text.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/params/Safetensors.h"

#include <sinter/Error.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter {

using detail::ExportedEntry;
using detail::ExportParts;
using detail::unwrap;
using runtime::SlotKind;

[[noreturn]] static void refuse(const std::string &what,
                                const SourceLine &where) {
  detail::raise(
      makeError(ErrorKind::unsupported, "export_cpp: " + what, "export_cpp"),
      where);
}

namespace {

/// A Param of the module.
struct Member {
  std::string identifier, name;
  DType dtype;
  std::vector<int64_t> dims;
  bool isTrained = false;
  std::vector<std::byte> bytes;

  std::string declaration() const;
};

/// One `write_cpp`.
class CppMaker {
public:
  CppMaker(const ExportParts &parts, std::filesystem::path path,
           const SourceLine &where)
      : parts(parts), entry(parts.entries[0]), graph(entry.graph),
        code(graph, names), path(std::move(path)), where(where) {}

  void make();
  void write() const;

private:
  void nameOutputs();
  void addInput(size_t index);
  void addMember(uint32_t value, const Tensor &tensor, std::string name,
                 bool isTrained);
  void bindSizes();
  std::string moduleText() const;
  std::string partText(size_t first, size_t last, const std::string &name,
                       const std::string &base, const std::string &inner) const;
  std::string forwardText() const;
  std::filesystem::path weightsPath() const {
    return std::filesystem::path(path).replace_extension(".safetensors");
  }

  const ExportParts &parts;
  const ExportedEntry &entry;
  const graph::Graph &graph;
  cpp::Names names;
  cpp::GraphCode code;
  std::filesystem::path path;
  const SourceLine &where;
  std::vector<std::string> parameters, outputs, results;
  std::vector<std::string> inputNames; ///< by input of the graph; or empty
  std::vector<Member> members;
};

} // namespace

//===- What is reached ----------------------------------------------------===//

void CppMaker::nameOutputs() {
  for (const detail::OutputSlot &output : entry.outputs) {
    if (output.cell >= 0)
      refuse(fmt::format("the function changes parameter '{}'",
                         parts.cells[size_t(output.cell)].cell->name()),
             where);
    outputs.push_back(names.unique(output.slot.name, "y"));
  }
}

void CppMaker::addMember(uint32_t value, const Tensor &tensor, std::string name,
                         bool isTrained) {
  if (!isComputable(tensor.dtype()))
    refuse(fmt::format("'{}' of {}: a parameter cannot have a stored dtype",
                       name, sinter::name(tensor.dtype())),
           where);
  tensor.eval(where);
  Member member{names.unique(name, "weight"),
                std::move(name),
                tensor.dtype(),
                {},
                isTrained,
                unwrap(detail::readBytes(*tensor.node()), where)};
  for (Dim dim : tensor.shape())
    member.dims.push_back(dim.value);
  code.bindParam(value, member.identifier);
  members.push_back(std::move(member));
}

void CppMaker::addInput(size_t index) {
  const detail::InputSlot &input = entry.inputs[index];
  uint32_t value = graph.inputs[index].value;
  if (input.cell >= 0) {
    const detail::ExportedCell &cell = parts.cells[size_t(input.cell)];
    auto named = parts.cellNames.find(cell.cell.get());
    addMember(value, cell.value,
              named == parts.cellNames.end() ? cell.cell->name()
                                             : named->second,
              cell.cell->requiresGrad());
  } else if (input.tensor >= 0) {
    const Tensor &tensor = parts.tensors[size_t(input.tensor)].value;
    auto named = parts.tensorNames.find(tensor.node().get());
    addMember(value, tensor,
              named == parts.tensorNames.end() ? "constant" : named->second,
              false);
  } else if (input.slot.kind == SlotKind::constant) {
    code.bindNumber(value, cpp::literalOfBits(graph.values[value].dtype,
                                              input.slot.scalarBits));
  } else if (input.slot.kind == SlotKind::random) {
    refuse("the function draws random numbers", where);
  }
}

/// Sizes are taken of the inputs that have them, by the names that they were
/// given.
void CppMaker::bindSizes() {
  auto bind = [&](size_t input, size_t axis, std::string_view name) {
    const graph::Value &value = graph.values[graph.inputs[input].value];
    const Expr &dim = graph.exprs[value.dims[axis]];
    if (dim.op == ExprOp::symbol && !inputNames[input].empty())
      code.bindSymbol(uint32_t(dim.value), name,
                      fmt::format("{}.dim({})", inputNames[input], axis));
  };
  for (const runtime::DynamicDim &named : entry.point.dims)
    bind(named.input, named.axis, named.name);
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    for (size_t axis = 0;
         axis < graph.values[graph.inputs[i].value].dims.size(); ++axis)
      bind(i, axis, "size");
}

void CppMaker::make() {
  inputNames.resize(entry.inputs.size());
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const detail::InputSlot &input = entry.inputs[i];
    if (input.slot.kind != SlotKind::given || input.cell >= 0 ||
        input.tensor >= 0)
      continue;
    inputNames[i] = names.unique(input.slot.name, "x");
    uint32_t value = graph.inputs[i].value;
    code.bind(value, inputNames[i]);
    parameters.push_back(fmt::format(
        "{}const sn::Tensor &{}", code.isUsed(value) ? "" : "[[maybe_unused]] ",
        inputNames[i]));
    if (parameters.size() == 1)
      code.device = inputNames[i] + ".device()";
  }
  nameOutputs();
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    addInput(i);
  bindSizes();
  if (entry.customGradient)
    code.refuse(*entry.customGradient,
                "its gradient is a function of the user's");
  for (size_t i = 0; i < outputs.size(); ++i)
    code.reserve(graph.outputs[i], outputs[i]);
  code.writeAll();
  for (uint32_t output : graph.outputs)
    results.push_back(code.tensorOf(output));
}

//===- Text ---------------------------------------------------------------===//

std::string Member::declaration() const {
  std::string options;
  if (dtype != DType::f32)
    options += ".dtype = " + cpp::dtypeName(dtype);
  if (!isTrained)
    options +=
        fmt::format("{}.requires_grad = false", options.empty() ? "" : ", ");
  return fmt::format("sn::Param {}{{{}, {}, sn::init::zeros(){}}};", identifier,
                     cpp::quoted(name), cpp::list(dims),
                     options.empty() ? "" : ", {" + options + "}");
}

std::string CppMaker::forwardText() const {
  std::string type = outputs.size() == 1 ? "sn::Tensor" : "Outputs";
  std::string text;
  if (outputs.size() != 1) {
    text += "\n  struct Outputs {\n";
    for (const std::string &output : outputs)
      text += fmt::format("    sn::Tensor {};\n", output);
    text += "  };\n";
  }
  text += "\n" + cpp::lines(fmt::format("{} forward({}) const {{", type,
                                        fmt::join(parameters, ", ")),
                            2);
  text += code.text();
  std::string result = fmt::format("{}", fmt::join(results, ", "));
  text += cpp::lines(outputs.size() == 1 ? "return " + result + ";"
                                         : "return {" + result + "};",
                     4);
  return text + "  }\n";
}

std::string CppMaker::partText(size_t first, size_t last,
                               const std::string &name, const std::string &base,
                               const std::string &inner) const {
  std::string text =
      fmt::format("struct {}{} {{\n", name, base.empty() ? "" : " : " + base);
  std::string list = name;
  for (size_t i = first; i < last; ++i) {
    text += cpp::lines(members[i].declaration(), 2);
    list += ", " + members[i].identifier;
  }
  return text + inner + "\n" +
         cpp::lines(fmt::format("SINTER_MODULE({})", list), 2) + "};\n";
}

/// A class names at most 80 fields: more are those of its bases.
std::string CppMaker::moduleText() const {
  constexpr size_t most = 64;
  std::string name = cpp::className(path.stem().string());
  std::string text, base;
  size_t first = 0;
  for (int part = 1; members.size() - first > most; ++part, first += most) {
    std::string own = fmt::format("{}Part{}", name, part);
    text += partText(first, first + most, own, base, "") + "\n";
    base = own;
  }
  text += fmt::format("/// Written by Sinter. Its parameters are in a file:\n"
                      "///     {} model;\n"
                      "///     model.load({});\n",
                      name, cpp::quoted(weightsPath().filename().string()));
  return text + partText(first, members.size(), name, base, forwardText());
}

void CppMaker::write() const {
  if (weightsPath() == path)
    refuse(fmt::format("'{}' is the name of the weights' file", path.string()),
           where);
  std::vector<runtime::NamedTensor> tensors;
  for (const Member &member : members)
    tensors.push_back(
        {member.identifier, member.dtype, member.dims, member.bytes});
  std::string text = "#pragma once\n\n#include <sinter/sinter.h>\n\n"
                     "#include <limits>\n\nnamespace sn = sinter;\n\n" +
                     moduleText();
  unwrap(runtime::writeSafetensors(weightsPath(), tensors), where);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  unwrap(runtime::replaceFile(path, {&bytes, 1}), where);
}

void ModelExport::write_cpp(const std::string &path, Where where) const try {
  if (parts->entries.size() != 1)
    detail::refuseExport(
        fmt::format("a module has one function, not {}", parts->entries.size()),
        where);
  if (!parts->entries[0].parts.empty())
    detail::refuseExport(
        "values decide sizes in the function, which a module has no form for",
        where);
  if (std::filesystem::path(path).filename().empty())
    refuse(fmt::format("'{}' names no file", path), where);
  CppMaker maker(*parts, path, where);
  maker.make();
  maker.write();
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter

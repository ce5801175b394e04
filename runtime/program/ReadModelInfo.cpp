/// Checks that a model section fits the programs of its file.
#include "runtime/program/ModelInfo.h"

#include "runtime/program/CopyBudget.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyModel.h"
#include "runtime/program/VerifyProgram.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Checks one entry against one of its programs.
class Fitting {
public:
  Fitting(const ModelInfo &info, const EntryPoint &entry,
          const ProgramData &program)
      : info(info), entry(entry), program(program) {}

  Status check() const {
    if (program.inputs.size() != entry.inputs.size() ||
        program.outputs.size() != entry.outputs.size())
      return broken(fmt::format(
          "a program has {} inputs and {} outputs, the entry has {} and {}",
          program.inputs.size(), program.outputs.size(), entry.inputs.size(),
          entry.outputs.size()));
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      SINTER_TRY(checkInput(i));
    for (size_t i = 0; i < entry.outputs.size(); ++i)
      SINTER_TRY(checkOutput(i));
    for (const DynamicDim &dim : entry.dims)
      SINTER_TRY(checkDim(dim));
    return {};
  }

private:
  ErrorInfo broken(const std::string &what) const {
    return brokenModel("entry '{}': {}", printableName(entry.name), what);
  }

  Status checkType(const Port &port, const StoredTensor &tensor,
                   std::string_view what) const {
    bool fits =
        port.dtype == tensor.dtype && port.dims.size() == tensor.dims.size();
    for (size_t axis = 0; fits && axis < port.dims.size(); ++axis) {
      const Expr &dim = program.exprs[port.dims[axis]];
      fits = dim.op == ExprOp::constant && dim.value == tensor.dims[axis];
    }
    if (!fits)
      return broken(fmt::format("{} is {}, tensor '{}' is {}[{}]", what,
                                portType(port, program.exprs),
                                printableName(tensor.name), name(tensor.dtype),
                                fmt::join(tensor.dims, ",")));
    return {};
  }

  Status checkInput(size_t index) const {
    const EntryInput &input = entry.inputs[index];
    const Port &port = program.inputs[index];
    bool isScalar = port.kind == graph::InputKind::scalar;
    bool holdsScalar =
        input.kind == SlotKind::constant || input.kind == SlotKind::random;
    bool isGiven = input.kind == SlotKind::given;
    std::string what = fmt::format("input {}", index);
    if (!isGiven && isScalar != holdsScalar)
      return broken(fmt::format("{} is {} and {}", what, toString(input.kind),
                                isScalar ? "a scalar" : "no scalar"));
    if (input.kind == SlotKind::random && port.dtype != DType::i64)
      return broken(fmt::format("{} is random and {}", what, name(port.dtype)));
    size_t bits = 8 * byteWidth(port.dtype);
    if (bits < 64 && input.scalarBits >> bits != 0)
      return broken(
          fmt::format("{} has more bits than {}", what, name(port.dtype)));
    if (input.kind == SlotKind::weight)
      return checkType(port, info.tensors[input.number], what);
    if (input.kind == SlotKind::state)
      return checkType(port, info.tensors[info.states[input.number].initial],
                       what);
    return {};
  }

  Status checkOutput(size_t index) const {
    const EntryOutput &output = entry.outputs[index];
    if (output.updates < 0)
      return {};
    auto number = uint32_t(output.updates);
    uint32_t tensor = output.isWeight ? number : info.states[number].initial;
    return checkType(program.outputs[index], info.tensors[tensor],
                     fmt::format("output {}", index));
  }

  Status checkDim(const DynamicDim &dim) const {
    auto varies = [](SlotKind kind) {
      return kind == SlotKind::given || kind == SlotKind::passed;
    };
    if (dim.input >= entry.inputs.size() ||
        !varies(entry.inputs[dim.input].kind) ||
        dim.axis >= program.inputs[dim.input].dims.size())
      return broken(fmt::format("dim '{}' is axis {} of input {}, which is no "
                                "axis of a given or passed input",
                                printableName(dim.name), dim.axis, dim.input));
    return {};
  }

  const ModelInfo &info;
  const EntryPoint &entry;
  const ProgramData &program;
};

/// Names that a caller uses are unique, and no value is updated twice.
Status checkSlots(const EntryPoint &entry) {
  Names inputs("the given inputs"), outputs("the outputs");
  for (const EntryInput &input : entry.inputs)
    if (input.kind == SlotKind::given)
      SINTER_TRY(inputs.add(input.name));
  std::set<std::pair<bool, int32_t>> updated;
  for (const EntryOutput &output : entry.outputs) {
    if (output.updates < 0)
      SINTER_TRY(outputs.add(output.name));
    else if (!updated.emplace(output.isWeight, output.updates).second)
      return brokenModel("entry '{}' updates {} {} twice",
                         printableName(entry.name),
                         output.isWeight ? "weight" : "state", output.updates);
  }
  return {};
}

/// Every program is of one entry, every graph and debug section of one, too.
Status checkSections(const ModelInfo &info, const ModelFile &model) {
  uint32_t numPrograms = model.count(SectionKind::program);
  std::vector<bool> isTaken(numPrograms);
  for (const EntryPoint &entry : info.entries) {
    if (entry.programs.empty())
      return brokenModel("entry '{}' has no program",
                         printableName(entry.name));
    for (size_t i = 0; i < entry.programs.size(); ++i) {
      uint32_t program = entry.programs[i];
      bool ascends = i == 0 || entry.programs[i - 1] < program;
      if (program >= numPrograms || !ascends || isTaken[program])
        return brokenModel("entry '{}' has program {} of {}",
                           printableName(entry.name), program, numPrograms);
      isTaken[program] = true;
    }
  }
  if (std::ranges::count(isTaken, false) > 0)
    return brokenModel("a program is of no entry");
  for (SectionKind kind : {SectionKind::graph, SectionKind::debug})
    if (uint32_t count = model.count(kind);
        count != 0 && count != info.entries.size())
      return brokenModel("{} {} sections for {} entries", count,
                         sectionName(kind), info.entries.size());
  return {};
}

std::string nameOr(const std::string &name, const char *kind, size_t index) {
  return name.empty() ? fmt::format("{}{}", kind, index) : name;
}

/// Of a file without a model section. Programs for several targets have the
/// same inputs and outputs.
Result<ModelInfo> plainInfo(const ModelFile &model) {
  SINTER_TRY_ASSIGN(ProgramData program, verifyProgram(model, 0));
  EntryPoint entry;
  entry.name = "main";
  for (size_t i = 0; i < program.inputs.size(); ++i)
    entry.inputs.push_back({nameOr(program.inputs[i].name, "input", i)});
  for (size_t i = 0; i < program.outputs.size(); ++i)
    entry.outputs.push_back({nameOr(program.outputs[i].name, "output", i)});
  for (uint32_t i = 0; i < model.count(SectionKind::program); ++i)
    entry.programs.push_back(i);
  ModelInfo info;
  info.entries.push_back(std::move(entry));
  return info;
}

} // namespace

Status sinter::runtime::checkFits(const ModelInfo &info,
                                  const EntryPoint &entry,
                                  const ProgramData &program) {
  return Fitting(info, entry, program).check();
}

Result<ModelInfo> sinter::runtime::readModelInfo(const ModelFile &model) {
  return readModelInfo(model, model.bytesOf(SectionKind::weights).size());
}

Result<ModelInfo> sinter::runtime::readModelInfo(const ModelFile &model,
                                                 uint64_t weightBytes) {
  const Section *section = model.find(SectionKind::model);
  if (!section)
    return plainInfo(model);
  SINTER_TRY_ASSIGN(ModelInfo info, verifyModel(section->bytes, weightBytes));
  SINTER_TRY(checkSections(info, model));
  uint64_t programBytes = 0;
  for (const Section &each : model.sections)
    if (each.kind == SectionKind::program)
      programBytes += each.bytes.size();
  CopyBudget budget(programBytes);
  for (const EntryPoint &entry : info.entries) {
    SINTER_TRY(checkSlots(entry));
    for (uint32_t index : entry.programs) {
      SINTER_TRY_ASSIGN(ProgramData program,
                        verifyProgram(model, index, budget));
      SINTER_TRY(checkFits(info, entry, program));
    }
  }
  return info;
}

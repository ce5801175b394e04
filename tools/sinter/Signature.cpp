/// Prints a model's signature.
#include "tools/sinter/Signature.h"

#include "runtime/support/Printable.h"
#include "tools/sinter/ProgramText.h"

#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace sinter::cli {

using namespace runtime;

namespace {

class SignatureWriter {
public:
  SignatureWriter(const ModelInfo &info, const std::vector<FileParts> &parts,
                  size_t limit)
      : info(info), parts(parts), limit(limit) {}

  Result<std::string> write() {
    for (size_t i = 0; i < info.numPublic(); ++i)
      SINTER_TRY(writeEntry(info.entries[i]));
    SINTER_TRY(writeTensors());
    for (const auto &[key, value] : info.metadata)
      SINTER_TRY(
          line("metadata {}: {}", printableName(key), printableName(value)));
    return std::move(text);
  }

private:
  template <typename... Args>
  Status line(fmt::format_string<Args...> format, Args &&...args) {
    text += fmt::format(format, std::forward<Args>(args)...);
    text += '\n';
    if (text.size() <= limit)
      return {};
    return makeError(ErrorKind::unsupported,
                     "inspect: the model's signature is longer than its file");
  }

  /// `f32[batch,64]`: with the names of the entry's dims.
  std::string typeOf(const EntryPoint &entry, const Port &port) const {
    const ProgramData &program = parts[entry.programs[0]].program;
    std::map<int64_t, std::string> names;
    for (const DynamicDim &dim : entry.dims)
      if (const Expr &expr =
              program.exprs[program.inputs[dim.input].dims[dim.axis]];
          expr.op == ExprOp::symbol)
        names.emplace(expr.value, printableName(dim.name));
    std::vector<std::string> dims;
    for (uint32_t dim : port.dims) {
      const Expr &expr = program.exprs[dim];
      auto named = names.find(expr.value);
      bool isNamed = expr.op == ExprOp::symbol && named != names.end();
      dims.push_back(isNamed ? named->second : exprText(program.exprs, dim));
    }
    return fmt::format("{}[{}]", name(port.dtype), fmt::join(dims, ","));
  }

  static std::string described(const std::string &description) {
    return description.empty() ? "" : "  " + printableName(description);
  }

  Status writeEntry(const EntryPoint &entry) {
    const ProgramData &program = parts[entry.programs[0]].program;
    SINTER_TRY(line("entry {}{}", printableName(entry.name),
                    described(entry.description)));
    unsigned constants = 0, draws = 0;
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const EntryInput &input = entry.inputs[i];
      constants += input.kind == SlotKind::constant;
      draws += input.kind == SlotKind::random && input.number == 2;
      if (input.kind == SlotKind::given)
        SINTER_TRY(line("  input {}: {}{}", printableName(input.name),
                        typeOf(entry, program.inputs[i]),
                        described(input.description)));
    }
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      const EntryOutput &output = entry.outputs[i];
      if (output.updates < 0)
        SINTER_TRY(line("  output {}: {}{}", printableName(output.name),
                        typeOf(entry, program.outputs[i]),
                        described(output.description)));
    }
    SINTER_TRY(writeUses(entry));
    if (constants > 0)
      SINTER_TRY(line("  {} constant scalars", constants));
    if (draws > 0)
      SINTER_TRY(line("  draws random numbers {} times", draws));
    return {};
  }

  Status writeUses(const EntryPoint &entry) {
    std::set<uint32_t> weights, states;
    auto addUses = [&](const EntryPoint &each) {
      for (const EntryInput &input : each.inputs)
        if (input.kind == SlotKind::weight || input.kind == SlotKind::state)
          (input.kind == SlotKind::weight ? weights : states)
              .insert(input.number);
    };
    addUses(entry);
    for (uint32_t part : entry.parts)
      addUses(info.entries[part]);
    if (!weights.empty())
      SINTER_TRY(line("  reads {} weights", weights.size()));
    for (uint32_t state : states)
      SINTER_TRY(
          line("  reads state {}", printableName(info.states[state].name)));
    if (!entry.parts.empty())
      SINTER_TRY(line("  runs {} programs, as values decide sizes",
                      entry.parts.size() + 1));
    for (const EntryOutput &output : entry.outputs)
      if (output.updates >= 0)
        SINTER_TRY(line(
            "  changes {} {}", output.isWeight ? "weight" : "state",
            printableName(output.isWeight
                              ? info.tensors[size_t(output.updates)].name
                              : info.states[size_t(output.updates)].name)));
    for (uint32_t index : entry.programs) {
      const ProgramData &program = parts[index].program;
      SINTER_TRY(line("  runs on {}{}", program.target,
                      program.variant.empty()
                          ? ""
                          : fmt::format(" ({})", program.variant)));
    }
    return {};
  }

  Status writeTensors() {
    for (size_t i = 0; i < info.tensors.size(); ++i) {
      const StoredTensor &tensor = info.tensors[i];
      std::string where = tensor.zeros ? ", zeros" : "";
      if (!tensor.externalFile.empty())
        where = ", in " + printableName(tensor.externalFile);
      bool isState = i >= info.numWeights();
      SINTER_TRY(line(
          "{} {}: {}[{}], {} bytes{}{}", isState ? "state" : "weight",
          printableName(tensor.name), name(tensor.dtype),
          fmt::join(tensor.dims, ","), tensor.bytes, where,
          isState ? described(info.states[i - info.numWeights()].description)
                  : ""));
    }
    return {};
  }

  const ModelInfo &info;
  const std::vector<FileParts> &parts;
  const size_t limit;
  std::string text;
};

} // namespace

Result<std::string> signatureText(const ModelInfo &info,
                                  const std::vector<FileParts> &parts,
                                  size_t limit) {
  return SignatureWriter(info, parts, limit).write();
}

} // namespace sinter::cli

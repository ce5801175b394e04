/// Signatures as texts.
#include "runtime/capi/ModelObject.h"

#include "runtime/program/ProgramData.h"
#include "runtime/support/Flags.h"

#include <cctype>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

/// The symbols of a program that the entry has names for, by number.
using SymbolNames = std::map<std::string, std::string>;

static SymbolNames namesOf(const EntryPoint &entry, const Program &program) {
  SymbolNames names;
  for (const DynamicDim &dim : entry.dims) {
    const Port &port = program.inputs()[dim.input];
    const Expr &expr = program.exprs()[port.dims[dim.axis]];
    if (expr.op == ExprOp::symbol && !dim.name.empty())
      names.try_emplace("s" + std::to_string(expr.value), dim.name);
  }
  return names;
}

/// The text of a dim with those names in the place of `s0`.
static std::string renamed(const std::string &text, const SymbolNames &names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (std::isalpha(static_cast<unsigned char>(text[at])))
      while (end < text.size() &&
             std::isalnum(static_cast<unsigned char>(text[end])))
        ++end;
    std::string word = text.substr(at, end - at);
    auto found = names.find(word);
    result += found == names.end() ? word : found->second;
    at = end;
  }
  return result;
}

static PortTexts textsOf(std::string name, std::string description,
                         const Port &port, std::span<const Expr> exprs,
                         const SymbolNames &names) {
  PortTexts texts{.name = std::move(name),
                  .description = std::move(description),
                  .port = &port,
                  .dims = {},
                  .dimTexts = {},
                  .dimNames = {}};
  for (uint32_t dim : port.dims) {
    bool isKnown = exprs[dim].op == ExprOp::constant;
    texts.dims.push_back(isKnown ? exprs[dim].value : -1);
    texts.dimTexts.push_back(renamed(exprText(exprs, dim), names));
  }
  for (const std::string &text : texts.dimTexts)
    texts.dimNames.push_back(text.c_str());
  return texts;
}

static std::unique_ptr<const EntryTexts>
textsOf(const EntryPoint &entry, const EntryPorts &ports,
        std::shared_ptr<const Program> program) {
  auto texts = std::make_unique<EntryTexts>();
  SymbolNames names = namesOf(entry, *program);
  for (uint32_t i : ports.given) {
    const EntryInput &input = entry.inputs[i];
    texts->inputs.push_back(textsOf(input.name, input.description,
                                    program->inputs()[i], program->exprs(),
                                    names));
  }
  for (uint32_t i : ports.returned) {
    const EntryOutput &output = entry.outputs[i];
    texts->outputs.push_back(textsOf(output.name, output.description,
                                     program->outputs()[i], program->exprs(),
                                     names));
  }
  texts->program = std::move(program);
  return texts;
}

ModelObject::ModelObject(std::shared_ptr<Model> model)
    : owner(std::move(model)), device(toString(owner->device().id())),
      entries(owner->info().numPublic()) {}

Status ModelObject::checkEntry(uint32_t entry) const {
  if (entry < entries.size())
    return {};
  return invalid(fmt::format("there is no entry point {}, the model has {}",
                             entry, entries.size()));
}

Status ModelObject::checkWeight(uint32_t number) const {
  size_t count = owner->info().numWeights();
  if (number < count)
    return {};
  return invalid(
      fmt::format("there is no weight {}, the model has {}", number, count));
}

Status ModelObject::checkState(uint32_t number) const {
  size_t count = owner->info().states.size();
  if (number < count)
    return {};
  return invalid(
      fmt::format("there is no state {}, the model has {}", number, count));
}

Result<const EntryTexts *> ModelObject::texts(uint32_t entry) {
  {
    std::lock_guard lock(mutex);
    if (entries[entry])
      return entries[entry].get();
  }
  SINTER_TRY_ASSIGN(auto program, owner->program(entry));
  auto made = textsOf(owner->info().entries[entry], owner->ports(entry),
                      std::move(program));
  std::lock_guard lock(mutex);
  if (!entries[entry])
    entries[entry] = std::move(made);
  return entries[entry].get();
}

Result<Device *> capi::deviceNamed(const char *name) {
  SINTER_TRY_ASSIGN(
      DeviceId id, parseDevice(name ? std::string_view(name) : flags().device));
  return getDevice(id);
}

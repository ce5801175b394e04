/// Records one function of a file and says what its inputs and outputs are.
#include "frontend/ExportParts.h"
#include "frontend/ExportStages.h"

#include "frontend/Flush.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/ShareParams.h"
#include "runtime/graph/NodeNotes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace sinter::detail {

using graph::NodeRef;
using runtime::CellRef;
using runtime::SlotKind;

void refuseExport(const std::string &what, const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument, "export: " + what, "export"),
        where);
}

size_t ExportParts::numberOf(const CellRef &cell) {
  auto [found, isNew] = cellNumbers.try_emplace(cell.get(), cells.size());
  if (isNew)
    cells.push_back({cell, {}, false, {}});
  return found->second;
}

size_t ExportParts::numberOf(const NodeRef &node) {
  auto [found, isNew] = tensorNumbers.try_emplace(node.get(), tensors.size());
  if (isNew)
    tensors.push_back({Tensor(node), {}});
  return found->second;
}

//===- Names --------------------------------------------------------------===//

/// The name that a tensor at this path of the arguments or the result has
/// without being given one: that of its field, or its number.
static std::string ownName(std::string_view path, bool isArgument,
                           const char *kind, size_t number) {
  if (isArgument) // the first part is the argument's number
    path.remove_prefix(std::min(path.size(), path.find('.')));
  if (path.starts_with('.'))
    path.remove_prefix(1);
  bool isNumber = std::ranges::all_of(
      path, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  return isNumber ? fmt::format("{}{}", kind, number) : std::string(path);
}

static std::vector<std::string>
namesOf(const std::vector<Fields::Field<Tensor>> &tensors,
        std::vector<std::string> given, const char *kind,
        const SourceLine &where) {
  bool isArgument = std::string_view(kind) == "input";
  if (given.size() > tensors.size())
    refuseExport(
        fmt::format("{} names for {} {}s", given.size(), tensors.size(), kind),
        where);
  for (size_t i = given.size(); i < tensors.size(); ++i)
    given.push_back(ownName(tensors[i].path, isArgument, kind, i));
  std::set<std::string> seen;
  for (const std::string &name : given)
    if (name.empty() || !seen.insert(name).second)
      refuseExport(
          fmt::format("two {}s are named '{}', or it has no name", kind, name),
          where);
  return given;
}

//===- Dynamic dims -------------------------------------------------------===//

namespace {
/// An axis that the user named.
struct NamedAxis {
  size_t input;
  size_t axis;
  std::string name;
};
} // namespace

/// Sizes are told as text, `64` and `2*n+1`: a name has to stand out there.
static bool isDimName(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return isLetter(name[0]) && std::ranges::all_of(name, [&](char c) {
           return isLetter(c) || isDigit(c);
         });
}

static NamedAxis parseAxis(const std::string &text,
                           const std::vector<std::string> &inputs,
                           const std::vector<Fields::Field<Tensor>> &tensors,
                           const SourceLine &where) {
  size_t equals = text.rfind('='), colon = text.rfind(':', equals);
  auto refuse = [&](const std::string &why) {
    refuseExport(fmt::format("dynamic '{}': {}", text, why), where);
  };
  if (equals == text.npos || colon == text.npos || equals + 1 == text.size())
    refuse("expected INPUT:AXIS=NAME");
  NamedAxis named{0, 0, text.substr(equals + 1)};
  if (!isDimName(named.name))
    refuse(fmt::format("'{}' is no name for a dim, which begins with a letter "
                       "and goes on with letters, digits and _",
                       named.name));
  const char *end = text.data() + equals;
  auto [last, error] =
      std::from_chars(text.data() + colon + 1, end, named.axis);
  if (error != std::errc() || last != end)
    refuse("expected INPUT:AXIS=NAME");
  auto found = std::ranges::find(inputs, text.substr(0, colon));
  if (found == inputs.end())
    refuse("no input has that name");
  named.input = size_t(found - inputs.begin());
  if (named.axis >= size_t(tensors[named.input].value->rank()))
    refuse(fmt::format("'{}' has {} axes", *found,
                       tensors[named.input].value->rank()));
  return named;
}

//===- One function -------------------------------------------------------===//

struct ExportRecording::Parts {
  Parts(ExportParts &file, std::string name, const Fields &given,
        const Fields &inner, EntryOptions options, std::source_location where);

  void openDims(const Fields &given);
  void makePlaceholders(const Fields &given, const Fields &inner);
  void checkUnchanged(const Fields &after) const;
  void gatherOutputs(const Fields &result);
  void slice();
  void slicePart(const ExportStage &stage);
  void cut(const ExportStage &stage);
  void fillInputs(ExportedEntry &of);
  bool findPassed(const NodeRef &input, InputSlot &slot) const;
  void describeCounts();
  void orderInputs();
  void describeSlots();
  void nameCells();
  InputSlot slotOf(const NodeRef &input);
  const std::string *rateOf(const NodeRef &input);
  bool findArgument(const NodeRef &input, InputSlot &slot);
  bool findDraw(const NodeRef &input, InputSlot &slot);
  std::optional<size_t> indexOf(const NamedAxis &named) const;
  void checkDims() const;
  void describeDims();
  int32_t exprOf(Dim dim);
  void keepValues();

  ExportParts &file;
  std::source_location where;
  EntryOptions options;
  ExportedEntry entry;
  std::vector<NamedAxis> axes;
  std::map<std::string, Dim> dims; ///< by name
  std::vector<NodeRef> placeholders;
  std::vector<NodeRef> outputs;
  std::vector<ExportStage> stages;
  const ExportStage *stage = nullptr; ///< that `made` is of
  std::set<const graph::Node *> used; ///< by one of the stages
  graph::Slice made;
  std::optional<Capture> capture;
  ExportParts before; ///< the file as it was: a failure leaves it so
  std::map<int64_t, uint32_t> symbolDims; ///< of symbols of the process
};

ExportRecording::Parts::Parts(ExportParts &file, std::string name,
                              const Fields &given, const Fields &inner,
                              EntryOptions given_options,
                              std::source_location where)
    : file(file), where(where), options(std::move(given_options)),
      before(file) {
  if (name.empty() ||
      std::ranges::any_of(file.entries, [&](const ExportedEntry &each) {
        return each.point.name == name;
      }))
    refuseExport(fmt::format("a file has one function named '{}'", name),
                 where);
  if (!given.gradients.empty())
    refuseExport("Gradients can be no inputs", where);
  entry.point.name = std::move(name);
  entry.point.description = options.description;
  options.inputs =
      namesOf(given.tensors, std::move(options.inputs), "input", where);
  openDims(given);
  shareParams(given, inner, where);
  for (size_t i = 0; i < given.params.size(); ++i) {
    const auto &[path, param] = given.params[i];
    if (file.cellNames
            .try_emplace(param->cell().get(),
                         ownName(path, true, "parameter", i))
            .second)
      file.givenCells.push_back(param->cell());
  }
  capture.emplace(where, CaptureUse::file);
  enterLine(where); // what was recorded before has no part in this
  makePlaceholders(given, inner);
  for (const auto &[optimizer, rate] : file.rates)
    capture->openRate(optimizer);
}

/// Axes of one name are one symbol.
void ExportRecording::Parts::openDims(const Fields &given) {
  for (const std::string &text : options.dynamic) {
    NamedAxis named = parseAxis(text, options.inputs, given.tensors, where);
    Dim example = given.tensors[named.input].value->dim(int64_t(named.axis));
    auto number = uint32_t(dims.size());
    auto [found, isNew] = dims.try_emplace(named.name);
    if (isNew)
      found->second = Dim(
          example.value,
          dim_exprs::symbol(siteOf(where), (1u << 16) + number, example.value));
    else if (found->second.value != example.value)
      refuseExport(fmt::format("dynamic '{}': the examples have {} and {}",
                               text, found->second.value, example.value),
                   where);
    axes.push_back(std::move(named));
  }
}

void ExportRecording::Parts::makePlaceholders(const Fields &given,
                                              const Fields &inner) {
  for (size_t i = 0; i < given.tensors.size(); ++i) {
    const Tensor &example = *given.tensors[i].value;
    Dims shape;
    for (Dim dim : example.shape())
      shape.emplace_back(dim.value);
    for (const NamedAxis &named : axes)
      if (named.input == i)
        shape[named.axis] = dims.at(named.name);
    Tensor placeholder = capture->argument(example, shape);
    placeholders.push_back(placeholder.node());
    *inner.tensors[i].value = std::move(placeholder);
  }
}

void ExportRecording::Parts::checkUnchanged(const Fields &after) const {
  bool isSame = after.tensors.size() == placeholders.size();
  for (size_t i = 0; isSame && i < placeholders.size(); ++i)
    isSame = after.tensors[i].value->node() == placeholders[i];
  if (!isSame)
    refuseExport("the function assigns to its arguments: return what they "
                 "become, or make them Params, which are state",
                 where);
}

void ExportRecording::Parts::gatherOutputs(const Fields &result) {
  if (!result.params.empty() || !result.gradients.empty())
    refuseExport("the function gives Params or Gradients, only tensors are "
                 "outputs",
                 where);
  std::vector<std::string> names =
      namesOf(result.tensors, std::move(options.outputs), "output", where);
  for (size_t i = 0; i < names.size(); ++i) {
    outputs.push_back(result.tensors[i].value->node());
    OutputSlot output;
    output.slot.name = std::move(names[i]);
    entry.outputs.push_back(std::move(output));
  }
  std::map<size_t, size_t> updates; // cell to output
  for (const CapturedEffect &effect : capture->allEffects()) {
    const CellRef &cell = effect.cells[0].cell;
    size_t number = file.numberOf(cell);
    file.cells[number].updated = true;
    auto [found, isNew] = updates.try_emplace(number, outputs.size());
    if (!isNew) {
      outputs[found->second] = effect.inputs[0];
      continue;
    }
    outputs.push_back(effect.inputs[0]);
    OutputSlot output;
    output.cell = int64_t(number);
    entry.outputs.push_back(std::move(output));
  }
  if (outputs.empty())
    refuseExport("the function gives nothing and changes nothing", where);
}

//===- Inputs -------------------------------------------------------------===//

/// The name of the rate that the input stands for, or null.
const std::string *ExportRecording::Parts::rateOf(const NodeRef &input) {
  for (const auto &[optimizer, name] : file.rates)
    if (Tensor rate = capture->rateOf(optimizer);
        rate.defined() && rate.node() == input)
      return &name;
  return nullptr;
}

bool ExportRecording::Parts::findArgument(const NodeRef &input,
                                          InputSlot &slot) {
  if (const std::string *rate = rateOf(input)) {
    slot.slot.name = *rate;
    return true;
  }
  auto found = std::ranges::find(placeholders, input);
  if (found == placeholders.end())
    return false;
  slot.slot.name = options.inputs[size_t(found - placeholders.begin())];
  return true;
}

bool ExportRecording::Parts::findDraw(const NodeRef &input, InputSlot &slot) {
  Dim before = 0;
  for (const Draw &draw : capture->allDraws()) {
    const NodeRef *parts[] = {&draw.keyLow, &draw.keyHigh, &draw.counter};
    for (uint32_t part = 0; part < 3; ++part)
      if (*parts[part] == input) {
        slot.slot.kind = SlotKind::random;
        slot.slot.number = part;
        slot.slot.randomExpr = part == 2 ? exprOf(before) : -1;
        return true;
      }
    before = before + draw.blocks;
  }
  return false;
}

bool ExportRecording::Parts::findPassed(const NodeRef &input,
                                        InputSlot &slot) const {
  auto found = std::ranges::find(stage->inputs, input, &StageInput::node);
  if (found == stage->inputs.end())
    return false;
  slot.slot.kind = SlotKind::passed;
  slot.slot.number = found->number;
  slot.slot.count = found->count;
  return true;
}

InputSlot ExportRecording::Parts::slotOf(const NodeRef &input) {
  InputSlot slot;
  if (findArgument(input, slot) || findPassed(input, slot) ||
      findDraw(input, slot))
    return slot;
  for (const CellRead &read : capture->cellReads())
    if (read.placeholder == input) {
      slot.cell = int64_t(file.numberOf(read.cell));
      return slot;
    }
  if (input->isLeaf() && input->leafKind() == graph::InputKind::scalar) {
    slot.slot.kind = SlotKind::constant;
    slot.slot.scalarBits = input->scalarBits();
    return slot;
  }
  slot.tensor = int64_t(file.numberOf(input));
  return slot;
}

/// The expression of the entry for a size that it can compute.
int32_t ExportRecording::Parts::exprOf(Dim dim) {
  std::vector<Expr> &exprs = entry.point.exprs;
  auto add = [&](const Expr &expr) {
    auto found = std::ranges::find(exprs, expr);
    if (found != exprs.end())
      return int32_t(found - exprs.begin());
    exprs.push_back(expr);
    return int32_t(exprs.size() - 1);
  };
  if (dim.isConstant())
    return add({ExprOp::constant, 0, 0, dim.value});
  Expr expr = dim_exprs::get(dim.expr);
  if (expr.op == ExprOp::constant)
    return add(expr);
  if (expr.op == ExprOp::symbol) {
    auto found = symbolDims.find(expr.value);
    if (found == symbolDims.end())
      refuseExport("random numbers are drawn for an axis whose size only the "
                   "values tell",
                   where);
    return add({ExprOp::symbol, 0, 0, int64_t(found->second)});
  }
  auto lhs = uint32_t(exprOf(Dim(0, expr.lhs)));
  auto rhs = uint32_t(exprOf(Dim(0, expr.rhs)));
  return add({expr.op, lhs, rhs, 0});
}

/// The place of a named axis' input in `made`; nothing where that has it not.
std::optional<size_t>
ExportRecording::Parts::indexOf(const NamedAxis &named) const {
  auto input = std::ranges::find(made.inputs, placeholders[named.input]);
  if (input == made.inputs.end())
    return std::nullopt; // told of as an input that nothing uses
  return size_t(input - made.inputs.begin());
}

/// Every program takes all sizes of a named axis.
void ExportRecording::Parts::checkDims() const {
  for (const NamedAxis &named : axes) {
    std::optional<size_t> index = indexOf(named);
    if (!index)
      continue;
    const graph::Value &value =
        made.graph.values[made.graph.inputs[*index].value];
    const Expr &dim = made.graph.exprs[value.dims[named.axis]];
    if (dim.op == ExprOp::constant)
      refuseExport(fmt::format("dynamic '{}:{}={}': the function takes {} only",
                               options.inputs[named.input], named.axis,
                               named.name, dim.value),
                   where);
  }
}

/// Which input and axis tells each dim.
void ExportRecording::Parts::describeDims() {
  for (const NamedAxis &named : axes) {
    std::optional<size_t> index = indexOf(named);
    if (!index)
      continue;
    auto isSame = [&](const runtime::DynamicDim &each) {
      return each.name == named.name;
    };
    if (std::ranges::any_of(entry.point.dims, isSame))
      continue;
    symbolDims[dim_exprs::get(dims.at(named.name).expr).value] =
        uint32_t(entry.point.dims.size());
    entry.point.dims.push_back(
        {named.name, uint32_t(*index), uint32_t(named.axis)});
  }
}

/// Arguments first, as they were given: a graph has them as it meets them.
void ExportRecording::Parts::orderInputs() {
  std::vector<std::pair<NodeRef, graph::Input>> inputs;
  for (size_t i = 0; i < made.inputs.size(); ++i)
    inputs.emplace_back(made.inputs[i], made.graph.inputs[i]);
  std::ranges::stable_sort(inputs, {}, [&](const auto &input) {
    return std::ranges::find(placeholders, input.first) - placeholders.begin();
  });
  for (size_t i = 0; i < inputs.size(); ++i)
    std::tie(made.inputs[i], made.graph.inputs[i]) = inputs[i];
}

/// Each symbol of counted rows has to stay one: a graph whose guards make it a
/// number is for that number alone.
void ExportRecording::Parts::describeCounts() {
  std::set<int64_t> symbols;
  for (const StageInput &input : stage->inputs) {
    if (input.count < 0)
      continue;
    auto found = std::ranges::find(made.inputs, input.node);
    auto index = size_t(found - made.inputs.begin());
    const graph::Value &value =
        made.graph.values[made.graph.inputs[index].value];
    const Expr &rows = made.graph.exprs[value.dims[0]];
    if (rows.op != ExprOp::symbol)
      refuseExport("the function needs a size that values decide as a number",
                   where);
    if (auto number = symbols.size(); symbols.insert(rows.value).second)
      entry.point.dims.push_back(
          {fmt::format("counted{}", number), uint32_t(index), 0});
  }
}

/// Every program of several takes all arguments, which tell the dims.
void ExportRecording::Parts::cut(const ExportStage &next) {
  stage = &next;
  std::vector<NodeRef> given;
  if (stages.size() > 1) {
    given = placeholders;
    for (const StageInput &input : stage->inputs)
      given.push_back(input.node);
  }
  made = unwrap(graph::slice(stage->outputs, given), where);
  checkDims();
  for (const graph::Value &value : made.graph.values)
    for (uint32_t operand : value.operands)
      used.insert(made.nodes[operand].get());
  for (uint32_t output : made.graph.outputs)
    used.insert(made.nodes[output].get());
}

void ExportRecording::Parts::fillInputs(ExportedEntry &of) {
  std::set<std::string> names(options.inputs.begin(), options.inputs.end());
  for (const NodeRef &input : made.inputs) {
    InputSlot slot = slotOf(input);
    if (rateOf(input) && !names.insert(slot.slot.name).second)
      refuseExport(
          fmt::format(
              "the function has another input that is named as the rate '{}'",
              slot.slot.name),
          where);
    of.inputs.push_back(std::move(slot));
  }
}

/// A program before the last one.
void ExportRecording::Parts::slicePart(const ExportStage &next) {
  cut(next);
  ExportedEntry part;
  part.point.name =
      fmt::format("{}.part{}", entry.point.name, entry.parts.size());
  fillInputs(part);
  if (std::ranges::any_of(part.inputs, [](const InputSlot &input) {
        return input.slot.kind == SlotKind::random;
      }))
    refuseExport("the function draws random numbers before a size that values "
                 "decide",
                 where);
  for (size_t i = 0; i < next.outputs.size(); ++i) {
    part.outputs.emplace_back();
    part.outputs.back().slot.name = fmt::format("passed{}", i);
  }
  part.graph = std::move(made.graph);
  entry.parts.push_back(std::move(part));
}

void ExportRecording::Parts::slice() {
  std::vector<NodeRef> roots = outputs;
  for (const CountedRows &each : capture->allCountedRows())
    roots.insert(roots.end(), {each.value, each.count});
  HistoryLock lock(roots);
  stages = stagesOf(outputs, capture->allCountedRows());
  for (size_t i = 0; i + 1 < stages.size(); ++i)
    slicePart(stages[i]);
  cut(stages.back());
  for (size_t i = 0; i < placeholders.size(); ++i)
    if (!used.contains(placeholders[i].get()))
      refuseExport(fmt::format("nothing that the function gives or changes "
                               "depends on input '{}'",
                               options.inputs[i]),
                   where);
  bool hasRate = std::ranges::any_of(
      made.inputs, [&](const NodeRef &input) { return rateOf(input); });
  if (hasRate && stages.size() > 1)
    refuseExport("values decide sizes in a function that takes a rate", where);
  orderInputs();
  describeDims();
  describeCounts();
  fillInputs(entry);
  Dim total = 0;
  for (const Draw &draw : capture->allDraws())
    total = total + draw.blocks;
  if (!capture->allDraws().empty())
    entry.point.randomExpr = exprOf(total);
  for (size_t i = 0; i < made.nodes.size(); ++i)
    if (const graph::NodeNotes *notes = made.nodes[i]->notes();
        notes && notes->customRule && !notes->isOwnGradient)
      entry.customGradient = uint32_t(i);
  entry.graph = std::move(made.graph);
}

void ExportRecording::Parts::describeSlots() {
  for (const auto &[name, text] : options.descriptions) {
    bool isKnown = false;
    for (InputSlot &input : entry.inputs)
      if (input.slot.kind == SlotKind::given && input.slot.name == name) {
        input.slot.description = text;
        isKnown = true;
      }
    for (OutputSlot &output : entry.outputs)
      if (output.cell < 0 && output.slot.name == name) {
        output.slot.description = text;
        isKnown = true;
      }
    if (!isKnown)
      refuseExport(fmt::format("no input or output is named '{}', which is "
                               "described",
                               name),
                   where);
  }
}

/// State of optimizers is named by the parameter that it is of.
void ExportRecording::Parts::nameCells() {
  for (const SteppedTogether &each : capture->stepped()) {
    auto [found, isNew] =
        file.steppedSets.try_emplace(each.parameter.get(), each.set);
    if (!isNew && found->second != each.set)
      refuseExport(fmt::format("'{}' is stepped together with other parameters "
                               "in another function of the file: an optimizer "
                               "that counts its steps takes them for the same "
                               "parameters in all",
                               each.parameter->name()),
                   where);
  }
  for (const StateName &state : capture->stateNames()) {
    if (file.cellNames.contains(state.cell.get()))
      continue;
    auto owner =
        state.of ? file.cellNames.find(state.of.get()) : file.cellNames.end();
    std::string of = owner != file.cellNames.end() ? owner->second
                     : state.of                    ? state.of->name()
                                                   : std::string();
    file.cellNames[state.cell.get()] =
        of.empty() ? state.name : of + "." + state.name;
  }
}

/// Of what is used for the first time: what an update replaces later is kept.
void ExportRecording::Parts::keepValues() {
  for (ExportedCell &cell : file.cells)
    if (!cell.value.defined()) {
      cell.value = readCell(cell.cell, where);
      cell.value.eval(where);
    }
}

ExportRecording::ExportRecording(ExportParts &file, std::string name,
                                 const Fields &given, const Fields &inner,
                                 EntryOptions options,
                                 std::source_location where)
    : parts(std::make_unique<Parts>(file, std::move(name), given, inner,
                                    std::move(options), where)) {}

ExportRecording::~ExportRecording() = default;

void ExportRecording::finish(const Fields &after, const Fields &result) try {
  parts->checkUnchanged(after);
  parts->gatherOutputs(result);
  parts->slice();
  parts->describeSlots();
  parts->nameCells();
  parts->capture.reset();
  parts->keepValues();
  parts->file.entries.push_back(std::move(parts->entry));
} catch (...) {
  parts->capture.reset();
  parts->file = std::move(parts->before);
  detail::raiseExhausted(parts->where);
}

} // namespace sinter::detail

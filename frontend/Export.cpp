/// Puts recorded functions, weights and state into a model file.
#include <sinter/Creation.h>
#include <sinter/Export.h>
#include <sinter/optim/Optimizer.h>

#include "frontend/ExportParts.h"
#include "frontend/HostBytes.h"
#include "frontend/Programs.h"
#include "frontend/Raise.h"
#include "runtime/params/Safetensors.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/ProgramMover.h"
#include "runtime/program/VerifyProgram.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace sinter {

using detail::ExportedCell;
using detail::ExportedEntry;
using detail::ExportParts;
using detail::unwrap;
using runtime::ModelFile;
using runtime::ModelInfo;
using runtime::SlotKind;

//===- Building -----------------------------------------------------------===//

ModelExport::ModelExport() try : parts(std::make_unique<ExportParts>()) {
} catch (...) {
  detail::raiseExhausted({});
}

ModelExport::~ModelExport() = default;
ModelExport::ModelExport(ModelExport &&) noexcept = default;
ModelExport &ModelExport::operator=(ModelExport &&) noexcept = default;

void ModelExport::nameFields(const detail::Fields &fields,
                             std::string_view prefix) try {
  auto named = [&](const std::string &path) {
    if (prefix.empty() || path.empty())
      return prefix.empty() ? path : std::string(prefix);
    return fmt::format("{}.{}", prefix, path);
  };
  for (const auto &[path, param] : fields.params) {
    const runtime::CellRef &cell = param->cell();
    if (parts->cellNames.try_emplace(cell.get(), named(path)).second)
      parts->cellOrder.push_back(cell);
  }
  // Evaluated: what they are computed from is not in the file.
  for (const auto &[path, tensor] : fields.tensors) {
    tensor->eval();
    for (const graph::NodeRef &node :
         {tensor->node(), detail::usedForm(tensor->node())})
      if (parts->tensorNames.try_emplace(node.get(), named(path)).second)
        parts->namedTensors.emplace_back(node);
  }
} catch (...) {
  detail::raiseExhausted({});
}

ModelExport &ModelExport::rate(const optim::Optimizer &optimizer,
                               std::string name, Where where) try {
  if (name.empty())
    detail::refuseExport("a rate has no name", where);
  parts->rates[optimizer.number] = std::move(name);
  return *this;
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Writing ------------------------------------------------------------===//

namespace {

/// One `write`.
class FileMaker {
public:
  FileMaker(const ExportParts &parts, const FileOptions &options,
            const SourceLine &where)
      : parts(parts), options(options), where(where), mover(writer) {}
  FileMaker(const FileMaker &) = delete;
  ~FileMaker();

  void make(const std::string &path);

private:
  void orderCells();
  std::string uniqueName(std::string name, const char *otherwise);
  void addTensor(const Tensor &value, const std::string &name);
  void addTensors();
  void describeEntries();
  void describe(const ExportedEntry &entry);
  std::vector<const ExportedEntry *> allEntries() const;
  void putBeside(const std::string &path);
  void moveWeights();
  void compileAll();
  void compile(uint32_t number, graph::Graph graph);
  std::vector<std::string> targets() const;
  runtime::CompileRequest requestFor(const std::string &target) const;

  const ExportParts &parts;
  const FileOptions &options;
  const SourceLine &where;
  runtime::ModelWriter writer;
  runtime::ProgramMover mover;
  ModelInfo info;
  std::vector<size_t> weights, states; ///< numbers of cells
  std::vector<uint32_t> tensorOf;      ///< by cell: its place in its list
  std::set<std::string> names;
  std::vector<std::string> cellNames;
  std::vector<std::vector<std::byte>> bytes; ///< per stored tensor
  std::vector<std::vector<std::byte>> files; ///< compiled
  std::filesystem::path beside, newWeights;
};

} // namespace

/// Named ones first, in the order of their modules. What is trained, or never
/// changes, is a weight.
void FileMaker::orderCells() {
  std::vector<size_t> order;
  for (const runtime::CellRef &cell : parts.cellOrder)
    if (auto found = parts.cellNumbers.find(cell.get());
        found != parts.cellNumbers.end())
      order.push_back(found->second);
  for (size_t i = 0; i < parts.cells.size(); ++i)
    if (std::ranges::find(order, i) == order.end())
      order.push_back(i);
  tensorOf.resize(parts.cells.size());
  for (size_t number : order) {
    const ExportedCell &cell = parts.cells[number];
    bool isWeight = cell.cell->requiresGrad() || !cell.updated;
    std::vector<size_t> &list = isWeight ? weights : states;
    tensorOf[number] = uint32_t(list.size());
    list.push_back(number);
  }
}

std::string FileMaker::uniqueName(std::string name, const char *otherwise) {
  if (name.empty())
    name = otherwise;
  std::string unique = name;
  for (int again = 1; !names.insert(unique).second; ++again)
    unique = fmt::format("{}.{}", name, again);
  return unique;
}

void FileMaker::addTensor(const Tensor &value, const std::string &name) {
  value.eval(where);
  bytes.push_back(unwrap(detail::readBytes(*value.node()), where));
  runtime::StoredTensor stored{
      .name = name, .dtype = value.dtype(), .dims = {}};
  for (Dim dim : value.shape())
    stored.dims.push_back(dim.value);
  stored.bytes = bytes.back().size();
  info.tensors.push_back(std::move(stored));
}

void FileMaker::addTensors() {
  cellNames.resize(parts.cells.size());
  auto nameCell = [&](size_t number) {
    const runtime::CellRef &cell = parts.cells[number].cell;
    auto found = parts.cellNames.find(cell.get());
    cellNames[number] = uniqueName(
        found == parts.cellNames.end() ? cell->name() : found->second,
        "parameter");
  };
  for (size_t number : weights) {
    nameCell(number);
    addTensor(parts.cells[number].value, cellNames[number]);
  }
  for (const detail::ExportedTensor &tensor : parts.tensors) {
    auto found = parts.tensorNames.find(tensor.value.node().get());
    addTensor(tensor.value,
              uniqueName(found == parts.tensorNames.end() ? std::string()
                                                          : found->second,
                         "constant"));
  }
  for (size_t number : states) {
    nameCell(number);
    info.states.push_back(
        {cellNames[number], {}, uint32_t(info.tensors.size())});
    addTensor(parts.cells[number].value, cellNames[number]);
  }
}

/// As the file has them: parts of entries after those that callers see.
std::vector<const ExportedEntry *> FileMaker::allEntries() const {
  std::vector<const ExportedEntry *> all;
  for (const ExportedEntry &entry : parts.entries)
    all.push_back(&entry);
  for (const ExportedEntry &entry : parts.entries)
    for (const ExportedEntry &part : entry.parts)
      all.push_back(&part);
  return all;
}

void FileMaker::describe(const ExportedEntry &entry) {
  runtime::EntryPoint point = entry.point;
  for (const detail::InputSlot &input : entry.inputs) {
    runtime::EntryInput slot = input.slot;
    if (input.cell >= 0) {
      auto number = size_t(input.cell);
      bool isWeight = std::ranges::find(weights, number) != weights.end();
      slot.kind = isWeight ? SlotKind::weight : SlotKind::state;
      slot.number = tensorOf[number];
      slot.name = cellNames[number];
    } else if (input.tensor >= 0) {
      slot.kind = SlotKind::weight;
      slot.number = uint32_t(weights.size() + size_t(input.tensor));
      slot.name = info.tensors[slot.number].name;
    }
    point.inputs.push_back(std::move(slot));
  }
  for (const detail::OutputSlot &output : entry.outputs) {
    runtime::EntryOutput slot = output.slot;
    if (output.cell >= 0) {
      auto number = size_t(output.cell);
      slot.isWeight = std::ranges::find(weights, number) != weights.end();
      slot.updates = int32_t(tensorOf[number]);
      slot.name = cellNames[number];
    }
    point.outputs.push_back(std::move(slot));
  }
  info.entries.push_back(std::move(point));
}

void FileMaker::describeEntries() {
  for (const ExportedEntry *entry : allEntries())
    describe(*entry);
  auto next = uint32_t(parts.entries.size());
  for (size_t i = 0; i < parts.entries.size(); ++i)
    for (size_t part = 0; part < parts.entries[i].parts.size(); ++part)
      info.entries[i].parts.push_back(next++);
  info.metadata = options.metadata;
  std::ranges::sort(info.metadata);
  for (size_t i = 1; i < info.metadata.size(); ++i)
    if (info.metadata[i].first == info.metadata[i - 1].first)
      detail::refuseExport(fmt::format("the metadata has two values for '{}'",
                                       info.metadata[i].first),
                           where);
}

runtime::CompileRequest FileMaker::requestFor(const std::string &target) const {
  runtime::CompileRequest request =
      unwrap(detail::compileRequest(DeviceId()), where);
  request.target = target;
  request.debug = options.source_lines;
  if (!request.tuneOn.empty()) // SINTER_TUNE
    request.tuneOn = target.substr(0, target.find(':'));
  return request;
}

std::vector<std::string> FileMaker::targets() const {
  if (!options.targets.empty())
    return options.targets;
  DeviceId id = default_device();
  if (id.kind == DeviceKind::cpu || id.kind == DeviceKind::null)
    return {"cpu"}; // with all that this processor has
  return {unwrap(runtime::getDevice(id), where)->target()};
}

/// The graph for every target; the file has the graph itself once.
void FileMaker::compile(uint32_t number, graph::Graph graph) {
  runtime::EntryPoint &point = info.entries[number];
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    graph.inputs[i].name = point.inputs[i].name;
  graph.outputNames.clear();
  for (const runtime::EntryOutput &output : point.outputs)
    graph.outputNames.push_back(output.name);
  bool isFirst = true;
  for (const std::string &target : targets()) {
    auto compiled =
        runtime::compileTuned(detail::tunableOf(graph, requestFor(target)));
    if (!compiled && compiled.error().node < graph.sites.size()) {
      ErrorInfo error = compiled.takeError();
      error.site = graph.sites[error.node];
      detail::raise(std::move(error), where);
    }
    files.push_back(unwrap(std::move(compiled), where));
    ModelFile model = unwrap(runtime::readModel(files.back()), where);
    point.programs.push_back(unwrap(mover.add(model, 0), where));
    if (!std::exchange(isFirst, false))
      continue;
    writer.setGraph(std::string(model.textOf(runtime::SectionKind::graph)),
                    number);
    if (options.source_lines)
      writer.setSites(
          unwrap(runtime::readSites(model.bytesOf(runtime::SectionKind::debug)),
                 where),
          number);
  }
}

void FileMaker::compileAll() {
  std::vector<const ExportedEntry *> all = allEntries();
  for (uint32_t i = 0; i < all.size(); ++i)
    compile(i, all[i]->graph);
  mover.finish();
}

/// Writes the weights next to the file, and says where they will be: they take
/// the place of older ones only once the file is written.
void FileMaker::putBeside(const std::string &path) {
  beside = path;
  if (beside.extension() == ".sinter")
    beside.replace_extension();
  beside += ".safetensors";
  if (beside == path)
    detail::refuseExport(
        fmt::format("'{}' is the name of the weights' file", path), where);
  std::vector<runtime::NamedTensor> tensors;
  for (size_t i = 0; i < info.numWeights(); ++i)
    tensors.push_back({info.tensors[i].name, info.tensors[i].dtype,
                       info.tensors[i].dims, bytes[i]});
  newWeights = beside.string() + ".new";
  unwrap(runtime::writeSafetensors(newWeights, tensors), where);
  auto file = unwrap(runtime::SafetensorsFile::open(newWeights), where);
  std::string name = beside.filename();
  info.externals = {
      {name, file.bytes().size(), runtime::sectionDigest(file.bytes())}};
  for (size_t i = 0; i < info.numWeights(); ++i) {
    info.tensors[i].externalFile = name;
    info.tensors[i].externalName = info.tensors[i].name;
    bytes[i].clear();
  }
}

void FileMaker::moveWeights() {
  std::error_code problem;
  std::filesystem::rename(newWeights, beside, problem);
  if (problem)
    detail::raise(makeError(ErrorKind::io,
                            fmt::format("cannot write {}: {}", beside.string(),
                                        problem.message()),
                            "export"),
                  where);
}

FileMaker::~FileMaker() {
  std::error_code ignored; // there is none, or it has moved
  if (!newWeights.empty())
    std::filesystem::remove(newWeights, ignored);
}

void FileMaker::make(const std::string &path) {
  if (parts.entries.empty())
    detail::refuseExport("no function was added", where);
  orderCells();
  addTensors();
  describeEntries();
  compileAll();
  if (options.weights == WeightPlace::beside && info.numWeights() > 0)
    putBeside(path);
  writer.setModel(std::move(info), {bytes.begin(), bytes.end()});
  unwrap(writer.write(path), where);
  if (!newWeights.empty())
    moveWeights();
}

void ModelExport::write(const std::string &path, const FileOptions &options,
                        Where where) const try {
  FileMaker(*parts, options, where).make(path);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter

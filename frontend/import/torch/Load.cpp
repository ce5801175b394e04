/// Loads programs: files become modules.
#include "frontend/import/torch/LoadedProgram.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/import/torch/Archive.h"
#include "frontend/import/torch/Operators.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Progress.h"

#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sinter::torch {

using Is = ArgumentRecord::Kind;
using FileRef = std::shared_ptr<const runtime::MappedFile>;

[[noreturn]] static void refuse(ErrorKind kind, const std::string &what) {
  throw Error(makeError(kind, what));
}

//===- What the file describes --------------------------------------------===//

static ValueInfo infoOf(const std::string &name, const TensorRecord &tensor,
                        const ProgramRecord &program) {
  ValueInfo info;
  info.name = name;
  info.dtype = dtypeOf(tensor.dtype);
  info.type = info.dtype ? std::string(sinter::name(*info.dtype))
                         : dtypeText(tensor.dtype);
  info.type += '[';
  for (const SizeRecord &size : tensor.sizes) {
    Axis axis{
        size.number ? "" : printableName(size.expression), size.number, {}, {}};
    auto range = program.ranges.find(axis.name);
    if (range != program.ranges.end()) {
      axis.least = range->second.least;
      axis.most = range->second.most;
    }
    info.type += info.type.back() == '[' ? "" : ",";
    info.type += size.number ? std::to_string(*size.number) : axis.name;
    info.shape.push_back(std::move(axis));
  }
  info.type += ']';
  return info;
}

/// Of a number, which is a tensor without axes here.
static ValueInfo infoOf(const std::string &name, Is kind) {
  DType dtype = kind == Is::symFloat  ? DType::f64
                : kind == Is::symBool ? DType::boolean
                                      : DType::i64;
  return {name, std::string(sinter::name(dtype)) + "[]", dtype, {}};
}

static std::optional<ValueInfo> infoOf(const std::string &name,
                                       const ArgumentRecord &value,
                                       const ProgramRecord &program) {
  auto found = program.graph.tensors.find(value.text);
  if (value.kind == Is::tensor && found != program.graph.tensors.end())
    return infoOf(name, found->second, program);
  if (value.kind == Is::symInt || value.kind == Is::symFloat ||
      value.kind == Is::symBool || value.kind == Is::integer ||
      value.kind == Is::boolean || value.kind == Is::real)
    return infoOf(name, value.kind);
  return std::nullopt;
}

/// Constants among the inputs have no name: the program was made for them.
static void describeInputs(LoadedProgram &loaded) {
  const ProgramRecord &program = loaded.record;
  for (const SpecRecord &spec : program.inputs) {
    bool isUser = spec.kind == SpecRecord::Kind::user;
    if (spec.kind == SpecRecord::Kind::customObject)
      refuse(ErrorKind::unsupported,
             fmt::format("object '{}', which only Python could make",
                         spec.target));
    std::string name = isUser && (spec.value.kind == Is::tensor ||
                                  spec.value.kind == Is::symInt)
                           ? spec.value.text
                           : "";
    loaded.inputNames.push_back(name);
    if (name.empty())
      continue;
    std::optional<ValueInfo> info = infoOf(name, spec.value, program);
    if (!info)
      refuse(ErrorKind::io, fmt::format("input '{}' is not described", name));
    loaded.inputs.push_back(std::move(*info));
  }
}

static void describeOutputs(LoadedProgram &loaded) {
  const ProgramRecord &program = loaded.record;
  size_t users = size_t(std::ranges::count(
      program.outputs, SpecRecord::Kind::user, &SpecRecord::kind));
  std::vector<std::string> leaves = leafNames(program.call.outputs, "output");
  size_t user = 0;
  std::vector<ValueInfo> mutated;
  for (const SpecRecord &spec : program.outputs) {
    std::string name;
    if (spec.kind == SpecRecord::Kind::userInputMutation)
      name = spec.target;
    if (spec.kind == SpecRecord::Kind::user) {
      name = leaves.size() == users ? leaves[user] : spec.value.text;
      ++user;
    }
    std::optional<ValueInfo> info = infoOf(name, spec.value, program);
    // None is no output.
    loaded.outputNames.push_back(info ? name : "");
    if (info && !name.empty())
      (spec.kind == SpecRecord::Kind::user ? loaded.outputs : mutated)
          .push_back(std::move(*info));
  }
  // What `forward` returns comes first.
  loaded.outputs.insert(loaded.outputs.end(), mutated.begin(), mutated.end());
}

static void collectUnknown(const GraphRecord &graph,
                           std::map<std::string, std::string> &unknown);

static void collectUnknown(const ArgumentRecord &argument,
                           std::map<std::string, std::string> &unknown) {
  if (argument.graph)
    collectUnknown(*argument.graph, unknown);
  for (const ArgumentRecord &element : argument.elements)
    collectUnknown(element, unknown);
}

/// Operators without a row, and where the first of each stands.
static void collectUnknown(const GraphRecord &graph,
                           std::map<std::string, std::string> &unknown) {
  for (const NodeRecord &node : graph.nodes) {
    if (!findOperator(node.target).row)
      unknown.emplace(node.target, node.line.file.empty()
                                       ? std::string()
                                       : fmt::format(" ({}:{})", node.line.file,
                                                     node.line.line));
    for (const NamedArgument &input : node.inputs)
      collectUnknown(input.value, unknown);
  }
}

/// All of them at once: a user need not find them one by one.
static void refuseUnknown(const ProgramRecord &program) {
  std::map<std::string, std::string> unknown;
  collectUnknown(program.graph, unknown);
  if (unknown.empty())
    return;
  constexpr size_t most = 10;
  std::string list;
  size_t number = 0;
  for (const auto &[target, line] : unknown)
    if (++number <= most)
      list += (list.empty() ? "" : ", ") + target + line;
  if (unknown.size() > most)
    list += fmt::format(" and {} more", unknown.size() - most);
  refuse(ErrorKind::unsupported, "operators that are not supported: " + list);
}

static void describe(LoadedProgram &loaded) {
  constexpr int64_t newest = 20;
  if (loaded.record.minor > newest)
    loaded.notes.push_back(fmt::format(
        "its schema is {}.{} (torch {}), newer than 8.{}: what was added since "
        "is not known here",
        loaded.record.major, loaded.record.minor, loaded.record.torchVersion,
        newest));
  refuseUnknown(loaded.record);
  describeInputs(loaded);
  describeOutputs(loaded);
}

//===- Tensors ------------------------------------------------------------===//

namespace {
/// Finds the buffers that a run may change: by an output of the program, or by
/// a node that changes its first operand in place, or a view of it.
class ChangeSearch {
public:
  explicit ChangeSearch(const ProgramRecord &program) {
    for (const SpecRecord &spec : program.outputs)
      if (spec.kind == SpecRecord::Kind::bufferMutation)
        changed.insert(spec.target);
    for (const SpecRecord &spec : program.inputs)
      if (spec.kind == SpecRecord::Kind::buffer)
        roots[spec.value.text] = spec.target;
    for (const NodeRecord &node : program.graph.nodes)
      look(node);
  }
  std::set<std::string> changed;

private:
  void look(const NodeRecord &node) {
    if (node.inputs.empty())
      return;
    bool hasGraph = false;
    for (const NamedArgument &input : node.inputs) {
      hasGraph |= input.value.graph != nullptr;
      if (input.name.starts_with("running_") || hasGraph)
        changeAll(input.value);
    }
    auto root = roots.find(node.inputs[0].value.text);
    if (root == roots.end())
      return;
    if (findOperator(node.target).isInPlace)
      changed.insert(root->second);
    std::string name = root->second;
    for (const ArgumentRecord &output : node.outputs)
      follow(output, name);
  }
  /// Views come alone, or as a list.
  void follow(const ArgumentRecord &output, const std::string &root) {
    if (!output.text.empty())
      roots[output.text] = root;
    for (const ArgumentRecord &element : output.elements)
      follow(element, root);
  }
  /// What a graph in a node is given may be changed in it.
  void changeAll(const ArgumentRecord &argument) {
    change(argument.text);
    for (const ArgumentRecord &element : argument.elements)
      changeAll(element);
  }
  void change(const std::string &value) {
    if (auto root = roots.find(value); root != roots.end())
      changed.insert(root->second);
  }

  std::map<std::string, std::string> roots; ///< buffers by values
};
} // namespace

static Tensor leafOf(const ArchivedTensor &tensor, const FileRef &file,
                     const LoadOptions &options) {
  Dims dims(tensor.dims.begin(), tensor.dims.end());
  DeviceId id = options.device.value_or(default_device());
  bool isInFile = file && !tensor.own && file->has(tensor.bytes);
  if (options.mmap && isInFile)
    if (auto leaf = detail::borrowedLeaf(tensor.bytes, tensor.dtype, dims, id,
                                         [file] { (void)file; }, {}))
      return *leaf;
  detail::Copied leave;
  if (isInFile)
    leave = [&](std::span<const std::byte> part) { file->leave(part); };
  return detail::leafOf(tensor.bytes, tensor.dtype, dims, {{}, id}, {}, leave);
}

static const ArchivedTensor &storedOf(const Archive &archive,
                                      const SpecRecord &spec) {
  for (const ArchivedTensors *all : {&archive.weights, &archive.constants})
    if (auto found = all->find(spec.target); found != all->end())
      return found->second;
  bool isPickled = std::ranges::count(archive.pickled, spec.target) > 0;
  refuse(isPickled ? ErrorKind::unsupported : ErrorKind::io,
         fmt::format("tensor '{}' {}", spec.target,
                     isPickled ? "is pickled, which only Python reads"
                               : "is missing"));
}

namespace {
/// Makes the parameters and constants of a model.
class TensorMaker {
public:
  TensorMaker(const Archive &archive, FileRef file, const LoadOptions &options)
      : archive(archive), file(std::move(file)), options(options) {}

  Param param(const SpecRecord &spec) {
    const ArchivedTensor &stored = storedOf(archive, spec);
    bool isTrained =
        spec.kind == SpecRecord::Kind::parameter && isFloat(stored.dtype);
    Param param;
    auto [first, last] = params.equal_range(stored.bytes.data());
    for (auto each = first; each != last; ++each)
      if (isSame(*each->second.first, stored)) {
        param.tie(each->second.second);
        return param;
      }
    param = Param(leafOf(stored, file, options), spec.target, isTrained);
    if (!stored.bytes.empty()) {
      auto added =
          params.emplace(stored.bytes.data(), std::pair(&stored, Param()));
      added->second.second.tie(param);
    }
    return param;
  }
  Tensor constant(const SpecRecord &spec) const {
    return leafOf(storedOf(archive, spec), file, options);
  }

private:
  const Archive &archive;
  FileRef file;
  const LoadOptions &options;
  std::multimap<const void *, std::pair<const ArchivedTensor *, Param>> params;
};
} // namespace

/// What a checked tensor of the program is, and what is stored for it.
static void checkStored(const LoadedProgram &loaded, const Archive &archive,
                        const SpecRecord &spec) {
  const ArchivedTensor &stored = storedOf(archive, spec);
  auto record = loaded.record.graph.tensors.find(spec.value.text);
  bool fits = record != loaded.record.graph.tensors.end() &&
              dtypeOf(record->second.dtype) == stored.dtype &&
              record->second.sizes.size() == stored.dims.size();
  for (size_t i = 0; fits && i < stored.dims.size(); ++i)
    fits = record->second.sizes[i].number == stored.dims[i];
  if (!fits)
    refuse(
        ErrorKind::io,
        fmt::format("tensor '{}' is not what the program says", spec.target));
}

static void fill(const LoadedProgram &loaded, const Archive &archive,
                 TensorMaker maker, NamedParams &parameters,
                 std::map<std::string, Tensor> &constants) {
  using Kind = SpecRecord::Kind;
  std::set<std::string> changed = ChangeSearch(loaded.record).changed;
  const auto &specs = loaded.record.inputs;
  ProgressStep progress("reading tensor", specs.size());
  std::set<std::string> made;
  for (const SpecRecord &spec : specs) {
    progress.at(size_t(&spec - specs.data()));
    bool isTensor = spec.kind == Kind::parameter || spec.kind == Kind::buffer ||
                    spec.kind == Kind::tensorConstant;
    if (!isTensor || !made.insert(spec.target).second)
      continue;
    checkStored(loaded, archive, spec);
    bool isKept = spec.kind == Kind::parameter ||
                  (spec.kind == Kind::buffer &&
                   (spec.isPersistent || changed.contains(spec.target)));
    if (isKept)
      parameters.add(spec.target, maker.param(spec));
    else
      constants.emplace(spec.target, maker.constant(spec));
  }
}

//===- Files --------------------------------------------------------------===//

class ModelMaker {
public:
  static Model make(std::shared_ptr<LoadedProgram> loaded,
                    const Archive &archive, const FileRef &file,
                    const LoadOptions &options);
};

Model ModelMaker::make(std::shared_ptr<LoadedProgram> loaded,
                       const Archive &archive, const FileRef &file,
                       const LoadOptions &options) {
  Model model;
  fill(*loaded, archive, TensorMaker(archive, file, options), model.parameters,
       model.constants);
  model.loaded = std::move(loaded);
  return model;
}

static Model made(Archive archive, const FileRef &file,
                  const LoadOptions &options, const std::string &name) {
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->name = name;
  loaded->record = std::move(archive.program);
  describe(*loaded);
  return ModelMaker::make(std::move(loaded), archive, file, options);
}

Model modelOf(Archive archive, const LoadOptions &options,
              const std::string &name) {
  return made(std::move(archive), nullptr, options, name);
}

static Model loadBytes(const std::string &name,
                       std::span<const std::byte> bytes, const FileRef &file,
                       const LoadOptions &options, const SourceLine &where) {
  detail::SourceScope scope(where);
  try {
    return made(detail::unwrap(readArchive(bytes, !options.mmap), {}), file,
                options, name);
  } catch (const Error &error) {
    detail::raise(makeError(error.kind(), fmt::format("torch: {}: {}", name,
                                                      error.message())),
                  where);
  }
}

Model load(const std::string &path, const LoadOptions &options,
           std::source_location where) try {
  auto file = std::make_shared<const runtime::MappedFile>(
      detail::unwrap(runtime::MappedFile::open(path), where));
  return loadBytes(path, file->bytes(), file, options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Model load(std::span<const std::byte> bytes, const LoadOptions &options,
           const std::string &name, std::source_location where) try {
  return loadBytes(name, bytes, nullptr, options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::torch

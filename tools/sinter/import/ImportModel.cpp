/// Records imported models as files that every command takes.
#include "tools/sinter/import/ImportModel.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/import/torch/Expressions.h"
#include "runtime/params/Npy.h"
#include "tools/sinter/import/ImportedModel.h"

#include <sinter/Export.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unistd.h>

namespace sinter::cli {

namespace {
/// A file with a name of its own in the temporary folder.
class TemporaryFile {
public:
  static Result<std::shared_ptr<TemporaryFile>> make();
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string path() const { return folder + "/model.sinter"; }

private:
  std::string folder;
};
} // namespace

Result<std::shared_ptr<TemporaryFile>> TemporaryFile::make() {
  std::error_code problem;
  auto file = std::make_shared<TemporaryFile>();
  std::string name =
      (std::filesystem::temp_directory_path(problem) / "sinter-XXXXXX")
          .string();
  if (problem || !mkdtemp(name.data()))
    return makeError(ErrorKind::io, "the temporary folder cannot be written");
  file->folder = std::move(name);
  return file;
}

//===- Inputs -------------------------------------------------------------===//

[[noreturn]] static void refuse(const std::string &what) {
  throw Error(makeError(ErrorKind::invalid_argument, what));
}

/// `NAME=TEXT` of a flag that may stand often.
static std::map<std::string, std::string> pairsOf(const Arguments &arguments,
                                                  const char *flag) {
  std::map<std::string, std::string> pairs;
  for (const std::string &text : arguments.all(flag)) {
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      refuse(fmt::format("{} needs NAME=VALUE, not '{}'", flag, text));
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

static int64_t sizeOf(const std::string &name, const std::string &text) {
  int64_t size = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, size);
  if (error != std::errc() || next != end || size < 0 || size >= 1ll << 31)
    refuse(fmt::format("--size {} needs a size, not '{}'", name, text));
  return size;
}

namespace {
/// What a model is recorded on.
struct Examples {
  std::vector<Tensor> tensors;
  EntryOptions options;
  ImportedModel::NamedTensors constants;
};

/// Sizes that open axes behind the first may have.
struct ExampleSizes {
  int64_t least = 64;
  int64_t step = 0; ///< from one name's to the next one's
};

class ExampleMaker {
public:
  ExampleMaker(const ImportedModel &model, const Arguments &arguments,
               ExampleSizes exampleSizes)
      : model(model), exampleSizes(exampleSizes),
        sizes(pairsOf(arguments, "--size")),
        files(pairsOf(arguments, "--constant")) {}

  Examples make() {
    for (const ImportedInput &input : model.inputs())
      add(input);
    examples.options.outputs = model.outputs();
    for (const auto &[name, text] : sizes)
      refuse(fmt::format("--size {}: no open axis has that name", name));
    for (const auto &[name, path] : files)
      refuse(fmt::format("--constant {}: no input has that name", name));
    return std::move(examples);
  }

private:
  void add(const ImportedInput &input);
  Dim sizeOfAxis(const ImportedInput &input, size_t axis);
  int64_t exampleOf(const ImportedAxis &described, size_t axis) const;
  Dim sizeOfExpression(const ImportedInput &input, size_t axis);
  std::string wordFor(const std::string &name);

  /// An open axis, by the name that the model has for it.
  struct Open {
    std::string word; ///< what a program calls it
    int64_t example = 0;
  };
  const ImportedModel &model;
  const ExampleSizes exampleSizes;
  std::map<std::string, std::string> sizes, files;
  std::map<std::string, int64_t> fixed;
  std::map<std::string, Open> open;
  Examples examples;
};
} // namespace

/// Names of dims are words, one for each name of the model's.
std::string ExampleMaker::wordFor(const std::string &name) {
  std::string word = name;
  for (char &c : word)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  if (std::isdigit(static_cast<unsigned char>(word[0])))
    word = "_" + word;
  while (std::ranges::any_of(
      open, [&](const auto &each) { return each.second.word == word; }))
    word += '_';
  return word;
}

/// A dynamic axis is recorded with an example of its size, which computes
/// nothing, but has to fit what the model does with it: windows, say. Axes of
/// one name have one size.
int64_t ExampleMaker::exampleOf(const ImportedAxis &described,
                                size_t axis) const {
  constexpr int64_t batch = 2;
  int64_t other = exampleSizes.least + int64_t(open.size()) * exampleSizes.step;
  return std::clamp(axis == 0 ? batch : other, described.least,
                    std::max(described.least, described.most));
}

/// An axis that other sizes decide, as `2*s0 + 1`: a number, of which these
/// have to be numbers, too.
Dim ExampleMaker::sizeOfExpression(const ImportedInput &input, size_t axis) {
  const std::string &text = (*input.shape)[axis].name;
  std::map<std::string, int64_t, std::less<>> known(fixed.begin(), fixed.end());
  for (const std::string &symbol : torch::symbolsOf(text))
    if (auto found = sizes.find(symbol); found != sizes.end())
      known[symbol] = sizeOf(symbol, found->second);
  std::optional<int64_t> size = torch::evaluate(text, known);
  if (!size || *size < 0)
    throw Error(makeError(
        ErrorKind::unsupported,
        fmt::format("{}: dynamic '{}': axis {} of '{}' is {}, which is not "
                    "kept open",
                    model.name(), text, axis, input.name, text)));
  return *size;
}

Dim ExampleMaker::sizeOfAxis(const ImportedInput &input, size_t axis) {
  const ImportedAxis &described = (*input.shape)[axis];
  if (described.size)
    return *described.size;
  bool isExpression = !torch::isSymbol(described.name) &&
                      !torch::symbolsOf(described.name).empty() &&
                      model.name().ends_with(".pt2");
  if (isExpression)
    return sizeOfExpression(input, axis);
  // Some exporters name what they do not know `?`.
  bool isNamed = std::ranges::any_of(
      described.name, [](unsigned char c) { return std::isalnum(c); });
  std::string name =
      isNamed ? described.name : fmt::format("{}.{}", input.name, axis);
  if (auto found = fixed.find(name); found != fixed.end())
    return found->second;
  for (const std::string &called : {name, wordFor(name)})
    if (auto found = sizes.find(called); found != sizes.end()) {
      fixed[name] = sizeOf(called, found->second);
      sizes.erase(found);
      return fixed[name];
    }
  if (!open.contains(name)) {
    Open made{wordFor(name), exampleOf(described, axis)};
    open.emplace(name, std::move(made));
  }
  const Open &found = open.at(name);
  examples.options.dynamic.push_back(
      fmt::format("{}:{}={}", input.name, axis, found.word));
  return found.example;
}

/// Also of dtypes that are stored only.
static Tensor zerosOf(DType dtype, const Dims &dims) {
  if (isComputable(dtype))
    return zeros(dims, {dtype, {}});
  size_t bytes = byteWidth(dtype);
  for (Dim dim : dims)
    bytes *= size_t(dim.value);
  return detail::leafOf(std::vector<std::byte>(bytes), dtype, dims, {}, {});
}

void ExampleMaker::add(const ImportedInput &input) {
  if (auto found = files.find(input.name); found != files.end()) {
    runtime::HostArray array =
        detail::unwrap(runtime::readNpy(found->second), {});
    Dims dims(array.dims.begin(), array.dims.end());
    examples.constants[input.name] =
        detail::leafOf(array.bytes, array.dtype, dims, {}, {});
    files.erase(found);
    return;
  }
  if (!input.dtype || !input.shape)
    throw Error(
        makeError(ErrorKind::unsupported,
                  fmt::format("{}: input '{}' is {}; inputs of programs are "
                              "tensors of known rank",
                              model.name(), input.name, input.type)));
  Dims dims;
  for (size_t axis = 0; axis < input.shape->size(); ++axis)
    dims.push_back(sizeOfAxis(input, axis));
  examples.tensors.push_back(zerosOf(*input.dtype, dims));
  examples.options.inputs.push_back(input.name);
}

//===- Recording ----------------------------------------------------------===//

static ModelExport recordedOn(const ImportedModel &model, Examples examples) {
  std::vector<std::string> names = examples.options.inputs;
  std::vector<std::string> wanted = examples.options.outputs;
  auto record = [&](const std::vector<Tensor> &inputs) {
    ImportedModel::NamedTensors given = examples.constants;
    for (size_t i = 0; i < inputs.size(); ++i)
      given[names[i]] = inputs[i];
    ImportedModel::NamedTensors results = model.run(given);
    std::vector<Tensor> outputs;
    for (const std::string &name : wanted)
      outputs.push_back(results.at(name));
    return outputs;
  };
  ModelExport file;
  model.nameParameters(file);
  file.add("main", record, examples.tensors, examples.options);
  return file;
}

/// Whether an axis cannot be open, or not as it is.
static bool namesAxis(const Error &error) {
  return error.message().find("dynamic '") != std::string::npos;
}

static ModelExport recorded(const std::string &path,
                            const Arguments &arguments) {
  ImportedModel model = ImportedModel::load(path);
  // Sizes that differ show that axes are apart; some models want them equal,
  // or longer than a window.
  constexpr ExampleSizes tried[] = {{64, 32}, {64, 0}, {512, 32}, {4096, 0}};
  std::exception_ptr told;
  bool namesOne = false;
  for (ExampleSizes sizes : tried) {
    Examples examples = ExampleMaker(model, arguments, sizes).make();
    bool isOpen = !examples.options.dynamic.empty();
    try {
      return recordedOn(model, std::move(examples));
    } catch (const Error &error) {
      if (!isOpen || error.kind() != ErrorKind::invalid_argument)
        throw;
      // What can be mended says more than a size that did not fit.
      if (told && (namesOne || !namesAxis(error)))
        continue;
      told = std::current_exception();
      namesOne = namesAxis(error);
    }
  }
  std::rethrow_exception(told);
}

/// What goes wrong, with what the command line can do about it.
static ErrorInfo infoOf(const Error &error) {
  ErrorInfo info = makeError(error.kind(), error.message());
  if (namesAxis(error))
    info.message += "; --size NAME=N sets it";
  return info;
}

Result<Model> importModel(const std::string &path, const Arguments &arguments) {
  SINTER_TRY_ASSIGN(std::shared_ptr<TemporaryFile> file, TemporaryFile::make());
  try {
    recorded(path, arguments).write(file->path());
  } catch (const Error &error) {
    return infoOf(error);
  }
  Model model;
  model.path = file->path();
  model.compiled = true;
  model.imported = std::move(file);
  return model;
}

Status writeModelAsCpp(const std::string &path, const Arguments &arguments,
                       const std::string &output) {
  try {
    recorded(path, arguments).write_cpp(output);
  } catch (const Error &error) {
    ErrorInfo info = infoOf(error);
    info.site = error.site_id(); // a node of the model
    return info;
  }
  return {};
}

} // namespace sinter::cli

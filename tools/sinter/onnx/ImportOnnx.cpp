/// Records ONNX models as files that every command takes.
#include "tools/sinter/onnx/ImportOnnx.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "runtime/params/Npy.h"

#include <sinter/Export.h>
#include <sinter/Onnx.h>

#include <array>
#include <charconv>
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
  onnx::NamedTensors constants;
};

class ExampleMaker {
public:
  ExampleMaker(const onnx::Model &model, const Arguments &arguments)
      : model(model), sizes(pairsOf(arguments, "--size")),
        files(pairsOf(arguments, "--constant")) {}

  Examples make() {
    for (const onnx::ValueInfo &input : model.inputs())
      add(input);
    for (const onnx::ValueInfo &output : model.outputs())
      examples.options.outputs.push_back(output.name);
    for (const auto &[name, text] : sizes)
      refuse(fmt::format("--size {}: no open axis has that name", name));
    for (const auto &[name, path] : files)
      refuse(fmt::format("--constant {}: no input has that name", name));
    return std::move(examples);
  }

private:
  void add(const onnx::ValueInfo &input);
  Dim sizeOfAxis(const onnx::ValueInfo &input, size_t axis);

  const onnx::Model &model;
  std::map<std::string, std::string> sizes, files;
  std::map<std::string, int64_t> fixed;
  Examples examples;
};
} // namespace

/// A dynamic axis is recorded with an example of its size, which computes
/// nothing, but has to fit what the model does with it: windows, say.
Dim ExampleMaker::sizeOfAxis(const onnx::ValueInfo &input, size_t axis) {
  const onnx::Axis &described = (*input.shape)[axis];
  if (described.size && *described.size >= 0)
    return *described.size;
  std::string name = described.name.empty()
                         ? fmt::format("{}.{}", input.name, axis)
                         : described.name;
  if (auto found = fixed.find(name); found != fixed.end())
    return found->second;
  if (auto found = sizes.find(name); found != sizes.end()) {
    fixed[name] = sizeOf(name, found->second);
    sizes.erase(found);
    return fixed[name];
  }
  examples.options.dynamic.push_back(
      fmt::format("{}:{}={}", input.name, axis, name));
  constexpr int64_t batch = 2, other = 64;
  return axis == 0 ? batch : other;
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

void ExampleMaker::add(const onnx::ValueInfo &input) {
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
    throw Error(makeError(
        ErrorKind::unsupported,
        fmt::format("onnx: {}: input '{}' is {}; inputs of programs are "
                    "tensors of known rank",
                    model.name(), input.name, input.type)));
  Dims dims;
  for (size_t axis = 0; axis < input.shape->size(); ++axis)
    dims.push_back(sizeOfAxis(input, axis));
  examples.tensors.push_back(zerosOf(*input.dtype, dims));
  examples.options.inputs.push_back(input.name);
}

//===- Recording ----------------------------------------------------------===//

static ModelExport recorded(const std::string &path,
                            const Arguments &arguments) {
  onnx::Model model = onnx::load(path);
  model.eval();
  Examples examples = ExampleMaker(model, arguments).make();
  std::vector<std::string> names = examples.options.inputs;
  auto record = [&](const std::vector<Tensor> &inputs) {
    onnx::NamedTensors given = examples.constants;
    for (size_t i = 0; i < inputs.size(); ++i)
      given[names[i]] = inputs[i];
    onnx::NamedTensors results = model.run(given);
    std::vector<Tensor> outputs;
    for (const onnx::ValueInfo &info : model.outputs())
      outputs.push_back(results.at(info.name));
    return outputs;
  };
  ModelExport file;
  file.name(model);
  file.add("main", record, examples.tensors, examples.options);
  return file;
}

/// What goes wrong, with what the command line can do about it.
static ErrorInfo infoOf(const Error &error) {
  ErrorInfo info = makeError(error.kind(), error.message());
  if (error.message().find("dynamic '") != std::string::npos)
    info.message += "; --size NAME=N sets it";
  return info;
}

Result<Model> importOnnx(const std::string &path, const Arguments &arguments) {
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

Status writeOnnxAsCpp(const std::string &path, const Arguments &arguments,
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

/// Cases laid out as in the ONNX backend suite.
#include "tools/sinter/OnnxCases.h"

#include "frontend/Raise.h"
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Json.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Jit.h>
#include <sinter/Onnx.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>

namespace sinter::cli {

namespace fs = std::filesystem;
using runtime::json::Kind;

void Counts::add(Verdict verdict) {
  passed += verdict == Verdict::passed;
  failed += verdict == Verdict::failed;
  unsupported += verdict == Verdict::unsupported;
}

//===- Finding ------------------------------------------------------------===//

static bool isThere(const fs::path &path) {
  std::error_code code;
  return fs::exists(path, code);
}

static std::optional<runtime::json::Value> readJson(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto value = runtime::json::parse(text);
  if (value)
    return std::move(*value);
  ErrorInfo error = value.takeError();
  error.message = path.string() + ": " + error.message;
  detail::raise(std::move(error), {});
}

static std::string textOf(const runtime::json::Value &object,
                          std::string_view key) {
  const runtime::json::Value *found = object.find(key);
  return found && found->is(Kind::string) ? found->string : "";
}

static void readTolerance(const runtime::json::Value &object, OnnxCase &one) {
  auto number = [&](const char *key, double &to) {
    const runtime::json::Value *found = object.find(key);
    if (found && (found->is(Kind::number) || found->is(Kind::unsignedInteger)))
      to = found->number;
  };
  number("rtol", one.rtol);
  number("atol", one.atol);
}

static OnnxCase caseIn(const fs::path &folder) {
  OnnxCase one;
  one.id = folder.filename().string();
  one.folder = folder.string();
  if (auto info = readJson(folder / "info.json"))
    readTolerance(*info, one);
  return one;
}

/// What `index.json` says of cases, by their names.
static void readIndex(const fs::path &folder, std::vector<OnnxCase> &cases) {
  auto index = readJson(folder / "index.json");
  if (!index)
    return;
  const runtime::json::Value *list =
      index->is(Kind::object) ? index->find("cases") : &*index;
  if (!list)
    return;
  std::map<std::string, const runtime::json::Value *> byId;
  for (const runtime::json::Value &entry : list->elements)
    byId[textOf(entry, "id")] = &entry;
  for (OnnxCase &one : cases) {
    auto found = byId.find(one.id);
    if (found == byId.end())
      continue;
    one.op = textOf(*found->second, "op");
    one.comparesValues = textOf(*found->second, "check") != "shape";
  }
}

std::vector<OnnxCase> findOnnxCases(const std::string &folder) {
  fs::path root(folder);
  std::vector<OnnxCase> cases;
  if (isThere(root / "model.onnx")) {
    cases.push_back(caseIn(fs::path(folder).lexically_normal()));
    return cases;
  }
  std::error_code code;
  for (fs::directory_iterator entry(root, code), end; !code && entry != end;
       entry.increment(code))
    if (isThere(entry->path() / "model.onnx"))
      cases.push_back(caseIn(entry->path()));
  if (code || cases.empty())
    throw Error(makeError(ErrorKind::io,
                          folder + ": no folder with a model.onnx in it"));
  std::ranges::sort(cases, {}, &OnnxCase::id);
  readIndex(root, cases);
  return cases;
}

//===- Tensors in files ---------------------------------------------------===//

namespace {
/// What a file holds, with its own name.
struct Stored {
  std::string name;
  onnx::Content content;
};
} // namespace

[[noreturn]] static void unsupported(const std::string &what) {
  throw Error(makeError(ErrorKind::unsupported, what));
}

/// Whether an input or output is a sequence, or an optional.
static bool isOfTensors(const onnx::ValueInfo &info) {
  return info.type.starts_with("sequence(") ||
         info.type.starts_with("optional(");
}

/// Whether a file has the bits of floats of `wanted` as integers: cases that
/// are older than such floats of NumPy do.
static bool holdsBits(DType stored, DType wanted) {
  bool isUnsigned = stored == DType::u8 || stored == DType::u16;
  return isUnsigned && isFloat(wanted) &&
         byteWidth(stored) == byteWidth(wanted);
}

/// `wanted` is what the model says.
static Tensor tensorOf(const onnx::TensorRecord &record, const fs::path &path,
                       std::optional<DType> wanted, DeviceId device) {
  std::optional<DType> dtype = onnx::computedAs(record.type);
  if (dtype && wanted && holdsBits(*dtype, *wanted))
    dtype = wanted;
  if (!dtype)
    unsupported(fmt::format("{} holds {}", path.filename().string(),
                            onnx::elementName(record.type)));
  onnx::ExternalFiles none;
  onnx::TensorBytes elements = onnx::elementsOf(record, none);
  Dims dims(record.dims.begin(), record.dims.end());
  return from_bytes(elements.bytes, *dtype, dims, {{}, device});
}

/// A file of the type that the model says.
static Stored readStored(const fs::path &path, const onnx::ValueInfo &info,
                         DeviceId device) {
  auto file = detail::unwrap(runtime::MappedFile::open(path.string()), {});
  std::optional<std::vector<onnx::TensorRecord>> list;
  std::optional<onnx::TensorRecord> one;
  if (info.type.starts_with("sequence("))
    list = onnx::readSequence(file.bytes());
  else if (info.type.starts_with("optional(sequence("))
    list = onnx::readOptionalSequence(file.bytes());
  else if (info.type.starts_with("optional("))
    one = onnx::readOptional(file.bytes());
  else
    one = onnx::readTensor(file.bytes());
  if (one)
    return {one->name, tensorOf(*one, path, info.dtype, device)};
  if (!list)
    return {};
  std::vector<Tensor> tensors;
  for (const onnx::TensorRecord &each : *list)
    tensors.push_back(tensorOf(each, path, info.dtype, device));
  return {{}, tensors};
}

/// As many inputs as the model has, in its order; a file that names one of
/// them belongs to that.
static onnx::NamedContents readInputs(const onnx::Model &model,
                                      const fs::path &folder, DeviceId device) {
  onnx::NamedContents inputs;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const onnx::ValueInfo &info = model.inputs()[i];
    fs::path path = folder / fmt::format("input_{}.pb", i);
    if (!info.dtype && !isOfTensors(info))
      unsupported(fmt::format("input '{}' is {}", info.name, info.type));
    if (!isThere(path))
      continue;
    Stored stored = readStored(path, info, device);
    bool isNamed = std::ranges::count(model.inputs(), stored.name,
                                      &onnx::ValueInfo::name) > 0;
    inputs[isNamed ? stored.name : info.name] = stored.content;
  }
  return inputs;
}

onnx::NamedTensors readCaseInputs(const OnnxCase &one, const onnx::Model &model,
                                  DeviceId device) {
  onnx::NamedTensors tensors;
  for (auto &[name, content] :
       readInputs(model, fs::path(one.folder) / "test_data_set_0", device)) {
    const auto *tensor = std::get_if<Tensor>(&content);
    if (!tensor)
      unsupported(fmt::format("input '{}' is no tensor", name));
    tensors[name] = *tensor;
  }
  return tensors;
}

//===- Comparing ----------------------------------------------------------===//

static std::string typeOf(const Tensor &tensor) {
  return graph::typeString(*tensor.node());
}

/// What is wrong with `got`; empty when nothing is.
static std::string differenceOfReals(const Tensor &got, const Tensor &want,
                                     double rtol, double atol,
                                     CaseResult &result) {
  std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    // Any difference is within a tolerance of infinity.
    bool isClose = std::isfinite(a[i]) && std::isfinite(b[i]) &&
                   std::fabs(a[i] - b[i]) <= atol + rtol * std::fabs(b[i]);
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      result.largestDifference =
          std::max(result.largestDifference, std::fabs(a[i] - b[i]));
      result.largestValue = std::max(result.largestValue, std::fabs(b[i]));
    }
    if (!isSame && !isClose)
      return fmt::format("element {} is {}, not {}", i, a[i], b[i]);
  }
  return {};
}

static std::string difference(const OnnxCase &one, const Tensor &got,
                              const Tensor &want, CaseResult &result) {
  if (typeOf(got) != typeOf(want))
    return fmt::format("{}, not {}", typeOf(got), typeOf(want));
  if (!one.comparesValues)
    return {};
  if (isFloat(want.dtype())) {
    // One unit of bf16's last place is 2^-7 of the number at most.
    double rtol = want.dtype() == DType::bf16  ? 1e-2
                  : want.dtype() == DType::f16 ? 5e-3
                                               : 0;
    return differenceOfReals(got, want, std::max(one.rtol, rtol),
                             std::max(one.atol, rtol == 0 ? 0 : 1e-3), result);
  }
  std::vector<int64_t> a = got.to_vector<int64_t>();
  std::vector<int64_t> b = want.to_vector<int64_t>();
  auto [at, other] = std::ranges::mismatch(a, b);
  return at == a.end() ? std::string()
                       : fmt::format("element {} is {}, not {}", at - a.begin(),
                                     *at, *other);
}

static std::vector<Tensor> tensorsIn(const onnx::Content &content) {
  if (const auto *tensor = std::get_if<Tensor>(&content))
    return {*tensor};
  const auto *list = std::get_if<std::vector<Tensor>>(&content);
  return list ? *list : std::vector<Tensor>();
}

static std::string difference(const OnnxCase &one, const onnx::Content &got,
                              const onnx::Content &want, CaseResult &result) {
  std::vector<Tensor> a = tensorsIn(got), b = tensorsIn(want);
  if (got.index() != want.index() || a.size() != b.size())
    return "another kind, or number, of tensors";
  for (size_t i = 0; i < a.size(); ++i)
    if (std::string why = difference(one, a[i], b[i], result); !why.empty())
      return why;
  return {};
}

/// The outputs, by name, computed; what they are holds tensors.
template <typename Outputs> static Outputs computed(Outputs outputs) {
  std::vector<Tensor> all;
  for (const auto &[name, content] : outputs)
    for (const Tensor &tensor : tensorsIn(content))
      all.push_back(tensor);
  eval(std::span<const Tensor>(all));
  return outputs;
}

/// How many outputs were compared.
static size_t runSet(const OnnxCase &one, const onnx::Model &model,
                     const fs::path &folder, DeviceId device,
                     CaseResult &result) {
  onnx::NamedContents outputs =
      computed(model.run_contents(readInputs(model, folder, device)));
  size_t numCompared = 0;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    const onnx::ValueInfo &info = model.outputs()[i];
    const std::string &name = info.name;
    fs::path path = folder / fmt::format("output_{}.pb", i);
    if (!isThere(path))
      continue;
    ++numCompared;
    std::string why = difference(
        one, outputs.at(name), readStored(path, info, device).content, result);
    if (why.empty())
      continue;
    result.verdict = Verdict::failed;
    result.why = fmt::format("{}, output '{}': {}", folder.filename().string(),
                             name, why);
    break;
  }
  return numCompared;
}

static std::string firstOperator(const fs::path &path) {
  auto file = detail::unwrap(runtime::MappedFile::open(path.string()), {});
  onnx::ModelRecord record = onnx::readModel(file.bytes());
  return record.graph.nodes.empty() ? "" : record.graph.nodes[0].op;
}

CaseResult runOnnxCase(const OnnxCase &one, DeviceId device) {
  CaseResult result;
  result.op = one.op;
  fs::path folder(one.folder);
  try {
    if (result.op.empty())
      result.op = firstOperator(folder / "model.onnx");
    onnx::Model model = onnx::load((folder / "model.onnx").string(),
                                   {.device = device, .mmap = true});
    for (const onnx::ValueInfo &output : model.outputs())
      if (!output.dtype && !output.type.starts_with('?') &&
          !isOfTensors(output))
        unsupported(fmt::format("output '{}' is {}", output.name, output.type));
    size_t numCompared = 0;
    for (int set = 0; result.verdict == Verdict::passed; ++set) {
      fs::path data = folder / fmt::format("test_data_set_{}", set);
      if (!isThere(data))
        break;
      numCompared += runSet(one, model, data, device, result);
    }
    if (numCompared == 0) {
      result.verdict = Verdict::failed;
      result.why = "there is no output to compare with";
    }
  } catch (const Error &error) {
    bool isKnown = error.kind() == ErrorKind::unsupported;
    result.verdict = isKnown ? Verdict::unsupported : Verdict::failed;
    result.why = error.message();
  }
  return result;
}

//===- Times --------------------------------------------------------------===//

/// A run on the first set. What it records is kept, as where one serves a
/// model, unless the model computes shapes from values, which each run has to
/// read.
static std::function<void()> callOf(const OnnxCase &one,
                                    const onnx::Model &model, DeviceId device) {
  fs::path data = fs::path(one.folder) / "test_data_set_0";
  onnx::NamedContents contents = readInputs(model, data, device);
  onnx::NamedTensors inputs;
  for (const auto &[name, content] : contents)
    if (const auto *tensor = std::get_if<Tensor>(&content))
      inputs[name] = *tensor;
  auto kept = jit([&model](const onnx::NamedTensors &given) {
    no_grad inference;
    return model.run(given);
  });
  auto keptOrNot = [=, &model,
                    isKept = inputs.size() == contents.size()]() mutable {
    try {
      if (isKept) {
        computed(kept(inputs));
        return;
      }
    } catch (const Error &) {
      isKept = false;
    }
    no_grad inference;
    computed(model.run_contents(contents));
  };
  return keptOrNot;
}

CaseTimes timeOnnxCase(const OnnxCase &one, DeviceId device, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto millisecondsSince = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin)
        .count();
  };
  fs::path folder(one.folder);
  CaseTimes times;
  Clock::time_point begin = Clock::now();
  onnx::Model model = onnx::load((folder / "model.onnx").string(),
                                 {.device = device, .mmap = true});
  times.load = millisecondsSince(begin);
  std::function<void()> call = callOf(one, model, device);
  auto run = [&] {
    Clock::time_point start = Clock::now();
    call();
    synchronize(device);
    return millisecondsSince(start);
  };
  times.first = run();
  std::vector<double> later;
  for (begin = Clock::now();
       later.size() < 3 || millisecondsSince(begin) < seconds * 1e3;)
    later.push_back(run());
  times.runs = int(later.size());
  auto middle = later.begin() + std::ptrdiff_t(later.size() / 2);
  std::ranges::nth_element(later, middle);
  times.later = *middle;
  return times;
}

} // namespace sinter::cli

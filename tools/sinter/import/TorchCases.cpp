/// Runs PyTorch programs on stored inputs.
#include "tools/sinter/import/TorchCases.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Json.h"
#include "runtime/params/Safetensors.h"

#include <sinter/BasicOps.h>
#include <sinter/Complex.h>
#include <sinter/Torch.h>
#include <sinter/optim/Sgd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace sinter::cli {

namespace fs = std::filesystem;
namespace json = runtime::json;

std::vector<TorchCase> findTorchCases(const std::string &folder) {
  auto isCase = [](const fs::path &path) {
    std::error_code code;
    return fs::exists(path / "model.pt2", code);
  };
  fs::path root = fs::path(folder).lexically_normal();
  if (isCase(root))
    return {{root.filename().string(), root.string()}};
  std::vector<TorchCase> cases;
  std::error_code code;
  for (fs::directory_iterator entry(root, code), end; !code && entry != end;
       entry.increment(code))
    if (isCase(entry->path()))
      cases.push_back(
          {entry->path().filename().string(), entry->path().string()});
  std::ranges::sort(cases, {}, &TorchCase::id);
  return cases;
}

//===- What a case says ---------------------------------------------------===//

namespace {
/// A failure of the case, not of the program.
struct Mismatch {
  std::string why;
};

class TorchCaseRunner {
public:
  TorchCaseRunner(const TorchCase &one, DeviceId device)
      : folder(one.folder), device(device) {}
  CaseResult run();

private:
  void read();
  std::string textOf(const char *key) const;
  double numberOf(const json::Value *value, double otherwise) const;
  std::optional<Tensor> stored(const std::string &name) const;
  torch::NamedTensors inputsOf(const torch::Model &model,
                               const std::string &set) const;
  std::vector<std::string> outputNames(const torch::Model &model) const;
  void runSet(const torch::Model &model, const std::string &set);
  void train(torch::Model &model, const json::Value &description);
  void compareBuffers(const torch::Model &model);
  void compare(const std::string &name, const Tensor &got, const Tensor &want);
  void compareReals(const std::string &name, const Tensor &got,
                    const Tensor &want);

  fs::path folder;
  DeviceId device;
  json::Value info;
  std::optional<runtime::SafetensorsFile> file;
  CaseResult result;
  double rtol = 1e-4;
  bool comparesValues = true;
};
} // namespace

void TorchCaseRunner::read() {
  auto bytes = detail::unwrap(
      runtime::MappedFile::open((folder / "case.json").string()), {});
  info = detail::unwrap(
      json::parse({reinterpret_cast<const char *>(bytes.bytes().data()),
                   bytes.bytes().size()}),
      {});
  std::string values = (folder / "case.safetensors").string();
  std::error_code code;
  if (fs::exists(values, code))
    file = detail::unwrap(runtime::SafetensorsFile::open(values), {});
  rtol = numberOf(info.find("rtol"), rtol);
  comparesValues = textOf("expect") != "shapes";
}

std::string TorchCaseRunner::textOf(const char *key) const {
  const json::Value *found = info.find(key);
  return found && found->is(json::Kind::string) ? found->string : "";
}

double TorchCaseRunner::numberOf(const json::Value *value,
                                 double otherwise) const {
  bool isNumber = value && (value->is(json::Kind::number) ||
                            value->is(json::Kind::unsignedInteger));
  return isNumber ? value->number : otherwise;
}

std::optional<Tensor> TorchCaseRunner::stored(const std::string &name) const {
  const runtime::NamedTensor *found = file ? file->find(name) : nullptr;
  if (!found)
    return std::nullopt;
  Dims dims(found->shape.begin(), found->shape.end());
  return detail::leafOf(found->data, found->dtype, dims, {{}, device}, {});
}

/// Those that the program has; what it was exported for is none of them.
torch::NamedTensors TorchCaseRunner::inputsOf(const torch::Model &model,
                                              const std::string &set) const {
  torch::NamedTensors inputs;
  const json::Value *list = info.find("inputs");
  for (size_t i = 0; list && i < list->elements.size(); ++i) {
    const json::Value *name = list->elements[i].find("name");
    bool isInput = name && std::ranges::count(model.inputs(), name->string,
                                              &torch::ValueInfo::name) > 0;
    std::optional<Tensor> value = stored(fmt::format("{}.{}", set, i));
    if (isInput && value)
      inputs.emplace(name->string, *value);
  }
  return inputs;
}

/// Of every output of the file its name here; empty of what is None.
std::vector<std::string>
TorchCaseRunner::outputNames(const torch::Model &model) const {
  std::vector<std::string> names;
  const json::Value *list = info.find("outputs");
  size_t next = 0;
  for (size_t i = 0; list && i < list->elements.size(); ++i) {
    const json::Value *kind = list->elements[i].find("kind");
    bool isNone = kind && (kind->string == "none" || kind->string == "string");
    if (!isNone && next >= model.outputs().size())
      throw Mismatch{"less outputs than the case has"};
    names.push_back(isNone ? "" : model.outputs()[next++].name);
  }
  return names;
}

//===- Comparing ----------------------------------------------------------===//

static std::string typeOf(const Tensor &tensor) {
  return graph::typeString(*tensor.node());
}

void TorchCaseRunner::compareReals(const std::string &name, const Tensor &got,
                                   const Tensor &want) {
  std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  double largest = 0;
  for (double each : b)
    if (std::isfinite(each))
      largest = std::max(largest, std::fabs(each));
  for (size_t i = 0; i < a.size(); ++i) {
    bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (isSame)
      continue;
    double off = std::fabs(a[i] - b[i]);
    if (std::isfinite(off))
      result.largestDifference = std::max(result.largestDifference, off);
    result.largestValue = std::max(result.largestValue, largest);
    if (!(off <= rtol * largest))
      throw Mismatch{fmt::format("{}: element {} is {}, not {} (of {})", name,
                                 i, a[i], b[i], largest)};
  }
}

void TorchCaseRunner::compare(const std::string &name, const Tensor &got,
                              const Tensor &want) {
  bool isComplex = got.dtype() == DType::c64 || got.dtype() == DType::c128;
  if (isComplex && want.dtype() == DType::c64)
    return compare(name, view_as_real(got).to(DType::f32), view_as_real(want));
  if (typeOf(got) != typeOf(want))
    throw Mismatch{
        fmt::format("{}: {}, not {}", name, typeOf(got), typeOf(want))};
  if (!comparesValues)
    return;
  if (isFloat(want.dtype()))
    return compareReals(name, got, want);
  std::vector<int64_t> a = got.to_vector<int64_t>();
  std::vector<int64_t> b = want.to_vector<int64_t>();
  auto [at, other] = std::ranges::mismatch(a, b);
  if (at != a.end())
    throw Mismatch{fmt::format("{}: element {} is {}, not {}", name,
                               at - a.begin(), *at, *other)};
}

//===- Running ------------------------------------------------------------===//

void TorchCaseRunner::runSet(const torch::Model &model,
                             const std::string &set) {
  std::string in = "in" + set, out = "out" + set;
  torch::NamedTensors given = inputsOf(model, in);
  torch::NamedTensors outputs = model.run(given);
  std::vector<Tensor> all;
  for (const auto &[name, tensor] : outputs)
    all.push_back(tensor);
  eval(std::span<const Tensor>(all));
  std::vector<std::string> names = outputNames(model);
  for (size_t i = 0; i < names.size(); ++i)
    if (std::optional<Tensor> want = stored(fmt::format("{}.{}", out, i)))
      compare(fmt::format("output '{}'", names[i]), outputs.at(names[i]),
              *want);
  if (!set.empty())
    return;
  for (const auto &[name, tensor] : given)
    if (std::optional<Tensor> want = stored("mutated." + name)) {
      auto found = outputs.find(name);
      if (found == outputs.end())
        throw Mismatch{fmt::format("input '{}' is not among the outputs, "
                                   "though it changes",
                                   name)};
      compare(fmt::format("changed input '{}'", name), found->second, *want);
    }
}

void TorchCaseRunner::train(torch::Model &model,
                            const json::Value &description) {
  std::optional<Tensor> target = stored("target"), wanted = stored("loss");
  if (!target || !wanted)
    throw Mismatch{"the case has no target or no loss"};
  auto output = size_t(numberOf(description.find("output"), 0));
  std::string name = outputNames(model).at(output);
  optim::Sgd optimizer({.lr = numberOf(description.find("rate"), 0.01)});
  torch::NamedTensors given = inputsOf(model, "in");
  std::vector<double> losses = wanted->to_vector<double>();
  for (size_t step = 0; step < losses.size(); ++step) {
    Tensor difference = model.run(given).at(name) - *target;
    Tensor loss = mean(difference * difference);
    optimizer.step(model, loss.backward());
    double got = loss.item<double>();
    result.largestDifference =
        std::max(result.largestDifference, std::fabs(got - losses[step]));
    result.largestValue = std::max(result.largestValue, losses[step]);
    if (!(std::fabs(got - losses[step]) <= rtol * std::fabs(losses[step])))
      throw Mismatch{fmt::format("the loss of step {} is {}, not {}", step, got,
                                 losses[step])};
  }
}

void TorchCaseRunner::compareBuffers(const torch::Model &model) {
  detail::Fields fields = detail::fieldsOf(model);
  for (const auto &[path, param] : fields.params)
    if (std::optional<Tensor> want = stored("after." + path))
      compare(fmt::format("'{}' after all", path), param->tensor(), *want);
}

CaseResult TorchCaseRunner::run() {
  try {
    read();
    torch::Model model =
        torch::load((folder / "model.pt2").string(), {.device = device});
    if (textOf("expect") == "refused")
      throw Mismatch{"it was to be refused: " + textOf("reason")};
    const json::Value *description = info.find("train");
    if (description) {
      train(model, *description);
    } else {
      runSet(model, "");
      for (int set = 1; set < int(numberOf(info.find("sets"), 1)); ++set)
        runSet(model, std::to_string(set));
    }
    compareBuffers(model);
  } catch (const Mismatch &mismatch) {
    result.verdict = Verdict::failed;
    result.why = mismatch.why;
  } catch (const Error &error) {
    bool isLacking = error.kind() == ErrorKind::unsupported;
    result.verdict = isLacking ? Verdict::unsupported : Verdict::failed;
    if (isLacking && textOf("expect") == "refused")
      result.verdict = Verdict::passed;
    result.why = error.message();
  }
  return result;
}

CaseResult runTorchCase(const TorchCase &one, DeviceId device) {
  CaseResult result = TorchCaseRunner(one, device).run();
  result.op = one.id;
  return result;
}

} // namespace sinter::cli

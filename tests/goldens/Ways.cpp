/// Running golden cases: recorded by the frontend, evaluated in several ways.
#include "tests/goldens/Ways.h"

#include "runtime/device/Device.h"
#include "runtime/reference/HostValue.h"
#include "tests/goldens/Ops.h"
#include "tests/goldens/torch/TorchCall.h"
#include "tests/property/Compiled.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

namespace sinter::goldens {

using runtime::NamedTensor;
using runtime::SafetensorsFile;

namespace {

/// A case recorded: its outputs, then the gradients that it has.
struct Recording {
  std::vector<std::string> names; ///< in the file: `out.y`, `grad.x`
  std::vector<Tensor> tensors;
};

/// One case and its file.
class Runner {
public:
  Runner(const Case &golden, const SafetensorsFile &file)
      : golden(golden), file(file) {}

  Outcome run();

private:
  static std::string attempt(const std::string &way,
                             const std::function<std::string()> &run);
  Recording record(const std::set<size_t> &cuts = {});
  Values valuesOf(const Values &inputs, const std::set<size_t> &cuts);
  void addGradients(Recording &recording, const Values &inputs,
                    const Values &values);
  std::set<size_t> drawCuts(std::mt19937_64 &random) const;
  std::string fused();
  std::string unfused(uint8_t numerics);
  std::string cut(uint64_t seed);
  std::string compare(const Recording &recording);
  std::string difference(const std::string &name, const Dims &shape,
                         const std::vector<double> &got) const;
  bool isProgram() const { return golden.category == "program"; }

  const Case &golden;
  const SafetensorsFile &file;
};

} // namespace

static Tensor leafOf(const NamedTensor &tensor) {
  return from_bytes(tensor.data, tensor.dtype,
                    Dims(tensor.shape.begin(), tensor.shape.end()));
}

/// The gradients of L = sum over outputs of sum(cot * out), by the inputs or
/// what the rule has in their place: parameters of modules.
void Runner::addGradients(Recording &recording, const Values &inputs,
                          const Values &values) {
  Tensor total;
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const NamedTensor *cotangent = file.find("cot." + golden.outputs[i]);
    if (!cotangent)
      continue;
    Tensor part = sum(recording.tensors[i] * leafOf(*cotangent));
    total = total.defined() ? total + part : part;
  }
  std::vector<Tensor> wrt;
  for (const std::string &name : golden.gradients) {
    // An output may have the name of an input.
    bool isOutput = std::ranges::count(golden.outputs, name) != 0;
    auto own = isOutput ? values.end() : values.find(name);
    wrt.push_back(own != values.end() ? own->second
                                      : inputs.find(name)->second);
    recording.names.push_back("grad." + name);
  }
  if (wrt.empty())
    return;
  if (!total.defined())
    throw Error(
        {ErrorKind::io, golden.id + ": gradients of no cotangent", "", {}, 0});
  // What depends on no input in a way that has a derivative is constant.
  if (!total.requires_grad()) {
    for (const Tensor &input : wrt)
      recording.tensors.push_back(zeros_like(input));
    return;
  }
  for (Tensor &gradient : grad(total, wrt))
    recording.tensors.push_back(std::move(gradient));
}

Values Runner::valuesOf(const Values &inputs, const std::set<size_t> &cuts) {
  if (isTorchCall(golden))
    return recordTorch(golden, inputs);
  std::optional<Values> values = isProgram()
                                     ? recordProgram(golden, inputs, cuts)
                                     : recordSingle(golden, inputs);
  if (!values)
    refuse(golden.op + ": there is no such op, or not with these attributes");
  return std::move(*values);
}

Recording Runner::record(const std::set<size_t> &cuts) {
  Values inputs;
  for (const std::string &name : golden.inputs)
    inputs.emplace(name, leafOf(*file.find("in." + name)));
  for (const std::string &name : golden.gradients)
    inputs.find(name)->second.require_grad();
  Values values = valuesOf(inputs, cuts);
  Recording recording;
  for (const std::string &name : golden.outputs) {
    auto value = values.find(name);
    if (value == values.end())
      refuse(golden.op + ": no result " + name);
    recording.names.push_back("out." + name);
    recording.tensors.push_back(value->second);
  }
  addGradients(recording, inputs, values);
  return recording;
}

std::string Runner::difference(const std::string &name, const Dims &shape,
                               const std::vector<double> &got) const {
  const NamedTensor *want = file.find(name);
  if (!want)
    return name + " is not in the file";
  std::vector<int64_t> dims;
  for (Dim dim : shape)
    dims.push_back(dim.value);
  return differenceOf(golden, name, *want, dims, got);
}

std::string Runner::compare(const Recording &recording) {
  for (size_t i = 0; i < recording.names.size(); ++i) {
    const Tensor &tensor = recording.tensors[i];
    std::string found = difference(recording.names[i], tensor.shape(),
                                   tensor.to_vector<double>());
    if (!found.empty())
      return found;
  }
  return "";
}

/// Everything as one program.
std::string Runner::fused() {
  Recording recording = record();
  eval(recording.tensors);
  return compare(recording);
}

/// A leaf's bytes, whatever it is.
static Result<reference::HostTensor> bytesOf(const graph::NodeRef &leaf) {
  reference::HostTensor tensor{leaf->dtype(), {}, {}};
  for (Dim dim : leaf->dims())
    tensor.dims.push_back(dim.value);
  tensor.data.resize(tensor.elements() * byteWidth(leaf->dtype()));
  if (leaf->leafKind() == graph::InputKind::scalar) {
    uint64_t bits = leaf->scalarBits();
    std::memcpy(tensor.data.data(), &bits, tensor.data.size());
    return tensor;
  }
  SINTER_TRY_ASSIGN(runtime::Device * device,
                    runtime::getDevice(leaf->device()));
  SINTER_TRY(device->copyOut(tensor.data, *leaf->value(), 0));
  return tensor;
}

static Result<std::vector<reference::HostTensor>>
runUnfused(const std::vector<Tensor> &tensors, uint8_t numerics) {
  std::vector<graph::NodeRef> nodes;
  for (const Tensor &tensor : tensors)
    nodes.push_back(tensor.node());
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice(nodes));
  std::vector<reference::HostTensor> inputs;
  for (const graph::NodeRef &leaf : slice.inputs) {
    SINTER_TRY_ASSIGN(reference::HostTensor input, bytesOf(leaf));
    inputs.push_back(std::move(input));
  }
  runtime::CompileRequest request;
  request.numerics = numerics;
  request.fusion = 1;
  SINTER_TRY_ASSIGN(auto program, property::compileGraph(slice.graph, request));
  return property::runProgram(*program, inputs);
}

/// One op per kernel.
std::string Runner::unfused(uint8_t numerics) {
  Recording recording = record();
  auto results = runUnfused(recording.tensors, numerics);
  if (!results)
    return results.error().message;
  for (size_t i = 0; i < results->size(); ++i) {
    reference::HostValue value = reference::decode((*results)[i]);
    std::vector<double> got = value.reals;
    if (!value.isReal())
      got.assign(value.ints.begin(), value.ints.end());
    Dims shape(value.dims.begin(), value.dims.end());
    std::string found = difference(recording.names[i], shape, got);
    if (!found.empty())
      return found;
  }
  return "";
}

std::set<size_t> Runner::drawCuts(std::mt19937_64 &random) const {
  size_t count = countInstructions(golden);
  std::set<size_t> cuts;
  for (size_t left = 1 + random() % 4; left > 0; --left)
    cuts.insert(random() % count);
  return cuts;
}

/// Some values of the program are asked for on the way, and its results one by
/// one.
std::string Runner::cut(uint64_t seed) {
  std::seed_seq seeds(golden.id.begin(), golden.id.end());
  std::mt19937_64 random(seeds);
  random.discard(seed * 16);
  return compare(record(drawCuts(random)));
}

/// What differs, or the error that a way raised.
std::string Runner::attempt(const std::string &way,
                            const std::function<std::string()> &run) {
  std::string found;
  try {
    found = run();
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::unsupported)
      throw;
    found = error.what();
  }
  return found.empty() ? "" : way + ": " + found;
}

Outcome Runner::run() {
  std::string why = attempt("fused", [&] { return fused(); });
  if (why.empty() && isProgram()) {
    why = attempt("unfused", [&] { return unfused(/*default*/ 1); });
    if (why.empty())
      why = attempt("unfused, exact", [&] { return unfused(/*exact*/ 0); });
    if (why.empty())
      why = attempt("fast", [&] {
        numerics_scope scope(Numerics::fast);
        return fused();
      });
    for (uint64_t seed = 0; seed < 2 && why.empty(); ++seed)
      why = attempt("cut", [&] { return cut(seed); });
  }
  return {why.empty() ? Verdict::passed : Verdict::failed, why};
}

Outcome runCase(const Case &golden) {
  Result<SafetensorsFile> file = SafetensorsFile::open(golden.path);
  if (!file)
    return {Verdict::failed, file.error().message};
  for (const std::string &name : golden.inputs)
    if (!file->find("in." + name))
      return {Verdict::failed, "the file lacks in." + name};
  try {
    return Runner(golden, *file).run();
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::unsupported)
      return {Verdict::unsupported, error.what()};
    return {Verdict::failed, error.what()};
  }
}

} // namespace sinter::goldens

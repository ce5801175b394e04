/// Repro files, and running them.
#include "runtime/reference/Repro.h"

#include "runtime/files/ReplaceFile.h"
#include "runtime/params/Json.h"
#include "runtime/params/Safetensors.h"
#include "runtime/program/Numerics.h"
#include "runtime/program/Program.h"
#include "runtime/reference/Compare.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace sinter::reference {

namespace json = runtime::json;

static constexpr std::string_view mark = "// sinter-repro ";

static ErrorInfo badRepro(const std::string &path, const std::string &what) {
  return makeError(ErrorKind::io, path + ": " + what);
}

static std::string inputName(size_t index) {
  return fmt::format("input{}", index);
}

//===- Writing ------------------------------------------------------------===//

static std::string headOf(const Repro &repro, const std::string &inputsFile) {
  std::string head(mark);
  auto add = [&](std::string_view key, std::string_view value) {
    head += head.size() == mark.size() ? "{" : ", ";
    head += fmt::format("{}: {}", json::quote(key), json::quote(value));
  };
  add("target", repro.request.target);
  add("numerics", runtime::numericsName(repro.request.numerics));
  add("fusion", runtime::fusionName(repro.request.fusion));
  add("memory_limit", std::to_string(repro.request.memoryLimit));
  add("inputs", inputsFile);
  add("site", repro.site);
  add("difference", repro.difference);
  return head + "}\n";
}

Status writeRepro(const std::string &path, const Repro &repro) {
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  SINTER_TRY_ASSIGN(std::string text, hook->exportGraph(repro.graph));
  std::vector<runtime::NamedTensor> tensors;
  for (size_t i = 0; i < repro.inputs.size(); ++i)
    tensors.push_back({inputName(i), repro.inputs[i].dtype,
                       repro.inputs[i].dims, repro.inputs[i].data});
  std::filesystem::path inputs = path;
  inputs.replace_extension(".safetensors");
  SINTER_TRY(runtime::writeSafetensors(inputs.string(), tensors));
  std::string head = headOf(repro, inputs.filename().string());
  std::span<const std::byte> parts[] = {std::as_bytes(std::span(head)),
                                        std::as_bytes(std::span(text))};
  return runtime::replaceFile(path, parts);
}

//===- Reading ------------------------------------------------------------===//

bool isRepro(std::string_view text) { return text.starts_with(mark); }

/// The strings of the head's object.
static Result<std::string>
field(const std::string &path, const json::Value &head, std::string_view key) {
  const json::Value *value = head.find(key);
  if (!value || !value->is(json::Kind::string))
    return badRepro(path, fmt::format("the first line has no '{}'", key));
  return value->string;
}

static Result<std::vector<HostTensor>> readInputs(const std::string &path,
                                                  size_t count) {
  SINTER_TRY_ASSIGN(runtime::SafetensorsFile file,
                    runtime::SafetensorsFile::open(path));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < count; ++i) {
    const runtime::NamedTensor *tensor = file.find(inputName(i));
    if (!tensor)
      return badRepro(path, fmt::format("there is no '{}'", inputName(i)));
    inputs.push_back({tensor->dtype,
                      tensor->shape,
                      {tensor->data.begin(), tensor->data.end()}});
  }
  return inputs;
}

Result<Repro> readRepro(const std::string &path, std::string_view text) {
  if (!isRepro(text))
    return badRepro(path, "not a repro: its first line does not say so");
  std::string_view line = text.substr(mark.size());
  auto head = json::parse(line.substr(0, line.find('\n')));
  if (!head)
    return badRepro(path, "the first line: " + head.error().message);
  Repro repro;
  SINTER_TRY_ASSIGN(repro.request.target, field(path, *head, "target"));
  SINTER_TRY_ASSIGN(std::string numerics, field(path, *head, "numerics"));
  SINTER_TRY_ASSIGN(repro.request.numerics,
                    runtime::parseNumerics(path + ": numerics", numerics));
  SINTER_TRY_ASSIGN(std::string fusion, field(path, *head, "fusion"));
  SINTER_TRY_ASSIGN(repro.request.fusion,
                    runtime::parseFusion(path + ": fusion", fusion));
  SINTER_TRY_ASSIGN(std::string limit, field(path, *head, "memory_limit"));
  auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(),
                                      repro.request.memoryLimit);
  if (error != std::errc() || end != limit.data() + limit.size())
    return badRepro(path, "memory_limit is not a number: " + limit);
  SINTER_TRY_ASSIGN(repro.site, field(path, *head, "site"));
  SINTER_TRY_ASSIGN(repro.difference, field(path, *head, "difference"));
  SINTER_TRY_ASSIGN(std::string inputs, field(path, *head, "inputs"));
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  SINTER_TRY_ASSIGN(repro.graph, hook->readGraph(text));
  std::filesystem::path beside = path;
  beside.replace_filename(std::filesystem::path(inputs).filename());
  SINTER_TRY_ASSIGN(repro.inputs,
                    readInputs(beside.string(), repro.graph.inputs.size()));
  return repro;
}

//===- Running ------------------------------------------------------------===//

static Result<runtime::Binding>
bind(const HostTensor &tensor, graph::InputKind kind, runtime::Device &device) {
  runtime::Binding binding;
  binding.dims = tensor.dims;
  if (kind == graph::InputKind::scalar) {
    std::memcpy(&binding.scalarBits, tensor.data.data(),
                std::min(sizeof(binding.scalarBits), tensor.data.size()));
    return binding;
  }
  SINTER_TRY_ASSIGN(binding.buffer, device.allocate(tensor.data.size()));
  if (!tensor.data.empty())
    SINTER_TRY(device.copyIn(*binding.buffer, 0, tensor.data));
  return binding;
}

static Result<HostTensor> fetch(DType dtype, const runtime::Output &output,
                                runtime::Device &device) {
  HostTensor host{dtype, output.dims, {}};
  host.data.resize(static_cast<size_t>(host.elements()) * byteWidth(dtype));
  if (!host.data.empty())
    SINTER_TRY(device.copyOut(host.data, *output.buffer, 0));
  return host;
}

static Result<runtime::Device *> deviceOf(const Repro &repro) {
  if (repro.device)
    return runtime::getDevice(*repro.device);
  std::string_view target = repro.request.target;
  SINTER_TRY_ASSIGN(DeviceId id,
                    parseDevice(target.substr(0, target.find(':'))));
  return runtime::getDevice(id);
}

Result<std::string> replay(const Repro &repro) {
  // What the reference refuses is nothing to compile.
  SINTER_TRY_ASSIGN(Expectation expected, expect(repro.graph, repro.inputs,
                                                 accuracyOf(repro.request)));
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  SINTER_TRY_ASSIGN(runtime::Device * device, deviceOf(repro));
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    hook->compile(repro.graph, repro.request));
  SINTER_TRY_ASSIGN(auto program, runtime::Program::load(bytes, *device));
  std::vector<runtime::Binding> bindings;
  for (size_t i = 0; i < repro.inputs.size(); ++i) {
    SINTER_TRY_ASSIGN(
        runtime::Binding binding,
        bind(repro.inputs[i], repro.graph.inputs[i].kind, *device));
    bindings.push_back(std::move(binding));
  }
  SINTER_TRY_ASSIGN(std::vector<runtime::Output> outputs,
                    runtime::run(*program, bindings));
  std::vector<HostTensor> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    DType dtype = repro.graph.values[repro.graph.outputs[i]].dtype;
    SINTER_TRY_ASSIGN(HostTensor host, fetch(dtype, outputs[i], *device));
    found.push_back(std::move(host));
  }
  return differenceOf(found, expected);
}

} // namespace sinter::reference

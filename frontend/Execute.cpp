/// Finds a plan's program and runs it.
#include "frontend/Execute.h"

#include "frontend/IndexError.h"
#include "frontend/Programs.h"
#include "runtime/device/Device.h"
#include "runtime/program/Stats.h"
#include "runtime/reference/Reference.h"
#include "runtime/reference/Verify.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Sites.h"

#include <cstring>

namespace sinter::detail {

using runtime::Binding;
using runtime::BufferRef;
using Buffers = std::vector<BufferRef>;

static Executor &installedExecutor() {
  static Executor *executor = new Executor;
  return *executor;
}

void setExecutor(Executor executor) {
  installedExecutor() = std::move(executor);
}

//===- By the reference ---------------------------------------------------===//

static Result<reference::HostTensor> toHost(const graph::Node &node,
                                            const Binding &binding) {
  reference::HostTensor host;
  host.dtype = node.dtype();
  host.dims = binding.dims;
  host.data.resize(node.elements() * byteWidth(node.dtype()));
  if (!binding.buffer) {
    std::memcpy(host.data.data(), &binding.scalarBits, host.data.size());
    return host;
  }
  SINTER_TRY(binding.buffer->device().copyOut(host.data, *binding.buffer, 0));
  return host;
}

Result<Buffers> executeByReference(const graph::Slice &slice,
                                   std::span<const Binding> bindings,
                                   DeviceId id) {
  SINTER_TRY_ASSIGN(runtime::Device * device, runtime::getDevice(id));
  std::vector<reference::HostTensor> inputs;
  runtime::RunCounters counters;
  for (size_t i = 0; i < bindings.size(); ++i) {
    SINTER_TRY_ASSIGN(reference::HostTensor input,
                      toHost(*slice.inputs[i], bindings[i]));
    counters.bytesRead += input.data.size();
    inputs.push_back(std::move(input));
  }
  SINTER_TRY_ASSIGN(std::vector<reference::HostTensor> results,
                    reference::evaluate(slice.graph, inputs));
  Buffers buffers;
  for (const reference::HostTensor &result : results) {
    SINTER_TRY_ASSIGN(BufferRef buffer, device->allocate(result.data.size()));
    SINTER_TRY(device->copyIn(*buffer, 0, result.data));
    counters.bytesWritten += result.data.size();
    buffers.push_back(std::move(buffer));
  }
  counters.launches = 1;
  runtime::countRun(counters, 0);
  return buffers;
}

//===- By programs --------------------------------------------------------===//

static bool needsNoProgram(DeviceId device) {
  return device.kind == DeviceKind::null || installedExecutor();
}

Execution prepare(FlushPlan &plan, DeviceId device, const FlushLine &line) {
  Execution execution{device, line, nullptr, std::nullopt};
  if (!needsNoProgram(device))
    execution.program = findKnown(plan.slice);
  if (execution.program && !flags().verify)
    return execution;
  execution.graph = graph::toGraph(plan.slice);
  if (needsNoProgram(device))
    countInterpreted(plan.slice, *execution.graph, line);
  return execution;
}

/// The largest values that a program had no memory for, with their lines.
static std::string describe(std::span<const runtime::MemoryNeed> largest,
                            const FlushPlan &plan) {
  std::span<graph::Node *const> nodes = plan.slice.nodes();
  std::string text;
  for (const runtime::MemoryNeed &need : largest) {
    if (need.node >= nodes.size())
      continue;
    const graph::Node &node = *nodes[need.node];
    text += text.empty() ? "; the program's largest: " : ", ";
    text += std::to_string(need.bytes) + " bytes of " +
            std::string(graph::info(node.op()).name) + " " +
            graph::typeString(node);
    if (node.site())
      text += " at " + siteString(node.site());
  }
  return text;
}

/// The error in terms of the op that the program's data made fail, not of the
/// kernel that it became part of.
static ErrorInfo asErrorOfOp(ErrorInfo error, const FlushPlan &plan,
                             uint32_t number) {
  std::span<graph::Node *const> nodes = plan.slice.nodes();
  bool isOfData = error.kind == ErrorKind::invalid_argument;
  if ((!isOfData && error.kind != ErrorKind::device) ||
      number >= nodes.size() || nodes[number]->isLeaf())
    return error;
  const graph::Node &node = *nodes[number];
  error.site = node.site();
  error.op = graph::info(node.op()).name;
  error.shapes.clear();
  size_t prefix = error.message.find(": ");
  std::string what =
      prefix == std::string::npos ? "" : error.message.substr(prefix + 2);
  if (isOfData)
    if (auto index = describeBadIndex(node))
      what = std::move(*index);
  error.message = error.op + ": " + what;
  const char *separator = ": ";
  for (const graph::NodeRef &operand : node.operands()) {
    error.shapes.push_back(graph::typeString(*operand));
    error.message += separator + error.shapes.back();
    separator = " x ";
  }
  return error;
}

//===- SINTER_VERIFY ------------------------------------------------------===//

/// The inputs' contents, before a donation overwrites them.
static Result<std::vector<reference::HostTensor>>
copyInputs(const graph::Slice &slice, std::span<const Binding> bindings) {
  std::vector<reference::HostTensor> inputs;
  for (size_t i = 0; i < bindings.size(); ++i) {
    SINTER_TRY_ASSIGN(reference::HostTensor input,
                      toHost(*slice.inputs[i], bindings[i]));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

static Status verifyOutputs(const graph::Slice &slice,
                            std::span<const reference::HostTensor> inputs,
                            std::span<const runtime::Output> outputs,
                            DeviceId device) {
  std::vector<reference::HostTensor> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const graph::Value &value = slice.graph.values[slice.graph.outputs[i]];
    reference::HostTensor host{value.dtype, outputs[i].dims, {}};
    host.data.resize(host.elements() * byteWidth(value.dtype));
    const BufferRef &buffer = outputs[i].buffer;
    SINTER_TRY(buffer->device().copyOut(host.data, *buffer, 0));
    found.push_back(std::move(host));
  }
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(device));
  return reference::verify(slice.graph, inputs, found, request);
}

Result<Buffers> execute(Execution &execution, const FlushPlan &plan) {
  if (installedExecutor())
    return installedExecutor()(*execution.graph, plan.bindings());
  if (execution.device.kind == DeviceKind::null) {
    auto results =
        executeByReference(*execution.graph, plan.bindings(), execution.device);
    if (results)
      return results;
    ErrorInfo error = results.takeError();
    uint32_t number = error.node;
    return asErrorOfOp(std::move(error), plan, number);
  }
  if (!execution.program) {
    SINTER_TRY_ASSIGN(execution.program,
                      findOrCompile(plan.slice.key(), plan.slice.encoding(),
                                    *execution.graph, execution.device,
                                    execution.line));
  }
  std::vector<reference::HostTensor> inputs;
  if (flags().verify) {
    SINTER_TRY_ASSIGN(inputs, copyInputs(*execution.graph, plan.bindings()));
  }
  // Nothing may fail after the run: inputs that were given up are gone.
  Buffers buffers;
  buffers.reserve(plan.outputs.size());
  runtime::RunFailure failure;
  auto results =
      runtime::run(*execution.program, plan.bindings(), nullptr, &failure);
  if (!results) {
    ErrorInfo error = asErrorOfOp(results.takeError(), plan, failure.node);
    error.message += describe(failure.largest, plan);
    return error;
  }
  if (flags().verify)
    SINTER_TRY(
        verifyOutputs(*execution.graph, inputs, *results, execution.device));
  for (runtime::Output &output : *results)
    buffers.push_back(std::move(output.buffer));
  return buffers;
}

} // namespace sinter::detail

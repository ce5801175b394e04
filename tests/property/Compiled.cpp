/// Compiles, loads and runs graphs, and compares what they give.
#include "tests/property/Compiled.h"

#include "runtime/device/Device.h"
#include "runtime/support/Flags.h"
#include "tests/property/Watch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace sinter::property {

using reference::HostTensor;

static Result<runtime::Device *> deviceOfTests() {
  SINTER_TRY_ASSIGN(DeviceId id, parseDevice(flags().device));
  return runtime::getDevice(id);
}

static runtime::CompileRequest onDevice(runtime::CompileRequest request,
                                        const runtime::Device &device) {
  if (request.target == "cpu")
    request.target = device.target();
  return request;
}

Result<reference::Expectation>
expectationOf(const graph::Graph &graph, std::span<const HostTensor> inputs,
              const runtime::CompileRequest &request) {
  Watch watch("the reference");
  SINTER_TRY_ASSIGN(runtime::Device * device, deviceOfTests());
  return reference::expect(graph, inputs,
                           reference::accuracyOf(onDevice(request, *device)));
}

namespace {
/// Over all comparisons of this process.
struct Counted : reference::Bounds {
  ~Counted() {
    if (elements != 0)
      std::printf("%zu of %zu elements had no bound\n", unbounded, elements);
  }
};
} // namespace

std::string mismatchOf(std::span<const HostTensor> found,
                       const reference::Expectation &expected) {
  static Counted all;
  reference::Bounds bounds = reference::boundsOf(expected);
  all.elements += bounds.elements;
  all.unbounded += bounds.unbounded;
  if (bounds.unbounded * 100 > bounds.elements)
    return fmt::format("{} of {} elements have no bound", bounds.unbounded,
                       bounds.elements);
  return reference::differenceOf(found, expected);
}

Result<std::shared_ptr<const runtime::Program>>
compileGraph(const graph::Graph &graph,
             const runtime::CompileRequest &request) {
  Watch watch("compiling");
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  SINTER_TRY_ASSIGN(runtime::Device * device, deviceOfTests());
  SINTER_TRY_ASSIGN(std::vector<std::byte> file,
                    hook->compile(graph, onDevice(request, *device)));
  return runtime::Program::load(file, *device);
}

Result<std::vector<HostTensor>> runProgram(const runtime::Program &program,
                                           std::span<const HostTensor> inputs,
                                           runtime::RunCounters *counters) {
  Watch watch("running");
  runtime::Device &device = program.device();
  std::vector<runtime::Binding> bindings;
  for (size_t i = 0; i < inputs.size(); ++i) {
    runtime::Binding binding;
    binding.dims = inputs[i].dims;
    if (program.inputs()[i].kind == graph::InputKind::scalar) {
      std::memcpy(&binding.scalarBits, inputs[i].data.data(),
                  inputs[i].data.size());
    } else {
      SINTER_TRY_ASSIGN(binding.buffer, device.allocate(inputs[i].data.size()));
      SINTER_TRY(device.copyIn(*binding.buffer, 0, inputs[i].data));
      binding.donate = i % 2 == 0; // nobody else has it
    }
    bindings.push_back(std::move(binding));
  }
  SINTER_TRY_ASSIGN(std::vector<runtime::Output> outputs,
                    runtime::run(program, bindings, counters));
  std::vector<HostTensor> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    HostTensor tensor{program.outputs()[i].dtype, outputs[i].dims, {}};
    tensor.data.resize(static_cast<size_t>(tensor.elements()) *
                       byteWidth(tensor.dtype));
    SINTER_TRY(device.copyOut(tensor.data, *outputs[i].buffer, 0));
    result.push_back(std::move(tensor));
  }
  return result;
}

bool sameBytes(std::span<const HostTensor> a, std::span<const HostTensor> b) {
  return std::ranges::equal(a, b, [](const HostTensor &x, const HostTensor &y) {
    return x.dtype == y.dtype && x.dims == y.dims && x.data == y.data;
  });
}

} // namespace sinter::property

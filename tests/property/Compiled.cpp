/// Compiles, loads and runs graphs, and compares what they give.
#include "tests/property/Compiled.h"

#include "runtime/device/Device.h"
#include "runtime/reference/HostValue.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace sinter::property {

using reference::HostTensor;
using reference::HostValue;

Result<std::shared_ptr<const runtime::Program>>
compileGraph(const graph::Graph &graph,
             const runtime::CompileRequest &request) {
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  SINTER_TRY_ASSIGN(std::vector<std::byte> file, hook->compile(graph, request));
  SINTER_TRY_ASSIGN(runtime::Device * device, runtime::getDevice(DeviceId()));
  return runtime::Program::load(file, *device);
}

Result<std::vector<HostTensor>> runProgram(const runtime::Program &program,
                                           std::span<const HostTensor> inputs,
                                           runtime::RunCounters *counters) {
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

//===- Comparing ----------------------------------------------------------===//

static double roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 1e-9;
  case DType::f16:
    return 4e-3;
  case DType::bf16:
    return 3e-2;
  default:
    return 2e-5;
  }
}

/// The largest finite |a - b| in a tensor.
static double spreadOf(const HostValue &a, const HostValue &b) {
  double spread = 0;
  for (size_t i = 0; i < a.reals.size(); ++i) {
    double distance = std::abs(a.reals[i] - b.reals[i]);
    if (std::isfinite(distance))
      spread = std::max(spread, distance);
  }
  return spread;
}

static bool isClose(double found, double expected, double wide,
                    double tolerance) {
  if (std::isfinite(expected) && std::isfinite(wide))
    return std::abs(found - expected) <= tolerance;
  if (std::isnan(expected) && std::isnan(wide))
    return std::isnan(found);
  // One infinity; else rounding decides what it is, and anything is right.
  return expected != wide || found == expected;
}

static std::string differenceIn(const HostValue &found,
                                const HostValue &expected,
                                const HostValue &wide, double terms) {
  if (found.dtype != expected.dtype || found.dims != expected.dims)
    return "another type";
  for (size_t i = 0; i < expected.ints.size(); ++i)
    if (found.ints[i] != expected.ints[i])
      return fmt::format("element {}: {} is not {}", i, found.ints[i],
                         expected.ints[i]);
  // Rounding errors of a sum grow like the root of its length.
  double rounding = roundingOf(expected.dtype) * (1 + std::sqrt(terms) / 4);
  double spread =
      wide.reals.size() == expected.reals.size() ? spreadOf(expected, wide) : 0;
  for (size_t i = 0; i < expected.reals.size(); ++i) {
    double tolerance =
        rounding * (0.1 + std::abs(expected.reals[i])) + 16 * spread;
    if (!isClose(found.reals[i], expected.reals[i], wide.reals[i], tolerance))
      return fmt::format("element {}: {} is not {} ({} in f64)", i,
                         found.reals[i], expected.reals[i], wide.reals[i]);
  }
  return {};
}

std::string differenceOf(std::span<const HostTensor> found,
                         std::span<const HostTensor> reference,
                         std::span<const HostTensor> wide,
                         std::span<const HostTensor> inputs) {
  int64_t terms = 0;
  for (const HostTensor &input : inputs)
    terms = std::max(terms, input.elements());
  if (found.size() != reference.size())
    return "another number of outputs";
  for (size_t i = 0; i < found.size(); ++i) {
    std::string text =
        differenceIn(decode(found[i]), decode(reference[i]), decode(wide[i]),
                     static_cast<double>(terms));
    if (!text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return {};
}

bool sameBytes(std::span<const HostTensor> a, std::span<const HostTensor> b) {
  return std::ranges::equal(a, b, [](const HostTensor &x, const HostTensor &y) {
    return x.dtype == y.dtype && x.dims == y.dims && x.data == y.data;
  });
}

} // namespace sinter::property

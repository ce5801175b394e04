/// Users' kernels: their launch and text, recorded as one op.
#include <sinter/CustomOp.h>

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"

#include <fmt/format.h>

namespace sinter {

/// x, y, z, of which the user gave the first few.
static std::vector<int64_t> threeOf(std::vector<int64_t> counts) {
  counts.resize(std::max<size_t>(counts.size(), 3), 1);
  return counts;
}

/// What a device of this kind would run, where the kernel lacks it.
static const char *missingCode(const CustomKernel &kernel, DeviceKind kind) {
  if (kind == DeviceKind::cuda)
    return kernel.source.empty() ? "no CUDA C++" : nullptr;
  if (kind == DeviceKind::vulkan)
    return kernel.glsl.empty() && kernel.spirv.empty() ? "no GLSL or SPIR-V"
                                                       : nullptr;
  return "code for GPUs alone";
}

static Tensor recordKernel(const CustomKernel &kernel,
                           std::span<const Tensor> inputs) {
  detail::Recorder recorder(graph::OpId::custom_op, SourceLine());
  std::vector<graph::NodeRef> nodes;
  std::vector<int64_t> extents;
  for (const Tensor &input : inputs) {
    nodes.push_back(input.node());
    for (Dim dim : input.node()->dims())
      extents.push_back(dim.value);
    DeviceId device = input.device();
    if (const char *missing = missingCode(kernel, device.kind)) {
      ErrorInfo error = makeError(
          ErrorKind::unsupported,
          fmt::format("custom_op: '{}' has {}, it does not run on {}: {}",
                      kernel.function, missing, toString(device),
                      graph::typeString(*input.node())),
          "custom_op");
      error.shapes = {graph::typeString(*input.node())};
      recorder.fail(std::move(error));
    }
  }
  if (!kernel.launch)
    recorder.fail("nothing says how '" + kernel.function + "' is launched",
                  nodes);
  KernelLaunch launch = kernel.launch(inputs);
  return recorder.result(graph::custom_op(
      nodes, kernel.source, kernel.glsl, kernel.spirv, kernel.function, extents,
      threeOf(launch.grid), threeOf(launch.block), launch.shared_bytes,
      launch.dtype, launch.shape));
}

CustomFunction custom_op(CustomKernel kernel) try {
  auto shared = std::make_shared<const CustomKernel>(std::move(kernel));
  CustomBackward backward = shared->gradient;
  if (!backward)
    backward = [shared](const CustomContext &) -> std::vector<Tensor> {
      detail::raise(makeError(ErrorKind::unsupported,
                              fmt::format("custom_op: '{}' has no gradient",
                                          shared->function),
                              "custom_op"),
                    SourceLine());
    };
  return custom_gradient(
      [shared](std::span<const Tensor> inputs) {
        return recordKernel(*shared, inputs);
      },
      std::move(backward));
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter

/// Users' kernels, where there is no device for them.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;

TEST(CustomOp, NeedsItsDevice) {
  auto twice =
      sn::custom_op({.source = "text", .function = "twice", .launch = [](auto) {
                       return sn::KernelLaunch();
                     }});
  // The text is CUDA's: there it would be compiled.
  sn::DeviceId device = sn::default_device().kind == sn::DeviceKind::cuda
                            ? sn::device("cpu")
                            : sn::default_device();
  sn::Tensor x = sn::ones({4, 3}, {.device = device});
  expectError(sn::ErrorKind::unsupported,
              std::string("custom_op: 'twice' has ") +
                  (x.device().kind == sn::DeviceKind::vulkan
                       ? "no GLSL or SPIR-V"
                       : "code for GPUs alone") +
                  ", it does not run on " + toString(x.device()) + ": f32[4,3]",
              [&] { twice({x}); });
  EXPECT_EQ(sn::sum(x).item<float>(), 12) << "nothing is lost";
}

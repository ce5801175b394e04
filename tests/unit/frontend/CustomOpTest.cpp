/// Users' kernels, where there is no device for them.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;

TEST(CustomOp, NeedsItsDevice) {
  auto twice =
      sn::custom_op({.source = "text", .function = "twice", .launch = [](auto) {
                       return sn::KernelLaunch();
                     }});
  sn::Tensor x = sn::ones({4, 3}, {sn::DType::f32, "cpu"});
  expectError(
      sn::ErrorKind::unsupported,
      "custom_op: 'twice' is CUDA C++, which runs on cuda devices, not on cpu: "
      "f32[4,3]",
      [&] { twice({x}); }, __LINE__);
  EXPECT_EQ(sn::sum(x).item<float>(), 12) << "nothing is lost";
}

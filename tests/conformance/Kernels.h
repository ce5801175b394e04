/// Kernels that devices run in the conformance suite.
#pragma once

#include "tests/unit/program/ProgramBuilder.h"

#include <fstream>
#include <sstream>
#include <string>

namespace sinter::conformance {

/// `scale` of tests/unit/program/Kernels.c as PTX: a warp takes 256 elements.
inline constexpr const char ptx[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry scale(.param .align 8 .b8 words[56]) .reqntid 32, 1, 1
{
  .reg .pred %done, %more;
  .reg .b32 %block, %lane, %round;
  .reg .b64 %count, %x, %factor, %out, %at, %offset, %from, %to;
  .reg .f32 %value, %by;
  ld.param.b64 %count, [words+24];
  ld.param.b64 %x, [words+32];
  ld.param.b64 %factor, [words+40];
  ld.param.b64 %out, [words+48];
  cvta.to.global.u64 %x, %x;
  cvta.to.global.u64 %factor, %factor;
  cvta.to.global.u64 %out, %out;
  ld.global.f32 %by, [%factor];
  mov.u32 %block, %ctaid.x;
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %at, %block, 256;
  cvt.u64.u32 %offset, %lane;
  add.s64 %at, %at, %offset;
  mov.u32 %round, 0;
NEXT:
  setp.ge.s64 %done, %at, %count;
  @%done bra END;
  shl.b64 %offset, %at, 2;
  add.s64 %from, %x, %offset;
  add.s64 %to, %out, %offset;
  ld.global.f32 %value, [%from];
  mul.f32 %value, %value, %by;
  st.global.f32 [%to], %value;
  add.s64 %at, %at, 32;
  add.u32 %round, %round, 1;
  setp.lt.u32 %more, %round, 8;
  @%more bra NEXT;
END:
  ret;
}
)";

/// The same as SPIR-V, assembled when this was built.
inline std::string spirv() {
  std::ifstream file(SINTER_SCALE_SPIRV, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// A program of `scale` alone, for a device.
inline runtime::test::ProgramBuilder
forDevice(DeviceId device, runtime::test::ProgramBuilder builder) {
  if (device.kind == DeviceKind::cuda)
    builder.targetCuda(ptx);
  if (device.kind == DeviceKind::vulkan)
    builder.targetVulkan(spirv());
  return builder;
}

} // namespace sinter::conformance

// A shift by 2^32 bits, and by more, is one by too many: PTX takes the last 32
// bits of a number of 64, so that the code looks at all of it.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s
// CHECK: setp.lt.u64 {{.*}}, 64;
// CHECK: min.u64 {{.*}}, 63;
// CHECK: shl.b64
// CHECK: selp.b64
func.func @main(%x: tensor<4096xui64>, %y: tensor<4096xui64>) -> tensor<4096xui64> {
  %0 = sinter.bitwise_left_shift %x, %y : (tensor<4096xui64>, tensor<4096xui64>) -> tensor<4096xui64>
  return %0 : tensor<4096xui64>
}

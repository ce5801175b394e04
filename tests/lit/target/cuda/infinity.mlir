// The larger of -inf and a NaN is the canonical NaN, also where LLVM finds out
// that one of two is -inf and takes the other as it is.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s
// CHECK: ld.global.b64
// CHECK: setp.nan.f64 [[IS_NAN:%p[0-9]+]], [[SEEN:%rd[0-9]+]], [[SEEN]];
// CHECK: selp.f64 {{.*}}, 0d7FF8000000000000, [[SEEN]], [[IS_NAN]];
// CHECK: st.global.b64
func.func @main(%x: tensor<24x1x39xf64>) -> tensor<24x2x39xf64> {
  %0 = sinter.max_pool %x {dilations = array<i64: 1>, high = array<i64: 1>, layout = "channels_last", low = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<24x1x39xf64>) -> tensor<24x2x39xf64>
  return %0 : tensor<24x2x39xf64>
}

// Windows that share what lies under them read lines of the image that are
// copied once, padding with them: nine lines of 58 places under seven lines of
// windows. Nothing is masked, and a tile's rows stand a place apart.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @contraction_{{.*}}_phase1
// CHECK: %[[LINES:.*]] = memref.alloca() {{.*}} : memref<33424xf32>
// CHECK-NOT: memref.alloca
// CHECK-NOT: vector.maskedload
// CHECK-NOT: scf.if
// CHECK: vector.store %{{.*}}, %[[LINES]]
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[LINES]]
// CHECK: memref.load %[[LINES]][%[[PLACE:[0-9]+]]] : memref<33424xf32>
// CHECK: arith.addi %[[PLACE]], %c64 : index
// CHECK-NOT: vector.maskedload
// CHECK: math.fma
// CHECK: return
func.func @main(%x: tensor<1x56x56x64xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32> {
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layout = "channels_last"} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %0 : tensor<1x56x56x64xf32>
}

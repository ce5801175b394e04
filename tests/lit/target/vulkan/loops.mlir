// What a loop without rounds gives is what it began with: sums over a number
// of rows that is known at the launch.
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t
// RUN: FileCheck %s < %t
// RUN: %spirv_val %t

// CHECK: %[[SUM:.*]] = spirv.Variable : !spirv.ptr<f64, Function>
// CHECK: spirv.mlir.loop
// CHECK: %[[LAST:.*]] = spirv.Load "Function" %[[SUM]] : f64
// CHECK: spirv.Select %{{.*}}, %[[LAST]], %{{.*}} : i1, f64
#rows = affine_map<()[s0] -> (s0, 4)>
#turned = affine_map<()[s0] -> (4, s0)>
func.func @main(%x: tensor<?x4xf64, #rows>) -> tensor<4x4xf64> attributes {sinter.num_symbols = 1 : i64} {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x4xf64, #rows>) -> tensor<4x?xf64, #turned>
  %1 = sinter.matmul %0, %x : (tensor<4x?xf64, #turned>, tensor<?x4xf64, #rows>) -> tensor<4x4xf64>
  return %1 : tensor<4x4xf64>
}

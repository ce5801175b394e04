// RUN: sinter inspect %s --stage plan | FileCheck %s

// What an index error can come from runs before the launch that overwrites
// state; only that one may take the memory of an input: of p, which it reads at its own
// index, or of x, which was read before.
// CHECK: program.may_alias = array<i64: 0, 0, 1, 0>
// CHECK: program.launch @map_{{.*}}error_node = 3 : i64{{.*}}step = 0
// CHECK: program.launch @map_{{.*}}step = 1
func.func @main(%p: tensor<8x4xf32> {sinter.kind = "parameter"}, %x: tensor<8x4xf32>, %i: tensor<8x1xi64>) -> (tensor<8x4xf32>, tensor<8x1xf32>) {
  %1 = sinter.gather %x, %i {axis = 1 : i64} : (tensor<8x4xf32>, tensor<8x1xi64>) -> tensor<8x1xf32>
  %0 = sinter.add %p, %p : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x1xf32>
}

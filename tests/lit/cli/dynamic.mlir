// RUN: sinter inspect %s --dynamic x:0=batch --stage import | FileCheck %s
// RUN: not sinter inspect %s --dynamic w:0=k --stage import 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not sinter inspect %s --dynamic z:0=k --stage import 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sinter inspect %s --dynamic x:2=k --stage import 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sinter compile %s -o %t.sinter --dynamic x:0=batch
// RUN: sinter run %t.sinter --random-inputs 1 --dim s0=3 | FileCheck %s --check-prefix=RUNS

// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK: func.func @main(%arg0: tensor<?x8xf32, #[[ROWS]]>
// CHECK: sinter.broadcast %arg2 {shape = #[[OUT:.*]]} : (tensor<4xf32>) -> tensor<?x4xf32, #[[OUT]]>
// OTHER: error: dynamic: the extent 8 also stands at axis 1 of input 0
// NAME: error: dynamic: no input is named 'z'
// AXIS: error: dynamic: input 'x' has no axis 2
// RUNS: output0: f32[3,4]
func.func @main(%x: tensor<32x8xf32> {sinter.name = "x"}, %w: tensor<8x4xf32> {sinter.name = "w"}, %b: tensor<4xf32>) -> tensor<32x4xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x8xf32>, tensor<8x4xf32>) -> tensor<32x4xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (32, 4)>} : (tensor<4xf32>) -> tensor<32x4xf32>
  %2 = sinter.add %0, %1 : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  return %2 : tensor<32x4xf32>
}

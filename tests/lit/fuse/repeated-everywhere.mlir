// RUN: sinter opt %s --until fuse | FileCheck %s
// The cast is computed again by both reductions that read it, so that it stores
// nothing: no kernel has it alone, and it is merged with no other.

// CHECK: program.kernel @reduce
// CHECK: program.kernel @reduce
// CHECK-COUNT-4: program.launch
// CHECK-NOT: program.launch
func.func @main(%p: tensor<1xi32>, %x: tensor<38x22x1xf16>, %s: tensor<f32>) -> (tensor<1xi1>, tensor<22x1xf16>, tensor<i1>) {
  %0 = sinter.logical_not %p : (tensor<1xi32>) -> tensor<1xi1>
  %1 = sinter.logsumexp %x {axes = array<i64: 0>, keepdims = false} : (tensor<38x22x1xf16>) -> tensor<22x1xf16>
  %2 = sinter.log1p %1 : (tensor<22x1xf16>) -> tensor<22x1xf16>
  %3 = sinter.isfinite %s : (tensor<f32>) -> tensor<i1>
  return %0, %2, %3 : tensor<1xi1>, tensor<22x1xf16>, tensor<i1>
}

// The gradient of a small weight: parts of k are summed by one phase into
// memory, which another adds up in order. `exact` has one chain.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 --numerics exact | FileCheck %s --check-prefix=EXACT

// CHECK: func.func @contraction_{{[0-9a-f]+}}(
// CHECK: math.fma
// CHECK: vector{{.*}}store
// CHECK: func.func @contraction_{{[0-9a-f]+}}_phase1(
// CHECK-NOT: math.fma
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf
// CHECK-NOT: func.func
// EXACT: func.func @contraction_{{[0-9a-f]+}}(
// EXACT: math.fma
// EXACT-NOT: func.func
func.func @main(%x: tensor<9000x48xf32>, %g: tensor<9000x48xf32>) -> tensor<48x48xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<9000x48xf32>) -> tensor<48x9000xf32>
  %1 = sinter.matmul %0, %g : (tensor<48x9000xf32>, tensor<9000x48xf32>) -> tensor<48x48xf32>
  return %1 : tensor<48x48xf32>
}

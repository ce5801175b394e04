// A tile of sums stays in registers over the whole of k; bias and relu are
// applied to it before it is stored.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s
// RUN: sinter inspect %s --stage llvm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=LLVM
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=ASM

// CHECK-LABEL: func.func @contraction_
// CHECK-NOT: memref.alloc
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma {{.*}} vector<16xf32>
// CHECK: scf.yield
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.store
// LLVM: call <16 x float> @llvm.fma.v16f32
// LLVM-NOT: call {{.*}} @{{[a-km-z]}}
// ASM: vfmadd231ps {{.*}}%zmm
// ASM-NOT: callq
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>, %b: tensor<128xf32>) -> tensor<64x128xf32> {
  %0 = sinter.matmul %x, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (64, 128)>} : (tensor<128xf32>) -> tensor<64x128xf32>
  %2 = sinter.add %0, %1 : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %3 = sinter.relu %2 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %3 : tensor<64x128xf32>
}

// What comes after another op is not computed before it, nor together with
// what it repeats; the second tanh stands behind the last product.
// RUN: sinter opt %s --until=simplify | FileCheck %s --check-prefix=ORDER
// RUN: sinter opt %s --until=fuse | FileCheck %s
// RUN: mkdir -p %t.a %t.b
// RUN: sinter run %s --random-inputs 1 --output-dir %t.a
// RUN: sinter run %s --random-inputs 1 --output-dir %t.b --fusion none
// RUN: cmp %t.a/output0.npy %t.b/output0.npy
// RUN: cmp %t.a/output1.npy %t.b/output1.npy

// ORDER: sinter.tanh %arg0 :
// ORDER: sinter.matmul
// ORDER: %[[LAST:.*]] = sinter.matmul {{.*}} {sinter.order = 0 : i64}
// ORDER-NOT: sinter.after %
// ORDER: sinter.tanh %arg0 {sinter.after = array<i64: 0>}

// CHECK-NOT: sinter.order
// CHECK-NOT: sinter.after
// CHECK: func.func @main
// CHECK: program.launch @map_[[TANH:[0-9a-f]+]](%arg0)
// CHECK: program.launch @contraction
// CHECK: program.launch @contraction
// CHECK: program.launch @map_[[TANH]](%arg0)
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %t = sinter.tanh %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = sinter.matmul %t, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = sinter.matmul %p, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = sinter.transpose %q {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = sinter.after %x, %v : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = sinter.tanh %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = sinter.matmul %q, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = sinter.after %r, %q : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %z : tensor<64x64xf32>, tensor<64x64xf32>
}

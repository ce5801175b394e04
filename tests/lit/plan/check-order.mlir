// A step of training with an embedding, by tokens that are given and by counted
// positions: indices are checked before anything else, and each update follows
// its gradient. No gradient waits for the last one.
// RUN: sinter inspect %s --stage plan | FileCheck %s
// RUN: sinter inspect %s --stage plan --target cuda:sm_90 | FileCheck %s

// CHECK-COUNT-1: error_node = {{.*}}step = 0
// CHECK-NOT: error_node
// Of w3, w2, w1 in the order of the way back, before the table's.
// CHECK: -> tensor<64x32xf32>
// CHECK-DAG: @out2
// CHECK-DAG: @out1
// CHECK-DAG: @out0
// CHECK: @gather_scatter
// No gradient is kept for an update at the end.
// CHECK-NOT: tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>

func.func @main(%w1: tensor<32x32xf32> {sinter.kind = "parameter"}, %w2: tensor<32x32xf32> {sinter.kind = "parameter"}, %w3: tensor<32x32xf32> {sinter.kind = "parameter"}, %table: tensor<100x32xf32> {sinter.kind = "parameter"}, %places: tensor<64x32xf32> {sinter.kind = "parameter"}, %tokens: tensor<64xi64>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<100x32xf32>, tensor<64x32xf32>) {
  %e = sinter.embedding %table, %tokens : (tensor<100x32xf32>, tensor<64xi64>) -> tensor<64x32xf32>
  %i = sinter.iota {shape = affine_map<() -> (64)>, axis = 0 : i64, dtype = i64} : () -> tensor<64xi64>
  %p = sinter.embedding %places, %i : (tensor<64x32xf32>, tensor<64xi64>) -> tensor<64x32xf32>
  %x = sinter.add %e, %p : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %h1 = sinter.matmul %x, %w1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %h2 = sinter.matmul %h1, %w2 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g3 = sinter.matmul %h2, %w3 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t3 = sinter.transpose %h2 {permutation = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %d3 = sinter.matmul %t3, %g3 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %n3 = sinter.sub %w3, %d3 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %v3 = sinter.transpose %w3 {permutation = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %g2 = sinter.matmul %g3, %v3 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t2 = sinter.transpose %h1 {permutation = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %d2 = sinter.matmul %t2, %g2 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %n2 = sinter.sub %w2, %d2 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %v2 = sinter.transpose %w2 {permutation = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %g1 = sinter.matmul %g2, %v2 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t1 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %d1 = sinter.matmul %t1, %g1 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %n1 = sinter.sub %w1, %d1 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %v1 = sinter.transpose %w1 {permutation = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %g0 = sinter.matmul %g1, %v1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %nt1 = sinter.reshape %tokens {shape = affine_map<() -> (64, 1)>} : (tensor<64xi64>) -> tensor<64x1xi64>
  %nt2 = sinter.broadcast %nt1 {shape = affine_map<() -> (64, 32)>} : (tensor<64x1xi64>) -> tensor<64x32xi64>
  %ntm = sinter.neg %g0 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %nt = sinter.scatter_add %table, %nt2, %ntm {axis = 0 : i64} : (tensor<100x32xf32>, tensor<64x32xi64>, tensor<64x32xf32>) -> tensor<100x32xf32>
  %np1 = sinter.reshape %i {shape = affine_map<() -> (64, 1)>} : (tensor<64xi64>) -> tensor<64x1xi64>
  %np2 = sinter.broadcast %np1 {shape = affine_map<() -> (64, 32)>} : (tensor<64x1xi64>) -> tensor<64x32xi64>
  %npm = sinter.neg %g0 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %np = sinter.scatter_add %places, %np2, %npm {axis = 0 : i64} : (tensor<64x32xf32>, tensor<64x32xi64>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %n1, %n2, %n3, %nt, %np : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<100x32xf32>, tensor<64x32xf32>
}

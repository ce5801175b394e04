// RUN: sinter opt %s --split-input-file --until=simplify | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline="expand-composites,simplify-ops,merge-duplicates,remove-dead-ops,raise-attention{exact=true}" \
// RUN:   | FileCheck %s --check-prefix=EXACT

// The composite, with its decomposition's scale on the query.
// CHECK-LABEL: @main
// CHECK-NOT: matmul
// CHECK: sinter.attention %arg0, %arg1, {{.*}}, %arg2 {scale = 1.250000e-01 : f64, span = "causal"}
// CHECK-NOT: matmul
// EXACT: rule = "exact"
// EXACT-LABEL: @main
// EXACT-NOT: sinter.attention
func.func @main(%q: tensor<2x64x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>) -> tensor<2x64x16xf32> {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.125 : f64, span = "causal"} : (tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<f32>) -> tensor<2x64x16xf32>
  return %0 : tensor<2x64x16xf32>
}

// -----

// By hand: the scores divided, a mask added that every head shares, the key
// with its heads inside. A row that the mask hides is NaN then.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[K:.*]] = sinter.transpose %arg1 {permutation = array<i64: 1, 0, 2>}
// CHECK: sinter.amax %arg3 {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[NAN:.*]] = sinter.where %{{.*}}, %{{.*}}, %arg3
// CHECK: %[[M:.*]] = sinter.broadcast %[[NAN]]
// CHECK: sinter.attention %arg0, %[[K]], %[[M]], %arg2 {scale = 2.500000e-01 : f64, span = "all"}
func.func @main(%q: tensor<2x5x16xf32>, %x: tensor<7x2x16xf32>, %v: tensor<2x7x3xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x3xf32> {
  %kt = sinter.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<7x2x16xf32>) -> tensor<2x16x7xf32>
  %s = sinter.matmul %q, %kt : (tensor<2x5x16xf32>, tensor<2x16x7xf32>) -> tensor<2x5x7xf32>
  %c = sinter.full {shape = affine_map<() -> (2, 5, 7)>, value = 4 : i64, dtype = f32} : () -> tensor<2x5x7xf32>
  %d = sinter.div %s, %c : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %m = sinter.broadcast %mask {shape = affine_map<() -> (2, 5, 7)>} : (tensor<5x7xf32>) -> tensor<2x5x7xf32>
  %a = sinter.add %m, %d : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %max = sinter.amax %a {axes = array<i64: 2>, keepdims = false} : (tensor<2x5x7xf32>) -> tensor<2x5xf32>
  %max1 = sinter.reshape %max {shape = affine_map<() -> (2, 5, 1)>} : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %max2 = sinter.broadcast %max1 {shape = affine_map<() -> (2, 5, 7)>} : (tensor<2x5x1xf32>) -> tensor<2x5x7xf32>
  %b = sinter.sub %a, %max2 : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %e = sinter.exp %b : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %sum = sinter.sum %e {axes = array<i64: 2>, keepdims = true} : (tensor<2x5x7xf32>) -> tensor<2x5x1xf32>
  %sum2 = sinter.broadcast %sum {shape = affine_map<() -> (2, 5, 7)>} : (tensor<2x5x1xf32>) -> tensor<2x5x7xf32>
  %p = sinter.div %e, %sum2 : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = sinter.matmul %p, %v : (tensor<2x5x7xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// -----

// The composite with a mask, whose hidden rows are 0: it is taken as it is.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NEXT: sinter.attention %arg0, %arg1, %arg3, %arg2
// CHECK-NEXT: return
func.func @main(%q: tensor<2x64x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>, %m: tensor<2x64x64xf32>) -> tensor<2x64x16xf32> {
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.125 : f64, span = "all"} : (tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x64xf32>) -> tensor<2x64x16xf32>
  return %0 : tensor<2x64x16xf32>
}

// -----

// A condition becomes a mask; a condition on positions is causal.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: sinter.where %arg3
// CHECK: sinter.attention {{.*}} {scale = 3.000000e+00 : f64, span = "causal"}
func.func @main(%q: tensor<5x16xf32>, %k: tensor<7x16xf32>, %v: tensor<7x3xf32>, %hidden: tensor<5x7xi1>) -> tensor<5x3xf32> {
  %kt = sinter.transpose %k {permutation = array<i64: 1, 0>} : (tensor<7x16xf32>) -> tensor<16x7xf32>
  %c = sinter.full {shape = affine_map<() -> (16, 7)>, value = 3 : i64, dtype = f32} : () -> tensor<16x7xf32>
  %scaled = sinter.mul %c, %kt : (tensor<16x7xf32>, tensor<16x7xf32>) -> tensor<16x7xf32>
  %s = sinter.matmul %q, %scaled : (tensor<5x16xf32>, tensor<16x7xf32>) -> tensor<5x7xf32>
  %none = sinter.full {shape = affine_map<() -> (5, 7)>, value = 0xFFF0000000000000 : f64, dtype = f32} : () -> tensor<5x7xf32>
  %w = sinter.where %hidden, %none, %s : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %i = sinter.iota {shape = affine_map<() -> (5, 7)>, axis = 0 : i64, dtype = i32} : () -> tensor<5x7xi32>
  %j = sinter.iota {shape = affine_map<() -> (5, 7)>, axis = 1 : i64, dtype = i32} : () -> tensor<5x7xi32>
  %seen = sinter.compare %j, %i {predicate = "le"} : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi1>
  %a = sinter.where %seen, %w, %none : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %p = sinter.softmax %a {axis = 1 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %y = sinter.matmul %p, %v : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// Somebody wants the probabilities.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NOT: sinter.attention
// CHECK: // rejected attention: {{.*}}the scores are needed in memory
func.func @main(%q: tensor<5x16xf32>, %k: tensor<7x16xf32>, %v: tensor<7x3xf32>) -> (tensor<5x3xf32>, tensor<5x7xf32>) {
  %kt = sinter.transpose %k {permutation = array<i64: 1, 0>} : (tensor<7x16xf32>) -> tensor<16x7xf32>
  %s = sinter.matmul %q, %kt : (tensor<5x16xf32>, tensor<16x7xf32>) -> tensor<5x7xf32>
  %p = sinter.softmax %s {axis = 1 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %y = sinter.matmul %p, %v : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return %y, %p : tensor<5x3xf32>, tensor<5x7xf32>
}

// -----

// Rows too long for a kernel's frame, and a softmax along another axis.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NOT: sinter.attention
// CHECK: // rejected attention: {{.*}}rows of 600 elements
func.func @main(%q: tensor<7x600xf32>, %k: tensor<7x600xf32>, %v: tensor<7x3xf32>) -> (tensor<7x3xf32>, tensor<7x3xf32>) {
  %kt = sinter.transpose %k {permutation = array<i64: 1, 0>} : (tensor<7x600xf32>) -> tensor<600x7xf32>
  %s = sinter.matmul %q, %kt : (tensor<7x600xf32>, tensor<600x7xf32>) -> tensor<7x7xf32>
  %p = sinter.softmax %s {axis = 1 : i64} : (tensor<7x7xf32>) -> tensor<7x7xf32>
  %y = sinter.matmul %p, %v : (tensor<7x7xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %p0 = sinter.softmax %kt {axis = 0 : i64} : (tensor<600x7xf32>) -> tensor<600x7xf32>
  %z = sinter.matmul %q, %p0 : (tensor<7x600xf32>, tensor<600x7xf32>) -> tensor<7x7xf32>
  %y0 = sinter.matmul %z, %v : (tensor<7x7xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  return %y, %y0 : tensor<7x3xf32>, tensor<7x3xf32>
}

// -----

// A scale that is known when the program runs: on the query's rows, and on the
// key's where the query's gradient has it.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[S:.*]] = sinter.broadcast %arg4
// CHECK: %[[Q:.*]] = sinter.mul %arg0, %[[S]]
// CHECK-DAG: sinter.attention %[[Q]], %arg1, {{.*}}, %arg2 {scale = 1.000000e+00 : f64, span = "causal"}
// CHECK-DAG: %[[L:.*]] = sinter.attention_logsumexp %[[Q]], %arg1
// CHECK: %[[K:.*]] = sinter.mul %arg1, %[[S]]
// CHECK: %[[DQ:.*]] = sinter.attention_query_gradient %arg0, %[[K]], {{.*}}, %arg2, %arg3, %[[L]]{{.*}} {factor = 1.000000e+00 : f64
// CHECK: return {{.*}}, %[[DQ]]
func.func @main(%q: tensor<2x64x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>, %g: tensor<2x64x16xf32>, %scale: tensor<f32>) -> (tensor<2x64x16xf32>, tensor<2x64x16xf32>) {
  %kt = sinter.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x16xf32>) -> tensor<2x16x64xf32>
  %s = sinter.matmul %q, %kt : (tensor<2x64x16xf32>, tensor<2x16x64xf32>) -> tensor<2x64x64xf32>
  %c = sinter.broadcast %scale {shape = affine_map<() -> (2, 64, 64)>} : (tensor<f32>) -> tensor<2x64x64xf32>
  %d = sinter.mul %s, %c : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %none = sinter.full {shape = affine_map<() -> (2, 64, 64)>, value = 0xFFF0000000000000 : f64, dtype = f32} : () -> tensor<2x64x64xf32>
  %i = sinter.iota {shape = affine_map<() -> (64, 64)>, axis = 0 : i64, dtype = i64} : () -> tensor<64x64xi64>
  %j = sinter.iota {shape = affine_map<() -> (64, 64)>, axis = 1 : i64, dtype = i64} : () -> tensor<64x64xi64>
  %seen = sinter.compare %i, %j {predicate = "ge"} : (tensor<64x64xi64>, tensor<64x64xi64>) -> tensor<64x64xi1>
  %all = sinter.broadcast %seen {shape = affine_map<() -> (2, 64, 64)>} : (tensor<64x64xi1>) -> tensor<2x64x64xi1>
  %a = sinter.where %all, %d, %none : (tensor<2x64x64xi1>, tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %p = sinter.softmax %a {axis = 2 : i64} : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %y = sinter.matmul %p, %v : (tensor<2x64x64xf32>, tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
  %vt = sinter.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x16xf32>) -> tensor<2x16x64xf32>
  %dp = sinter.matmul %g, %vt : (tensor<2x64x16xf32>, tensor<2x16x64xf32>) -> tensor<2x64x64xf32>
  %w = sinter.mul %dp, %p : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %delta = sinter.sum %w {axes = array<i64: 2>, keepdims = true} : (tensor<2x64x64xf32>) -> tensor<2x64x1xf32>
  %deltas = sinter.broadcast %delta {shape = affine_map<() -> (2, 64, 64)>} : (tensor<2x64x1xf32>) -> tensor<2x64x64xf32>
  %centered = sinter.sub %dp, %deltas : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %ds = sinter.mul %p, %centered : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %scaled = sinter.mul %ds, %c : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %dq = sinter.matmul %scaled, %k : (tensor<2x64x64xf32>, tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
  return %y, %dq : tensor<2x64x16xf32>, tensor<2x64x16xf32>
}

// -----

// The query's gradient alone, of a value of any width: no kernel's frame.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NOT: sinter.attention
// CHECK: // rejected attention: {{.*}}rows of a symbolic length
#rows = affine_map<()[s0] -> (64, s0)>
#columns = affine_map<()[s0] -> (s0, 64)>
func.func @main(%q: tensor<64x16xf32>, %k: tensor<64x16xf32>, %v: tensor<64x?xf32, #rows>, %g: tensor<64x?xf32, #rows>) -> tensor<64x16xf32> {
  %kt = sinter.transpose %k {permutation = array<i64: 1, 0>} : (tensor<64x16xf32>) -> tensor<16x64xf32>
  %s = sinter.matmul %q, %kt : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  %p = sinter.softmax %s {axis = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %vt = sinter.transpose %v {permutation = array<i64: 1, 0>} : (tensor<64x?xf32, #rows>) -> tensor<?x64xf32, #columns>
  %dp = sinter.matmul %g, %vt : (tensor<64x?xf32, #rows>, tensor<?x64xf32, #columns>) -> tensor<64x64xf32>
  %w = sinter.mul %dp, %p : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %delta = sinter.sum %w {axes = array<i64: 1>, keepdims = true} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %deltas = sinter.broadcast %delta {shape = affine_map<() -> (64, 64)>} : (tensor<64x1xf32>) -> tensor<64x64xf32>
  %centered = sinter.sub %dp, %deltas : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %ds = sinter.mul %p, %centered : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %dq = sinter.matmul %ds, %k : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %dq : tensor<64x16xf32>
}

// -----

// Weights that lose bits on the way are no attention's own.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NOT: sinter.attention
// CHECK: sinter.cast {{.*}}f8E4M3FN
func.func @main(%q: tensor<2x5x16xf32>, %kt: tensor<2x16x7xf32>, %v: tensor<2x7x3xf32>) -> tensor<2x5x3xf32> {
  %a = sinter.matmul %q, %kt : (tensor<2x5x16xf32>, tensor<2x16x7xf32>) -> tensor<2x5x7xf32>
  %max = sinter.amax %a {axes = array<i64: 2>, keepdims = true} : (tensor<2x5x7xf32>) -> tensor<2x5x1xf32>
  %max2 = sinter.broadcast %max {shape = affine_map<() -> (2, 5, 7)>} : (tensor<2x5x1xf32>) -> tensor<2x5x7xf32>
  %b = sinter.sub %a, %max2 : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %e = sinter.exp %b : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %sum = sinter.sum %e {axes = array<i64: 2>, keepdims = true} : (tensor<2x5x7xf32>) -> tensor<2x5x1xf32>
  %sum2 = sinter.broadcast %sum {shape = affine_map<() -> (2, 5, 7)>} : (tensor<2x5x1xf32>) -> tensor<2x5x7xf32>
  %p = sinter.div %e, %sum2 : (tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %small = sinter.cast %p {dtype = f8E4M3FN} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf8E4M3FN>
  %back = sinter.cast %small {dtype = f32} : (tensor<2x5x7xf8E4M3FN>) -> tensor<2x5x7xf32>
  %y = sinter.matmul %back, %v : (tensor<2x5x7xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// The arithmetic of attention: 2 x 3 times 40 queries by 56 keys, by 16 for
// scores and by 8 for results, each a product and a sum. Gradients are five
// such products: one each, and scores and what is made of the incoming one,
// with the gradients of keys and values.
// RUN: split-file %s %t
// RUN: sinter profile %t/forward.mlir --repeat 1 --json | FileCheck %s
// RUN: sinter profile %t/causal.mlir --repeat 1 --json \
// RUN:   | FileCheck %s --check-prefix=CAUSAL
// RUN: sinter profile %t/gradients.mlir --repeat 1 --json \
// RUN:   | FileCheck %s --check-prefix=GRADIENTS

// CHECK: "attention", {{.*}} "flops": 645120,
//--- forward.mlir
func.func @main(%q: tensor<2x3x40x16xf32>, %k: tensor<2x3x56x16xf32>, %v: tensor<2x3x56x8xf32>) -> tensor<2x3x40x8xf32> {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention %q, %k, %m, %v {scale = 0.25 : f64, span = "all"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>, tensor<2x3x56x8xf32>) -> tensor<2x3x40x8xf32>
  return %0 : tensor<2x3x40x8xf32>
}

// Queries see no later keys; the logarithm of a row's sum takes no product.
// CAUSAL: "flops": 322560,
//--- causal.mlir
func.func @main(%q: tensor<2x3x40x16xf32>, %k: tensor<2x3x56x16xf32>, %v: tensor<2x3x56x8xf32>) -> (tensor<2x3x40x8xf32>, tensor<2x3x40x1xf32>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention %q, %k, %m, %v {scale = 0.25 : f64, span = "causal"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>, tensor<2x3x56x8xf32>) -> tensor<2x3x40x8xf32>
  %1 = sinter.attention_logsumexp %q, %k, %m {scale = 0.25 : f64, span = "causal"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>) -> tensor<2x3x40x1xf32>
  return %0, %1 : tensor<2x3x40x8xf32>, tensor<2x3x40x1xf32>
}

// 16 for the gradient of queries; 16 + 8 + 16 + 8 for those of keys and values.
// GRADIENTS-DAG: "flops": 430080,
// GRADIENTS-DAG: "flops": 1290240,
//--- gradients.mlir
func.func @main(%q: tensor<2x3x40x16xf32>, %k: tensor<2x3x56x16xf32>, %v: tensor<2x3x56x8xf32>, %g: tensor<2x3x40x8xf32>, %l: tensor<2x3x40x1xf32>, %d: tensor<2x3x40x1xf32>) -> (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<2x3x56x8xf32>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention_query_gradient %q, %k, %m, %v, %g, %l, %d {factor = 0.25 : f64, scale = 0.25 : f64, span = "all"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>, tensor<2x3x56x8xf32>, tensor<2x3x40x8xf32>, tensor<2x3x40x1xf32>, tensor<2x3x40x1xf32>) -> tensor<2x3x40x16xf32>
  %1 = sinter.attention_key_gradient %q, %k, %m, %v, %g, %l, %d {factor = 0.25 : f64, scale = 0.25 : f64, span = "all"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>, tensor<2x3x56x8xf32>, tensor<2x3x40x8xf32>, tensor<2x3x40x1xf32>, tensor<2x3x40x1xf32>) -> tensor<2x3x56x16xf32>
  %2 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {factor = 1.0 : f64, scale = 0.25 : f64, span = "all"} : (tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<f32>, tensor<2x3x56x8xf32>, tensor<2x3x40x8xf32>, tensor<2x3x40x1xf32>, tensor<2x3x40x1xf32>) -> tensor<2x3x56x8xf32>
  return %0, %1, %2 : tensor<2x3x40x16xf32>, tensor<2x3x56x16xf32>, tensor<2x3x56x8xf32>
}

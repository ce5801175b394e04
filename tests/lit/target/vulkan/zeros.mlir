// 0 + -0 is +0, also where a driver takes 0 + x for x. In f64, which has no tiles.
// RUN: rm -rf %t && mkdir -p %t/vulkan %t/cpu
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t/text
// RUN: FileCheck %s < %t/text
// RUN: %spirv_val %t/text
// RUN: sinter run %s --device vulkan:0 --random-inputs 7 --output-dir %t/vulkan
// RUN: sinter run %s --device cpu --random-inputs 7 --output-dir %t/cpu
// RUN: diff -r %t/vulkan %t/cpu
// CHECK: %[[ZERO:[a-z0-9_]+]] = spirv.Constant 0.000000e+00 : f64
// CHECK: %[[IS_ZERO:[0-9]+]] = spirv.FOrdEqual %[[PRODUCT:[0-9]+]], %[[ZERO]] : f64
// CHECK: spirv.Select %[[IS_ZERO]], %[[ZERO]], %[[PRODUCT]] : i1, f64
func.func @main(%q: tensor<1x4xf64>, %k: tensor<6x4xf64>, %v: tensor<6x1xf64>,
                %grad: tensor<1x1xf64>, %l: tensor<1x1xf64>, %d: tensor<1x1xf64>) -> tensor<5x1xf64> {
  // The query sees the first key alone: the others' gradients are 0 * g.
  %0 = sinter.abs %grad : (tensor<1x1xf64>) -> tensor<1x1xf64>
  %g = sinter.neg %0 : (tensor<1x1xf64>) -> tensor<1x1xf64>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
  %1 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {factor = 1.0 : f64, scale = 0.5 : f64, span = "causal"} : (tensor<1x4xf64>, tensor<6x4xf64>, tensor<f64>, tensor<6x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<6x1xf64>
  %2 = sinter.slice %1 {starts = array<i64: 1, 0>, limits = affine_map<() -> (6, 1)>, steps = array<i64: 1, 1>} : (tensor<6x1xf64>) -> tensor<5x1xf64>
  return %2 : tensor<5x1xf64>
}

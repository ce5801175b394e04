// Quotients of i64 by numbers are products with their reciprocals: NVIDIA's
// driver divides wrongly where a quotient is divided again.
// RUN: rm -rf %t && mkdir -p %t/vulkan %t/cpu
// RUN: sinter inspect %s --stage asm --target vulkan:h200 > %t/text
// RUN: FileCheck %s < %t/text
// RUN: %spirv_val %t/text
// RUN: sinter run %s --device vulkan:0 --random-inputs 7 --output-dir %t/vulkan
// RUN: sinter run %s --device cpu --random-inputs 7 --output-dir %t/cpu
// RUN: diff -r %t/vulkan %t/cpu
// CHECK-NOT: spirv.SDiv {{.*}} i64
// CHECK: spirv.IMul {{.*}} i64
// CHECK-NOT: spirv.SDiv {{.*}} i64
func.func @main(%x: tensor<1000xi64>) ->
    (tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>,
     tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>,
     tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>,
     tensor<1000xi64>) {
  %z = sinter.full {shape = affine_map<() -> (1000)>, value = 7046029254386353131 : i64, dtype = i64} : () -> tensor<1000xi64>
  %y = sinter.mul %x, %z : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d0 = sinter.full {shape = affine_map<() -> (1000)>, value = 3 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q0 = sinter.div %y, %d0 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d1 = sinter.full {shape = affine_map<() -> (1000)>, value = -7 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q1 = sinter.div %y, %d1 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d2 = sinter.full {shape = affine_map<() -> (1000)>, value = 8 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q2 = sinter.div %y, %d2 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d3 = sinter.full {shape = affine_map<() -> (1000)>, value = -16 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q3 = sinter.div %y, %d3 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d4 = sinter.full {shape = affine_map<() -> (1000)>, value = 10 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q4 = sinter.div %y, %d4 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d5 = sinter.full {shape = affine_map<() -> (1000)>, value = 641 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q5 = sinter.div %y, %d5 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d6 = sinter.full {shape = affine_map<() -> (1000)>, value = 1000003 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q6 = sinter.div %y, %d6 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d7 = sinter.full {shape = affine_map<() -> (1000)>, value = 8589934593 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q7 = sinter.div %y, %d7 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d8 = sinter.full {shape = affine_map<() -> (1000)>, value = -4611686018427387904 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q8 = sinter.div %y, %d8 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d9 = sinter.full {shape = affine_map<() -> (1000)>, value = 9223372036854775807 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q9 = sinter.div %y, %d9 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d10 = sinter.full {shape = affine_map<() -> (1000)>, value = -9223372036854775808 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q10 = sinter.div %y, %d10 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %d11 = sinter.full {shape = affine_map<() -> (1000)>, value = -3 : i64, dtype = i64} : () -> tensor<1000xi64>
  %q11 = sinter.div %y, %d11 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  %t = sinter.div %q0, %d0 : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  return %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10, %q11, %t :
    tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>, tensor<1000xi64>
}

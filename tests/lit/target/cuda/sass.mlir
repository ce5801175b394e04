// Machine code is made and read by programs of the CUDA toolkit; without them
// an error says so.
// RUN: env PATH=%llvm_path not sinter inspect %s --target cuda:sm_90 --stage sass 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not sinter inspect %s --stage sass 2>&1 | FileCheck %s --check-prefix=CPU
// NONE: error: {{.*}}SASS is made and read by {{ptxas|nvdisasm}}, which is not found (of the CUDA toolkit)
// CPU: error: inspect: target cpu has no SASS; name one with --target cuda:sm_90
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: sinter opt %s --split-input-file --pipeline=narrow-positions | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline=narrow-positions --target=vulkan:minimal13 | FileCheck %s --check-prefix=WORDS

// Arithmetic reads where the largest stands: the place is stored in a byte, by
// a device that has them.
// CHECK-LABEL: @main
// CHECK: %[[AT:.*]] = sinter.argmax
// CHECK: %[[BYTE:.*]] = sinter.cast %[[AT]] {{.*}} -> tensor<20xui8>
// CHECK: %[[WIDE:.*]] = sinter.cast %[[BYTE]] {{.*}} -> tensor<20xi64>
// CHECK: sinter.reshape %[[WIDE]]
// WORDS-LABEL: @main
// WORDS: %[[AT:.*]] = sinter.argmax
// WORDS: sinter.cast %[[AT]] {{.*}} -> tensor<20xi32>
func.func @main(%x: tensor<20x9xf32>, %y: tensor<20x1xi64>) -> tensor<20x1xi1> {
  %0 = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (tensor<20x9xf32>) -> tensor<20xi64>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (20, 1)>} : (tensor<20xi64>) -> tensor<20x1xi64>
  %2 = sinter.compare %1, %y {predicate = "eq"} : (tensor<20x1xi64>, tensor<20x1xi64>) -> tensor<20x1xi1>
  return %2 : tensor<20x1xi1>
}

// -----

// A byte holds 256 of them, and not one more.
// WORDS-LABEL: @main
// WORDS: sinter.argmin
// WORDS: sinter.cast {{.*}} -> tensor<20xi32>
// CHECK-LABEL: @main
// CHECK: sinter.argmin
// CHECK: sinter.cast {{.*}} -> tensor<20xui8>
// CHECK: sinter.argmin
// CHECK: sinter.cast {{.*}} -> tensor<20xi32>
func.func @main(%x: tensor<20x256xf32>, %y: tensor<20x257xf32>) -> tensor<20xi64> {
  %0 = sinter.argmin %x {axis = 1 : i64, keepdims = false} : (tensor<20x256xf32>) -> tensor<20xi64>
  %1 = sinter.argmin %y {axis = 1 : i64, keepdims = false} : (tensor<20x257xf32>) -> tensor<20xi64>
  %2 = sinter.add %0, %1 : (tensor<20xi64>, tensor<20xi64>) -> tensor<20xi64>
  return %2 : tensor<20xi64>
}

// -----

// Not: what is returned, what positions are looked up by, an unknown extent.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.cast
// WORDS-LABEL: @main
// WORDS-NOT: sinter.cast
#x = affine_map<()[s0] -> (20, s0)>
func.func @main(%x: tensor<20x9xf32>, %y: tensor<9xf32>, %z: tensor<20x?xf32, #x>) -> (tensor<20xi64>, tensor<20xf32>, tensor<20xi1>) {
  %0 = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (tensor<20x9xf32>) -> tensor<20xi64>
  %1 = sinter.argmin %x {axis = 1 : i64, keepdims = false} : (tensor<20x9xf32>) -> tensor<20xi64>
  %2 = sinter.gather %y, %1 {axis = 0 : i64} : (tensor<9xf32>, tensor<20xi64>) -> tensor<20xf32>
  %3 = sinter.argmax %z {axis = 1 : i64, keepdims = false} : (tensor<20x?xf32, #x>) -> tensor<20xi64>
  %4 = sinter.compare %3, %0 {predicate = "eq"} : (tensor<20xi64>, tensor<20xi64>) -> tensor<20xi1>
  return %0, %2, %4 : tensor<20xi64>, tensor<20xf32>, tensor<20xi1>
}

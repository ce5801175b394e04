// Rows that come from one operand or another are loaded under a mask. Where no
// lane is, the place is the buffer's begin: the one that the row would have in
// the other operand may be outside of all memory, which costs a processor
// hundreds of cycles to ignore.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @map_
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, {{.*}}, %c25
// CHECK: %[[SECOND:.*]] = arith.cmpi ult, {{.*}}, %c3
// CHECK: %[[AT:.*]] = arith.select %[[FIRST]], {{.*}}, %c0 : index
// CHECK: vector.maskedload {{.*}}[%[[AT]]]
// CHECK: %[[OTHER:.*]] = arith.select %[[SECOND]], {{.*}}, %c0 : index
// CHECK: vector.maskedload {{.*}}[%[[OTHER]]]
func.func @main(%x: tensor<28x192xf32>, %y: tensor<28x192xf32>) -> tensor<28x192xf32> {
  %0 = sinter.slice %x {starts = array<i64: 3, 0>, limits = affine_map<() -> (28, 192)>, steps = array<i64: 1, 1>} : (tensor<28x192xf32>) -> tensor<25x192xf32>
  %1 = sinter.slice %x {starts = array<i64: 0, 0>, limits = affine_map<() -> (3, 192)>, steps = array<i64: 1, 1>} : (tensor<28x192xf32>) -> tensor<3x192xf32>
  %2 = sinter.concat %0, %1 {axis = 0 : i64} : (tensor<25x192xf32>, tensor<3x192xf32>) -> tensor<28x192xf32>
  %3 = sinter.mul %2, %y : (tensor<28x192xf32>, tensor<28x192xf32>) -> tensor<28x192xf32>
  return %3 : tensor<28x192xf32>
}

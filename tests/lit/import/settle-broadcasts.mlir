// Kernels repeat an axis of size 1, and take the operand's own where the sizes
// are one expression. Sizes that guards alone make equal, or 1, are written so.
// RUN: sinter-opt %s --split-input-file --settle-broadcasts | FileCheck %s

#x = affine_map<()[s0, s1] -> (s0, 3)>
#y = affine_map<()[s0, s1] -> (5, s1 - 1, 3)>
#equal = affine_map<()[s0, s1] -> (s0 + 1, s1)>

// CHECK-LABEL: @equal
func.func @equal(%x: tensor<?x3xf32, #x>) -> tensor<5x?x3xf32, #y> attributes {sinter.guards = [#equal]} {
  // CHECK: %[[OWN:.*]] = sinter.reshape %{{.*}} -> tensor<?x3xf32, #[[OUT:.*]]>
  // CHECK: sinter.broadcast %[[OWN]] {{.*}} : (tensor<?x3xf32, #[[OUT]]>) ->
  %0 = sinter.broadcast %x {shape = #y} : (tensor<?x3xf32, #x>) -> tensor<5x?x3xf32, #y>
  return %0 : tensor<5x?x3xf32, #y>
}

// -----

#x = affine_map<()[s0] -> (s0 floordiv 4, 3)>
#y = affine_map<()[s0] -> (41, 3)>
#one = affine_map<()[s0] -> (s0 floordiv 4 + 1, 2)>

// CHECK-LABEL: @one
func.func @one(%x: tensor<?x3xf32, #x>) -> tensor<41x3xf32, #y> attributes {sinter.guards = [#one]} {
  // CHECK: %[[ROW:.*]] = sinter.reshape %{{.*}} -> tensor<1x3xf32
  // CHECK: sinter.broadcast %[[ROW]]
  %0 = sinter.broadcast %x {shape = #y} : (tensor<?x3xf32, #x>) -> tensor<41x3xf32, #y>
  return %0 : tensor<41x3xf32, #y>
}

// -----

#x = affine_map<()[s0] -> (s0, 1)>
#y = affine_map<()[s0] -> (2, s0, 7)>

// CHECK-LABEL: @settled
func.func @settled(%x: tensor<?x1xf32, #x>) -> tensor<2x?x7xf32, #y> {
  // CHECK-NOT: sinter.reshape
  %0 = sinter.broadcast %x {shape = #y} : (tensor<?x1xf32, #x>) -> tensor<2x?x7xf32, #y>
  return %0 : tensor<2x?x7xf32, #y>
}

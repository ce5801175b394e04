// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @loop
func.func @loop(%x: tensor<4x8xf32>, %h: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  // CHECK: sinter.scan_index {length = {{.*}}, reverse = true} : () -> tensor<4xi1>
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = true} : () -> tensor<4xi1>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  %s = sinter.scan_slice %i, %x : (tensor<4xi1>, tensor<4x8xf32>) -> tensor<8xf32>
  %n = sinter.add %c, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = sinter.scan_end %i, %c, %n, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4xi1>
  %l = sinter.scan_last %e, %c : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  %y = sinter.scan_stack %e, %n : (tensor<4xi1>, tensor<8xf32>) -> tensor<4x8xf32>
  return %l, %y : tensor<8xf32>, tensor<4x8xf32>
}

// -----

#steps = affine_map<()[s0] -> (s0)>

// CHECK-LABEL: @symbolic
func.func @symbolic() -> tensor<?xi1, #steps> {
  // CHECK: sinter.scan_index
  %i = sinter.scan_index {length = #steps, reverse = false} : () -> tensor<?xi1, #steps>
  return %i : tensor<?xi1, #steps>
}

// -----

func.func @negative() -> tensor<4xi1> {
  // expected-error @+1 {{scan_index: }}
  %i = sinter.scan_index {length = affine_map<() -> (-4)>, reverse = false} : () -> tensor<4xi1>
  return %i : tensor<4xi1>
}

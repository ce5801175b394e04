// RUN: sinter-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(form-loops)'

func.func @main(%h: tensor<8xf32>) -> tensor<8xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = false} : () -> tensor<4xi1>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{a value of the body has no value outside of it}}
  %n = sinter.exp %c : (tensor<8xf32>) -> tensor<8xf32>
  %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<4xi1>
  %l = sinter.scan_last %e, %c : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

func.func @main(%h: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{a value of a body is used outside of its loop, or the loop has no end}}
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = false} : () -> tensor<4xi1>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

func.func @main(%h: tensor<8xf32>) -> tensor<8xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = false} : () -> tensor<4xi1>
  // expected-error @+1 {{scan_end: operand 1 is no carry of the loop}}
  %e = sinter.scan_end %i, %h, %h {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<4xi1>
  %l = sinter.scan_last %e, %h : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  return %l : tensor<8xf32>
}

// -----

func.func @main(%h: tensor<i1>) -> tensor<4xi1> {
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = false} : () -> tensor<4xi1>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  %n = sinter.logical_not %c : (tensor<i1>) -> tensor<i1>
  %e = sinter.scan_end %i, %c, %n, %n {carries = 1 : i64, condition = 1 : i64} : (tensor<4xi1>, tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<4xi1>
  // expected-error @+1 {{a loop with a condition keeps nothing of its steps}}
  %s = sinter.scan_stack %e, %n : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  return %s : tensor<4xi1>
}

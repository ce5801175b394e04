// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<4x8xf32>, %l: tensor<i64>, %h: tensor<i64>, %c: tensor<i64>) -> tensor<4x8xf32> {
  // CHECK: sinter.dropout {{.*}} {p = 2.500000e-01 : f64} : (tensor<4x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  %0 = sinter.dropout %x, %l, %h, %c {p = 0.25 : f64} : (tensor<4x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf16, #rows>, %l: tensor<i64>, %h: tensor<i64>, %c: tensor<i64>) -> tensor<?x8xf16, #rows> {
  // CHECK: sinter.dropout
  %0 = sinter.dropout %x, %l, %h, %c {p = 0.25 : f64} : (tensor<?x8xf16, #rows>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?x8xf16, #rows>
  return %0 : tensor<?x8xf16, #rows>
}

// -----

func.func @probability(%x: tensor<4xf32>, %l: tensor<i64>, %h: tensor<i64>, %c: tensor<i64>) -> tensor<4xf32> {
  // expected-error @+1 {{dropout: p must be in [0, 1], not 1.5}}
  %0 = sinter.dropout %x, %l, %h, %c {p = 1.5 : f64} : (tensor<4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @key(%x: tensor<4xf32>, %l: tensor<1xi64>, %h: tensor<i64>, %c: tensor<i64>) -> tensor<4xf32> {
  // expected-error @+1 {{dropout: key and counter must be i64 of rank 0}}
  %0 = sinter.dropout %x, %l, %h, %c {p = 0.5 : f64} : (tensor<4xf32>, tensor<1xi64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

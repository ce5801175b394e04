// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @end
func.func @end(%i: tensor<4xi1>, %c: tensor<8xf32>, %n: tensor<8xf32>, %y: tensor<f64>) -> tensor<4xi1> {
  // CHECK: sinter.scan_end {{.*}} {carries = 1 : i64, condition = 0 : i64}
  %e = sinter.scan_end %i, %c, %n, %y {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// -----

func.func @pairs(%i: tensor<4xi1>, %c: tensor<8xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{scan_end: a carry has no next value}}
  %e = sinter.scan_end %i, %c {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// -----

func.func @types(%i: tensor<4xi1>, %c: tensor<8xf32>, %n: tensor<9xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{scan: a step must not change a carry's type: carry 0 is f32[8] and becomes f32[9]}}
  %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<9xf32>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// -----

// CHECK-LABEL: @condition
func.func @condition(%i: tensor<4xi1>, %c: tensor<i1>, %n: tensor<i1>) -> tensor<4xi1> {
  // CHECK: sinter.scan_end {{.*}} {carries = 1 : i64, condition = -1 : i64}
  %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = -1 : i64} : (tensor<4xi1>, tensor<i1>, tensor<i1>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// -----

func.func @no_carry(%i: tensor<4xi1>, %c: tensor<i1>, %n: tensor<i1>) -> tensor<4xi1> {
  // expected-error @+1 {{scan_end: the condition is no carry}}
  %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 2 : i64} : (tensor<4xi1>, tensor<i1>, tensor<i1>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// -----

func.func @no_flag(%i: tensor<4xi1>, %c: tensor<1xi1>, %n: tensor<1xi1>) -> tensor<4xi1> {
  // expected-error @+1 {{scan_end: the condition is not a boolean scalar}}
  %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 1 : i64} : (tensor<4xi1>, tensor<1xi1>, tensor<1xi1>) -> tensor<4xi1>
  return %e : tensor<4xi1>
}

// RUN: sinter inspect %s --stage fuse | FileCheck %s

// A loop whose parts depend on another one's carry is in its body.
// CHECK: program.for carries(%arg0)
// CHECK-NEXT: ^bb0(%[[C:arg[0-9]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[K:[0-9]+]] = program.for carries(%[[C]])
// CHECK-NEXT: ^bb0(%[[D:arg[0-9]+]]: tensor<8xf32>):
// CHECK-NEXT: program.launch @map_{{[0-9a-f]*}}(%[[D]])
// CHECK-NEXT: program.next
// CHECK: program.next %[[K]]
func.func @main(%h: tensor<8xf32>) -> tensor<8xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (4)>, reverse = false} : () -> tensor<4xi1>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  %j = sinter.scan_index {length = affine_map<() -> (2)>, reverse = false} : () -> tensor<2xi1>
  %d = sinter.scan_carry %j, %c : (tensor<2xi1>, tensor<8xf32>) -> tensor<8xf32>
  %n = sinter.exp %d : (tensor<8xf32>) -> tensor<8xf32>
  %f = sinter.scan_end %j, %d, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<2xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<2xi1>
  %k = sinter.scan_last %f, %d : (tensor<2xi1>, tensor<8xf32>) -> tensor<8xf32>
  %e = sinter.scan_end %i, %c, %k {carries = 1 : i64, condition = 0 : i64} : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<4xi1>
  %l = sinter.scan_last %e, %c : (tensor<4xi1>, tensor<8xf32>) -> tensor<8xf32>
  return %l : tensor<8xf32>
}


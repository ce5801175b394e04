// A count of a size that only a run knows, below an extent that a guard says is
// at least as large: here that of the mask whose first rows are taken.
// RUN: sinter inspect %s --stage simplify | FileCheck %s

#t = affine_map<()[s0] -> (s0)>
#rows = affine_map<()[s0] -> (s0, 4)>
#column = affine_map<()[s0] -> (s0, 1)>

// CHECK: sinter.guards
// CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked}
// CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked}
// CHECK: sinter.gather %{{.*}} {axis = 0 : i64} : (tensor<63x4xf32>
func.func @main(%table: tensor<64x4xf32>, %short: tensor<63x4xf32>, %long: tensor<65x4xf32>, %mask: tensor<64xf32>, %x: tensor<?xf32, #t>) -> (tensor<?xf32, #t>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>) {
  %m = sinter.slice %mask {starts = array<i64: 0>, limits = affine_map<()[s0] -> (s0)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<?xf32, #t>
  %0 = sinter.mul %m, %x : (tensor<?xf32, #t>, tensor<?xf32, #t>) -> tensor<?xf32, #t>
  %i = sinter.iota {shape = affine_map<()[s0] -> (s0)>, axis = 0 : i64, dtype = i64} : () -> tensor<?xi64, #t>
  %1 = sinter.reshape %i {shape = affine_map<()[s0] -> (s0, 1)>} : (tensor<?xi64, #t>) -> tensor<?x1xi64, #column>
  %2 = sinter.broadcast %1 {shape = affine_map<()[s0] -> (s0, 4)>} : (tensor<?x1xi64, #column>) -> tensor<?x4xi64, #rows>
  %3 = sinter.gather %table, %2 {axis = 0 : i64} : (tensor<64x4xf32>, tensor<?x4xi64, #rows>) -> tensor<?x4xf32, #rows>
  // One further.
  %less = sinter.full {shape = affine_map<()[s0] -> (s0, 4)>, value = -1 : i64, dtype = i64} : () -> tensor<?x4xi64, #rows>
  %4 = sinter.sub %2, %less : (tensor<?x4xi64, #rows>, tensor<?x4xi64, #rows>) -> tensor<?x4xi64, #rows>
  %5 = sinter.gather %long, %4 {axis = 0 : i64} : (tensor<65x4xf32>, tensor<?x4xi64, #rows>) -> tensor<?x4xf32, #rows>
  %6 = sinter.gather %short, %2 {axis = 0 : i64} : (tensor<63x4xf32>, tensor<?x4xi64, #rows>) -> tensor<?x4xf32, #rows>
  return %0, %3, %5, %6 : tensor<?xf32, #t>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>
}

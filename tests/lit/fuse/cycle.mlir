// A path between two kernels may run through one whose first op stands after
// both, and from there through one that reaches back: the scatter reads what
// the small products give, and the gather reads a value of the kernel that
// reads the scatter. The kernels still have an order.
// RUN: sinter opt %s --pipeline=number-nodes,form-kernels | FileCheck %s

// CHECK: rule = "cycle"
// CHECK-COUNT-4: program.launch
#map = affine_map<() -> (3, 7, 1, 3)>
#map1 = affine_map<() -> (3, 1, 3)>
#map2 = affine_map<() -> (3, 1, 1, 3)>
func.func @main(%arg0: tensor<3x7x1x3xf32>, %arg1: tensor<3x1x3xi64>, %arg2: tensor<3x1x3xf32>) -> (tensor<3x1x3xf32>, tensor<3x7x1x3xf32>) {
  %0 = sinter.amax %arg0 {axes = array<i64: 1>, keepdims = true} : (tensor<3x7x1x3xf32>) -> tensor<3x1x1x3xf32>
  %1 = sinter.broadcast %0 {shape = #map} : (tensor<3x1x1x3xf32>) -> tensor<3x7x1x3xf32>
  %2 = sinter.sub %arg0, %1 : (tensor<3x7x1x3xf32>, tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  %3 = sinter.exp %2 : (tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  %4 = sinter.sum %3 {axes = array<i64: 1>, keepdims = true} : (tensor<3x7x1x3xf32>) -> tensor<3x1x1x3xf32>
  %5 = sinter.log %4 : (tensor<3x1x1x3xf32>) -> tensor<3x1x1x3xf32>
  %6 = sinter.broadcast %5 {shape = #map} : (tensor<3x1x1x3xf32>) -> tensor<3x7x1x3xf32>
  %7 = sinter.sub %2, %6 : (tensor<3x7x1x3xf32>, tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  %8 = sinter.full  {dtype = i64, shape = #map1, value = 0 : i64} : () -> tensor<3x1x3xi64>
  %9 = sinter.compare %arg1, %8 {predicate = "eq"} : (tensor<3x1x3xi64>, tensor<3x1x3xi64>) -> tensor<3x1x3xi1>
  %10 = sinter.where %9, %8, %arg1 : (tensor<3x1x3xi1>, tensor<3x1x3xi64>, tensor<3x1x3xi64>) -> tensor<3x1x3xi64>
  %11 = sinter.reshape %10 {shape = #map2} : (tensor<3x1x3xi64>) -> tensor<3x1x1x3xi64>
  %12 = sinter.gather %7, %11 {axis = 1 : i64} : (tensor<3x7x1x3xf32>, tensor<3x1x1x3xi64>) -> tensor<3x1x1x3xf32>
  %13 = sinter.reshape %12 {shape = #map1} : (tensor<3x1x1x3xf32>) -> tensor<3x1x3xf32>
  %14 = sinter.neg %13 : (tensor<3x1x3xf32>) -> tensor<3x1x3xf32>
  %15 = sinter.full  {dtype = i1, shape = #map1, value = 0 : i64} : () -> tensor<3x1x3xi1>
  %16 = sinter.compare %9, %15 {predicate = "eq"} : (tensor<3x1x3xi1>, tensor<3x1x3xi1>) -> tensor<3x1x3xi1>
  %17 = sinter.cast %16 {dtype = f32} : (tensor<3x1x3xi1>) -> tensor<3x1x3xf32>
  %18 = sinter.mul %14, %17 : (tensor<3x1x3xf32>, tensor<3x1x3xf32>) -> tensor<3x1x3xf32>
  %19 = sinter.full  {dtype = f32, shape = #map, value = 0 : i64} : () -> tensor<3x7x1x3xf32>
  %20 = sinter.mul %arg2, %17 : (tensor<3x1x3xf32>, tensor<3x1x3xf32>) -> tensor<3x1x3xf32>
  %21 = sinter.neg %20 : (tensor<3x1x3xf32>) -> tensor<3x1x3xf32>
  %22 = sinter.reshape %21 {shape = #map2} : (tensor<3x1x3xf32>) -> tensor<3x1x1x3xf32>
  %23 = sinter.scatter_add %19, %11, %22 {axis = 1 : i64} : (tensor<3x7x1x3xf32>, tensor<3x1x1x3xi64>, tensor<3x1x1x3xf32>) -> tensor<3x7x1x3xf32>
  %24 = sinter.exp %7 : (tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  %25 = sinter.sum %23 {axes = array<i64: 1>, keepdims = true} : (tensor<3x7x1x3xf32>) -> tensor<3x1x1x3xf32>
  %26 = sinter.broadcast %25 {shape = #map} : (tensor<3x1x1x3xf32>) -> tensor<3x7x1x3xf32>
  %27 = sinter.mul %24, %26 : (tensor<3x7x1x3xf32>, tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  %28 = sinter.sub %23, %27 : (tensor<3x7x1x3xf32>, tensor<3x7x1x3xf32>) -> tensor<3x7x1x3xf32>
  return %18, %28 : tensor<3x1x3xf32>, tensor<3x7x1x3xf32>
}

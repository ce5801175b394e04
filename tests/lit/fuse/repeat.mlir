// RUN: sinter opt %s --split-input-file --pipeline=number-nodes,form-kernels | FileCheck %s

// The first product keeps its result and the hyperbolic tangent, which another
// kernel reads. What one op makes of them is made again there.
// CHECK-LABEL: module
// CHECK-DAG: detail = "mul computed again by 1 kernels, not kept"
// CHECK-DAG: detail = "add computed again by 1 kernels, not kept"
// CHECK: program.kernel
// CHECK: %[[X:.*]] = sinter.matmul
// CHECK: %[[T:.*]] = sinter.tanh
// CHECK: %[[Y:.*]] = sinter.mul
// CHECK: program.yield %[[X]], %[[T]], %[[Y]] :
// CHECK: program.kernel
// CHECK-DAG: sinter.mul %arg{{.*}}, %arg{{.*}} :
// CHECK-DAG: sinter.add %arg{{.*}}, %{{.*}} :
// CHECK: program.yield
// CHECK-COUNT-2: program.launch
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %g: tensor<64x16xf32>, %w: tensor<16x48xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %x = sinter.matmul %a, %b : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %one = sinter.full {dtype = f32, shape = affine_map<() -> (64, 48)>, value = 1 : i64} : () -> tensor<64x48xf32>
  %square = sinter.mul %x, %x : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %t = sinter.tanh %square : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %more = sinter.add %t, %one : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = sinter.mul %x, %more : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %d = sinter.matmul %g, %w : (tensor<64x16xf32>, tensor<16x48xf32>) -> tensor<64x48xf32>
  %0 = sinter.mul %d, %square : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = sinter.mul %0, %more : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = sinter.mul %1, %x : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = sinter.mul %2, %t : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y, %3 : tensor<64x48xf32>, tensor<64x48xf32>
}

// -----

// Not: a tangent takes longer than reading it does, and a mask of one byte is
// less than what it is made of.
// CHECK-LABEL: module
// CHECK-NOT: rule = "repeat"
// CHECK: program.kernel
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %g: tensor<64x16xf32>, %w: tensor<16x48xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %x = sinter.matmul %a, %b : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %zero = sinter.full {dtype = f32, shape = affine_map<() -> (64, 48)>, value = 0 : i64} : () -> tensor<64x48xf32>
  %t = sinter.tanh %x : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = sinter.maximum %t, %zero : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %mask = sinter.compare %y, %zero {predicate = "gt"} : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xi1>
  %d = sinter.matmul %g, %w : (tensor<64x16xf32>, tensor<16x48xf32>) -> tensor<64x48xf32>
  %0 = sinter.where %mask, %d, %zero : (tensor<64x48xi1>, tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = sinter.mul %0, %t : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y, %1 : tensor<64x48xf32>, tensor<64x48xf32>
}

// -----

// A kernel that nobody reads any more is none: both products compute the sum of
// their operand and a number for themselves.
// CHECK-LABEL: module
// CHECK: rule = "repeat"
// CHECK-COUNT-4: program.launch
// CHECK-NOT: program.launch
func.func @main(%a: tensor<64x48xf32>, %x: tensor<64x32xf32>, %w: tensor<32x48xf32>, %v: tensor<32x48xf32>) -> (tensor<64x1xf32>, tensor<1x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>) {
  %one = sinter.full {dtype = f32, shape = affine_map<() -> (64, 48)>, value = 1 : i64} : () -> tensor<64x48xf32>
  %more = sinter.add %a, %one : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %rows = sinter.sum %more {axes = array<i64: 1>, keepdims = true} : (tensor<64x48xf32>) -> tensor<64x1xf32>
  %columns = sinter.sum %more {axes = array<i64: 0>, keepdims = true} : (tensor<64x48xf32>) -> tensor<1x48xf32>
  %p = sinter.matmul %x, %w : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %q = sinter.matmul %x, %v : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %r = sinter.add %p, %more : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = sinter.add %q, %more : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %rows, %columns, %r, %s : tensor<64x1xf32>, tensor<1x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>
}

// -----

// Rows less their maxima are not kept for the sums of columns: the maxima are,
// and what is between them and the rows is made again with it.
// CHECK-LABEL: module
// CHECK: detail = "sub computed again by 1 kernels, not kept"
// CHECK: program.kernel @rowwise
// CHECK: program.yield %{{.*}}, %{{.*}} : tensor<64x1xf32>, tensor<64x48xbf16>
// CHECK: program.kernel @reduce
// CHECK: sinter.cast
// CHECK: sinter.sub
// CHECK: program.yield
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<64x48xbf16>) -> (tensor<64x48xbf16>, tensor<48xf32>) {
  %wide = sinter.cast %x {dtype = f32} : (tensor<64x48xbf16>) -> tensor<64x48xf32>
  %most = sinter.amax %wide {axes = array<i64: 1>, keepdims = true} : (tensor<64x48xf32>) -> tensor<64x1xf32>
  %spread = sinter.broadcast %most {shape = affine_map<() -> (64, 48)>} : (tensor<64x1xf32>) -> tensor<64x48xf32>
  %rest = sinter.sub %wide, %spread : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %e = sinter.exp %rest : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = sinter.cast %e {dtype = bf16} : (tensor<64x48xf32>) -> tensor<64x48xbf16>
  %columns = sinter.sum %rest {axes = array<i64: 0>, keepdims = false} : (tensor<64x48xf32>) -> tensor<48xf32>
  return %y, %columns : tensor<64x48xbf16>, tensor<48xf32>
}

// -----

// Of a product in 16 bits, which all readers take as f32, the product is stored.
// CHECK-LABEL: module
// CHECK: detail = "cast computed again by {{[0-9]}} kernels, not kept"
// CHECK: program.kernel @contraction
// CHECK: %[[X:.*]] = sinter.matmul
// CHECK-NEXT: program.yield %[[X]] : tensor<64x48xbf16>
func.func @main(%a: tensor<64x32xbf16>, %b: tensor<32x48xbf16>, %y: tensor<64x48xf32>) -> (tensor<48xf32>, tensor<64x48xf32>) {
  %x = sinter.matmul %a, %b : (tensor<64x32xbf16>, tensor<32x48xbf16>) -> tensor<64x48xbf16>
  %wide = sinter.cast %x {dtype = f32} : (tensor<64x48xbf16>) -> tensor<64x48xf32>
  %sum = sinter.sum %wide {axes = array<i64: 0>, keepdims = false} : (tensor<64x48xf32>) -> tensor<48xf32>
  %part = sinter.sum %y {axes = array<i64: 1>, keepdims = false} : (tensor<64x48xf32>) -> tensor<64xf32>
  %column = sinter.reshape %part {shape = affine_map<() -> (64, 1)>} : (tensor<64xf32>) -> tensor<64x1xf32>
  %all = sinter.broadcast %column {shape = affine_map<() -> (64, 48)>} : (tensor<64x1xf32>) -> tensor<64x48xf32>
  %row = sinter.broadcast %sum {shape = affine_map<() -> (64, 48)>} : (tensor<48xf32>) -> tensor<64x48xf32>
  %less = sinter.sub %wide, %row : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %out = sinter.mul %less, %all : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %sum, %out : tensor<48xf32>, tensor<64x48xf32>
}

// -----

// Bytes less a number stay bytes for all products that read them.
// CHECK-LABEL: module
// CHECK: detail = "sub computed again by 2 kernels, not kept"
// CHECK: program.kernel @contraction
// CHECK: sinter.cast %arg0 {{.*}}xui8>
// CHECK-COUNT-2: program.launch @contraction
func.func @main(%x: tensor<64x32xui8>, %a: tensor<32x48xi8>, %b: tensor<32x48xi8>) -> (tensor<64x48xi32>, tensor<64x48xi32>) {
  %0 = sinter.cast %x {dtype = i32} : (tensor<64x32xui8>) -> tensor<64x32xi32>
  %1 = sinter.full {dtype = i32, shape = affine_map<() -> (64, 32)>, value = 7 : i64} : () -> tensor<64x32xi32>
  %2 = sinter.sub %0, %1 : (tensor<64x32xi32>, tensor<64x32xi32>) -> tensor<64x32xi32>
  %3 = sinter.cast %a {dtype = i32} : (tensor<32x48xi8>) -> tensor<32x48xi32>
  %4 = sinter.matmul %2, %3 : (tensor<64x32xi32>, tensor<32x48xi32>) -> tensor<64x48xi32>
  %5 = sinter.cast %b {dtype = i32} : (tensor<32x48xi8>) -> tensor<32x48xi32>
  %6 = sinter.matmul %2, %5 : (tensor<64x32xi32>, tensor<32x48xi32>) -> tensor<64x48xi32>
  return %4, %6 : tensor<64x48xi32>, tensor<64x48xi32>
}

// Of random numbers in another order than they are counted in, what a thread has
// of neighbouring rows is made of the same words: four of them for each of four
// columns, with ten rounds each.
// REQUIRES: ptxas
// RUN: sinter explain %s --target cuda:sm_90 | FileCheck %s --check-prefix=ONE
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 > %t.ptx
// RUN: grep -c ', 3528531795;' %t.ptx | FileCheck %s
// RUN: %ptxas -arch=sm_90 %t.ptx -o %t.out

// ONE: 1 launches
// CHECK: {{^}}40{{$}}
func.func @main(%a: tensor<43264x9xf32>, %b: tensor<9x8xf32>, %k: tensor<i64>) -> tensor<43264x8xf32> {
  %r = sinter.random_uniform %k, %k, %k {dtype = f32, shape = affine_map<() -> (64, 8, 26, 26)>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<64x8x26x26xf32>
  %r1 = sinter.reshape %r {shape = affine_map<() -> (64, 8, 676)>} : (tensor<64x8x26x26xf32>) -> tensor<64x8x676xf32>
  %r2 = sinter.transpose %r1 {permutation = array<i64: 0, 2, 1>} : (tensor<64x8x676xf32>) -> tensor<64x676x8xf32>
  %r3 = sinter.reshape %r2 {shape = affine_map<() -> (43264, 8)>} : (tensor<64x676x8xf32>) -> tensor<43264x8xf32>
  %p = sinter.matmul %a, %b : (tensor<43264x9xf32>, tensor<9x8xf32>) -> tensor<43264x8xf32>
  %q = sinter.mul %p, %r3 : (tensor<43264x8xf32>, tensor<43264x8xf32>) -> tensor<43264x8xf32>
  return %q : tensor<43264x8xf32>
}

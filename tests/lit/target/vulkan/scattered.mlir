// What is stored one by one where a transpose puts it has the elements that it
// has on the processor: of a product, of its parts of k, of sums over windows,
// over all rows, and random numbers that a product's elements are multiplied by.
// RUN: rm -rf %t && mkdir -p %t/gpu %t/cpu
// RUN: sinter run %s --device vulkan:0 --random-inputs 7 --output-dir %t/gpu
// RUN: sinter run %s --device cpu --random-inputs 7 --output-dir %t/cpu
// RUN: cmp %t/gpu/output0.npy %t/cpu/output0.npy
// RUN: cmp %t/gpu/output1.npy %t/cpu/output1.npy
// RUN: cmp %t/gpu/output2.npy %t/cpu/output2.npy
// RUN: cmp %t/gpu/output3.npy %t/cpu/output3.npy
// RUN: cmp %t/gpu/output4.npy %t/cpu/output4.npy
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>, %l: tensor<9000x24xf32>, %i: tensor<6x4x3x4x3x16xf32>, %k: tensor<i64>)
    -> (tensor<4x32x40xf32>, tensor<6x4x24xf32>, tensor<6x256xf32>, tensor<24xf32>, tensor<2x16x12x12xf32>) {
  %xf = sinter.floor %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %wf = sinter.floor %w : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = sinter.matmul %xf, %wf : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %p1 = sinter.reshape %p {shape = affine_map<() -> (40, 4, 32)>} : (tensor<40x128xf32>) -> tensor<40x4x32xf32>
  %p2 = sinter.transpose %p1 {permutation = array<i64: 1, 2, 0>} : (tensor<40x4x32xf32>) -> tensor<4x32x40xf32>

  %lf = sinter.floor %l : (tensor<9000x24xf32>) -> tensor<9000x24xf32>
  %lt = sinter.transpose %lf {permutation = array<i64: 1, 0>} : (tensor<9000x24xf32>) -> tensor<24x9000xf32>
  %g = sinter.matmul %lt, %lf : (tensor<24x9000xf32>, tensor<9000x24xf32>) -> tensor<24x24xf32>
  %g1 = sinter.reshape %g {shape = affine_map<() -> (4, 6, 24)>} : (tensor<24x24xf32>) -> tensor<4x6x24xf32>
  %g2 = sinter.transpose %g1 {permutation = array<i64: 1, 0, 2>} : (tensor<4x6x24xf32>) -> tensor<6x4x24xf32>

  %if = sinter.floor %i : (tensor<6x4x3x4x3x16xf32>) -> tensor<6x4x3x4x3x16xf32>
  %s = sinter.sum %if {axes = array<i64: 2, 4>, keepdims = false} : (tensor<6x4x3x4x3x16xf32>) -> tensor<6x4x4x16xf32>
  %s1 = sinter.relu %s : (tensor<6x4x4x16xf32>) -> tensor<6x4x4x16xf32>
  %s2 = sinter.transpose %s1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<6x4x4x16xf32>) -> tensor<6x16x4x4xf32>
  %s3 = sinter.reshape %s2 {shape = affine_map<() -> (6, 256)>} : (tensor<6x16x4x4xf32>) -> tensor<6x256xf32>

  %c = sinter.sum %lf {axes = array<i64: 0>, keepdims = false} : (tensor<9000x24xf32>) -> tensor<24xf32>
  %c1 = sinter.reshape %c {shape = affine_map<() -> (4, 6)>} : (tensor<24xf32>) -> tensor<4x6xf32>
  %c2 = sinter.transpose %c1 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %c3 = sinter.reshape %c2 {shape = affine_map<() -> (24)>} : (tensor<6x4xf32>) -> tensor<24xf32>

  %r = sinter.random_uniform %k, %k, %k {dtype = f32, shape = affine_map<() -> (2, 16, 12, 12)>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<2x16x12x12xf32>
  %r1 = sinter.reshape %r {shape = affine_map<() -> (2, 16, 144)>} : (tensor<2x16x12x12xf32>) -> tensor<2x16x144xf32>
  %r2 = sinter.transpose %r1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x16x144xf32>) -> tensor<2x144x16xf32>
  %r3 = sinter.reshape %r2 {shape = affine_map<() -> (288, 16)>} : (tensor<2x144x16xf32>) -> tensor<288x16xf32>
  %a = sinter.slice %lf {starts = array<i64: 0, 0>, limits = affine_map<() -> (288, 24)>, steps = array<i64: 1, 1>} : (tensor<9000x24xf32>) -> tensor<288x24xf32>
  %b = sinter.slice %lf {starts = array<i64: 300, 0>, limits = affine_map<() -> (324, 16)>, steps = array<i64: 1, 1>} : (tensor<9000x24xf32>) -> tensor<24x16xf32>
  %q = sinter.matmul %a, %b : (tensor<288x24xf32>, tensor<24x16xf32>) -> tensor<288x16xf32>
  %q1 = sinter.mul %q, %r3 : (tensor<288x16xf32>, tensor<288x16xf32>) -> tensor<288x16xf32>
  %q2 = sinter.reshape %q1 {shape = affine_map<() -> (2, 144, 16)>} : (tensor<288x16xf32>) -> tensor<2x144x16xf32>
  %q3 = sinter.transpose %q2 {permutation = array<i64: 0, 2, 1>} : (tensor<2x144x16xf32>) -> tensor<2x16x144xf32>
  %q4 = sinter.reshape %q3 {shape = affine_map<() -> (2, 16, 12, 12)>} : (tensor<2x16x144xf32>) -> tensor<2x16x12x12xf32>
  return %p2, %g2, %s3, %c3, %q4 : tensor<4x32x40xf32>, tensor<6x4x24xf32>, tensor<6x256xf32>, tensor<24xf32>, tensor<2x16x12x12xf32>
}

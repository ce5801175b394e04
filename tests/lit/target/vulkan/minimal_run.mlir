// Kernels for the least of devices on the device at hand, which has more: results
// that are exact in any order are those of the processor. Random numbers, sorted
// records and i64 are pairs of words there.
// RUN: rm -rf %t && mkdir -p %t/least %t/cpu
// RUN: sinter compile %s -o %t/least.sinter --target vulkan:minimal13
// RUN: sinter run %t/least.sinter --device vulkan:0 --random-inputs 7 --output-dir %t/least
// RUN: sinter run %s --device cpu --random-inputs 7 --output-dir %t/cpu
// RUN: cmp %t/least/output0.npy %t/cpu/output0.npy
// RUN: cmp %t/least/output1.npy %t/cpu/output1.npy
// RUN: cmp %t/least/output2.npy %t/cpu/output2.npy
// RUN: cmp %t/least/output3.npy %t/cpu/output3.npy
// RUN: cmp %t/least/output4.npy %t/cpu/output4.npy
// RUN: cmp %t/least/output5.npy %t/cpu/output5.npy
func.func @main(%x: tensor<67x44xf32>, %w: tensor<44x45xf32>, %l: tensor<3x2048xf32>, %i: tensor<50x9xi64>, %k: tensor<i64>)
    -> (tensor<67x45xf32>, tensor<3xf32>, tensor<67xi64>, tensor<9xi64>, tensor<20x30xf32>, tensor<67x5xf32>) {
  %xf = sinter.floor %x : (tensor<67x44xf32>) -> tensor<67x44xf32>
  %wf = sinter.floor %w : (tensor<44x45xf32>) -> tensor<44x45xf32>
  %p = sinter.matmul %xf, %wf : (tensor<67x44xf32>, tensor<44x45xf32>) -> tensor<67x45xf32>
  %lf = sinter.floor %l : (tensor<3x2048xf32>) -> tensor<3x2048xf32>
  %s = sinter.sum %lf {axes = array<i64: 1>, keepdims = false} : (tensor<3x2048xf32>) -> tensor<3xf32>
  %a = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (tensor<67x44xf32>) -> tensor<67xi64>
  %m = sinter.mul %i, %i : (tensor<50x9xi64>, tensor<50x9xi64>) -> tensor<50x9xi64>
  %c = sinter.sum %m {axes = array<i64: 0>, keepdims = false} : (tensor<50x9xi64>) -> tensor<9xi64>
  %r = sinter.random_uniform %k, %k, %k {dtype = f32, shape = affine_map<() -> (20, 30)>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<20x30xf32>
  %o = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (5)>} : (tensor<67x44xf32>) -> tensor<67x5xf32>
  return %p, %s, %a, %c, %r, %o : tensor<67x45xf32>, tensor<3xf32>, tensor<67xi64>, tensor<9xi64>, tensor<20x30xf32>, tensor<67x5xf32>
}

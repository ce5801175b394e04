// Tiles of cooperative matrices, by loops in their place, on the device at hand:
// products of whole numbers, which are exact in any order, are those of the
// processor. Operands are computed, turned and in batches, nothing comes out
// even, and k that counts rows is cut.
// RUN: rm -rf %t && mkdir -p %t/loops %t/cpu
// RUN: sinter compile %s -o %t/loops.sinter --target \
// RUN:   vulkan:subgroup8+shared32+i16+i64+coopmat16loops
// RUN: sinter run %t/loops.sinter --device vulkan:0 --random-inputs 7 --output-dir %t/loops
// RUN: sinter run %s --device cpu --random-inputs 7 --output-dir %t/cpu
// RUN: cmp %t/loops/output0.npy %t/cpu/output0.npy
// RUN: cmp %t/loops/output1.npy %t/cpu/output1.npy
// RUN: cmp %t/loops/output2.npy %t/cpu/output2.npy
func.func @main(%x: tensor<2x67x44xf32>, %w: tensor<2x45x44xf32>, %g: tensor<3000x7xf32>, %b: tensor<45xf32>) -> (tensor<2x67x45xf32>, tensor<7x7xf32>, tensor<2x67x45xbf16>) {
  %xf = sinter.floor %x : (tensor<2x67x44xf32>) -> tensor<2x67x44xf32>
  %xh = sinter.cast %xf {dtype = bf16} : (tensor<2x67x44xf32>) -> tensor<2x67x44xbf16>
  %wf = sinter.floor %w : (tensor<2x45x44xf32>) -> tensor<2x45x44xf32>
  %wh = sinter.cast %wf {dtype = bf16} : (tensor<2x45x44xf32>) -> tensor<2x45x44xbf16>
  %wt = sinter.transpose %wh {permutation = array<i64: 0, 2, 1>} : (tensor<2x45x44xbf16>) -> tensor<2x44x45xbf16>
  %p = sinter.matmul %xh, %wt : (tensor<2x67x44xbf16>, tensor<2x44x45xbf16>) -> tensor<2x67x45xbf16>
  %bf = sinter.floor %b : (tensor<45xf32>) -> tensor<45xf32>
  %bb = sinter.broadcast %bf {shape = affine_map<() -> (2, 67, 45)>} : (tensor<45xf32>) -> tensor<2x67x45xf32>
  %pf = sinter.cast %p {dtype = f32} : (tensor<2x67x45xbf16>) -> tensor<2x67x45xf32>
  %s = sinter.add %pf, %bb : (tensor<2x67x45xf32>, tensor<2x67x45xf32>) -> tensor<2x67x45xf32>
  %gf = sinter.floor %g : (tensor<3000x7xf32>) -> tensor<3000x7xf32>
  %gh = sinter.cast %gf {dtype = f16} : (tensor<3000x7xf32>) -> tensor<3000x7xf16>
  %gt = sinter.transpose %gh {permutation = array<i64: 1, 0>} : (tensor<3000x7xf16>) -> tensor<7x3000xf16>
  %q = sinter.matmul %gt, %gh : (tensor<7x3000xf16>, tensor<3000x7xf16>) -> tensor<7x7xf16>
  %qf = sinter.cast %q {dtype = f32} : (tensor<7x7xf16>) -> tensor<7x7xf32>
  return %s, %qf, %p : tensor<2x67x45xf32>, tensor<7x7xf32>, tensor<2x67x45xbf16>
}

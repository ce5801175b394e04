// A weight of bytes with a scale for each column is decoded where the product
// reads it, on every target: in one kernel that takes the bytes. Those of GPUs
// store nothing of it.
// RUN: split-file %s %t
// RUN: sinter inspect %t/columns.mlir --stage fuse --target cpu:x86-64-v4 \
// RUN:   | FileCheck %t/columns.mlir
// RUN: sinter inspect %t/columns.mlir --stage fuse --target cuda:sm_90 \
// RUN:   | FileCheck %t/columns.mlir
// RUN: sinter inspect %t/columns.mlir --stage fuse --target vulkan:lavapipe \
// RUN:   | FileCheck %t/columns.mlir
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %t/columns.mlir --check-prefix=PTX
// RUN: sinter inspect %t/columns.mlir --stage target --target cuda:sm_90 \
// RUN:   | FileCheck %t/columns.mlir --check-prefix=PLACES
// RUN: sinter inspect %t/columns.mlir --stage target --target vulkan:lavapipe \
// RUN:   | FileCheck %t/columns.mlir --check-prefix=PLACES
// RUN: sinter inspect %t/rows.mlir --stage fuse | FileCheck %t/rows.mlir

// The numbers are those of a weight that is stored as f32: whole ones, so that
// no order of sums matters.
// RUN: mkdir -p %t/fused %t/apart %t/device
// RUN: sinter run %t/whole.mlir --device cpu --random-inputs 7 --output-dir %t/fused
// RUN: sinter run %t/whole.mlir --device cpu --fusion none --random-inputs 7 --output-dir %t/apart
// RUN: cmp %t/fused/output0.npy %t/apart/output0.npy
// RUN: sinter run %t/whole.mlir --device vulkan:0 --random-inputs 7 --output-dir %t/device
// RUN: cmp %t/fused/output0.npy %t/device/output0.npy

//--- columns.mlir
// CHECK-COUNT-1: program.kernel @[[K:[a-z0-9_]+]](%arg0: tensor<1024x768xi8>, %arg1: tensor<768xf32>
// CHECK: sinter.matmul
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
// CHECK: // decodes rhs of [[K]]: i8 at (d0, d1, d2) -> (d2, d1), scale at (d0, d1, d2) -> (d1)
// PTX: .entry contraction_
// PTX: cvt.rn.f32.s16
// PTX-NOT: .entry
// PLACES: kernel contraction_{{.*}}, 1 phases, 0 workspaces
func.func @main(%x: tensor<512x1024xf32>, %w: tensor<1024x768xi8>, %s: tensor<768xf32>) -> tensor<512x768xf32> {
  %0 = sinter.cast %w {dtype = f32} : (tensor<1024x768xi8>) -> tensor<1024x768xf32>
  %1 = sinter.broadcast %s {shape = affine_map<() -> (1024, 768)>} : (tensor<768xf32>) -> tensor<1024x768xf32>
  %2 = sinter.mul %0, %1 : (tensor<1024x768xf32>, tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %3 = sinter.matmul %x, %2 : (tensor<512x1024xf32>, tensor<1024x768xf32>) -> tensor<512x768xf32>
  return %3 : tensor<512x768xf32>
}
//--- rows.mlir
// A weight of rows, which the product reads turned.
// CHECK: // decodes rhs of contraction_{{.*}}: i8 at (d0, d1, d2) -> (d1, d2), scale at (d0, d1, d2) -> (d1, 0)
func.func @main(%x: tensor<32x64xf32>, %w: tensor<48x64xi8>, %s: tensor<48x1xf32>) -> tensor<32x48xf32> {
  %0 = sinter.cast %w {dtype = f32} : (tensor<48x64xi8>) -> tensor<48x64xf32>
  %1 = sinter.broadcast %s {shape = affine_map<() -> (48, 64)>} : (tensor<48x1xf32>) -> tensor<48x64xf32>
  %2 = sinter.mul %0, %1 : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<48x64xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<48x64xf32>) -> tensor<64x48xf32>
  %4 = sinter.matmul %x, %3 : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}
//--- whole.mlir
func.func @main(%x: tensor<67x64xf32>, %w: tensor<64x45xi8>, %s: tensor<45xf32>) -> tensor<67x45xf32> {
  %xf = sinter.floor %x : (tensor<67x64xf32>) -> tensor<67x64xf32>
  %sf = sinter.floor %s : (tensor<45xf32>) -> tensor<45xf32>
  %0 = sinter.cast %w {dtype = f32} : (tensor<64x45xi8>) -> tensor<64x45xf32>
  %1 = sinter.broadcast %sf {shape = affine_map<() -> (64, 45)>} : (tensor<45xf32>) -> tensor<64x45xf32>
  %2 = sinter.mul %0, %1 : (tensor<64x45xf32>, tensor<64x45xf32>) -> tensor<64x45xf32>
  %3 = sinter.matmul %xf, %2 : (tensor<67x64xf32>, tensor<64x45xf32>) -> tensor<67x45xf32>
  return %3 : tensor<67x45xf32>
}

// What the caches cannot hold is written past them, four runs of a chunk's
// columns side by side, so that the processor looks ahead in four pages.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @map_
// CHECK: scf.for
// CHECK-COUNT-4: vector.store {{.*}}nontemporal = true
// CHECK: }
// CHECK: scf.for
// CHECK: vector.store {{.*}}nontemporal = true
// CHECK: vector.maskedstore
func.func @main(%x: tensor<33554432xf32>) -> tensor<33554432xf32> {
  %0 = sinter.sqrt %x : (tensor<33554432xf32>) -> tensor<33554432xf32>
  return %0 : tensor<33554432xf32>
}

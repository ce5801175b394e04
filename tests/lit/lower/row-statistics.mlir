// The sums of a block's rows stand in the frame, row by row; what takes rows of
// the product reads them there.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s --check-prefix=STORES

// CHECK: %[[FRAME:.*]] = memref.alloca() {{.*}}memref<{{[0-9]+}}xf32>
// CHECK: math.fma
// CHECK: vector.store %{{.*}}, %[[FRAME]]
// CHECK: vector.load %[[FRAME]]
// From then on the frame is only read.
// STORES: vector.load %[[FRAME:alloca.*]][
// STORES-NOT: vector.store %{{.*}}, %[[FRAME]]
// STORES: math.exp
// STORES-NOT: vector.store %{{.*}}, %[[FRAME]]
func.func @main(%x: tensor<100x64xf32>, %w: tensor<64x48xf32>) -> tensor<100x48xf32> {
  %0 = sinter.matmul %x, %w : (tensor<100x64xf32>, tensor<64x48xf32>) -> tensor<100x48xf32>
  %1 = sinter.softmax %0 {axis = 1 : i64} : (tensor<100x48xf32>) -> tensor<100x48xf32>
  return %1 : tensor<100x48xf32>
}

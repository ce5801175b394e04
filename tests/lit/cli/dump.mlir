// SINTER_DUMP prints a stage's IR only where the stage changed it; SINTER_TIME
// prints how long each took.
// RUN: env SINTER_DUMP=simplify,fuse SINTER_TIME=1 sinter compile %s -o %t 2>&1 | FileCheck %s

// CHECK: sinter: import: {{.*}} ms
// CHECK: sinter: simplify: {{.*}} ms
// CHECK-NOT: // ---- simplify
// CHECK: // ---- fuse
// CHECK: program.launch
// CHECK: sinter: package: {{.*}} ms
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

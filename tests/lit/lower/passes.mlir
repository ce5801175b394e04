// From loops to the target's form pass by pass: what a compilation runs on each
// kernel, here on the text after `fuse`.
// RUN: sinter inspect %s --stage fuse --target cpu:x86-64-v3 > %t.mlir
// RUN: sinter opt %t.mlir --pipeline=emit-loops > %t.loops.mlir
// RUN: FileCheck %s --check-prefix=LOOPS < %t.loops.mlir
// RUN: sinter opt %t.mlir --pipeline='emit-loops{numerics=exact}' | FileCheck %s --check-prefix=EXACT
// RUN: not sinter opt %t.mlir --pipeline='emit-loops{numerics=slow}' 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: sinter opt %t.mlir --pipeline=emit-loops,expand-math | FileCheck %s --check-prefix=MATH
// RUN: sinter opt %t.mlir --pipeline=emit-loops,expand-math,call-far-trig | FileCheck %s --check-prefix=FAR
// RUN: sinter opt %t.mlir --pipeline=emit-loops,expand-math,call-far-trig,lower-abi | FileCheck %s --check-prefix=LLVM

// Of a processor lanes are no threads: the other passes change nothing.
// RUN: sinter opt %t.loops.mlir --pipeline=cluster-loads,distribute-lanes,narrow-math,split-vectors,fit-types | diff - %t.loops.mlir

// The target is the module's, or the one that is given.
// RUN: sinter opt %t.mlir --target cpu:x86-64-v4 --pipeline=emit-loops | FileCheck %s --check-prefix=WIDE

// LOOPS: module attributes {program.target = #program.target<name = "cpu:x86-64-v3"
// LOOPS: module @[[K:map_[0-9a-f]+]] attributes {program.target = #program.target<name = "cpu:x86-64-v3">} {
// LOOPS-NEXT: func.func @[[K]](%{{[^)]*}}) attributes {sinter.elements = {{[0-9]+}} : i64}
// LOOPS: scf.for
// LOOPS: math.sin %{{.*}} : vector<{{8|16}}xf32>
// LOOPS: math.rsqrt
// LOOPS: func.func @main
// LOOPS-NEXT: program.launch @[[K]]
// LOOPS-NOT: program.kernel
// EXACT: module @map_{{.*}}sinter.alike}
// SLOW: error: emit-loops: {{.*}}slow
// WIDE: module @map_{{.*}}name = "cpu:x86-64-v4"

// MATH: module @map_
// MATH-NOT: math.rsqrt
// MATH: math.sin {{.*}}{sinter.far
// MATH-NOT: math.rsqrt
// MATH: math.sqrt
// FAR-NOT: math.sin
// FAR: call @[[F:far_sin_f32_[0-9]+]]
// FAR: func.func private @[[F]]
// FAR-NOT: math.sin
// LLVM: llvm.func @[[K:map_[0-9a-f]+]]({{.*}}!llvm.ptr, {{.*}}!llvm.ptr, {{.*}}i64, {{.*}}i64) {
// LLVM-NOT: {{arith|math|memref|scf}}.
// LLVM: llvm.call @far_sin
// LLVM: llvm.func internal @far_sin
// LLVM: program.launch @[[K]]
func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = sinter.sin %x : (tensor<4096xf32>) -> tensor<4096xf32>
  %1 = sinter.rsqrt %y : (tensor<4096xf32>) -> tensor<4096xf32>
  %2 = sinter.add %0, %1 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  return %2 : tensor<4096xf32>
}

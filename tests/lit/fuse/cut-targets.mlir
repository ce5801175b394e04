// What is cut compiles for every target, fused or not.
// RUN: split-file %s %t
// RUN: sinter inspect %t/join.mlir --stage ptx --target cuda:sm_90 | FileCheck %s --check-prefix=PTX
// RUN: sinter inspect %t/numbers.mlir --stage ptx --target cuda:sm_90 | FileCheck %s --check-prefix=PTX
// RUN: sinter inspect %t/views.mlir --stage ptx --target cuda:sm_90 | FileCheck %s --check-prefix=PTX
// RUN: sinter inspect %t/join.mlir --stage asm --target vulkan | FileCheck %s --check-prefix=SPIRV
// RUN: sinter inspect %t/numbers.mlir --stage asm --target vulkan | FileCheck %s --check-prefix=SPIRV
// RUN: sinter inspect %t/views.mlir --stage asm --target vulkan:minimal13 | FileCheck %s --check-prefix=SPIRV
// RUN: sinter inspect %t/join.mlir --stage ptx --target cuda:sm_90 --fusion none | FileCheck %s --check-prefix=PTX
// RUN: sinter inspect %t/join.mlir --stage asm --target vulkan --fusion none | FileCheck %s --check-prefix=SPIRV
// PTX-COUNT-2: .entry map_
// PTX-NOT: .entry
// SPIRV-COUNT-2: spirv.EntryPoint
// SPIRV-NOT: spirv.EntryPoint

//--- join.mlir
func.func @main(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>, %a3: tensor<2x3xf32>, %a4: tensor<2x3xf32>, %a5: tensor<2x3xf32>, %a6: tensor<2x3xf32>, %a7: tensor<2x3xf32>, %a8: tensor<2x3xf32>, %a9: tensor<2x3xf32>, %a10: tensor<2x3xf32>, %a11: tensor<2x3xf32>, %a12: tensor<2x3xf32>, %a13: tensor<2x3xf32>, %a14: tensor<2x3xf32>, %a15: tensor<2x3xf32>, %a16: tensor<2x3xf32>, %a17: tensor<2x3xf32>, %a18: tensor<2x3xf32>, %a19: tensor<2x3xf32>, %a20: tensor<2x3xf32>, %a21: tensor<2x3xf32>, %a22: tensor<2x3xf32>, %a23: tensor<2x3xf32>, %a24: tensor<2x3xf32>, %a25: tensor<2x3xf32>, %a26: tensor<2x3xf32>, %a27: tensor<2x3xf32>, %a28: tensor<2x3xf32>, %a29: tensor<2x3xf32>, %a30: tensor<2x3xf32>, %a31: tensor<2x3xf32>, %a32: tensor<2x3xf32>, %a33: tensor<2x3xf32>, %a34: tensor<2x3xf32>, %a35: tensor<2x3xf32>, %a36: tensor<2x3xf32>, %a37: tensor<2x3xf32>, %a38: tensor<2x3xf32>, %a39: tensor<2x3xf32>) -> tensor<80x3xf32> {
  %0 = sinter.concat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %a20, %a21, %a22, %a23, %a24, %a25, %a26, %a27, %a28, %a29, %a30, %a31, %a32, %a33, %a34, %a35, %a36, %a37, %a38, %a39 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<80x3xf32>
  return %0 : tensor<80x3xf32>
}
//--- numbers.mlir
func.func @main(%x: tensor<f32>) -> tensor<4xf32> {
  %0 = sinter.neg %x : (tensor<f32>) -> tensor<f32>
  %1 = sinter.exp %0 : (tensor<f32>) -> tensor<f32>
  %2 = sinter.neg %1 : (tensor<f32>) -> tensor<f32>
  %3 = sinter.exp %2 : (tensor<f32>) -> tensor<f32>
  %4 = sinter.neg %3 : (tensor<f32>) -> tensor<f32>
  %5 = sinter.exp %4 : (tensor<f32>) -> tensor<f32>
  %6 = sinter.neg %5 : (tensor<f32>) -> tensor<f32>
  %7 = sinter.exp %6 : (tensor<f32>) -> tensor<f32>
  %8 = sinter.neg %7 : (tensor<f32>) -> tensor<f32>
  %9 = sinter.exp %8 : (tensor<f32>) -> tensor<f32>
  %10 = sinter.neg %9 : (tensor<f32>) -> tensor<f32>
  %11 = sinter.exp %10 : (tensor<f32>) -> tensor<f32>
  %12 = sinter.neg %11 : (tensor<f32>) -> tensor<f32>
  %13 = sinter.exp %12 : (tensor<f32>) -> tensor<f32>
  %14 = sinter.neg %13 : (tensor<f32>) -> tensor<f32>
  %15 = sinter.exp %14 : (tensor<f32>) -> tensor<f32>
  %16 = sinter.neg %15 : (tensor<f32>) -> tensor<f32>
  %17 = sinter.exp %16 : (tensor<f32>) -> tensor<f32>
  %18 = sinter.neg %17 : (tensor<f32>) -> tensor<f32>
  %19 = sinter.exp %18 : (tensor<f32>) -> tensor<f32>
  %20 = sinter.neg %19 : (tensor<f32>) -> tensor<f32>
  %21 = sinter.exp %20 : (tensor<f32>) -> tensor<f32>
  %22 = sinter.neg %21 : (tensor<f32>) -> tensor<f32>
  %23 = sinter.exp %22 : (tensor<f32>) -> tensor<f32>
  %24 = sinter.neg %23 : (tensor<f32>) -> tensor<f32>
  %25 = sinter.exp %24 : (tensor<f32>) -> tensor<f32>
  %26 = sinter.neg %25 : (tensor<f32>) -> tensor<f32>
  %27 = sinter.exp %26 : (tensor<f32>) -> tensor<f32>
  %28 = sinter.neg %27 : (tensor<f32>) -> tensor<f32>
  %29 = sinter.exp %28 : (tensor<f32>) -> tensor<f32>
  %30 = sinter.neg %29 : (tensor<f32>) -> tensor<f32>
  %31 = sinter.exp %30 : (tensor<f32>) -> tensor<f32>
  %32 = sinter.neg %31 : (tensor<f32>) -> tensor<f32>
  %33 = sinter.exp %32 : (tensor<f32>) -> tensor<f32>
  %34 = sinter.neg %33 : (tensor<f32>) -> tensor<f32>
  %35 = sinter.exp %34 : (tensor<f32>) -> tensor<f32>
  %36 = sinter.neg %35 : (tensor<f32>) -> tensor<f32>
  %37 = sinter.exp %36 : (tensor<f32>) -> tensor<f32>
  %38 = sinter.neg %37 : (tensor<f32>) -> tensor<f32>
  %39 = sinter.exp %38 : (tensor<f32>) -> tensor<f32>
  %40 = sinter.neg %39 : (tensor<f32>) -> tensor<f32>
  %41 = sinter.exp %40 : (tensor<f32>) -> tensor<f32>
  %42 = sinter.neg %41 : (tensor<f32>) -> tensor<f32>
  %43 = sinter.exp %42 : (tensor<f32>) -> tensor<f32>
  %44 = sinter.neg %43 : (tensor<f32>) -> tensor<f32>
  %45 = sinter.exp %44 : (tensor<f32>) -> tensor<f32>
  %46 = sinter.neg %45 : (tensor<f32>) -> tensor<f32>
  %47 = sinter.exp %46 : (tensor<f32>) -> tensor<f32>
  %48 = sinter.neg %47 : (tensor<f32>) -> tensor<f32>
  %49 = sinter.exp %48 : (tensor<f32>) -> tensor<f32>
  %50 = sinter.neg %49 : (tensor<f32>) -> tensor<f32>
  %51 = sinter.exp %50 : (tensor<f32>) -> tensor<f32>
  %52 = sinter.neg %51 : (tensor<f32>) -> tensor<f32>
  %53 = sinter.exp %52 : (tensor<f32>) -> tensor<f32>
  %54 = sinter.neg %53 : (tensor<f32>) -> tensor<f32>
  %55 = sinter.exp %54 : (tensor<f32>) -> tensor<f32>
  %56 = sinter.neg %55 : (tensor<f32>) -> tensor<f32>
  %57 = sinter.exp %56 : (tensor<f32>) -> tensor<f32>
  %58 = sinter.neg %57 : (tensor<f32>) -> tensor<f32>
  %59 = sinter.exp %58 : (tensor<f32>) -> tensor<f32>
  %60 = sinter.neg %59 : (tensor<f32>) -> tensor<f32>
  %61 = sinter.exp %60 : (tensor<f32>) -> tensor<f32>
  %62 = sinter.neg %61 : (tensor<f32>) -> tensor<f32>
  %63 = sinter.exp %62 : (tensor<f32>) -> tensor<f32>
  %64 = sinter.neg %63 : (tensor<f32>) -> tensor<f32>
  %65 = sinter.exp %64 : (tensor<f32>) -> tensor<f32>
  %66 = sinter.neg %65 : (tensor<f32>) -> tensor<f32>
  %67 = sinter.exp %66 : (tensor<f32>) -> tensor<f32>
  %68 = sinter.neg %67 : (tensor<f32>) -> tensor<f32>
  %69 = sinter.exp %68 : (tensor<f32>) -> tensor<f32>
  %70 = sinter.neg %69 : (tensor<f32>) -> tensor<f32>
  %71 = sinter.exp %70 : (tensor<f32>) -> tensor<f32>
  %72 = sinter.neg %71 : (tensor<f32>) -> tensor<f32>
  %73 = sinter.exp %72 : (tensor<f32>) -> tensor<f32>
  %74 = sinter.neg %73 : (tensor<f32>) -> tensor<f32>
  %75 = sinter.exp %74 : (tensor<f32>) -> tensor<f32>
  %76 = sinter.neg %75 : (tensor<f32>) -> tensor<f32>
  %77 = sinter.exp %76 : (tensor<f32>) -> tensor<f32>
  %78 = sinter.neg %77 : (tensor<f32>) -> tensor<f32>
  %79 = sinter.exp %78 : (tensor<f32>) -> tensor<f32>
  %80 = sinter.neg %79 : (tensor<f32>) -> tensor<f32>
  %81 = sinter.exp %80 : (tensor<f32>) -> tensor<f32>
  %82 = sinter.neg %81 : (tensor<f32>) -> tensor<f32>
  %83 = sinter.exp %82 : (tensor<f32>) -> tensor<f32>
  %84 = sinter.neg %83 : (tensor<f32>) -> tensor<f32>
  %85 = sinter.exp %84 : (tensor<f32>) -> tensor<f32>
  %86 = sinter.neg %85 : (tensor<f32>) -> tensor<f32>
  %87 = sinter.exp %86 : (tensor<f32>) -> tensor<f32>
  %88 = sinter.neg %87 : (tensor<f32>) -> tensor<f32>
  %89 = sinter.exp %88 : (tensor<f32>) -> tensor<f32>
  %90 = sinter.neg %89 : (tensor<f32>) -> tensor<f32>
  %91 = sinter.exp %90 : (tensor<f32>) -> tensor<f32>
  %92 = sinter.neg %91 : (tensor<f32>) -> tensor<f32>
  %93 = sinter.exp %92 : (tensor<f32>) -> tensor<f32>
  %94 = sinter.neg %93 : (tensor<f32>) -> tensor<f32>
  %95 = sinter.exp %94 : (tensor<f32>) -> tensor<f32>
  %96 = sinter.neg %95 : (tensor<f32>) -> tensor<f32>
  %97 = sinter.exp %96 : (tensor<f32>) -> tensor<f32>
  %98 = sinter.broadcast %97 {shape = affine_map<() -> (4)>} : (tensor<f32>) -> tensor<4xf32>
  return %98 : tensor<4xf32>
}
//--- views.mlir
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = sinter.flip %x {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = sinter.flip %1 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = sinter.flip %3 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = sinter.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = sinter.flip %5 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = sinter.transpose %6 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %8 = sinter.flip %7 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %9 = sinter.transpose %8 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %10 = sinter.flip %9 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %11 = sinter.transpose %10 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %12 = sinter.flip %11 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %13 = sinter.transpose %12 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %14 = sinter.flip %13 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %15 = sinter.transpose %14 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %16 = sinter.flip %15 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %17 = sinter.transpose %16 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %18 = sinter.flip %17 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %19 = sinter.transpose %18 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %20 = sinter.flip %19 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %21 = sinter.transpose %20 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %22 = sinter.flip %21 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %23 = sinter.transpose %22 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %24 = sinter.flip %23 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %25 = sinter.transpose %24 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %26 = sinter.flip %25 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %27 = sinter.transpose %26 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %28 = sinter.flip %27 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %29 = sinter.transpose %28 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %30 = sinter.flip %29 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %31 = sinter.transpose %30 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %32 = sinter.flip %31 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %33 = sinter.transpose %32 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %34 = sinter.flip %33 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %35 = sinter.transpose %34 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %36 = sinter.flip %35 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %37 = sinter.transpose %36 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %38 = sinter.flip %37 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %39 = sinter.transpose %38 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %40 = sinter.flip %39 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %41 = sinter.transpose %40 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %42 = sinter.flip %41 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %43 = sinter.transpose %42 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %44 = sinter.flip %43 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %45 = sinter.transpose %44 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %46 = sinter.flip %45 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %47 = sinter.transpose %46 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %48 = sinter.flip %47 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %49 = sinter.transpose %48 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %50 = sinter.flip %49 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %51 = sinter.transpose %50 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %52 = sinter.flip %51 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %53 = sinter.transpose %52 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %54 = sinter.flip %53 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %55 = sinter.transpose %54 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %56 = sinter.flip %55 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %57 = sinter.transpose %56 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %58 = sinter.flip %57 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %59 = sinter.transpose %58 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %60 = sinter.flip %59 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %61 = sinter.transpose %60 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %62 = sinter.flip %61 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %63 = sinter.transpose %62 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %64 = sinter.flip %63 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %65 = sinter.transpose %64 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %66 = sinter.flip %65 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %67 = sinter.transpose %66 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %68 = sinter.flip %67 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %69 = sinter.transpose %68 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %70 = sinter.flip %69 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %71 = sinter.transpose %70 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %72 = sinter.flip %71 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %73 = sinter.transpose %72 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %74 = sinter.flip %73 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %75 = sinter.transpose %74 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %76 = sinter.flip %75 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %77 = sinter.transpose %76 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %78 = sinter.flip %77 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %79 = sinter.transpose %78 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %80 = sinter.flip %79 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %81 = sinter.transpose %80 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %82 = sinter.flip %81 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %83 = sinter.transpose %82 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %84 = sinter.flip %83 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %85 = sinter.transpose %84 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %86 = sinter.flip %85 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %87 = sinter.transpose %86 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %88 = sinter.flip %87 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %89 = sinter.transpose %88 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %90 = sinter.flip %89 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %91 = sinter.transpose %90 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %92 = sinter.flip %91 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %93 = sinter.transpose %92 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %94 = sinter.flip %93 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %95 = sinter.transpose %94 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %96 = sinter.flip %95 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %97 = sinter.transpose %96 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %97 : tensor<2x2xf32>
}

// Products of f16 and bf16 by the device's cooperative matrices: four subgroups
// share a tile, of which each keeps 4 x 4 matrices of sums. The validator at
// hand does not know such: loops in their place are validated, whose tiles and
// places in memory are the same.
// RUN: split-file %s %t
// RUN: sinter inspect %t/large.mlir --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=LARGE
// RUN: sinter inspect %t/large.mlir --stage asm \
// RUN:   --target vulkan:subgroup32+shared48+i16+i64+coopmat16loops > %t/loops
// RUN: FileCheck %s --check-prefix=LOOPS < %t/loops
// RUN: %spirv_val %t/loops
// RUN: sinter inspect %t/large.mlir --stage asm --target vulkan:h200 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %t/odd.mlir --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=ODD
// RUN: sinter inspect %t/odd.mlir --stage asm \
// RUN:   --target vulkan:subgroup8+shared32+i16+i64+coopmat16loops > %t/small
// RUN: %spirv_val %t/small
// RUN: sinter compile %t/odd.mlir -o %t/odd.sinter \
// RUN:   --target vulkan:subgroup8+shared32+i16+i64+coopmat16loops
// RUN: sinter inspect %t/odd.sinter | FileCheck %s --check-prefix=NEEDS

// LARGE: spirv.module PhysicalStorageBuffer64 Vulkan requires
// LARGE-SAME: CooperativeMatrixKHR, VulkanMemoryModel, BFloat16TypeKHR, BFloat16CooperativeMatrixKHR
// LARGE-SAME: [SPV_KHR_cooperative_matrix, SPV_KHR_bfloat16]
// Sums go where the panels of 640 and 544 groups were. Halves move in 16 bytes,
// as words.
// LARGE: !spirv.array<1184 x vector<4xi32>>, Workgroup
// LARGE-NOT: @shared1
// Four threads bring a row's part of the left panel, the next four that of the
// row four below: these eight write to different banks.
// LARGE: spirv.Load "Input" %__builtin__LocalInvocationId__
// LARGE-NEXT: %[[thread:[0-9]+]] = spirv.CompositeExtract
// LARGE: %[[rest:[0-9]+]] = spirv.ShiftRightLogical %[[thread]], %cst2_i32
// LARGE-NEXT: spirv.BitwiseAnd %[[thread]], %cst3_i32
// LARGE: %[[line:[0-9]+]] = spirv.BitwiseAnd %[[rest]], %cst127_i32
// LARGE: %[[inEight:[0-9]+]] = spirv.BitwiseAnd %[[line]], %cst7_i32
// LARGE: spirv.ShiftRightLogical %[[inEight]], %cst1_i32
// LARGE-NEXT: %[[apart:[0-9]+]] = spirv.BitwiseAnd %[[inEight]], %cst1_i32
// LARGE: spirv.IMul %[[apart]], %cst4_i32
// LARGE: spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 16] : vector<4xi32>
// LARGE: spirv.mlir.loop control(DontUnroll)
// A round writes what the round before it has asked for, and asks for the next
// before it multiplies.
// LARGE: spirv.ControlBarrier
// LARGE-SAME: MakeAvailable|MakeVisible
// LARGE-NOT: spirv.Load
// LARGE-COUNT-8: spirv.Store "Workgroup"
// LARGE-NOT: spirv.Load
// LARGE: spirv.ControlBarrier
// LARGE-COUNT-8: spirv.Load "PhysicalStorageBuffer"
// The left operand lies along k, the right one does not.
// LARGE-NOT: spirv.ShiftLeftLogical {{.*}}16
// LARGE-COUNT-4: spirv.KHR.CooperativeMatrixLoad {{.*}} %cst5_i32, <RowMajor>, <NonPrivatePointer> {{.*}} !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixA>
// LARGE: spirv.KHR.CooperativeMatrixLoad {{.*}} %cst17_i32, <RowMajor>, {{.*}} !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixB>
// LARGE-COUNT-32: spirv.KHR.CooperativeMatrixMulAdd {{.*}} -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// LARGE-NOT: spirv.KHR.CooperativeMatrixMulAdd
// Of what the loop carries, the sums alone are read behind it.
// LARGE-NOT: spirv.Store "Function" {{.*}} : i32
// LARGE: spirv.mlir.merge
// LARGE: spirv.ControlBarrier <Workgroup>
// LARGE-COUNT-16: spirv.KHR.CooperativeMatrixStore
// LARGE: "LocalSize", 128, 1, 1
// LOOPS-NOT: Cooperative
// LOOPS: !spirv.array<1184 x vector<4xi32>>, Workgroup
// Which order the device sums in nobody knows.
// EXACT-NOT: Cooperative
//--- large.mlir
func.func @main(%x: tensor<4096x1024xbf16>, %w: tensor<1024x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<4096x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<4096x4096xbf16>
  %1 = sinter.relu %0 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %1 : tensor<4096x4096xbf16>
}

// Nothing comes out even, and operands lie the other way; loops ask nothing of a
// device.
// ODD: Float16
// ODD-NOT: BFloat16
// ODD: spirv.KHR.CooperativeMatrixLoad {{.*}}, <ColumnMajor>, {{.*}} MatrixA>
// ODD: spirv.KHR.CooperativeMatrixLoad {{.*}}, <ColumnMajor>, {{.*}} MatrixB>
// ODD: spirv.KHR.CooperativeMatrixMulAdd
// NEEDS: program for vulkan, needs i16,i64,shared32,subgroup8{{$}}
//--- odd.mlir
func.func @main(%x: tensor<3x40x129xf16>, %w: tensor<3x65x40xf16>) -> tensor<3x129x65xf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<3x40x129xf16>) -> tensor<3x129x40xf16>
  %1 = sinter.transpose %w {permutation = array<i64: 0, 2, 1>} : (tensor<3x65x40xf16>) -> tensor<3x40x65xf16>
  %2 = sinter.matmul %0, %1 : (tensor<3x129x40xf16>, tensor<3x40x65xf16>) -> tensor<3x129x65xf16>
  return %2 : tensor<3x129x65xf16>
}

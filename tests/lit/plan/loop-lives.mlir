// RUN: sinter inspect %s --stage plan | FileCheck %s

// What was there before a loop stays until it ends, where the body reads it: the
// next round reads it again. @t0 is read in step 2, before the last of the body.
// CHECK: program.buffer @in2 "input" 2 bytes {{.*}} live 0 to 0
// CHECK: program.buffer @in3 "input" 3 bytes {{.*}} live 0 to 3
// CHECK: program.buffer @in4 "input" 4 bytes {{.*}} live 0 to 3
// CHECK: program.buffer @t0 "temp" 0 bytes {{.*}} live 0 to 3
// CHECK: program.launch @map_{{.*}}buffers = [@in2, @t0], step = 0
// CHECK: program.for {{.*}}step = 1 : i64, steps = 2 : i64
// CHECK: program.launch @contraction_{{.*}}buffers = [{{.*}}@t0{{.*}}], step = 2
// CHECK: program.launch @contraction_{{.*}}step = 3
func.func @main(%xs: tensor<32x8x16xf32>, %h: tensor<8x16xf32>, %b: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (32)>, reverse = false} : () -> tensor<32xi1>
  %c = sinter.scan_carry %i, %h : (tensor<32xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %x = sinter.scan_slice %i, %xs : (tensor<32xi1>, tensor<32x8x16xf32>) -> tensor<8x16xf32>
  %e = sinter.exp %b : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = sinter.matmul %c, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %s = sinter.add %m, %e : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %k = sinter.add %s, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %n = sinter.matmul %k, %v : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %end = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<32xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<32xi1>
  %last = sinter.scan_last %end, %c : (tensor<32xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %last : tensor<8x16xf32>
}

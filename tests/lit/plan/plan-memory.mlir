// RUN: sinter inspect %s --stage plan | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// Every value has a buffer with its size and the steps it lives in; a result
// that is an input is copied.
// CHECK-DAG: #[[BYTES:.*]] = affine_map<()[s0] -> (s0 * 32)>
// CHECK: program.buffer @in0 "input" 0 bytes #[[BYTES]] live 0 to 1
// CHECK: program.buffer @out0 "output" 0 bytes #[[BYTES]] live 2 to 2
// CHECK: program.buffer @out1 "output" 1 bytes #[[BYTES]] live 0 to 2
// CHECK: program.buffer @t0 "temp" 0 bytes #[[BYTES]] live 1 to 2
// CHECK: program.copy @in0 to @out1 {step = 0 : i64}
// CHECK: program.launch @contraction_{{.*}}buffers = [@in0, @in1, @t0], step = 1
// CHECK: program.launch @contraction_{{.*}}buffers = [@t0, @in1, @out0], step = 2
func.func @main(%x: tensor<?x8xf32, #rows>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>) {
  %0 = sinter.matmul %x, %w : (tensor<?x8xf32, #rows>, tensor<8x8xf32>) -> tensor<?x8xf32, #rows>
  %1 = sinter.matmul %0, %w : (tensor<?x8xf32, #rows>, tensor<8x8xf32>) -> tensor<?x8xf32, #rows>
  return %1, %x : tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>
}

// Blocks that share a multiprocessor are as many as the card has registers and
// threads for, one at least.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=USUAL
// RUN: sinter inspect %s --stage ptx --target 'cuda:sm_80{threads=512}' \
// RUN:   | FileCheck %s --check-prefix=THREADS
// RUN: sinter inspect %s --stage ptx --target 'cuda:sm_90{registers=1}' \
// RUN:   | FileCheck %s --check-prefix=REGISTERS
// RUN: not sinter inspect %s --target 'cuda:sm_90{shared_bytes=1024}' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHARED
// RUN: not sinter inspect %s --target 'cuda:sm_90{line_bytes=128}' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LINE

// USUAL: .minnctapersm 4
// THREADS: .minnctapersm 2
// REGISTERS: .minnctapersm 1
// SHARED: '1024' of shared_bytes is less than every card of the target has, 232448
// LINE: '128' of line_bytes: every card of the target is taken to have 64
func.func @main(%x: tensor<256x4096xf32>) -> tensor<256x4096xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  return %0 : tensor<256x4096xf32>
}

// What a launch is worth in arithmetic that is done twice, the target's machine
// says: for a GPU it is much. A card's own numbers have no part in it, as fusion
// changes the order of sums.
// RUN: sinter inspect %s --stage fuse --target cpu | FileCheck %s --check-prefix=CORE
// RUN: sinter inspect %s --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=GPU
// RUN: sinter inspect %s --stage fuse --target cuda:sm_90 | sed 's/^module.*//' > %t.usual
// RUN: sinter inspect %s --stage fuse \
// RUN:   --target 'cuda:sm_90{multiprocessors=4+clock_megahertz=100+operations=1+memory_bytes=10+launch_cycles=1}' \
// RUN:   | sed 's/^module.*//' | diff - %t.usual

// CORE-COUNT-2: program.launch
// CORE-NOT: program.launch
// CORE: // rejected recompute: exp into mul: {{.*}} us of arithmetic twice
// GPU-COUNT-1: program.launch
// GPU-NOT: program.launch
func.func @main(%x: tensor<4096x512xf32>, %v: tensor<512xf32>) -> tensor<4096x512xf32> {
  %0 = sinter.exp %v : (tensor<512xf32>) -> tensor<512xf32>
  %1 = sinter.broadcast %0 {shape = affine_map<() -> (4096, 512)>} : (tensor<512xf32>) -> tensor<4096x512xf32>
  %2 = sinter.mul %x, %1 : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %2 : tensor<4096x512xf32>
}

// A model is tuned where it is compiled: its answers stay (those of whole
// numbers are exact in any order), and so do its bytes once choices are known.
// A file keeps its tiles.
// RUN: rm -rf %t && mkdir -p %t/plain %t/tuned
// RUN: env SINTER_CACHE_DIR=%t/cache sinter compile %s -o %t/tuned.sinter --target vulkan:lavapipe --tune
// RUN: env SINTER_CACHE_DIR=%t/cache sinter compile %s -o %t/again.sinter --target vulkan:lavapipe --tune
// RUN: cmp %t/tuned.sinter %t/again.sinter
// RUN: sinter run %t/tuned.sinter --device vulkan:0 --random-inputs 7 --output-dir %t/tuned
// RUN: sinter run %s --device vulkan:0 --random-inputs 7 --output-dir %t/plain
// RUN: cmp %t/tuned/output0.npy %t/plain/output0.npy
// RUN: env SINTER_CACHE_DIR=%t/cache sinter cache info | FileCheck %s --check-prefix=KEPT
// RUN: env SINTER_TUNE=1 sinter inspect %t/tuned.sinter | FileCheck %s --check-prefix=FILE
// RUN: not sinter inspect %t/tuned.sinter --tune 2>&1 | FileCheck %s --check-prefix=KEEPS
// RUN: not sinter compile %t/tuned.sinter -o %t/x.sinter --tile a=b 2>&1 | FileCheck %s --check-prefix=KEEPS
// KEPT: 1 choices of tiles
// FILE: kernel contraction_
// KEEPS: tuned.sinter: a compiled model keeps its tiles
func.func @main(%x: tensor<48x40xf32>, %w: tensor<40x56xf32>) -> tensor<48x56xf32> {
  %xf = sinter.floor %x : (tensor<48x40xf32>) -> tensor<48x40xf32>
  %wf = sinter.floor %w : (tensor<40x56xf32>) -> tensor<40x56xf32>
  %p = sinter.matmul %xf, %wf : (tensor<48x40xf32>, tensor<40x56xf32>) -> tensor<48x56xf32>
  return %p : tensor<48x56xf32>
}

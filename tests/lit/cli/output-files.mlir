// Files that are written: devices stay what they are, links stay, and what
// does not arrive is an error.
// RUN: rm -rf %t && mkdir %t && ln -s far.sinter %t/near.sinter
// RUN: sinter compile %s -o %t/near.sinter
// RUN: test -L %t/near.sinter
// RUN: sinter run %t/far.sinter --random-inputs 1 | FileCheck %s
// RUN: sinter compile %s -o /dev/null
// RUN: test -c /dev/null
// RUN: not sinter compile %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: test -c /dev/full
// RUN: not sinter compile %s -o %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: sh -c 'sinter run %s --random-inputs 1 > /dev/full; test $? = 1' 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: sh -c 'sinter inspect %s --stage llvm > /dev/full; test $? = 1' 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: sinter run %t/far.sinter --random-inputs 1 --output-dir %t/new/deep
// RUN: test -f %t/new/deep/y.npy
// RUN: not sinter run %t/far.sinter --random-inputs 1 --output-dir %t/far.sinter 2>&1 | FileCheck %s --check-prefix=NOFOLDER
// CHECK: y: f32[4]
// NOFOLDER: error: run: --output-dir: {{.*}}far.sinter: {{.*}}irectory
// FULL: error: /dev/full: cannot write: {{[0-9]+}} bytes are needed: No space left on device
// FOLDER: output-files.mlir.tmp: cannot write: it is a directory
// LOST: error: {{.*}}cannot write
func.func @main(%x: tensor<4xf32> {sinter.name = "x"}) -> (tensor<4xf32> {sinter.name = "y"}) {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

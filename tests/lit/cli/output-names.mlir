// What a model calls its outputs names files in the directory, or none.
// RUN: rm -rf %t && mkdir -p %t/out
// RUN: sed -e s,NAME,../../up, %s > %t/up.mlir
// RUN: not sinter run %t/up.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=UP
// RUN: sed -e s,NAME,%t/away, %s > %t/away.mlir
// RUN: not sinter run %t/away.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=AWAY
// RUN: sed -e 's,NAME,line\\nbreak,' %s > %t/line.mlir
// RUN: not sinter run %t/line.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: sed -e 's,NAME,nul\\00,' %s > %t/nul.mlir
// RUN: not sinter run %t/nul.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=NUL
// RUN: sed -e s,NAME,first, %s > %t/twice.mlir
// RUN: not sinter run %t/twice.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed -e s,NAME,MMMM, -e s,M,PPPPPPPP,g -e s,P,nnnnnnnn,g %s > %t/long.mlir
// RUN: not sinter run %t/long.mlir --random-inputs 1 --output-dir %t/out 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: ls -A %t/out > %t/list
// RUN: not grep . %t/list
// RUN: sed -e 's,NAME,.. two,' %s > %t/dots.mlir
// RUN: sinter run %t/dots.mlir --random-inputs 1 --output-dir %t/out
// RUN: ls -A %t/out | FileCheck %s --check-prefix=DOTS
// UP: error: run: --output-dir: output 1 is named "../../up": a file's name has no '/'; nothing was written
// AWAY: output 1 is named "/{{.*}}/away": a file's name has no '/'
// LINE: output 1 is named "line\u000abreak": it has a control character
// NUL: output 1 is named "nul\u0000": it has a control character
// TWICE: output 1 is named "first": an output before it has this name
// LONG: output 1 is named "nnn{{n*}}": that is too long for a file's name
// DOTS: .. two.npy
// DOTS: first.npy
func.func @main(%x: tensor<4xf32> {sinter.name = "x"}) -> (tensor<4xf32> {sinter.name = "first"}, tensor<4xf32> {sinter.name = "NAME"}) {
  %0 = sinter.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

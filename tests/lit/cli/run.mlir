// RUN: rm -rf %t && mkdir %t
// RUN: sinter compile %s -o %t/m.sinter
// RUN: sinter run %t/m.sinter --random-inputs 7 --dim s0=3 --output-dir %t
// RUN: sinter run %s --input x=%t/y.npy --input scale=2 --json 2>&1 | FileCheck %s
// RUN: not sinter run %t/m.sinter 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sinter run %t/m.sinter --input z=%t/y.npy --random-inputs 1 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sinter run %t/none.sinter 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not env SINTER_MEMORY_LIMIT=30000 sinter run %t/m.sinter --random-inputs 7 --dim s0=2000 2>&1 | FileCheck %s --check-prefix=MEMORY

// CHECK: y: f32[3,2]
// CHECK: {"launches": 1, "bytes_read": {{.*}}, "bytes_written": 24,
// MISSING: error: run: input 0 'x' has no value; give --input x=FILE.npy
// NAME: error: run: no input is named 'z'
// FILE: error: {{.*}}none.sinter: cannot open: No such file or directory
// MEMORY: error: run: 16000 bytes of outputs and 0 of temporaries: cpu: cannot allocate 16000 bytes, {{.*}} are in use and the limit is 30000 bytes; the largest: 16000 bytes{{.*}}; the program's largest: 16000 bytes of output 'y'
#rows = affine_map<()[s0] -> (s0, 2)>
func.func @main(%x: tensor<?x2xf32, #rows> {sinter.name = "x"}, %s: tensor<f32> {sinter.kind = "scalar", sinter.name = "scale"}) -> (tensor<?x2xf32, #rows> {sinter.name = "y"}) {
  %0 = sinter.broadcast %s {shape = #rows} : (tensor<f32>) -> tensor<?x2xf32, #rows>
  %1 = sinter.mul %x, %0 : (tensor<?x2xf32, #rows>, tensor<?x2xf32, #rows>) -> tensor<?x2xf32, #rows>
  return %1 : tensor<?x2xf32, #rows>
}

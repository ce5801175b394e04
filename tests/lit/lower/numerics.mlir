// A product that only a sum reads is rounded by itself in mode exact alone. A
// NaN gets its canonical bits where it is stored.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 --numerics exact | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 | FileCheck %s --check-prefix=DEFAULT
// RUN: sinter inspect %s --stage lower --target cpu:scalar | FileCheck %s --check-prefix=EXACT
// RUN: not sinter inspect %s --stage lower --numerics sloppy 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: --numerics is exact, default or fast, not 'sloppy'
// EXACT-LABEL: func.func @map_
// EXACT-NOT: math.fma
// EXACT: arith.mulf
// EXACT: arith.addf
// EXACT: arith.cmpf uno
// EXACT: arith.select {{.*}}
// DEFAULT-LABEL: func.func @map_
// DEFAULT-NOT: arith.mulf
// DEFAULT: math.fma
// DEFAULT: arith.cmpf uno
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = sinter.mul %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = sinter.add %0, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

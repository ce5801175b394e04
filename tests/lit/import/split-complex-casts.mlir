// RUN: sinter-opt --pipeline=number-nodes,split-complex %s | FileCheck %s

// A real number has no imaginary part, and numbers of attributes are real.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<3xi32>
// CHECK:         %[[RE:.*]] = sinter.cast %[[X]] {dtype = f64}
// CHECK:         %[[IM:.*]] = sinter.full {dtype = f64, {{.*}}value = 0.000000e+00 : f64}
// CHECK:         sinter.pad %[[RE]] {{.*}}value = 2.000000e+00 : f64
// CHECK:         sinter.pad %[[IM]] {{.*}}value = 0.000000e+00 : f64
func.func @main(%x: tensor<3xi32>) -> tensor<4xcomplex<f64>> {
  %0 = sinter.cast %x {dtype = complex<f64>} : (tensor<3xi32>) -> tensor<3xcomplex<f64>>
  %1 = sinter.pad %0 {low = array<i64: 1>, shape = affine_map<() -> (4)>, interior = array<i64: 0>, value = 2.0 : f64} : (tensor<3xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  return %1 : tensor<4xcomplex<f64>>
}

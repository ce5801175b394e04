// RUN: sinter-opt --pipeline=number-nodes,split-complex %s | FileCheck %s

// Arguments and results are pairs, as memory holds them. Pairs are moved as they
// lie; what is computed is computed with each part.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4x2xf32> {sinter.complex
// CHECK-SAME:    -> (tensor<2x2xf32> {sinter.complex
// CHECK:         %[[CUT:.*]] = sinter.slice %[[X]]
// CHECK-SAME:      starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
// CHECK:         %[[C0:.*]] = sinter.slice %[[CUT]] {{.*}}starts = array<i64: 0, 0>
// CHECK:         %[[RE:.*]] = sinter.reshape %[[C0]]
// CHECK:         %[[C1:.*]] = sinter.slice %[[CUT]] {{.*}}starts = array<i64: 0, 1>
// CHECK:         %[[IM:.*]] = sinter.reshape %[[C1]]
// CHECK:         %[[SUM:.*]] = sinter.add %[[RE]], %[[IM]]
// CHECK:         %[[RE2:.*]] = sinter.neg %[[SUM]]
// CHECK:         %[[IM2:.*]] = sinter.neg %[[IM]]
// CHECK-DAG:     %[[A:.*]] = sinter.reshape %[[RE2]]
// CHECK-DAG:     %[[B:.*]] = sinter.reshape %[[IM2]]
// CHECK-DAG:     %[[A2:.*]] = sinter.broadcast %[[A]]
// CHECK-DAG:     %[[B2:.*]] = sinter.broadcast %[[B]]
// CHECK:         %[[Y:.*]] = sinter.where %{{.*}}, %[[B2]], %[[A2]]
// CHECK:         return %[[Y]]
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = sinter.slice %x {starts = array<i64: 1>, limits = affine_map<() -> (3)>, steps = array<i64: 1>} : (tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %1 = sinter.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = sinter.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = sinter.add %1, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = sinter.complex %3, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %5 = sinter.neg %4 : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %5 : tensor<2xcomplex<f32>>
}

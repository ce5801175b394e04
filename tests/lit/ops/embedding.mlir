// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#batch = affine_map<()[s0] -> (s0, 6)>
#rows = affine_map<()[s0] -> (s0, 6, 8)>

// CHECK-LABEL: @embedding
func.func @embedding(%w: tensor<10x8xbf16>, %i: tensor<2x3xi64>) -> tensor<2x3x8xbf16> {
  // CHECK: sinter.embedding %{{.*}}, %{{.*}} : (tensor<10x8xbf16>, tensor<2x3xi64>) -> tensor<2x3x8xbf16>
  %0 = sinter.embedding %w, %i : (tensor<10x8xbf16>, tensor<2x3xi64>) -> tensor<2x3x8xbf16>
  return %0 : tensor<2x3x8xbf16>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%w: tensor<10x8xf32>, %i: tensor<?x6xi32, #batch>) -> tensor<?x6x8xf32, #rows> {
  // CHECK: sinter.embedding
  %0 = sinter.embedding %w, %i : (tensor<10x8xf32>, tensor<?x6xi32, #batch>) -> tensor<?x6x8xf32, #rows>
  return %0 : tensor<?x6x8xf32, #rows>
}

// -----

func.func @table(%w: tensor<10xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @+1 {{embedding: expects weight [count, length]}}
  %0 = sinter.embedding %w, %i : (tensor<10xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @empty(%w: tensor<0x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{embedding: axis 0 is empty}}
  %0 = sinter.embedding %w, %i : (tensor<0x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

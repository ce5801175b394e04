// A convolution's gradient of its image, or a transposed convolution, takes no
// zeros between the elements of its operand: as many results as a stride is long
// are made together, as channels, and stored where they belong.
// RUN: split-file %s %t
// RUN: sinter opt %t/even.mlir --until=simplify | FileCheck %s --check-prefix=EVEN
// RUN: sinter explain %t/even.mlir | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/even.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter opt %t/single.mlir --until=simplify \
// RUN:   | FileCheck %s --check-prefix=SINGLE
// RUN: sinter opt %t/shared.mlir --until=simplify \
// RUN:   | FileCheck %s --check-prefix=SHARED
// RUN: sinter opt %t/depthwise.mlir --until=simplify \
// RUN:   | FileCheck %s --check-prefix=DEPTHWISE

// ONE: 1 launches

// Two taps of four along each axis, four results for each channel.
// EVEN-NOT: interior = array<i64: 0, 1, 1, 0>
// EVEN: sinter.window {{.*}} sizes = array<i64: 2, 2>
// EVEN: sinter.matmul {{.*}}(tensor<6272x512xbf16>, tensor<512x256xbf16>)
//--- even.mlir
func.func @main(%x: tensor<8x28x28x128xbf16>, %w: tensor<128x64x3x3xbf16>) -> tensor<8x56x56x64xbf16> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, space = affine_map<() -> (56, 56)>} : (tensor<8x28x28x128xbf16>, tensor<128x64x3x3xbf16>) -> tensor<8x56x56x64xbf16>
  return %0 : tensor<8x56x56x64xbf16>
}

// A single tap reaches every second result: the product is made for those.
// SINGLE: sinter.matmul {{.*}}(tensor<6272x128xf32>, tensor<128x64xf32>)
// SINGLE: sinter.pad {{.*}}interior = array<i64: 0, 1, 1, 0>
//--- single.mlir
func.func @main(%x: tensor<8x28x28x128xf32>, %w: tensor<128x64x1x1xf32>) -> tensor<8x56x56x64xf32> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, layout = "channels_last", low = array<i64: 0, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 2, 2>, space = affine_map<() -> (56, 56)>} : (tensor<8x28x28x128xf32>, tensor<128x64x1x1xf32>) -> tensor<8x56x56x64xf32>
  return %0 : tensor<8x56x56x64xf32>
}

// So do taps that lie as far apart as results of one position.
// SHARED: sinter.window {{.*}} dilations = array<i64: 1>, sizes = array<i64: 3>
// SHARED: sinter.pad {{.*}}interior = array<i64: 0, 1, 0>
//--- shared.mlir
func.func @main(%x: tensor<2x16x64xf32>, %w: tensor<64x32x3xf32>) -> tensor<2x35x32xf32> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 2>, groups = 1 : i64, high = array<i64: 0>, layout = "channels_last", low = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 2>, space = affine_map<() -> (35)>} : (tensor<2x16x64xf32>, tensor<64x32x3xf32>) -> tensor<2x35x32xf32>
  return %0 : tensor<2x35x32xf32>
}

// Channels by themselves have few products, whose results are in order.
// DEPTHWISE: sinter.pad {{.*}}interior = array<i64: 0, 1, 1, 0>
//--- depthwise.mlir
func.func @main(%x: tensor<2x14x14x64xf32>, %w: tensor<64x1x3x3xf32>) -> tensor<2x28x28x64xf32> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 1, 1>, groups = 64 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, space = affine_map<() -> (28, 28)>} : (tensor<2x14x14x64xf32>, tensor<64x1x3x3xf32>) -> tensor<2x28x28x64xf32>
  return %0 : tensor<2x28x28x64xf32>
}

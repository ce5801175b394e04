// Work of every kind: products, convolutions, functions, rows, sums, orders, casts.
func.func @main(%x: tensor<7x33xf32>, %w: tensor<33x50xf32>,
                %image: tensor<2x4x9x11xf32>, %filter: tensor<6x4x3x3xf32>,
                %i: tensor<7x33xi32>)
    -> (tensor<7x50xf32>, tensor<7x33xf32>, tensor<33xf32>, tensor<7x33xf32>,
        tensor<7x33xf16>, tensor<7x33xbf16>, tensor<7x33xf64>, tensor<7x33xf32>,
        tensor<7x33xi64>, tensor<7x33xi32>, tensor<2x6x9x11xf32>,
        tensor<7x33xi32>, tensor<7x50xbf16>) {
  %product = sinter.matmul %x, %w : (tensor<7x33xf32>, tensor<33x50xf32>) -> tensor<7x50xf32>
  %gelu = sinter.gelu %product {approximate = "none"} : (tensor<7x50xf32>) -> tensor<7x50xf32>
  %softmax = sinter.softmax %x {axis = 1 : i64} : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %sum = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<7x33xf32>) -> tensor<33xf32>
  %sin = sinter.sin %x : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %exp = sinter.exp %x : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %log = sinter.log %x : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %ratio = sinter.div %sin, %exp : (tensor<7x33xf32>, tensor<7x33xf32>) -> tensor<7x33xf32>
  %most = sinter.maximum %ratio, %log : (tensor<7x33xf32>, tensor<7x33xf32>) -> tensor<7x33xf32>
  %half = sinter.cast %ratio {dtype = f16} : (tensor<7x33xf32>) -> tensor<7x33xf16>
  %brain = sinter.cast %ratio {dtype = bf16} : (tensor<7x33xf32>) -> tensor<7x33xbf16>
  %double = sinter.cast %x {dtype = f64} : (tensor<7x33xf32>) -> tensor<7x33xf64>
  %tanh = sinter.tanh %double : (tensor<7x33xf64>) -> tensor<7x33xf64>
  %running = sinter.cumsum %x {axis = 1 : i64, reverse = false} : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %order = sinter.argsort %x {axis = 1 : i64, descending = false, count = affine_map<() -> (33)>} : (tensor<7x33xf32>) -> tensor<7x33xi64>
  %whole = sinter.cast %exp {dtype = i32} : (tensor<7x33xf32>) -> tensor<7x33xi32>
  %conv = sinter.conv %image, %filter {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layout = "channels_first"} : (tensor<2x4x9x11xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x9x11xf32>
  %quotient = sinter.div %i, %whole : (tensor<7x33xi32>, tensor<7x33xi32>) -> tensor<7x33xi32>
  %narrow = sinter.cast %gelu {dtype = bf16} : (tensor<7x50xf32>) -> tensor<7x50xbf16>
  return %gelu, %softmax, %sum, %most, %half, %brain, %tanh, %running, %order, %whole, %conv, %quotient, %narrow
      : tensor<7x50xf32>, tensor<7x33xf32>, tensor<33xf32>, tensor<7x33xf32>,
        tensor<7x33xf16>, tensor<7x33xbf16>, tensor<7x33xf64>, tensor<7x33xf32>,
        tensor<7x33xi64>, tensor<7x33xi32>, tensor<2x6x9x11xf32>,
        tensor<7x33xi32>, tensor<7x50xbf16>
}

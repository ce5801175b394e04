/// Layers of com.microsoft that ONNX Runtime fuses: embeddings, convolutions,
/// products with packed weights.
#include "frontend/import/onnx/rules/Rules.h"
#include "frontend/import/onnx/rules/Windows.h"

#include <sinter/generated/functions/Activations.h>

namespace sinter::onnx {

static constexpr const char *domain = "com.microsoft";

//===- Embeddings ---------------------------------------------------------===//

static Tensor rowsAt(const Tensor &table, const Tensor &positions) {
  return embedding(table, positions.to(DType::i64));
}

/// Words, positions and segments summed, brought to mean 0 and variance 1; and
/// how many elements of each row count.
static void embedLayerNormRule(Call &call) {
  Tensor words = call.tensor(0);
  if (words.rank() != 2)
    call.invalid("the words have rank " + std::to_string(words.rank()));
  Tensor positions =
      call.has(8) ? call.tensor(8)
                  : broadcast(reshape(arange(words.dim(1),
                                             {DType::i64, words.device()}),
                                      {1, words.dim(1)}),
                              words.shape());
  Tensor sums =
      rowsAt(call.tensor(2), words) + rowsAt(call.tensor(3), positions);
  if (call.has(1) && call.has(4))
    sums = sums + rowsAt(call.tensor(4), call.tensor(1));
  Affine affine{call.tensor(5), call.tensor(6), call.real("epsilon")};
  call.give(layer_norm(sums, {sums.dim(-1)}, affine));
  Tensor count = zeros({words.dim(0)}, {DType::i32, words.device()});
  if (call.has(7))
    count = sum(call.tensor(7), 1).to(DType::i32);
  call.give(1, count);
  call.give(2, sums);
}

//===- Products -----------------------------------------------------------===//

/// The numbers of a few bits in bytes [rows, n], the lowest bits first: [rows,
/// n * 8 / bits] in f32.
static Tensor unpacked(const Tensor &bytes, int64_t bits) {
  if (bits == 8)
    return bytes.to(DType::f32);
  std::vector<Tensor> parts;
  Tensor wide = bytes.to(DType::i32);
  for (int64_t at = 0; at < 8; at += bits) {
    Tensor moved = div(wide, int64_t(1) << at, Rounding::floor);
    Tensor above = div(moved, int64_t(1) << bits, Rounding::floor);
    parts.push_back(moved - above * (int64_t(1) << bits));
  }
  Tensor all = stack(std::span<const Tensor>(parts), 2);
  return reshape(all, {bytes.dim(0), Dim(-1)}).to(DType::f32);
}

/// x times weights that are stored in blocks of few bits, each with a scale and
/// a zero point: [.., k] by [n, k]^T.
static void matmulNBitsRule(Call &call) {
  int64_t k = call.integer("K"), n = call.integer("N");
  int64_t bits = call.integer("bits"), block = call.integer("block_size");
  if (bits != 2 && bits != 4 && bits != 8)
    call.unsupported("weights of " + std::to_string(bits) + " bits");
  if (k < 1 || n < 1 || block < 1 || k > mostFactor || n > mostFactor ||
      block > mostFactor || block * bits % 8 != 0)
    call.invalid("sizes of " + std::to_string(k) + ", " + std::to_string(n) +
                 " and blocks of " + std::to_string(block));
  if (call.has(4))
    call.unsupported("g_idx");
  int64_t blocks = (k + block - 1) / block;
  Tensor codes = unpacked(
      reshape(call.tensor(1), {Dim(n), Dim(blocks * (block * bits / 8))}),
      bits);
  codes = reshape(codes, {Dim(n), Dim(blocks), Dim(block)});
  Tensor zero =
      full({}, double(int64_t(1) << (bits - 1)), {DType::f32, call.device()});
  if (call.has(3) && isFloat(call.value(3).dtype())) {
    zero = reshape(call.tensor(3).to(DType::f32), {Dim(n), Dim(blocks), 1});
  } else if (call.has(3)) {
    int64_t bytes = (blocks * bits + 7) / 8;
    Tensor points =
        unpacked(reshape(call.tensor(3), {Dim(n), Dim(bytes)}), bits);
    zero = unsqueeze(sliceAxis(points, 1, 0, blocks), 2);
  }
  Tensor scale =
      reshape(call.tensor(2).to(DType::f32), {Dim(n), Dim(blocks), 1});
  Tensor weight =
      reshape((codes - zero) * scale, {Dim(n), Dim(blocks * block)});
  if (blocks * block != k)
    weight = sliceAxis(weight, 1, 0, k);
  Tensor x = call.tensor(0);
  Tensor y = matmul(widened(x), swapaxes(weight, 0, 1));
  if (call.has(5))
    y = y + widened(call.tensor(5));
  call.give(y.to(x.dtype()));
}

//===- Activations behind -------------------------------------------------===//

/// The activation that an attribute names, with its numbers.
static Tensor activated(Call &call, const Tensor &x) {
  std::string name = call.text("activation");
  std::vector<double> numbers = call.reals("activation_params");
  auto number = [&](size_t i, double otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  if (name.empty())
    return x;
  if (name == "Relu")
    return relu(x);
  if (name == "Sigmoid")
    return sigmoid(x);
  if (name == "Tanh")
    return tanh(x);
  if (name == "LeakyRelu")
    return leaky_relu(x, number(0, 0.01));
  if (name == "Clip" && numbers.size() == 2)
    return clamp(x, numbers[0], numbers[1]);
  if (name == "HardSigmoid")
    return clamp(x * number(0, 0.2) + number(1, 0.5), 0.0, 1.0);
  call.unsupported("activation '" + name + "'");
}

static void fusedConvRule(Call &call) {
  Tensor y = plainConv(call);
  if (call.has(3))
    y = y + call.tensor(3);
  call.give(activated(call, y));
}

static constexpr Operator rows[] = {
    {"EmbedLayerNormalization", 1, 0,
     "epsilon:float=1e-12 mask_index_type:int=0", embedLayerNormRule, domain},
    {"MatMulNBits", 1, 0,
     "K:int! N:int! accuracy_level:int=0 bits:int=4 block_size:int! "
     "weight_prepacked:int=0",
     matmulNBitsRule, domain},
    {"FusedConv", 1, 0,
     "activation:string activation_params:floats auto_pad:string=NOTSET "
     "dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints",
     fusedConvRule, domain},
};

std::span<const Operator> microsoftLayerRows() { return rows; }

} // namespace sinter::onnx

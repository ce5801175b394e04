/// The side of this project, as a user writes it: every call records the ops
/// anew and evaluates them; what the last call returned is freed, so its memory
/// is there for the next. `sinter program` runs the programs alone.
#include "tools/benchmarks/native/Growth.h"
#include "tools/benchmarks/native/Odd.h"
#include "tools/benchmarks/native/ProfileText.h"
#include "tools/benchmarks/native/Replays.h"
#include "tools/benchmarks/native/Step.h"
#include "tools/benchmarks/native/Training.h"
#include "tools/benchmarks/native/Worker.h"

#include "runtime/device/ThreadPool.h"
#include "runtime/device/cpu/CpuFeatures.h"

#include <sinter/Basic.h>

#include <cstdio>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;
using Made = std::unique_ptr<Work>;

template <typename Record> static Made call(Record record) {
  return std::make_unique<Calls>([=] { return std::vector<Tensor>{record()}; });
}

/// What does not change from call to call, as a model's weights.
static sn::Param constant(const Tensor &value) {
  return sn::Param(value, "weight", false);
}

//===- Products -----------------------------------------------------------===//

static Made matmulOfBytes(int64_t m, int64_t n, int64_t k) {
  Tensor x = sn::tensor(filledBytes(m * k, 1, 50), {m, k});
  Tensor w = sn::tensor(filledBytes(k * n, 2, 50), {k, n});
  return call(
      [=] { return sn::matmul(x.to(sn::DType::i32), w.to(sn::DType::i32)); });
}

static Made matmul(const Case &c) {
  int64_t m = c.number("m"), n = c.number("n"), k = c.number("k");
  std::string dtype = c.text("dtype", "f32");
  if (dtype == "i8")
    return matmulOfBytes(m, n, k);
  bool turned = c.number("turned", 0);
  Tensor x = inputFor(c, {m, k}, 1), b = inputFor(c, {n}, 3);
  Tensor w =
      turned ? inputFor(c, {n, k}, 2, 0.1f) : inputFor(c, {k, n}, 2, 0.1f);
  bool bias = c.number("bias", 0), relu = c.number("relu", 0);
  sn::Param packed = c.number("packed", 0) ? constant(w) : sn::Param();
  // Copies of the weight, which calls take in turn: none is in a cache.
  std::vector<Tensor> weights{w};
  while (int64_t(weights.size()) < c.number("rotate", 1))
    weights.push_back(inputFor(c, w.shape(), 2, 0.1f));
  auto next = std::make_shared<size_t>(0);
  return call([=] {
    Tensor right = packed.defined() ? packed.tensor()
                                    : weights[(*next)++ % weights.size()];
    Tensor y = sn::matmul(x, turned ? sn::transpose(right, {1, 0}) : right);
    if (bias)
      y = y + b;
    return relu ? sn::relu(y) : y;
  });
}

/// A linear layer, and what takes rows of its result.
static Made linearRows(const Case &c) {
  int64_t m = c.number("m"), n = c.number("n"), k = c.number("k");
  Tensor x = inputFor(c, {m, k}, 1), w = inputFor(c, {k, n}, 2, 0.1f);
  Tensor b = inputFor(c, {n}, 3), scale = inputFor(c, {n}, 4);
  Tensor r = inputFor(c, {m, n}, 5);
  bool isNorm = c.text("then") == "layer_norm";
  bool residual = c.number("residual", 0);
  return call([=] {
    Tensor y = sn::matmul(x, w) + b;
    if (residual)
      y = y + r;
    return isNorm ? sn::layer_norm(y, scale, b, 1e-5) : sn::softmax(y, -1);
  });
}

//===- Rows, columns and chains -------------------------------------------===//

static Made softmax(const Case &c) {
  Tensor x = inputFor(c, {c.number("rows"), c.number("cols")}, 1, 4);
  return call([=] { return sn::softmax(x, -1); });
}

static Made layerNorm(const Case &c) {
  int64_t cols = c.number("cols");
  Tensor x = inputFor(c, {c.number("rows"), cols}, 1, 4);
  Tensor weight = inputFor(c, {cols}, 2), bias = inputFor(c, {cols}, 3);
  return call([=] { return sn::layer_norm(x, weight, bias, 1e-5); });
}

/// All three gradients, for a cotangent that is given.
static Made layerNormGradient(const Case &c) {
  int64_t rows = c.number("rows"), cols = c.number("cols");
  std::vector<Tensor> inputs{inputFor(c, {rows, cols}, 1, 4),
                             inputFor(c, {cols}, 2), inputFor(c, {cols}, 3)};
  for (Tensor &each : inputs)
    each.require_grad();
  Tensor cotangent = inputFor(c, {rows, cols}, 4);
  return std::make_unique<Calls>([=] {
    Tensor y = sn::layer_norm(inputs[0], inputs[1], inputs[2], 1e-5);
    return sn::grad(y, inputs, cotangent);
  });
}

static Made transposeAdd(const Case &c) {
  int64_t n = c.number("n");
  Tensor x = inputFor(c, {n, n}, 1), y = inputFor(c, {n, n}, 2);
  return call([=] { return sn::transpose(x, {1, 0}) + y; });
}

static Made gelu(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1, 4);
  sn::GeluForm form =
      c.text("form") == "tanh" ? sn::GeluForm::tanh : sn::GeluForm::none;
  return call([=] { return sn::gelu(x, form); });
}

static Made chain(const Case &c) {
  Tensor x = inputFor(c, {c.number("n")}, 1);
  return call([=] {
    Tensor y = sn::relu(x * 1.5 + 0.3) * 0.7 - 0.25;
    return -sn::sqrt(sn::abs(y) + 1.25) + 3.5;
  });
}

static Made columnSum(const Case &c) {
  Tensor x = inputFor(c, {c.number("rows"), c.number("cols")}, 1);
  return call([=] { return sn::sum(x, 0); });
}

static Made rowSum(const Case &c) {
  Tensor x = inputFor(c, {c.number("rows"), c.number("cols")}, 1);
  return call([=] { return sn::sum(x, 1); });
}

static Made argmax(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1);
  return call([=] { return sn::argmax(x, 1); });
}

static Made amax(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1);
  return call([=] { return sn::amax(x, {1}); });
}

static Made cumsum(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1);
  int64_t axis = c.number("axis", 1);
  return call([=] { return sn::cumsum(x, axis); });
}

static Made topk(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1);
  int64_t k = c.number("k");
  return std::make_unique<Calls>([=] {
    sn::Sorted best = sn::topk(x, k);
    return std::vector<Tensor>{best.values, best.indices};
  });
}

static Made sort(const Case &c) {
  Tensor x = inputOf({c.number("rows"), c.number("cols")}, 1);
  return std::make_unique<Calls>([=] {
    sn::Sorted sorted = sn::sort(x, 1);
    return std::vector<Tensor>{sorted.values, sorted.indices};
  });
}

//===- Attention ----------------------------------------------------------===//

/// Keys and values of `kv` heads, if those are fewer, and of `s` rows, if those
/// are not as many as the queries'.
static std::vector<Tensor> queriesKeysValues(const Case &c) {
  int64_t heads = c.number("h"), rows = c.number("t");
  sn::Dims queries{c.number("b"), heads, rows, c.number("d")};
  sn::Dims keys{c.number("b"), c.number("kv", heads), c.number("s", rows),
                c.number("d")};
  return {inputFor(c, queries, 1), inputFor(c, keys, 2), inputFor(c, keys, 3)};
}

/// As the op, or as what users write who do not know of it.
static Tensor attend(const Case &c, const std::vector<Tensor> &qkv) {
  bool causal = c.number("causal", 0);
  if (c.number("op", 0))
    return sn::scaled_dot_product_attention(
        qkv[0], qkv[1], qkv[2],
        {.causal = causal, .enable_gqa = c.number("kv", 0) > 0});
  return scaledAttention(qkv[0], qkv[1], qkv[2], causal);
}

static Made attention(const Case &c) {
  std::vector<Tensor> qkv = queriesKeysValues(c);
  return call([=] { return attend(c, qkv); });
}

/// Forward, then the three gradients for a cotangent that is given.
static Made attentionStep(const Case &c) {
  std::vector<Tensor> qkv = queriesKeysValues(c);
  for (Tensor &each : qkv)
    each.require_grad();
  Tensor cotangent = inputFor(c, qkv[0].shape(), 4);
  return std::make_unique<Calls>([=] {
    Tensor y = attend(c, qkv);
    std::vector<Tensor> results = sn::grad(y, qkv, cotangent);
    results.push_back(y);
    return results;
  });
}

//===- The side -----------------------------------------------------------===//

static Made make(const Case &c) {
  static const std::map<std::string, Made (*)(const Case &)> kinds{
      {"matmul", matmul},
      {"linear_rows", linearRows},
      {"softmax", softmax},
      {"layer_norm", layerNorm},
      {"layer_norm_gradient", layerNormGradient},
      {"transpose_add", transposeAdd},
      {"gelu", gelu},
      {"chain", chain},
      {"column_sum", columnSum},
      {"row_sum", rowSum},
      {"argmax", argmax},
      {"amax", amax},
      {"cumsum", cumsum},
      {"topk", topk},
      {"sort", sort},
      {"attention", attention},
      {"attention_step", attentionStep},
      {"conv2d", makeConvolution},
      {"conv2d_step", makeConvolutionStep},
      {"max_pool", makeMaxPool},
      {"batch_norm", makeBatchNorm},
      {"embedding", makeEmbedding},
      {"group_norm_silu", makeGroupNormSilu},
      {"linear_gelu", makeLinearGelu},
      {"pooling", makePooling},
      {"shared_attention", makeSharedAttention},
      {"growing_chain", makeGrowingChain},
      {"growing_numbers", makeGrowingNumbers},
      {"growing_stencil", makeGrowingStencil},
      {"growing_sines", makeGrowingSines},
      {"growing_rnn", makeGrowingRnn},
      {"step_mlp", makeMlpStep},
      {"step_cnn", makeCnnStep},
      {"step_gru", makeGruStep},
      {"step_residual", makeResidualStep},
      {"step_transformer", makeTransformerStep},
  };
  auto found = kinds.find(c.kind());
  if (found == kinds.end())
    throw Unsupported("no op for " + c.kind());
  try {
    return found->second(c);
  } catch (const sn::Error &error) {
    if (error.kind() == sn::ErrorKind::unsupported)
      throw Unsupported(error.what());
    throw;
  }
}

static std::string facts() {
  return "device=" + toString(sn::default_device()) + " threads=" +
         std::to_string(sn::runtime::ThreadPool::instance().threads()) +
         " features=" +
         sn::runtime::joinFeatures(sn::runtime::hostCpuFeatures());
}

static double compiling() { return sn::stats().compile_milliseconds / 1e3; }

static Made makeProgram(const Case &c) {
  Made made = make(c);
  const auto *calls = dynamic_cast<const Calls *>(made.get());
  if (!calls)
    throw Unsupported("no single program for " + c.kind());
  return replaysOf(calls->recorded(), size_t(c.number("rotate", 1)));
}

int main(int argc, char **argv) {
  bool queues = sn::default_device().kind != sn::DeviceKind::cpu;
  bool alone = argc > 1 && std::string_view(argv[1]) == "program";
  return serve({.make = alone ? makeProgram : make,
                .facts = facts,
                .profile = bench::printProfile,
                .compiling = compiling,
                .queues = queues});
}

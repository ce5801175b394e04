/// Operators of models by themselves, with the options that models use.
#include "tools/benchmarks/native/Odd.h"

#include "tools/benchmarks/native/Step.h"

#include <sinter/Basic.h>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;

using Made = std::unique_ptr<Work>;
using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs &)>;

/// The function's result, or with `step` its gradients for a cotangent that is
/// given, and then the result.
static Made workOf(const Case &c, Inputs inputs, const Function &function) {
  if (!c.number("step", 0))
    return std::make_unique<Calls>([=] { return Inputs{function(inputs)}; });
  for (Tensor &each : inputs)
    each.require_grad();
  Tensor cotangent = inputFor(c, function(inputs).shape(), 9);
  return std::make_unique<Calls>([=] {
    Tensor y = function(inputs);
    Inputs results = sn::grad(y, inputs, cotangent);
    results.push_back(y);
    return results;
  });
}

//===- Attention with shared keys and values ------------------------------===//

/// What users write who do not know of `enable_gqa`.
static Tensor spread(const std::string &spelling, const Tensor &x,
                     int64_t group) {
  if (spelling == "repeat")
    return sn::repeat_interleave(x, group, 1);
  Tensor wide = sn::expand(sn::unsqueeze(x, 2), {-1, -1, group, -1, -1});
  return sn::flatten(wide, 1, 2);
}

Made bench::makeSharedAttention(const Case &c) {
  int64_t b = c.number("b"), heads = c.number("h"), kv = c.number("kv");
  int64_t t = c.number("t"), s = c.number("s"), d = c.number("d");
  std::string spelling = c.text("spelling", "option");
  sn::AttentionOptions options;
  options.causal = c.number("causal", 0) != 0;
  options.enable_gqa = spelling == "option";
  Tensor q = inputFor(c, {b, heads, t, d}, 1);
  Tensor k = inputFor(c, {b, kv, s, d}, 2);
  Tensor v = inputFor(c, {b, kv, s, d}, 3);
  return workOf(c, {q, k, v}, [=](const Inputs &x) {
    Tensor keys = x[1], values = x[2];
    if (!options.enable_gqa) {
      keys = spread(spelling, keys, heads / kv);
      values = spread(spelling, values, heads / kv);
    }
    return sn::scaled_dot_product_attention(x[0], keys, values, options);
  });
}

//===- Linear layers and tables -------------------------------------------===//

Made bench::makeLinearGelu(const Case &c) {
  int64_t m = c.number("m"), n = c.number("n"), k = c.number("k");
  Tensor x = inputFor(c, {m, k}, 1), w = inputFor(c, {n, k}, 2, 0.1f);
  Tensor bias = inputFor(c, {n}, 3);
  return workOf(c, {x, w, bias}, [](const Inputs &in) {
    Tensor y = sn::matmul(in[0], sn::transpose(in[1], {1, 0})) + in[2];
    return sn::gelu(y, sn::GeluForm::tanh);
  });
}

/// Rows of a table, and with `step` its gradient.
Made bench::makeEmbedding(const Case &c) {
  int64_t words = c.number("words");
  Tensor table = inputFor(c, {words, c.number("d")}, 1);
  Tensor ids = labelsOf({c.number("n")}, 2, words);
  return workOf(c, {table},
                [=](const Inputs &in) { return sn::embedding(in[0], ids); });
}

//===- Images -------------------------------------------------------------===//

static Tensor imagesOf(const Case &c) {
  return inputFor(
      c, {c.number("batch"), c.number("c"), c.number("h"), c.number("w")}, 1);
}

Made bench::makeBatchNorm(const Case &c) {
  int64_t channels = c.number("c");
  Tensor weight = inputFor(c, {channels}, 2), bias = inputFor(c, {channels}, 3);
  return workOf(c, {imagesOf(c), weight, bias}, [](const Inputs &in) {
    return sn::batch_norm(in[0], {.weight = in[1], .bias = in[2]}).y;
  });
}

Made bench::makeGroupNormSilu(const Case &c) {
  int64_t channels = c.number("c"), groups = c.number("groups");
  Tensor weight = inputFor(c, {channels}, 2), bias = inputFor(c, {channels}, 3);
  return workOf(c, {imagesOf(c), weight, bias}, [=](const Inputs &in) {
    return sn::silu(
        sn::group_norm(in[0], groups, {.weight = in[1], .bias = in[2]}));
  });
}

Made bench::makePooling(const Case &c) {
  int64_t kernel = c.number("kernel");
  sn::PoolOptions options;
  options.stride = c.number("stride", 1);
  options.padding = c.number("pad", 0);
  return workOf(c, {imagesOf(c)}, [=](const Inputs &in) {
    return sn::max_pool2d(in[0], kernel, options);
  });
}

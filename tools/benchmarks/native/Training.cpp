/// Models of the training steps, with the parameters that all sides begin with.
#include "tools/benchmarks/native/Training.h"

#include "tools/benchmarks/native/Step.h"

#include <sinter/Basic.h>

#include <cmath>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;

//===- The MLP ------------------------------------------------------------===//

namespace {
struct Mlp {
  sn::nn::Linear fc1, fc2, fc3;
  Tensor forward(const Tensor &x) const {
    return fc3(sn::relu(fc2(sn::relu(fc1(x)))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, fc3)
};
} // namespace

std::unique_ptr<Work> bench::makeMlpStep(const Case &c) {
  int64_t in = c.number("in"), hidden = c.number("hidden");
  int64_t out = c.number("out"), batch = c.number("batch");
  Mlp model{{in, hidden}, {hidden, hidden}, {hidden, out}};
  Tensor images = inputOf({batch, in}, 1);
  Tensor digits = labelsOf({batch}, 2, out);
  return std::make_unique<Step<Mlp>>(
      withFirstValues(std::move(model)), [=](const Mlp &mlp) {
        return sn::cross_entropy(mlp.forward(images), digits);
      });
}

//===- The transformer ----------------------------------------------------===//

Tensor bench::scaledAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                              bool causal) {
  int64_t t = q.dim(2).value, d = q.dim(3).value;
  Tensor scores = sn::matmul(q, sn::transpose(k, {0, 1, 3, 2})) *
                  (1 / std::sqrt(double(d)));
  if (causal) {
    Tensor seen = sn::iota({t, t}, 0) >= sn::iota({t, t}, 1);
    scores = sn::where(seen, scores, -std::numeric_limits<float>::infinity());
  }
  return sn::matmul(sn::softmax(scores, -1), v);
}

namespace {
struct Norm {
  sn::Param weight, bias;
  explicit Norm(int64_t d)
      : weight("weight", {d}, sn::init::ones()),
        bias("bias", {d}, sn::init::zeros()) {}
  Tensor forward(const Tensor &x) const {
    return sn::layer_norm(x, weight, bias, 1e-5);
  }
  SINTER_MODULE(Norm, weight, bias)
};

struct Block {
  int64_t heads;
  Norm norm1, norm2;
  sn::nn::Linear queries, keys, values, joined, wide, narrow;
  Block(int64_t d, int64_t heads)
      : heads(heads), norm1(d), norm2(d), queries(d, d), keys(d, d),
        values(d, d), joined(d, d), wide(d, 4 * d), narrow(4 * d, d) {}

  Tensor split(const Tensor &x) const {
    int64_t b = x.dim(0).value, t = x.dim(1).value, d = x.dim(2).value;
    return sn::transpose(sn::reshape(x, {b, t, heads, d / heads}),
                         {0, 2, 1, 3});
  }
  Tensor forward(const Tensor &x) const {
    Tensor y = norm1(x);
    Tensor mixed = scaledAttention(split(queries(y)), split(keys(y)),
                                   split(values(y)), true);
    Tensor sum =
        x + joined(sn::reshape(sn::transpose(mixed, {0, 2, 1, 3}), x.shape()));
    return sum + narrow(sn::gelu(wide(norm2(sum)), sn::GeluForm::tanh));
  }
  SINTER_MODULE(Block, norm1, norm2, queries, keys, values, joined, wide,
                narrow)
};

struct Transformer {
  sn::Param tokens, places;
  std::vector<Block> blocks;
  Norm norm;
  sn::nn::Linear head;
  Transformer(int64_t vocab, int64_t t, int64_t d, int64_t heads, int64_t count)
      : tokens("tokens", {vocab, d}, sn::init::zeros()),
        places("places", {t, d}, sn::init::zeros()),
        blocks(count, Block(d, heads)), norm(d), head(d, vocab) {}

  Tensor forward(const Tensor &ids) const {
    Tensor x = sn::embedding(tokens, ids) + places;
    for (const Block &block : blocks)
      x = block(x);
    return head(norm(x));
  }
  SINTER_MODULE(Transformer, tokens, places, blocks, norm, head)
};
} // namespace

std::unique_ptr<Work> bench::makeTransformerStep(const Case &c) {
  int64_t vocab = c.number("vocab"), t = c.number("t");
  int64_t batch = c.number("batch");
  Transformer model(vocab, t, c.number("d"), c.number("heads"),
                    c.number("layers"));
  Tensor ids = labelsOf({batch, t}, 1, vocab);
  Tensor next = labelsOf({batch * t}, 2, vocab);
  return std::make_unique<Step<Transformer>>(
      withFirstValues(std::move(model)), [=](const Transformer &net) {
        return sn::cross_entropy(
            sn::reshape(net.forward(ids), {batch * t, vocab}), next);
      });
}

//===- The recurrent unit -------------------------------------------------===//

namespace {
struct Gru {
  sn::nn::Linear input, hidden, out;
  Gru(int64_t in, int64_t size, int64_t classes)
      : input(in, 3 * size), hidden(size, 3 * size), out(size, classes) {}

  Tensor step(const Tensor &h, const Tensor &x) const {
    int64_t batch = h.dim(0).value, size = h.dim(1).value;
    Tensor a = input(x), b = hidden(h);
    auto part = [&](const Tensor &of, int64_t i) {
      return sn::slice(of, {0, i * size}, {batch, (i + 1) * size}, {1, 1});
    };
    Tensor reset = sn::sigmoid(part(a, 0) + part(b, 0));
    Tensor update = sn::sigmoid(part(a, 1) + part(b, 1));
    Tensor next = sn::tanh(part(a, 2) + reset * part(b, 2));
    return (1.0 - update) * next + update * h;
  }
  SINTER_MODULE(Gru, input, hidden, out)
};
} // namespace

static Tensor lastOf(const Gru &gru, const Tensor &first, const Tensor &xs,
                     bool unrolled) {
  if (!unrolled)
    return sn::scan(
               [&](auto h, auto x) {
                 return sn::ScanStep{{gru.step(h[0], x[0])}, {}};
               },
               {first}, {xs})
        .carries[0];
  int64_t batch = xs.dim(1).value, in = xs.dim(2).value;
  Tensor h = first;
  for (int64_t t = 0; t < xs.dim(0).value; ++t)
    h = gru.step(
        h, sn::reshape(sn::slice(xs, {t, 0, 0}, {t + 1, batch, in}, {1, 1, 1}),
                       {batch, in}));
  return h;
}

std::unique_ptr<Work> bench::makeGruStep(const Case &c) {
  int64_t steps = c.number("steps"), batch = c.number("batch");
  int64_t in = c.number("in"), size = c.number("size"), out = c.number("out");
  bool unrolled = c.number("unrolled", 0) != 0;
  Tensor xs = inputOf({steps, batch, in}, 1);
  Tensor digits = labelsOf({batch}, 2, out);
  return std::make_unique<Step<Gru>>(
      withFirstValues(Gru(in, size, out)), [=](const Gru &gru) {
        Tensor last = lastOf(gru, sn::zeros({batch, size}), xs, unrolled);
        return sn::cross_entropy(gru.out(last), digits);
      });
}

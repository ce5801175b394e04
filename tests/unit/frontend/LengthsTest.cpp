/// Data whose axes have another length each time: programs made by loops that
/// sample tokens, keep keys and values, and train on texts of several lengths.
#include "tests/unit/frontend/Counting.h"

#include <sinter/nn/Embedding.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>
#include <sinter/nn/Losses.h>
#include <sinter/optim/Adam.h>

#include <functional>
#include <vector>

namespace sn = sinter;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TEST(Lengths, OfTheSecondAxis) {
  uint64_t before = programsMade();
  for (int64_t n = 3; n < 13; ++n)
    EXPECT_EQ(sn::sum(sn::tensor(Floats(n, 1.f), {1, n})).item<float>(),
              float(n));
  EXPECT_LE(programsMade() - before, 2u);
}

TEST(Lengths, OfEveryAxis) {
  uint64_t before = programsMade();
  for (auto [b, t] :
       {std::pair(4, 5), {4, 7}, {4, 3}, {2, 6}, {1, 5}, {3, 9}}) {
    sn::Tensor x = sn::tensor(Floats(b * t * 2, 1.f), {b, t, 2});
    EXPECT_EQ(sn::sum(x * 2.0).item<float>(), float(b * t * 4));
  }
  EXPECT_LE(programsMade() - before, 3u);
}

TEST(Lengths, OfATensorThatGrows) {
  sn::Tensor keys = sn::zeros({1, 1, 8});
  keys.eval();
  uint64_t before = programsMade();
  for (int64_t i = 0; i < 10; ++i) {
    keys = sn::concat({keys, sn::ones({1, 1, 8})}, 1);
    keys.eval();
  }
  EXPECT_EQ(sn::sum(keys).item<float>(), 80);
  EXPECT_LE(programsMade() - before, 3u);
  EXPECT_FALSE(keys.dim(1).isConstant());
  EXPECT_TRUE(keys.dim(2).isConstant());
}

TEST(Lengths, TheLastElementStaysSymbolic) {
  auto programs = [](auto last) {
    uint64_t before = programsMade();
    for (int64_t n = 3; n < 9; ++n) {
      Floats values(n * 2);
      for (int64_t i = 0; i < n * 2; ++i)
        values[i] = float(i);
      sn::Tensor x = sn::tensor(values, {1, n, 2});
      x.dynamic(1);
      EXPECT_EQ(sn::sum(last(x)).template item<float>(), float(4 * n - 3));
    }
    return programsMade() - before;
  };
  using T = const sn::Tensor &;
  EXPECT_LE(programs([](T x) { return sn::select(x, 1, -1); }), 1u);
  EXPECT_LE(programs([](T x) { return sn::narrow(x, 1, -1, 1); }), 1u);
  EXPECT_LE(programs([](T x) {
              return sn::slice(x, {0, -1, 0}, {1, x.dim(1), 2}, {1, 1, 1});
            }),
            1u);
  EXPECT_LE(programs([](T x) { return sn::select(sn::flip(x, {1}), 1, 0); }),
            1u);
  EXPECT_LE(
      programs([](T x) { return sn::select(sn::roll(x, {1}, {1}), 1, 0); }),
      1u);
}

// Weights that one function makes have several widths at its line: products
// with them know their columns as before.
TEST(Lengths, ColumnsOfWeightsAreNumbers) {
  auto weight = [](int64_t rows, int64_t columns) {
    return sn::tensor(Floats(rows * columns, 1.f), {rows, columns});
  };
  sn::Tensor x = sn::tensor(Floats(8, 1.f), {2, 4});
  for (int64_t columns : {3, 5, 6}) {
    sn::Tensor y = sn::matmul(x, weight(4, columns));
    EXPECT_TRUE(y.dim(1).isConstant());
    EXPECT_EQ(sn::sum(y).item<float>(), float(2 * 4 * columns));
  }
  // There is an end to programs of one width.
  uint64_t before = programsMade();
  for (int64_t columns = 7; columns < 40; ++columns)
    EXPECT_EQ(sn::sum(sn::matmul(x, weight(4, columns))).item<float>(),
              float(2 * 4 * columns));
  EXPECT_LE(programsMade() - before, 10u);
}

//===- Sampling -----------------------------------------------------------===//

namespace {

constexpr int64_t vocabulary = 11, width = 8, heads = 2, longest = 256;

/// A small language model of one layer.
struct Decoder {
  sn::nn::Embedding words{vocabulary, width}, places{longest, width};
  sn::nn::Linear query{width, width}, key{width, width}, value{width, width},
      out{width, width}, head{width, vocabulary};
  sn::nn::LayerNorm norm{width};

  SINTER_MODULE(Decoder, words, places, query, key, value, out, head, norm)

  sn::Tensor embed(const sn::Tensor &tokens, const sn::Tensor &at) const {
    return norm.forward(words.forward(tokens) + places.forward(at));
  }
  /// [b, t, w] as [b, h, t, w / h].
  static sn::Tensor apart(const sn::Tensor &x) {
    return sn::swapaxes(
        sn::reshape(x, {x.dim(0), x.dim(1), heads, width / heads}), 1, 2);
  }
  sn::Tensor logits(const sn::Tensor &x, const sn::Tensor &seen) const {
    sn::Tensor joined = sn::reshape(sn::swapaxes(seen, 1, 2), x.shape());
    return head.forward(x + out.forward(joined));
  }
  /// Of all tokens [b, t], by attention as a user writes it.
  sn::Tensor forward(const sn::Tensor &tokens) const {
    sn::Dim length = tokens.dim(1);
    sn::Tensor x = embed(tokens, sn::arange(length));
    sn::Tensor q = apart(query.forward(x)), k = apart(key.forward(x)),
               v = apart(value.forward(x));
    sn::Tensor scores = sn::matmul(q, sn::swapaxes(k, 2, 3)) * 0.5;
    sn::Tensor at = sn::arange(length);
    sn::Tensor earlier = sn::unsqueeze(at, 1) >= at;
    scores = sn::where(earlier, scores, -1e9);
    return logits(x, sn::matmul(sn::softmax(scores, -1), v));
  }
};

/// The model, with its parameters there.
Decoder &decoder() {
  static Decoder *model = [] {
    sn::manual_seed(7);
    auto *made = new Decoder;
    made->forward(sn::tensor(Ints{1}, {1, 1})).eval();
    return made;
  }();
  return *model;
}

constexpr int64_t sampled = 200;

sn::Tensor nextToken(const sn::Tensor &logits) {
  return sn::argmax(sn::select(logits, 1, -1), 1, /*keepdims=*/true);
}

/// All tokens again for each new one.
Ints sampleByTokens() {
  const Decoder &model = decoder();
  sn::Tensor tokens = sn::tensor(Ints{1, 2, 3}, {1, 3});
  for (int64_t i = 0; i < sampled; ++i) {
    tokens = sn::concat({tokens, nextToken(model.forward(tokens))}, 1);
    tokens.eval();
  }
  return tokens.to_vector<int64_t>();
}

/// Tokens that the host keeps, and gives anew.
Ints sampleFromHost() {
  const Decoder &model = decoder();
  Ints tokens{1, 2, 3};
  for (int64_t i = 0; i < sampled; ++i) {
    sn::Tensor given = sn::tensor(tokens, {1, int64_t(tokens.size())});
    tokens.push_back(nextToken(model.forward(given)).item<int64_t>());
  }
  return tokens;
}

/// One token at a time, with keys and values that grow, and whose history is
/// let go in each step if so asked.
Ints sampleByConcat(bool detaches) {
  const Decoder &model = decoder();
  Ints tokens{1, 2, 3};
  sn::Tensor keys = sn::zeros({1, heads, 0, width / heads}), values = keys;
  for (int64_t i = 0; i + 1 < sampled + 3; ++i) {
    sn::Tensor x = model.embed(sn::tensor(Ints{tokens[i]}, {1, 1}),
                               sn::tensor(Ints{i}, {1}));
    keys = sn::concat({keys, Decoder::apart(model.key.forward(x))}, 2);
    values = sn::concat({values, Decoder::apart(model.value.forward(x))}, 2);
    sn::Tensor seen = sn::scaled_dot_product_attention(
        Decoder::apart(model.query.forward(x)), keys, values);
    sn::Tensor next = nextToken(model.logits(x, seen));
    sn::eval({next, keys, values});
    if (detaches) {
      keys = keys.detach();
      values = values.detach();
    }
    if (i + 1 == int64_t(tokens.size()))
      tokens.push_back(next.item<int64_t>());
  }
  return tokens;
}

/// The same with a place for each key and value that will be.
Ints sampleByAssignment() {
  const Decoder &model = decoder();
  Ints tokens{1, 2, 3};
  sn::Tensor keys = sn::zeros({1, heads, longest, width / heads}),
             values = keys;
  for (int64_t i = 0; i + 1 < sampled + 3; ++i) {
    sn::Tensor x = model.embed(sn::tensor(Ints{tokens[i]}, {1, 1}),
                               sn::tensor(Ints{i}, {1}));
    keys = sn::slice_assign(keys, Decoder::apart(model.key.forward(x)),
                            {0, 0, i, 0});
    values = sn::slice_assign(values, Decoder::apart(model.value.forward(x)),
                              {0, 0, i, 0});
    sn::AttentionOptions options;
    options.mask = sn::reshape(sn::arange(longest) <= i, {1, longest});
    sn::Tensor seen = sn::scaled_dot_product_attention(
        Decoder::apart(model.query.forward(x)), keys, values, options);
    sn::Tensor next = nextToken(model.logits(x, seen));
    sn::eval({next, keys, values});
    if (i + 1 == int64_t(tokens.size()))
      tokens.push_back(next.item<int64_t>());
  }
  return tokens;
}

struct Sample {
  Ints tokens;
  uint64_t programs;
};
Sample measured(const std::function<Ints()> &sample) {
  decoder();
  uint64_t before = programsMade();
  Ints tokens = sample();
  return {tokens, programsMade() - before};
}

/// The first time that the lines of `sampleFromHost` run.
const Sample &fromHost() {
  static const Sample sample = measured(sampleFromHost);
  return sample;
}

void expectFewPrograms(const Sample &sample) {
  EXPECT_LE(sample.programs, 3u) << reasonsText();
  EXPECT_EQ(sample.tokens, fromHost().tokens);
}

} // namespace

TEST(Sampling, TokensFromTheHost) { expectFewPrograms(fromHost()); }
TEST(Sampling, TokensThatGrow) { expectFewPrograms(measured(sampleByTokens)); }
TEST(Sampling, KeysThatGrow) {
  sn::no_grad guard;
  expectFewPrograms(measured([] { return sampleByConcat(false); }));
}
TEST(Sampling, KeysThatAreDetached) {
  expectFewPrograms(measured([] { return sampleByConcat(true); }));
}
TEST(Sampling, KeysAtAPosition) {
  sn::no_grad guard;
  expectFewPrograms(measured(sampleByAssignment));
}

TEST(Lengths, AnEpochOfTextsOfSeveralLengths) {
  Decoder model;
  sn::optim::Adam adam({.lr = 0.01});
  uint64_t before = programsMade();
  for (int64_t length : {9, 13, 5, 9, 17, 12, 6, 20, 11, 8}) {
    Ints tokens(3 * length), targets(3 * length);
    for (int64_t i = 0; i < 3 * length; ++i) {
      tokens[i] = i % vocabulary;
      targets[i] = (i + 1) % vocabulary;
    }
    sn::Tensor x = sn::tensor(tokens, {3, length}),
               y = sn::tensor(targets, {3, length});
    sn::Tensor logits = model.forward(x);
    sn::Tensor loss = sn::cross_entropy(sn::reshape(logits, {-1, vocabulary}),
                                        sn::reshape(y, {-1}));
    adam.step(model, loss.backward());
    EXPECT_GT(loss.item<float>(), 0);
  }
  // The parameters, a step of the first length, and one of every other.
  EXPECT_LE(programsMade() - before, 4u);
}

/// Golden cases of whole models, and of training them for some steps.
#include "tests/goldens/Modules.h"

namespace sinter::goldens {

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

//===- Models -------------------------------------------------------------===//

namespace {

/// A block of a language model whose last product is with its own embedding.
struct GptBlock {
  GptBlock(const Call &c, int64_t heads)
      : tok(c["p.tok.weight"].dim(0).value, width(c)),
        pos("pos", c["p.pos"].shape(), init::zeros()), norm1(width(c)),
        qkv(width(c), 3 * width(c)), proj(width(c), width(c)), norm2(width(c)),
        fc1(width(c), 4 * width(c)), fc2(4 * width(c), width(c)),
        normf(width(c)), heads(heads) {}

  static int64_t width(const Call &c) { return c["p.pos"].dim(1).value; }

  Tensor attended(const Tensor &x) const {
    Dim b = x.dim(0), t = x.dim(1);
    int64_t length = x.dim(2).value / heads;
    Tensor all = reshape(qkv(x), {b, t, 3, heads, length});
    all = transpose(all, {2, 0, 3, 1, 4});
    auto number = [&](int64_t which) {
      return squeeze(index_select(all, tensor({which}), 0), 0);
    };
    Tensor y = scaled_dot_product_attention(number(0), number(1), number(2),
                                            {.causal = true});
    return reshape(transpose(y, {0, 2, 1, 3}), x.shape());
  }

  Tensor forward(const Tensor &ids) const {
    Tensor x = tok(ids) + pos;
    x = x + proj(attended(norm1(x)));
    x = x + fc2(gelu(fc1(norm2(x)), GeluForm::tanh));
    return matmul(normf(x), transpose(tok.weight, {1, 0}));
  }

  nn::Embedding tok;
  Param pos;
  nn::LayerNorm norm1;
  nn::Linear qkv, proj;
  nn::LayerNorm norm2;
  nn::Linear fc1, fc2;
  nn::LayerNorm normf;
  int64_t heads;

  SINTER_MODULE(GptBlock, tok, pos, norm1, qkv, proj, norm2, fc1, fc2, normf)
};

/// Characters, a layer over their sequence, and scores of the next ones.
struct CharLstm {
  explicit CharLstm(const Call &c)
      : e(c["p.e.weight"].dim(0).value, 6), l(6, 8, {.batch_first = true}),
        o(8, c["p.e.weight"].dim(0).value) {}

  Tensor forward(const Tensor &x) const { return o(l(e(x)).output); }

  nn::Embedding e;
  nn::LSTM l;
  nn::Linear o;

  SINTER_MODULE(CharLstm, e, l, o)
};

/// In f64: a bias that a softmax or a norm takes away again has no gradient but
/// rounding, which Adam makes steps of; in f32 those would be seen.
struct CharTransformer {
  explicit CharTransformer(const Call &c)
      : e(c["p.e.weight"].dim(0).value, 8, {.dtype = DType::f64}),
        t(8, 2,
          {.dim_feedforward = 16,
           .activation = nn::Activation::gelu,
           .norm_first = true,
           .dtype = DType::f64}),
        o(8, c["p.e.weight"].dim(0).value, {.dtype = DType::f64}) {}

  Tensor forward(const Tensor &x) const {
    return o(t(e(x), AttentionOptions{.causal = true}));
  }

  nn::Embedding e;
  nn::TransformerEncoderLayer t;
  nn::Linear o;

  SINTER_MODULE(CharTransformer, e, t, o)
};

} // namespace

/// The mean over all axes but the last one of the scores.
static Tensor lossOfAll(const Tensor &scores, const Tensor &target) {
  return cross_entropy(reshape(scores, {-1, scores.dim(-1)}),
                       reshape(target, {-1}));
}

static Values gptBlock(const Call &c) {
  GptBlock model(c, c.attrs.integer("heads"));
  Values values;
  fill(model, "p.", c, values);
  values["logits"] = model(c["ids"]);
  values["loss"] = lossOfAll(values["logits"], c["target"]);
  return values;
}

static Values mlpClassifier(const Call &c) {
  Dims in = c["p.0.weight"].shape(), out = c["p.4.weight"].shape();
  nn::Sequential model(nn::Linear(in[1].value, in[0].value), nn::GELU(),
                       nn::Linear(in[0].value, in[0].value), nn::Tanh(),
                       nn::Linear(out[1].value, out[0].value));
  Values values;
  fill(model, "p.", c, values);
  values["loss"] = cross_entropy(model(c["x"]), c["target"]);
  return values;
}

/// The parameters of a GRU cell, as two Linear layers of the case.
static Values gruClassifier(const Call &c) {
  int64_t hidden = c["p.cell_hh.weight"].dim(1).value;
  nn::Embedding table(c["p.emb.weight"].dim(0).value, 3);
  nn::GRUCell cell(3, hidden);
  nn::Linear last(hidden, c["p.out.weight"].dim(0).value);
  Values values;
  fill(table, "p.emb.", c, values);
  fill(last, "p.out.", c, values);
  for (auto [name, param] : {std::pair{"p.cell_ih.weight", &cell.weight_ih},
                             {"p.cell_ih.bias", &cell.bias_ih},
                             {"p.cell_hh.weight", &cell.weight_hh},
                             {"p.cell_hh.bias", &cell.bias_hh}}) {
    param->set(c[name].detach());
    values[name] = param->tensor();
  }
  Tensor h = zeros({c["ids"].dim(0), hidden});
  for (int64_t t = 0; t < c["ids"].dim(1).value; ++t) {
    Tensor ids = squeeze(index_select(c["ids"], tensor({t}), 1), 1);
    h = cell(table(ids), h);
  }
  values["loss"] = cross_entropy(last(h), c["target"]);
  return values;
}

//===- Training -----------------------------------------------------------===//

template <typename Model, typename Loss>
static Values trained(Model &model, optim::Optimizer &optimizer, const Call &c,
                      const Tensor &x, Loss lossOf) {
  Values values;
  fill(model, "p.", c, values);
  std::vector<Tensor> losses;
  for (int64_t step = 0; step < c.attrs.integer("steps"); ++step) {
    Tensor loss = lossOf(model(x), c["target"]);
    optimizer.step(model, loss.backward());
    losses.push_back(reshape(loss.eval().detach(), {1}));
  }
  values["loss"] = concat(losses, 0);
  model.visit([&](const std::string &path, const Param &param) {
    values["p." + path] = param.tensor().detach();
  });
  return values;
}

static Tensor plainLoss(const Tensor &scores, const Tensor &target) {
  return cross_entropy(scores, target);
}

static Values trainIris(const Call &c, optim::Optimizer &&optimizer) {
  nn::Sequential model(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 3));
  return trained(model, optimizer, c, c["x"], plainLoss);
}

/// In f64, as CharTransformer is.
static Values trainDigits(const Call &c) {
  constexpr DType wide = DType::f64;
  nn::Sequential model(
      nn::Conv2d(1, 4, 3, {.padding = 1, .dtype = wide}),
      nn::BatchNorm2d(4, {.track_running_stats = false, .dtype = wide}),
      nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
      nn::Linear(64, 10, {.dtype = wide}));
  optim::Adam adam({.lr = 0.01});
  return trained(model, adam, c, c["x"].to(wide), plainLoss);
}

template <typename Model>
static Values trainCharacters(const Call &c, optim::Optimizer &&optimizer) {
  Model model(c);
  return trained(model, optimizer, c, c["x"], lossOfAll);
}

static const Table &rules() {
  static const Table table = {
      {"gpt_block_tied_head", gptBlock},
      {"mlp_classifier", mlpClassifier},
      {"gru_classifier_unrolled", gruClassifier},
      {"train_iris_mlp_sgd",
       [](const Call &c) {
         return trainIris(c, optim::Sgd({.lr = 0.1, .momentum = 0.9}));
       }},
      {"train_iris_mlp_adamw",
       [](const Call &c) { return trainIris(c, optim::AdamW({.lr = 0.02})); }},
      {"train_digits_cnn_bn_adam", trainDigits},
      {"train_char_lstm_rmsprop",
       [](const Call &c) {
         return trainCharacters<CharLstm>(c, optim::RMSprop({.lr = 0.01}));
       }},
      {"train_char_transformer_adamw",
       [](const Call &c) {
         return trainCharacters<CharTransformer>(c, optim::AdamW({.lr = 0.01}));
       }},
  };
  return table;
}

std::optional<Values> recordModel(const Case &golden, const Values &inputs) {
  return recordFrom(rules(), golden, inputs);
}

} // namespace sinter::goldens

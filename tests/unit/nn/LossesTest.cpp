/// Losses: what their golden cases do not see.
#include "tests/unit/nn/Modules.h"

#include <limits>

namespace sn = sinter;
using Values = std::vector<float>;

TEST(Losses, DifferentShapesAreAnErrorThatNamesThem) {
  sn::Tensor x = sn::zeros({4, 1}), t = sn::zeros({4});
  expectRejected("mse_loss", "f32[4,1] x f32[4]", [&] { sn::mse_loss(x, t); });
  expectRejected("huber_loss", "shapes differ", [&] { sn::huber_loss(x, t); });
  expectRejected("kl_div", "shapes differ", [&] { sn::kl_div(x, t); });
  expectRejected("margin_ranking_loss", "shapes differ",
                 [&] { sn::margin_ranking_loss(t, t, x); });
}

TEST(Losses, OnlyKlDivHasABatchMean) {
  sn::Tensor x = waves({4, 3}, 0.7);
  expectRejected("l1_loss", "batchmean",
                 [&] { sn::l1_loss(x, x, sn::Reduction::batchmean); });
  sn::Tensor t = sn::softmax(x);
  expectNear(sn::kl_div(x, t, {.reduction = sn::Reduction::batchmean}),
             sn::kl_div(x, t, {.reduction = sn::Reduction::sum}) / 4.0);
}

TEST(Losses, LogitsOfZeroHaveAGradient) {
  sn::Tensor x = sn::zeros({3}), t = sn::tensor({0.f, 1.f, 0.25f});
  x.require_grad();
  sn::Gradients grads = sn::binary_cross_entropy_with_logits(
                            x, t, {.reduction = sn::Reduction::sum})
                            .backward();
  EXPECT_EQ(grads(x).to_vector<float>(), (Values{0.5f, -0.5f, 0.25f}));
}

TEST(Losses, LargeLogitsStayFinite) {
  sn::Tensor x = sn::tensor({1000.f, -1000.f, 1000.f, -1000.f});
  sn::Tensor t = sn::tensor({1.f, 0.f, 0.f, 1.f});
  x.require_grad();
  sn::Tensor losses = sn::binary_cross_entropy_with_logits(
      x, t, {.reduction = sn::Reduction::none});
  sn::Gradients grads = sn::sum(losses).backward();
  EXPECT_EQ(losses.to_vector<float>(), (Values{0, 0, 1000, 1000}));
  EXPECT_EQ(grads(x).to_vector<float>(), (Values{0, 0, 1, -1}));
}

TEST(Losses, ProbabilitiesOfZeroCountAsPyTorchCountsThem) {
  sn::Tensor x = sn::tensor({0.f, 1.f, 0.f}), t = sn::tensor({0.f, 1.f, 1.f});
  x.require_grad();
  sn::Tensor losses =
      sn::binary_cross_entropy(x, t, {.reduction = sn::Reduction::none});
  EXPECT_EQ(losses.to_vector<float>(), (Values{0, 0, 100}));
  for (float value : sn::sum(losses).backward()(x).to_vector<float>())
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Losses, CrossEntropyWithoutOptionsIsTheOp) {
  sn::Tensor x = waves({3, 5}, 0.9), t = sn::tensor({4, 0, 2});
  sn::Tensor plain = sn::cross_entropy(x, t, {});
  EXPECT_EQ(plain.node()->op(), sn::cross_entropy(x, t).node()->op());
  expectNear(sn::cross_entropy(x, t, {.reduction = sn::Reduction::sum}) / 3.0,
             plain);
}

TEST(Losses, IgnoredLabelsTakeNoPartAndMayBeAnything) {
  sn::Tensor x = waves({3, 5}, 0.9), t = sn::tensor({4, -100, 2});
  x.require_grad();
  sn::Tensor loss = sn::cross_entropy(x, t, {.ignore_index = -100});
  auto gradient = loss.backward()(x).to_vector<float>();
  for (size_t i = 5; i < 10; ++i)
    EXPECT_EQ(gradient[i], 0) << i;
  sn::Tensor kept = sn::index_select(x, sn::tensor({0, 2}), 0);
  expectNear(loss, sn::cross_entropy(kept, sn::tensor({4, 2})));
  // Unless it is named, such a label is out of range.
  EXPECT_THROW(sn::cross_entropy(x, t, {}).item<float>(), sn::Error);
}

TEST(Losses, LabelsAndWeightsAreChecked) {
  sn::Tensor x = sn::zeros({3, 5, 2});
  expectRejected("cross_entropy", "f32[3,5,2] x i64[3]", [&] {
    sn::cross_entropy(x, sn::zeros({3}, {.dtype = sn::DType::i64}), {});
  });
  sn::Tensor labels = sn::zeros({3, 2}, {.dtype = sn::DType::i64});
  expectRejected("nll_loss", "one for each class",
                 [&] { sn::nll_loss(x, labels, {.weight = sn::ones({4})}); });
  expectRejected("multi_margin_loss", "must be integers", [&] {
    sn::multi_margin_loss(sn::zeros({3, 5}), sn::zeros({3}));
  });
}

TEST(Losses, HalfPrecisionIsComputedWideAndRoundedOnce) {
  sn::Tensor x = sn::full({1000}, 300.f, {.dtype = sn::DType::f16});
  sn::Tensor t = sn::zeros({1000}, {.dtype = sn::DType::f16});
  sn::Tensor l1 = sn::l1_loss(x, t);
  EXPECT_EQ(l1.dtype(), sn::DType::f16);
  EXPECT_EQ(l1.item<float>(), 300);
  EXPECT_EQ(sn::smooth_l1_loss(x, t, {.beta = 600}).item<float>(), 75);
}

TEST(Losses, ALossWithItsGradientIsOneProgram) {
  sn::Tensor x = waves({8, 5}, 0.9), t = sn::tensor({4, 0, 2, 1, 3, 0, 0, 2});
  x.require_grad();
  Work work = workOf([&] {
    sn::Tensor loss = sn::cross_entropy(x, t, {.label_smoothing = 0.1});
    sn::eval({loss, loss.backward()(x)});
  });
  EXPECT_EQ(work.runs, 1u);
}

TEST(Losses, MarginsAreArguments) {
  sn::Tensor x = waves({6}, 0.9),
             t = sn::tensor({1.f, -1.f, 1.f, 1.f, -1.f, -1.f});
  auto run = [&](double margin) {
    return sn::hinge_embedding_loss(x, t, {.margin = margin}).item<float>();
  };
  run(0.3);
  EXPECT_EQ(workOf([&] { run(0.7); }).programs, 0u);
}

TEST(CtcLoss, ATargetThatDoesNotFitIsInfinite) {
  sn::Tensor x = sn::log_softmax(waves({2, 1, 4}, 0.7), 2);
  sn::Tensor target = sn::tensor({{1, 1, 2}});
  auto loss = [&](bool zero) {
    return sn::ctc_loss(
               x, target, sn::tensor({2}), sn::tensor({3}),
               {.reduction = sn::Reduction::sum, .zero_infinity = zero})
        .item<float>();
  };
  EXPECT_EQ(loss(false), std::numeric_limits<float>::infinity());
  EXPECT_EQ(loss(true), 0);
}

TEST(CtcLoss, OnePathIsItsProbability) {
  sn::Tensor x = sn::log_softmax(waves({2, 1, 3}, 0.7), 2);
  auto logs = x.to_vector<float>();
  sn::Tensor loss =
      sn::ctc_loss(x, sn::tensor({{2, 1}}), sn::tensor({2}), sn::tensor({2}),
                   {.reduction = sn::Reduction::sum});
  EXPECT_NEAR(loss.item<float>(), -(logs[2] + logs[3 + 1]), 1e-5);
  expectRejected("ctc_loss", "the blank", [&] {
    sn::ctc_loss(x, sn::tensor({{2}}), sn::tensor({2}), sn::tensor({1}),
                 {.blank = 3});
  });
}

TEST(Distances, RowsOfZeroHaveFiniteGradients) {
  sn::Tensor a = sn::zeros({2, 3}), b = waves({2, 3}, 0.7);
  a.require_grad();
  sn::Tensor y = sn::sum(sn::cosine_similarity(a, b)) +
                 sn::sum(sn::normalize(a)) +
                 sn::cosine_embedding_loss(a, b, sn::tensor({1.f, -1.f}));
  for (float value : y.backward()(a).to_vector<float>())
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Losses, ModulesAreTheFunctionsWithTheirOptions) {
  namespace nn = sn::nn;
  sn::Tensor x = waves({4, 3}, 0.7), t = waves({4, 3}, 1.1);
  sn::Tensor labels = sn::tensor(std::vector<int64_t>{0, 2, 1, 2}, {4});
  sn::Tensor p = sn::sigmoid(x), q = sn::softmax(t);
  sn::Tensor logs = sn::log_softmax(x), weight = sn::tensor({1.f, 2.f, 0.5f});
  auto same = [](const sn::Tensor &got, const sn::Tensor &want) {
    EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>());
  };
  same(nn::MSELoss()(x, t), sn::mse_loss(x, t));
  same(nn::L1Loss(sn::Reduction::sum)(x, t),
       sn::l1_loss(x, t, sn::Reduction::sum));
  same(nn::SmoothL1Loss({.beta = 0.5})(x, t),
       sn::smooth_l1_loss(x, t, {.beta = 0.5}));
  same(nn::HuberLoss({.delta = 0.5})(x, t),
       sn::huber_loss(x, t, {.delta = 0.5}));
  same(nn::BCELoss()(p, q), sn::binary_cross_entropy(p, q));
  same(nn::BCEWithLogitsLoss({.pos_weight = weight})(x, q),
       sn::binary_cross_entropy_with_logits(x, q, {.pos_weight = weight}));
  same(nn::KLDivLoss({.reduction = sn::Reduction::batchmean})(logs, q),
       sn::kl_div(logs, q, {.reduction = sn::Reduction::batchmean}));
  same(nn::NLLLoss({.weight = weight})(logs, labels),
       sn::nll_loss(logs, labels, {.weight = weight}));
  nn::CrossEntropyLoss loss({.weight = weight, .label_smoothing = 0.1});
  same(
      loss(x, labels),
      sn::cross_entropy(x, labels, {.weight = weight, .label_smoothing = 0.1}));
  EXPECT_EQ(loss.num_params(), 0);
}

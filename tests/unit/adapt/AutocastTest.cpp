/// Which dtypes ops have under autocast.
#include "tests/unit/adapt/AdaptCase.h"

#include "frontend/adapt/Autocast.h"
#include "sinter/runtime/OpTable.h"

#include <sinter/nn/Attention.h>
#include <sinter/nn/Losses.h>
#include <sinter/nn/Pool.h>
#include <sinter/optim/Sgd.h>
#include <sinter/train/MixedPrecision.h>

namespace sn = sinter;
using sn::DType;
using sn::train::autocast;

namespace {
sn::detail::Precision precisionOf(const char *op) {
  return sn::detail::precisionOf(sn::graph::findOp(op));
}
} // namespace

TEST(Autocast, ClassesStandInTheRecords) {
  using sn::detail::Precision;
  for (const char *op : {"matmul", "conv", "conv_transpose",
                         "scaled_dot_product_attention", "attention"})
    EXPECT_EQ(precisionOf(op), Precision::low) << op;
  for (const char *op :
       {"sum", "prod", "mean", "var", "softmax", "log_softmax", "logsumexp",
        "l2_norm", "layer_norm", "cumsum", "cross_entropy"})
    EXPECT_EQ(precisionOf(op), Precision::full) << op;
  for (const char *op : {"add", "relu", "exp", "amax", "argmax", "reshape",
                         "cast", "max_pool", "avg_pool", "gather", "where"})
    EXPECT_EQ(precisionOf(op), Precision::any) << op;
  // Contractions and attention by their kind, whatever is added.
  for (size_t i = 1; i < sn::graph::opCount(); ++i) {
    auto op = static_cast<sn::graph::OpId>(i);
    auto kind = sn::graph::info(op).kind;
    if (kind == sn::graph::PatternKind::contraction ||
        kind == sn::graph::PatternKind::attention) {
      EXPECT_EQ(sn::detail::precisionOf(op), Precision::low)
          << sn::graph::info(op).name;
    }
  }
}

TEST(Autocast, DTypesByClass) {
  sn::Tensor x = waves({4, 4}, 0.3), w = waves({4, 4}, 0.7);
  sn::Tensor image = waves({1, 2, 5, 5}, 0.3),
             kernel = waves({3, 2, 3, 3}, 0.2);
  sn::Tensor half = x.to(DType::bf16), wide = x.to(DType::f64);
  for (DType dtype : {DType::bf16, DType::f16}) {
    autocast scope(dtype);
    EXPECT_EQ(sn::train::autocast_dtype(), dtype);
    EXPECT_EQ(sn::matmul(x, w).dtype(), dtype);
    EXPECT_EQ(sn::matmul(half, w).dtype(), dtype);
    EXPECT_EQ(sn::matmul(wide, w).dtype(), DType::f64);
    EXPECT_EQ(sn::conv2d(image, kernel).dtype(), dtype);
    EXPECT_EQ(sn::conv_transpose2d(image, waves({2, 3, 2, 2}, 0.1)).dtype(),
              dtype);
    sn::Tensor heads = waves({1, 2, 4, 4}, 0.3);
    EXPECT_EQ(sn::scaled_dot_product_attention(heads, heads, heads).dtype(),
              dtype);
    EXPECT_EQ(sn::softmax(half).dtype(), DType::f32);
    EXPECT_EQ(sn::sum(half).dtype(), DType::f32);
    EXPECT_EQ(sn::mean(half, {1}).dtype(), DType::f32);
    EXPECT_EQ(sn::layer_norm(half, sn::ones({4}), sn::zeros({4})).dtype(),
              DType::f32);
    EXPECT_EQ((half + x).dtype(), DType::f32);
    EXPECT_EQ((half + half).dtype(), DType::bf16);
    EXPECT_EQ(relu(half).dtype(), DType::bf16);
    EXPECT_EQ(sn::mse_loss(half, half).dtype(), DType::f32);
    EXPECT_EQ(sn::sum(sn::ones({2}, {.dtype = DType::i32})).dtype(),
              DType::i64);
    {
      autocast none(std::nullopt);
      EXPECT_EQ(sn::matmul(x, w).dtype(), DType::f32);
      EXPECT_EQ(sn::sum(half).dtype(), DType::bf16);
    }
    EXPECT_EQ(sn::matmul(x, w).dtype(), dtype);
  }
  EXPECT_EQ(sn::matmul(x, w).dtype(), DType::f32);
  EXPECT_EQ(sn::train::autocast_dtype(), std::nullopt);
}

TEST(Autocast, TrainsAsTorchs) {
  Mlp model;
  sn::Param *params[] = {&model.fc1.weight, &model.fc1.bias, &model.fc2.weight,
                         &model.fc2.bias};
  for (int i = 0; i < 4; ++i)
    params[i]->set(waves(params[i]->shape(), 0.3 + 0.2 * i));
  sn::Tensor labels = sn::tensor(std::vector<int64_t>{0, 1, 2, 0, 1, 2});
  sn::Tensor loss = [&] {
    autocast scope(DType::bf16);
    return sn::cross_entropy(model(waves({6, 4}, 0.41)), labels);
  }();
  EXPECT_EQ(loss.dtype(), DType::f32);
  sn::Gradients gradients = loss.backward();
  std::vector<double> all{loss.item<double>()};
  for (sn::Param *param : params) {
    EXPECT_EQ(gradients(*param).dtype(), DType::f32);
    for (double value : gradients(*param).to_vector<double>())
      all.push_back(value);
  }
  expectValues(all, golden::autocast, 0.01);
}

TEST(Autocast, AStepIsStillOneProgram) {
  Normed model;
  sn::optim::Sgd sgd({.lr = 0.1});
  auto step = [&](int batch) {
    sn::Tensor loss = [&] {
      autocast scope(DType::bf16);
      return normedLoss(model, batch);
    }();
    sgd.step(model, loss.backward());
    return loss.item<float>();
  };
  float first = step(0);
  step(0);
  Counts counts = countsOf([&] { step(0); });
  EXPECT_EQ(counts.runs, 1u);
  EXPECT_EQ(counts.programs, 0u);
  EXPECT_LT(step(0), first);
  EXPECT_EQ(model.fc.weight.dtype(), DType::f32);
  EXPECT_EQ(model.norm.running_mean.dtype(), DType::f32);
}

TEST(Autocast, JittedFunctionsHaveATraceForEach) {
  sn::nn::Linear model(4, 3);
  auto call = sn::jit([](const sn::nn::Linear &model, const sn::Tensor &x) {
    return model(x);
  });
  sn::Tensor x = waves({5, 4}, 0.3);
  EXPECT_EQ(call(model, x).dtype(), DType::f32);
  {
    autocast scope(DType::bf16);
    EXPECT_EQ(sn::matmul(x, sn::transpose(x, {1, 0})).dtype(), DType::bf16);
    sn::Tensor product = call(model, x);
    // The bias is f32.
    EXPECT_EQ(product.dtype(), DType::f32);
    EXPECT_NE(product.to_vector<float>(), [&] {
      autocast none(std::nullopt);
      return model(x).to_vector<float>();
    }());
  }
}

TEST(Autocast, Rejects) {
  expectRejected("autocast", "f32", [] { autocast scope(DType::f32); });
  EXPECT_EQ(sn::train::autocast_dtype(), std::nullopt);
}

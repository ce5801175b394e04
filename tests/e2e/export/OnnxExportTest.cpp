/// Functions and modules as ONNX models: our own importer reads them back and
/// computes the same. With SINTER_ONNX_EXPORTS the models stay in that folder,
/// for others to read (tests/e2e/onnx/exported_models.py).
#include <sinter/Basic.h>
#include <sinter/Control.h>
#include <sinter/Onnx.h>
#include <sinter/OnnxExport.h>

#include "sinter/generated/functions/Activations.h"
#include "sinter/generated/functions/Math.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace sn = sinter;
namespace fs = std::filesystem;
using sn::Tensor;
using testing::HasSubstr;

namespace {

class OnnxExport : public testing::Test {
protected:
  void SetUp() override {
    const char *kept = std::getenv("SINTER_ONNX_EXPORTS");
    isKept = kept != nullptr;
    folder = isKept ? fs::path(kept)
                    : fs::temp_directory_path() /
                          ("sinter-onnx-export-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override {
    if (!isKept)
      fs::remove_all(folder);
  }

  std::string pathOf(const std::string &name) {
    fs::create_directories(folder / name);
    return folder / name / "model.onnx";
  }

  /// Exports, loads and compares on `inputs`; on `others` after an export on
  /// `inputs`, where those are given.
  template <typename F>
  void same(const std::string &name, F &&function,
            const std::vector<Tensor> &inputs, const sn::OnnxOptions &options,
            std::vector<Tensor> others = {}) {
    SCOPED_TRACE(name);
    std::string path = pathOf(name);
    auto call = [&](const std::vector<Tensor> &x) { return function(x); };
    sn::export_onnx(path, call, inputs, options);
    sn::onnx::Model model = sn::onnx::load(path);
    if (others.empty())
      others = inputs;
    sn::onnx::NamedTensors given;
    ASSERT_EQ(model.inputs().size(), others.size());
    for (size_t i = 0; i < others.size(); ++i)
      given[model.inputs()[i].name] = others[i];
    std::vector<double> got =
        model.run(given).at(model.outputs()[0].name).to_vector<double>();
    std::vector<double> want = function(others).template to_vector<double>();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      if (!std::isnan(got[i]) || !std::isnan(want[i])) {
        ASSERT_NEAR(got[i], want[i], 1e-5 + 1e-5 * std::abs(want[i])) << i;
      }
  }

  fs::path folder;
  bool isKept = false;
};

using Function = std::function<Tensor(const std::vector<Tensor> &)>;
struct Case {
  const char *name;
  Function function;
};

/// Of x and y: f32[2,3,4], and i: i64[2,3,4] in [0, 2).
std::vector<Case> opCases() {
  using V = const std::vector<Tensor> &;
  return {
      {"add", [](V v) { return v[0] + v[1]; }},
      {"sub", [](V v) { return v[0] - sn::sum(v[1], {2}, true); }},
      {"mul", [](V v) { return v[0] * v[1] * 3; }},
      {"div", [](V v) { return 2 / (v[0] * v[0] + 1) / v[1]; }},
      {"maximum", [](V v) { return sn::maximum(v[0], v[1]); }},
      {"minimum", [](V v) { return sn::minimum(v[0], 0.5); }},
      {"unary",
       [](V v) {
         Tensor x = v[0], p = sn::abs(x) + 0.5;
         return sn::exp(x) + sn::log(p) + sn::tanh(x) + sn::sin(x) +
                sn::cos(x) + sn::erf(x) + sn::sqrt(p) + sn::rsqrt(p) - x;
       }},
      {"powers",
       [](V v) {
         Tensor p = sn::abs(v[0]) + 0.5;
         return sn::square(v[0]) + sn::reciprocal(p) + sn::sign(v[1]) +
                sn::frac(v[0] * 3);
       }},
      {"angles",
       [](V v) {
         Tensor x = sn::tanh(v[0]);
         return sn::tan(x) + sn::asin(x) + sn::acos(x) + sn::sinh(x) +
                sn::cosh(x) + sn::asinh(x) + sn::acosh(2 + x) +
                sn::atanh(x * 0.5);
       }},
      {"compare",
       [](V v) {
         Tensor x = v[0], y = v[1];
         return sn::where(x < y, 1.0, 2.0) + sn::where(x >= y, y, x) +
                (x == x).to(sn::DType::f32) + (x != y).to(sn::DType::f32) +
                sn::logical_and(x <= y, x > 0).to(sn::DType::f32) +
                sn::isnan(x).to(sn::DType::f32);
       }},
      {"activations",
       [](V v) {
         Tensor x = v[0];
         return sn::relu(x) + sn::sigmoid(x) + sn::silu(x) + sn::gelu(x) +
                sn::elu(x) + sn::leaky_relu(x) + sn::hardswish(x) +
                sn::mish(x) + sn::softplus(x) + sn::softsign(x) +
                sn::clamp(x, -0.5, 0.5) + sn::selu(x) + sn::hardsigmoid(x);
       }},
      {"views",
       [](V v) {
         Tensor x = sn::transpose(v[0], {2, 0, 1});
         x = sn::concat({x, sn::flip(x, {0, 1})}, 1);
         x = sn::slice(x, {0, 1, 0}, {4, 4, 3}, {2, 1, 2});
         return sn::reshape(sn::broadcast(sn::unsqueeze(x, 0), {2, 2, 3, 2}),
                            {4, -1});
       }},
      {"pad",
       [](V v) {
         return sn::pad(v[0], {sn::Padding{1, 1, 2}, sn::Padding{2, 0, 1}},
                        sn::PadMode::constant, 0.5);
       }},
      {"sums",
       [](V v) {
         return sn::sum(v[0], {1}) + sn::mean(v[1], {1}) + sn::amax(v[0], {1}) +
                sn::amin(v[0], {1}) + sn::prod(v[1], {1}) + sn::sum(v[2], {1}) +
                sn::var(v[0], {1});
       }},
      {"sum_all", [](V v) { return sn::sum(v[0] * v[1]); }},
      {"search",
       [](V v) {
         return sn::argmax(v[0], 1, true) + 10 * sn::argmin(v[0], 1, true) +
                sn::cumsum(v[2], 1, true);
       }},
      {"sort", [](V v) { return sn::sort(v[0], 1, true).values; }},
      {"softmax",
       [](V v) { return sn::softmax(v[0], 1) + sn::log_softmax(v[1], 2); }},
      {"gather",
       [](V v) {
         return sn::gather(v[0], v[2], 0) +
                sn::index_select(v[1], sn::tensor({2, 0, 1}), 1);
       }},
      {"scatter", [](V v) { return sn::scatter_add(v[0], v[2], v[1], 0); }},
      {"matmul",
       [](V v) { return sn::matmul(v[0], sn::transpose(v[1], {0, 2, 1})); }},
      {"sources",
       [](V v) {
         Tensor i = sn::iota({2, 3, 4}, 1);
         return v[0] * i.to(sn::DType::f32) + sn::full({3, 1}, 2.5);
       }},
  };
}

} // namespace

TEST_F(OnnxExport, opsComeBack) {
  sn::manual_seed(5);
  std::vector<Tensor> inputs = {sn::normal({2, 3, 4}), sn::normal({2, 3, 4}),
                                sn::randint(0, 2, {2, 3, 4})};
  for (const Tensor &input : inputs)
    input.eval();
  for (const Case &each : opCases())
    for (int64_t opset : {17, 20, 23}) {
      // An input that a case leaves alone would be refused.
      auto function = [&](const std::vector<Tensor> &v) {
        Tensor none =
            sn::sum(v[0] * 0 + v[1] * 0 + v[2].to(sn::DType::f32) * 0);
        Tensor y = each.function(v);
        return y + none.to(y.dtype());
      };
      same(std::string(each.name) + "_" + std::to_string(opset), function,
           inputs, {.opset = opset});
    }
}

//===- Networks -----------------------------------------------------------===//

namespace {

struct ImageNet {
  sn::nn::Conv2d first{3, 8, 3, {.stride = 2, .padding = 1}};
  sn::nn::BatchNorm2d norm{8};
  sn::nn::Conv2d each{8, 8, 3, {.padding = 1, .groups = 8}};
  sn::nn::ConvTranspose2d wide{8, 4, 2, {.stride = 2}};
  sn::nn::Linear head{4, 5};

  Tensor forward(const Tensor &x) const {
    Tensor y = sn::relu(norm(first(x)));
    y = sn::max_pool2d(each(y), 2);
    y = sn::avg_pool2d(wide(y), 2);
    return sn::softmax(head(sn::mean(y, {2, 3})), -1);
  }
  SINTER_MODULE(ImageNet, first, norm, each, wide, head)
};

struct Block {
  sn::nn::Embedding embed{50, 16};
  sn::nn::LayerNorm norm{16};
  sn::nn::Linear query{16, 16}, key{16, 16}, value{16, 16}, out{16, 50};

  Tensor forward(const Tensor &ids) const {
    Tensor x = embed(ids), y = norm(x);
    auto heads = [&](const Tensor &z) {
      sn::Dims shape = {z.dim(0), z.dim(1), 4, 4};
      return sn::transpose(sn::reshape(z, shape), {0, 2, 1, 3});
    };
    Tensor mixed = sn::scaled_dot_product_attention(
        heads(query(y)), heads(key(y)), heads(value(y)), {.causal = true});
    sn::Dims flat = {x.dim(0), x.dim(1), 16};
    mixed = sn::reshape(sn::transpose(mixed, {0, 2, 1, 3}), flat);
    return out(sn::gelu(x + mixed));
  }
  SINTER_MODULE(Block, embed, norm, query, key, value, out)
};

std::string problem(const std::function<void()> &work) {
  try {
    work();
  } catch (const sn::Error &error) {
    return error.message();
  }
  return {};
}

} // namespace

TEST_F(OnnxExport, imagesOfAnyBatch) {
  ImageNet net;
  net.eval();
  for (int64_t opset : {17, 23})
    same("image_net_" + std::to_string(opset),
         [&](const std::vector<Tensor> &x) { return net(x[0]); },
         {sn::normal({2, 3, 16, 16})},
         {.inputs = {"image"}, .dynamic = {"image:0=batch"}, .opset = opset},
         {sn::normal({5, 3, 16, 16})});
  sn::onnx::Model model =
      sn::onnx::load(folder / "image_net_17" / "model.onnx");
  EXPECT_EQ(model.inputs()[0].type, "f32[batch,3,16,16]");
  EXPECT_EQ(model.outputs()[0].type, "f32[batch,5]");
}

TEST_F(OnnxExport, modulesHaveTheirNames) {
  ImageNet net;
  net.eval();
  std::string path = pathOf("image_net");
  sn::export_onnx(path, net, sn::normal({1, 3, 8, 8}));
  std::set<std::string> names;
  sn::onnx::load(path).visit(
      [&](const std::string &name, const sn::Param &) { names.insert(name); });
  for (const char *name : {"first.weight", "norm.running_mean", "head.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(OnnxExport, textsOfAnyLength) {
  Block block;
  Tensor ids = sn::tensor({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  Tensor longer =
      sn::tensor({9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12}).reshape({3, 4});
  for (int64_t opset : {17, 20})
    same("block_" + std::to_string(opset),
         [&](const std::vector<Tensor> &x) { return block(x[0]); }, {ids},
         {.inputs = {"ids"},
          .dynamic = {"ids:0=n", "ids:1=length"},
          .opset = opset},
         {longer});
}

TEST_F(OnnxExport, loopsOverSteps) {
  sn::nn::LSTM lstm{6, 5};
  same("lstm", [&](const std::vector<Tensor> &x) { return lstm(x[0]).output; },
       {sn::normal({7, 2, 6})},
       {.inputs = {"x"}, .dynamic = {"x:0=length", "x:1=n"}},
       {sn::normal({4, 3, 6})});
  // From behind, without slices, and with a carry that stays.
  same("steps",
       [&](const std::vector<Tensor> &x) {
         auto backwards = sn::scan(
             [](auto carries, auto xs) {
               Tensor next = carries[0] * 0.5 + xs[0];
               return sn::ScanStep{{next}, {next * 2}};
             },
             {x[0] * 0}, {sn::reshape(x[0], {3, 1}) + x[0]}, {.reverse = true});
         return backwards.ys[0] + backwards.carries[0];
       },
       {sn::normal({3})}, {});
}

TEST_F(OnnxExport, weightsStandBeside) {
  sn::nn::Linear big{64, 64};
  Tensor x = sn::normal({2, 64});
  std::string path = pathOf("beside");
  sn::export_onnx(path, big, x, {.weights = sn::WeightPlace::beside});
  EXPECT_GE(fs::file_size(path + ".data"), 64u * 64 * 4);
  EXPECT_LT(fs::file_size(path), 4096u);
  sn::onnx::Model model = sn::onnx::load(path);
  EXPECT_EQ(model.forward(x).to_vector<float>(), big(x).to_vector<float>());
}

/// What is too large for them becomes infinite or NaN, in the file, too.
TEST_F(OnnxExport, floatsOfEightBitsDoNotSaturate) {
  Tensor x = sn::tensor({1.F, -448.F, 1e5F, -500.F});
  for (sn::DType dtype : {sn::DType::f8e4m3fn, sn::DType::f8e5m2}) {
    auto function = [dtype](const Tensor &v) {
      return sn::isfinite(v.to(dtype).to(sn::DType::f32));
    };
    std::string path = pathOf("small");
    sn::export_onnx(path, function, x);
    sn::onnx::Model model = sn::onnx::load(path);
    EXPECT_EQ(model.forward(x).to_vector<bool>(),
              function(x).to_vector<bool>());
    EXPECT_THAT(
        problem([&] { sn::export_onnx(path, function, x, {.opset = 17}); }),
        HasSubstr("from opset 19 on"));
  }
}

TEST_F(OnnxExport, whatOnnxCannotSayIsAnError) {
  Tensor x = sn::uniform({3}) + 1;
  std::string path = folder / "none.onnx";
  Tensor few = sn::tensor({1.F, 2.F, 3.F}).to(sn::DType::i4).eval();
  EXPECT_THAT(problem([&] {
                sn::export_onnx(
                    path,
                    [&](const Tensor &v) { return v + few.to(v.dtype()); }, x,
                    {.opset = 21});
              }),
              HasSubstr("parameters of i4"));
  EXPECT_THAT(
      problem([&] {
        sn::export_onnx(path, [](Tensor v) { return sn::cumprod(v, 0); }, x);
      }),
      HasSubstr("export_onnx: cumprod of f32 (opset 20): no operator of "
                "ONNX does this"));
  EXPECT_THAT(problem([&] {
                sn::export_onnx(
                    path, [](Tensor v) { return v + sn::normal({3}); }, x);
              }),
              HasSubstr("draws random numbers"));
  sn::Param count(sn::zeros({3}), "count", false);
  EXPECT_THAT(problem([&] {
                sn::export_onnx(
                    path,
                    [&](Tensor v) {
                      count.set(count.tensor() + v);
                      return v * 2;
                    },
                    x);
              }),
              HasSubstr("changes parameter 'count'"));
  EXPECT_THAT(problem([&] {
                sn::export_onnx(path, [](Tensor v) { return v * 2; }, x,
                                {.opset = 13});
              }),
              HasSubstr("opset 13: 17 to 23 are written"));
  EXPECT_THAT(problem([&] {
                sn::export_onnx(
                    path,
                    [](Tensor v) {
                      return sn::cond(
                          sn::sum(v) > 0.0,
                          [&](auto) { return std::vector{v * 2}; },
                          [&](auto) { return std::vector{v + 1}; })[0];
                    },
                    x);
              }),
              HasSubstr("whose rounds the model decides, or a branch"));
  EXPECT_FALSE(fs::exists(path));
}

/// Modules that are written in C++: compiled by this build's compiler, they
/// load their parameters, compute what the first ones do, and train. One
/// program has all of them; SINTER_SUITES adds the networks of suites/models.
#include <sinter/Basic.h>
#include <sinter/CppExport.h>
#include <sinter/Onnx.h>
#include <sinter/OnnxExport.h>

#include "frontend/export/cpp/Names.h"
#include "tests/e2e/export/ShellRun.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>

namespace sn = sinter;
namespace fs = std::filesystem;
using sn::Tensor;
using testing::HasSubstr;

namespace {

struct ConvNet {
  sn::nn::Conv2d first{3, 8, 3, {.stride = 2, .padding = 1}};
  sn::nn::BatchNorm2d norm{8};
  sn::nn::Conv2d second{8, 8, 3, {.padding = 1, .groups = 2}};
  sn::nn::Linear head{8, 5};
  Tensor forward(const Tensor &x) const {
    Tensor h = sn::relu(norm(first(x)));
    h = h + sn::max_pool2d(second(h), 3, {.stride = 1, .padding = 1});
    return sn::log_softmax(head(sn::mean(h, {2, 3})));
  }
  SINTER_MODULE(ConvNet, first, norm, second, head)
};

/// What is of two inputs and two outputs, of which one is an integer.
struct Tower {
  sn::nn::Embedding table{11, 16};
  sn::nn::Linear query{16, 16}, key{16, 16}, value{16, 16}, out{16, 16};
  sn::nn::LayerNorm norm{16};
  Tensor scale = sn::tensor(std::vector<float>(16, 0.5f));
  std::pair<Tensor, Tensor> run(const Tensor &ids, const Tensor &bias) const {
    Tensor x = table(ids) * scale + bias;
    Tensor h = norm(x);
    Tensor seen = sn::scaled_dot_product_attention(query(h), key(h), value(h),
                                                   {.causal = true});
    Tensor y = x + sn::gelu(out(seen));
    return {y, sn::argmax(y, -1)};
  }
  SINTER_MODULE(Tower, table, query, key, value, out, norm, scale)
};

/// More parameters than one class names.
struct Many {
  std::vector<sn::Param> all;
  Many() {
    for (int i = 0; i < 130; ++i)
      all.emplace_back("p", sn::Dims{3}, sn::init::normal(0, 1));
  }
  Tensor forward(const Tensor &x) const {
    Tensor y = x;
    for (const sn::Param &each : all)
      y = y * 0.5 + each;
    return y;
  }
  SINTER_MODULE(Many, all)
};

struct OpCase {
  const char *name;
  Tensor (*function)(const Tensor &x, const Tensor &i);
  bool hasIntegers = false;
};

/// Of x: f32[n,4,6], and i: i64[n,4,6] in [0, 4).
std::vector<OpCase> opCases() {
  using T = const Tensor &;
  return {
      {"Slices",
       [](T x, T) {
         Tensor cut = sn::slice(x, {0, 0, 1}, {x.dim(0), 4, 6}, {1, 1, 2});
         return sn::concat({sn::narrow(x, 2, 1, 3) - cut, sn::flip(cut, {1})},
                           1);
       }},
      {"Pads",
       [](T x, T) {
         return sn::pad(x, {{1, 1, 2}, {2, -1, 0}}) +
                sn::pad(x, {{1, 2, 1}, {2, 0, -1}}, sn::PadMode::constant, 7);
       }},
      {"WideNumbers", // that a double does not hold
       [](T x, T i) {
         const int64_t most = int64_t(1) << 53;
         Tensor wide = sn::pad(i, {0, 1, 0}, {i.dim(0), 6, 6}, {0, 0, 0},
                               sn::Number(most + 1));
         return wide - most +
                sn::pad(i, {{1, 1, 1}}, sn::PadMode::constant, 3) +
                (sn::sum(x) > 0).to(sn::DType::i64);
       },
       true},
      {"Orders",
       [](T x, T i) {
         return sn::sort(x, 2, true).values * sn::argsort(x, 2) +
                sn::gather(x, i, 1) + sn::topk(x, 1, 2).values +
                sn::cumsum(x, 2) + sn::cummax(x, 1).values;
       },
       true},
      {"Integers",
       [](T x, T i) {
         return sn::where((i > 1) == (x < 0), i * 3 - 1,
                          sn::div(i, 2, sn::Rounding::trunc)) +
                sn::div(i, 3, sn::Rounding::floor) + sn::clamp(i, 1, 2) +
                sn::clamp_min(i, 1) + sn::clamp_max(i, 2);
       },
       true},
      {"Numbers",
       [](T x, T i) {
         return sn::pow(sn::abs(x) + 0.1f, i.to(sn::DType::f32)) / 3 -
                (2 - x) / (1 + sn::square(x)) +
                sn::iota({x.dim(0), 4, 6}, 2, {sn::DType::f32, {}}) +
                sn::full({6}, -0.25) + sn::gelu(x) +
                sn::maximum(x, -1e-3) * -1.5;
       },
       true},
      {"Sizes",
       [](T x, T) {
         sn::Dim n = x.dim(0);
         return sn::reshape(sn::transpose(x, {1, 0, 2}), {n * 2, 12}) *
                sn::sum(x) / (sn::sum(sn::amax(x, {0, 2}, true)) + 9);
       }},
      {"Norms",
       [](T x, T) {
         return sn::softmax(x, 1) + sn::var(x, {2}, 1, true) +
                sn::layer_norm(x, sn::ones({6}), sn::zeros({6}), 1e-3) +
                sn::logsumexp(x, {1, 2}, true);
       }},
      {"Windows",
       [](T x, T) {
         Tensor w = sn::iota({4, 2, 3}, 1, {sn::DType::f32, {}}) + 1;
         return sn::conv1d(x, w, {.padding = 1, .groups = 2}) +
                sn::avg_pool1d(x, 3, {.stride = 1, .padding = 1}) +
                sn::max_pool1d(x, 3, {.stride = 1, .padding = 1}) *
                    sn::sum(sn::conv_transpose1d(
                        x, w, {.stride = 2, .output_padding = 1}));
       }},
  };
}

class CppExport : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/sinter-cpp-XXXXXX";
    folder = ::mkdtemp(name);
    sn::manual_seed(3);
    program = "#include <sinter/data/Npy.h>\n#include <cstdio>\n";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string run(const std::string &command, int rc = 0) const {
    return sn::test::runIn(folder, command, rc);
  }
  std::string read(const std::string &file) const {
    std::ifstream stream(folder / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string path(const std::string &file) const { return folder / file; }

  /// The module `name` is to compute `want` of these inputs; its outputs have
  /// the names `parts`, if there are several.
  void add(const std::string &name, const std::vector<Tensor> &inputs,
           const std::vector<Tensor> &want,
           const std::vector<std::string> &parts = {}, bool trains = false) {
    program += "#include \"" + name + ".h\"\n";
    std::string arguments;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string file = name + ".x" + std::to_string(i) + ".npy";
      sn::data::write_npy(path(file), inputs[i]);
      arguments += (i ? ", " : "") + ("sn::data::read_npy(\"" + file + "\")");
    }
    calls += "  {\n    " + name + " model;\n    model.load(\"" + name +
             ".safetensors\");\n    auto y = model(" + arguments + ");\n";
    for (size_t i = 0; i < want.size(); ++i) {
      std::string file = name + ".y" + std::to_string(i) + ".npy";
      calls += "    sn::data::write_npy(\"" + file + "\", y" +
               (parts.empty() ? "" : "." + parts[i]) + ");\n";
      expected.emplace_back(file, want[i]);
    }
    if (trains)
      calls += "    sn::optim::Sgd sgd({.lr = 0.01});\n"
               "    auto loss = [&] { return sn::mean(sn::square(model(" +
               arguments +
               "))); };\n"
               "    float before = loss().item<float>();\n"
               "    for (int i = 0; i < 5; ++i)\n"
               "      sgd.step(model, loss().backward());\n"
               "    bool fell = loss().item<float>() < before;\n"
               "    std::printf(\"" +
               name +
               " %s, %d\\n\", fell ? \"trains\" : \"does not train\", "
               "int(model.num_params()));\n";
    calls += "  }\n";
  }

  /// Exported on two items, computed of three.
  void exportCase(const OpCase &each) {
    Tensor x = sn::normal({3, 4, 6});
    Tensor i = sn::iota({3, 4, 6}, 2) * 5 + sn::iota({3, 4, 6}, 1) * 3;
    i = i - sn::div(i, 4, sn::Rounding::floor) * 4;
    Tensor shortX = sn::narrow(x, 0, 0, 2), shortI = sn::narrow(i, 0, 0, 2);
    std::string file = path(std::string(each.name) + ".h");
    if (each.hasIntegers) {
      sn::export_cpp(file, each.function, std::tuple(shortX, shortI),
                     {.inputs = {"x", "i"}, .dynamic = {"x:0=n", "i:0=n"}});
      add(each.name, {x, i}, {each.function(x, i)});
    } else {
      auto call = [&](const Tensor &in) { return each.function(in, in); };
      sn::export_cpp(file, call, shortX,
                     {.inputs = {"x"}, .dynamic = {"x:0=n"}});
      add(each.name, {x}, {call(x)});
    }
  }

  /// Compiles and runs the program; its output.
  std::string runAll() {
    std::ofstream(folder / "main.cpp") << program << "int main() {\n"
                                       << calls << "}\n";
    run(SINTER_CXX " -std=c++20 -O0 -Wall -Wextra -Werror " SINTER_CXX_FLAGS
                   " main.cpp -o main " SINTER_LIBRARIES);
    std::string output = run("./main");
    for (const auto &[file, want] : expected) {
      SCOPED_TRACE(file);
      if (!fs::exists(folder / file)) {
        ADD_FAILURE() << "there is none";
        continue;
      }
      same(sn::data::read_npy(path(file)), want);
    }
    return output;
  }

  static void same(const Tensor &got, const Tensor &want) {
    ASSERT_EQ(got.dtype(), want.dtype());
    ASSERT_EQ(got.rank(), want.rank());
    std::vector<double> a = got.to_vector<double>(),
                        b = want.to_vector<double>();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      if (!std::isnan(a[i]) || !std::isnan(b[i])) {
        ASSERT_NEAR(a[i], b[i], 1e-5 + 1e-5 * std::abs(b[i])) << i;
      }
  }

  fs::path folder;
  std::string program, calls;
  std::vector<std::pair<std::string, Tensor>> expected;
};

} // namespace

TEST_F(CppExport, ModulesComputeAndTrain) {
  ConvNet net;
  for (int i = 0; i < 3; ++i) // statistics that are not the first ones
    net(sn::normal({4, 3, 8, 8}) * 2 + 0.5).eval();
  net.eval();
  Tensor image = sn::normal({3, 3, 10, 12});
  sn::export_onnx(path("net.onnx"), net, sn::zeros({2, 3, 10, 12}),
                  {.inputs = {"image"}, .dynamic = {"image:0=batch"}});
  run(SINTER_TOOL " compile net.onnx --emit cpp -o ConvNet.h");
  add("ConvNet", {image}, {net(image)}, {}, true);
  std::string text = read("ConvNet.h");
  EXPECT_THAT(text, HasSubstr("struct ConvNet {"));
  EXPECT_THAT(text, HasSubstr("sn::Param first_weight{\"first.weight\", {8, 3, "
                              "3, 3}, sn::init::zeros()};"));
  EXPECT_THAT(text, HasSubstr(".stride = 2, .padding = 1"));
  EXPECT_THAT(text, HasSubstr("forward(const sn::Tensor &image) const {"));
  // Nothing of the machine that it was written on.
  EXPECT_EQ(text.find(".cpp"), text.npos);
  EXPECT_EQ(text.find(folder.string()), text.npos);

  Tower tower;
  Tensor ids = sn::iota({2, 7}, 1) + sn::iota({2, 7}, 0),
         bias = sn::normal({16});
  sn::export_cpp(
      path("Tower.h"),
      [&](const Tensor &x, const Tensor &b) { return tower.run(x, b); },
      std::tuple(ids, bias),
      {.inputs = {"ids", "bias"}, .outputs = {"hidden", "best"}});
  auto [hidden, best] = tower.run(ids, bias);
  add("Tower", {ids, bias}, {hidden, best}, {"hidden", "best"});
  EXPECT_THAT(read("Tower.h"), HasSubstr("struct Outputs"));

  Many many;
  sn::export_cpp(path("Many.h"), many, sn::ones({3}));
  add("Many", {sn::ones({3})}, {many(sn::ones({3}))}, {}, true);
  EXPECT_THAT(read("Many.h"), HasSubstr("struct Many : ManyPart2 {"));

  // Its gradient is written in another form, and the value's own.
  sn::nn::GroupNorm norm(2, 4);
  sn::Param scale(sn::normal({6}), "scale");
  auto groups = [&](const Tensor &x) { return norm(x * scale); };
  Tensor rows = sn::normal({3, 4, 6});
  sn::export_cpp(path("Groups.h"), groups, rows);
  add("Groups", {rows}, {groups(rows)}, {}, true);

  for (const OpCase &each : opCases())
    exportCase(each);
  std::string output = runAll();
  EXPECT_THAT(output, HasSubstr("ConvNet trains, "));
  EXPECT_THAT(output, HasSubstr("Many trains, 390"));
  EXPECT_THAT(output, HasSubstr("Groups trains, 14"));
}

/// Names of the outputs of a header, if there are several.
static std::vector<std::string> partsOf(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream lines(text);
  bool isInside = false;
  for (std::string line; std::getline(lines, line);) {
    isInside = line.find("struct Outputs {") != line.npos ||
               (isInside && line.find('}') == line.npos);
    size_t name = line.find("sn::Tensor ");
    if (isInside && name != line.npos)
      parts.push_back(line.substr(name + 11, line.size() - name - 12));
  }
  return parts;
}

/// Written by the tool, beside what the import of the same file computes.
TEST_F(CppExport, NetworksOfSuites) {
  const char *suites = std::getenv("SINTER_SUITES");
  if (!suites)
    GTEST_SKIP() << "SINTER_SUITES is not set";
  for (std::string name :
       {"acasxu_1_1", "arch_squeezenet_random", "burn_mnist", "cifar_base_kw",
        "mnist_8", "self_attention_mnist", "squeezenet_fp16",
        "super_resolution_10", "tribuo_cnn_mnist", "ultraface_rfb_320"}) {
    std::string file = suites + ("/models/" + name + "/model.onnx");
    std::string type = sn::cpp::className(name);
    run(SINTER_TOOL " compile '" + file + "' --emit cpp -o " + type + ".h");
    sn::onnx::Model model = sn::onnx::load(file);
    sn::onnx::NamedTensors given;
    std::vector<Tensor> inputs, want;
    for (const sn::onnx::ValueInfo &info : model.inputs()) {
      sn::Dims dims;
      for (const sn::onnx::Axis &axis : *info.shape)
        dims.emplace_back(axis.size.value_or(2));
      inputs.push_back(sn::normal(dims).to(*info.dtype));
      given[info.name] = inputs.back();
    }
    auto outputs = model.run(given);
    for (const sn::onnx::ValueInfo &info : model.outputs())
      want.push_back(outputs.at(info.name));
    add(type, inputs, want, partsOf(read(type + ".h")));
  }
  runAll();
}

TEST_F(CppExport, RefusesWhatHasNoStatement) {
  auto problem = [&](auto function) {
    try {
      sn::export_cpp(path("no.h"), function, sn::ones({4, 3}));
    } catch (const sn::Error &error) {
      return error.message();
    }
    return std::string();
  };
  auto random = [](const Tensor &x) { return x + sn::normal({3}); };
  EXPECT_THAT(problem(random), HasSubstr("export_cpp: the function draws"));
  auto loop = [](const Tensor &x) {
    auto body = [](const auto &carries, const auto &slices) {
      Tensor next = carries[0] * 0.5 + slices[0];
      return sn::ScanStep{{next}, {next}};
    };
    return sn::scan(body, {sn::zeros({3})}, {x}).ys[0];
  };
  EXPECT_THAT(problem(loop), HasSubstr("there is no function for it"));
  sn::Param state(sn::zeros({3}), "state", false);
  auto change = [&](const Tensor &x) {
    state.set(state.tensor() + sn::sum(x, {0}));
    return x * 2;
  };
  EXPECT_THAT(problem(change), HasSubstr("changes parameter 'state'"));
  sn::Param weight(sn::ones({3}), "weight");
  auto straight = [&](const Tensor &x) {
    auto rounded = sn::custom_gradient(
        [](std::span<const Tensor> inputs) {
          return inputs[0].to(sn::DType::i32).to(sn::DType::f32);
        },
        [](const sn::CustomContext &context) {
          return std::vector{context.gradient};
        });
    return rounded({x * weight});
  };
  EXPECT_THAT(problem(straight), HasSubstr("its gradient is a function of"));
  sn::Tensor small = sn::ones({3}).to(sn::DType::f8e5m2).eval();
  auto stored = [&](const Tensor &x) { return x + small.to(sn::DType::f32); };
  EXPECT_THAT(problem(stored), HasSubstr("'constant' of f8e5m2"));
  EXPECT_FALSE(fs::exists(folder / "no.h"));
  EXPECT_FALSE(fs::exists(folder / "no.safetensors"));
}

TEST_F(CppExport, TheToolSaysWhatItDoesNotTake) {
  sn::export_onnx(
      path("net.onnx"), [](const Tensor &x) { return x * 2; }, sn::ones({3}));
  auto tool = [&](const std::string &arguments) {
    return run(SINTER_TOOL " compile " + arguments, 1);
  };
  EXPECT_THAT(tool("net.sinter --emit cpp -o a.h"),
              HasSubstr("for .onnx and .pt2 models"));
  EXPECT_THAT(tool("net.onnx --emit cpp -o a.h --target cuda"),
              HasSubstr("takes no --target"));
  EXPECT_THAT(tool("net.onnx --emit cpp -o a.safetensors"),
              HasSubstr("name of the weights' file"));
  EXPECT_THAT(tool("net.onnx --emit cpp -o ./"), HasSubstr("names no file"));
  EXPECT_THAT(tool("none.onnx --emit cpp -o a.h"), HasSubstr("none.onnx"));
}

/// What evaluation tells the person who runs the program.
#include "tests/unit/frontend/Counting.h"

#include <sinter/Param.h>

namespace sn = sinter;
using Values = std::vector<float>;

namespace {
class Log : public testing::Test {
protected:
  void SetUp() override {
    sn::set_log([this](sn::LogLevel level, std::string_view text) {
      if (level == sn::LogLevel::warning)
        warnings.emplace_back(text);
    });
  }
  void TearDown() override { sn::set_log({}); }
  /// For messages.
  std::string all() const {
    std::string text;
    for (const std::string &warning : warnings)
      text += warning + "\n";
    return text;
  }
  size_t count(std::string_view part) const {
    size_t found = 0;
    for (const std::string &text : warnings)
      found += text.find(part) != std::string::npos;
    return found;
  }
  std::vector<std::string> warnings;
};
} // namespace

TEST_F(Log, TheThirdProgramOfALineIsWarnedAboutOnce) {
  uint64_t before = sn::stats().warnings;
  for (int depth = 1; depth < 7; ++depth) {
    sn::Tensor x = sn::tensor({1.f, 2.f, 3.f});
    for (int i = 0; i < depth; ++i)
      x = sn::tanh(x) + x;
    x.to_vector<float>();
    EXPECT_EQ(count("one program after another"), depth >= 3 ? 1u : 0u);
  }
  EXPECT_EQ(sn::stats().warnings, before + 1);
  EXPECT_EQ(count("LogTest.cpp:"), 1u);
  EXPECT_EQ(count("was not recorded before"), 1u);
  EXPECT_EQ(count("sinter::scan"), 1u);
}

TEST_F(Log, SizesThatAreFixedAreNamed) {
  for (int64_t rows = 2; rows < 7; ++rows) {
    sn::Tensor x = sn::tensor(Values(rows * 3, 1.f), {rows, 3});
    sn::Tensor flat = sn::reshape(sn::exp(x), {rows * 3});
    sn::sum(flat * flat).item<float>();
  }
  EXPECT_EQ(count("x.dim(i)"), 1u);
}

TEST_F(Log, ATrainingLoopIsNotWarnedAbout) {
  std::vector<sn::Param> model{{"w", {3, 2}, sn::init::ones()}};
  const sn::Param &w = model[0];
  sn::optim::Adam adam{{.lr = 0.25}};
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t rows : {4, 4, 3}) {
      sn::Tensor x = sn::tensor(Values(rows * 3, 0.5f), {rows, 3});
      sn::Tensor scale = x * (epoch + 1); // static, then an input
      sn::Tensor loss = sn::sum(sn::matmul(scale, w) * sn::matmul(x, w));
      sn::Gradients gradients = loss.backward();
      adam.step(model, std::move(gradients));
      loss.item<float>();
    }
    adam.set_lr(0.125 / (epoch + 1));
  }
  EXPECT_EQ(count("one program after another"), 0u) << all();
}

TEST_F(Log, AFunctionThatManyCallIsNotOneLine) {
  auto read = [](const sn::Tensor &x) {
    return x.to(sn::DType::f64).to_vector<double>();
  };
  sn::Tensor x = sn::tensor({1.f, 2.f});
  read(sn::exp(x));
  read(sn::tanh(x) * x);
  read(sn::sqrt(x) - x * x);
  read(sn::sin(x));
  EXPECT_EQ(count("one program after another"), 0u) << all();
}

TEST_F(Log, ParametersOfManyShapesAreNotWarnedAbout) {
  for (int64_t size = 2; size < 8; ++size) {
    sn::Param w("w", {size, size + 1}, sn::init::ones());
    sn::sum(w * w).item<float>();
  }
  EXPECT_EQ(count("one program after another"), 0u) << all();
}

TEST_F(Log, ACallbackMayRecordButNotRead) {
  sn::Tensor kept;
  std::string error;
  sn::set_log([&](sn::LogLevel, std::string_view) {
    kept = sn::tensor({2.f}) * 3.0;
    try {
      kept.item<float>();
    } catch (const sn::Error &caught) {
      error = caught.message();
    }
  });
  for (int depth = 1; depth < 5; ++depth) {
    sn::Tensor x = sn::tensor({1.f, 2.f, 3.f, 4.f});
    for (int i = 0; i < depth; ++i)
      x = sn::tanh(x) - x;
    x.to_vector<float>();
  }
  ASSERT_TRUE(kept.defined());
  EXPECT_NE(error.find("a log callback reads a value"), std::string::npos);
  EXPECT_EQ(kept.item<float>(), 6.f);
}

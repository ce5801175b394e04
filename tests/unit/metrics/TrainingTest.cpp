/// Rates, counts, the machine's numbers, and texts.
#include "frontend/metrics/system/Nvml.h"

#include "frontend/ElementwiseFunctions.h"
#include <sinter/Metrics.h>

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>

namespace sn = sinter;
namespace sm = sinter::metrics;

TEST(TrainingMetrics, TheLearningRateIsTheOneOfTheLastStep) {
  sn::optim::Adam adam({.lr = 0.5});
  sm::LearningRate rate([&] { return adam.lr(); });
  EXPECT_TRUE(std::isnan(rate.value()));
  rate.update();
  adam.set_lr(0.25);
  EXPECT_EQ(rate.value(), 0.5);
  rate.update();
  EXPECT_EQ(rate.value(), 0.25);
}

TEST(TrainingMetrics, RatesAreCountsBySecond) {
  double now = 100;
  sm::IterationRate steps("iterations", [&] { return now; });
  sm::TokenRate tokens("tokens", [&] { return now; });
  EXPECT_TRUE(std::isnan(steps.value()));
  for (int i = 0; i < 6; ++i) {
    steps.update();
    tokens.update({50});
  }
  now += 2;
  EXPECT_EQ(steps.value(), 3);
  EXPECT_EQ(tokens.value(), 150);
  steps.reset();
  steps.update();
  now += 4;
  EXPECT_EQ(steps.value(), 0.25);
  EXPECT_EQ(steps.info().unit, "1/s");
}

TEST(TrainingMetrics, KernelsAndCompilesAreCountedFromTheLastReset) {
  sm::KernelCount kernels;
  sm::CompileCount compiles;
  auto work = [] {
    (sn::tensor({1.f, 2.f, 3.f}) * 7.25f + 0.125f).to_vector<float>();
  };
  work();
  EXPECT_EQ(kernels.value(), 1);
  EXPECT_LE(compiles.value(), 1);
  kernels.reset();
  compiles.reset();
  work();
  work();
  EXPECT_EQ(kernels.value(), 2);
  EXPECT_EQ(compiles.value(), 0);
}

TEST(TrainingMetrics, TheMachineTellsOfProcessorsAndMemory) {
  sm::CpuUse cpu;
  ASSERT_TRUE(cpu.available());
  // Until a clock tick passed there is nothing to tell.
  double used = cpu.value();
  for (int i = 0; std::isnan(used) && i < 1000000; ++i)
    used = cpu.value();
  EXPECT_GE(used, 0);
  EXPECT_LE(used, 1);
  sm::HostMemory memory;
  ASSERT_TRUE(memory.available());
  EXPECT_GT(memory.value(), 0.001);
  EXPECT_LT(memory.value(), 1024);
}

namespace {
std::vector<std::string> *warnings() {
  static auto *all = new std::vector<std::string>;
  return all;
}
} // namespace

TEST(TrainingMetrics, AReadingThatTheMachineLacksIsLeftOutAndNamedOnce) {
  // No machine has so many.
  sm::MetricSet<sn::Tensor> metrics;
  metrics.add(sm::GpuTemperature(1000)).add(sm::GpuUse(1000));
  metrics.add(sm::MeanLoss(),
              [](const sn::Tensor &loss) { return sm::LossInput{loss}; });
  warnings()->clear();
  sn::set_log([](sn::LogLevel level, std::string_view text) {
    if (level == sn::LogLevel::warning)
      warnings()->emplace_back(text);
  });
  for (int i = 0; i < 3; ++i) {
    metrics.update(sn::tensor({2.f}));
    std::vector<sm::Value> values = metrics.values();
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].name, "loss");
  }
  sn::set_log({});
  EXPECT_EQ(metrics.infos().size(), 1U);
  ASSERT_EQ(warnings()->size(), 2U);
  EXPECT_NE(warnings()->front().find("gpu_temperature"), std::string::npos);
}

TEST(Nvml, ReadingsHaveTheUnitsOfTheirMetrics) {
  std::unique_ptr<sm::Nvml> nvml = sm::Nvml::open(SINTER_FAKE_NVML);
  ASSERT_TRUE(nvml);
  std::string bus = "0000:1B:00.0";
  EXPECT_EQ(nvml->read(sm::GpuReading::use, bus), 0.75);
  EXPECT_EQ(nvml->read(sm::GpuReading::memory, bus), 3.5);
  EXPECT_EQ(nvml->read(sm::GpuReading::temperature, bus), 61);
  EXPECT_EQ(nvml->read(sm::GpuReading::power, bus), 123.456);
}

TEST(Nvml, WhatIsMissingHasNoReading) {
  std::unique_ptr<sm::Nvml> nvml = sm::Nvml::open(SINTER_FAKE_NVML);
  ASSERT_TRUE(nvml);
  EXPECT_FALSE(nvml->read(sm::GpuReading::use, "0000:FF:00.0"));
  EXPECT_FALSE(nvml->read(sm::GpuReading::use, ""));
  EXPECT_FALSE(sm::Nvml::open("/nowhere/libnvidia-ml.so.1"));
  EXPECT_FALSE(sm::Nvml::open("libm.so.6")); // without its functions
}

//===- Texts --------------------------------------------------------------===//

TEST(TextMetrics, ErrorRatesAreEditsByTheReferencesLength) {
  sm::CharErrorRate cer;
  sm::WordErrorRate wer;
  sm::TextInput input{{"kitten sat", "na\xC3\xAFve"}, {"sitting sat", "naive"}};
  cer.update(input);
  wer.update(input);
  EXPECT_DOUBLE_EQ(cer.value(), 4.0 / 16); // three edits, and one character
  EXPECT_DOUBLE_EQ(wer.value(), 2.0 / 3);
  cer.reset();
  EXPECT_TRUE(std::isnan(cer.value()));
}

TEST(TextMetrics, BytesThatAreNoCharactersCountOneEach) {
  sm::CharErrorRate cer;
  cer.update({{"\xFF\xC3", "\xE6\x9D"}, {"ab", "c"}});
  EXPECT_DOUBLE_EQ(cer.value(), 4.0 / 3);
}

TEST(TextMetrics, TextsWithoutTheirReferencesAreAnError) {
  sm::WordErrorRate wer;
  EXPECT_THROW(wer.update({{"a"}, {}}), sn::Error);
  sm::Bleu bleu;
  EXPECT_THROW(bleu.update(sm::TranslationInput{{"a"}, {{}}}), sn::Error);
}

TEST(TextMetrics, ASetOfTextsTakesTensorsOfNoKind) {
  sm::MetricSet<sm::TextInput> metrics;
  metrics.add(sm::WordErrorRate()).add(sm::RougeL());
  metrics.update({{"the cat sat"}, {"the cat sat"}});
  EXPECT_EQ(metrics.value("wer"), 0);
  EXPECT_EQ(metrics.value("rouge_l.recall"), 1);
  sm::MetricSet<sm::TextInput> loaded;
  loaded.add(sm::WordErrorRate()).add(sm::RougeL());
  loaded.load_state(metrics.state());
  EXPECT_EQ(loaded.value("rouge_l"), 1);
}

/// Runs the ONNX conformance cases and the networks of the folder that
/// SINTER_SUITES names: half of the cases, other ones for other sources of the
/// compiler. Nothing may be wrong; what is unsupported is counted.
#include "sinter/generated/SourceDigest.h"
#include "tools/sinter/OnnxCases.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Onnx.h>
#include <sinter/OnnxExport.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

using namespace sinter;
using namespace sinter::cli;

namespace {

/// Its file leaves out the epsilon that its outputs were made with; that of a
/// later release has it, and passes.
constexpr std::string_view contradictsItself = "test_adam_multiple@v116";

class OnnxSuite : public testing::Test {
protected:
  void SetUp() override {
    const char *suites = std::getenv("SINTER_SUITES");
    if (!suites || !std::filesystem::exists(std::string(suites) + "/onnx"))
      GTEST_SKIP() << "SINTER_SUITES names no folder with ONNX cases";
    folder = suites;
  }

  /// Runs one quarter of the cases, or all of them.
  Counts run(const std::string &name, std::optional<unsigned> quarter,
             const char *device) {
    Counts counts;
    for (const OnnxCase &one : findOnnxCases(folder + "/" + name)) {
      size_t hash = std::hash<std::string>()(one.id + sourceDigest);
      if (one.id == contradictsItself || (quarter && hash % 4 != *quarter))
        continue;
      CaseResult result = runOnnxCase(one, sinter::device(device));
      counts.add(result.verdict);
      EXPECT_NE(result.verdict, Verdict::failed)
          << one.id << ": " << result.why;
    }
    RecordProperty(name + "_" + device + "_passed", counts.passed);
    RecordProperty(name + "_" + device + "_unsupported", counts.unsupported);
    return counts;
  }

  std::string folder;
};

} // namespace

/// At least so many of a hundred cases pass.
static void expectPassed(const Counts &counts, int percent) {
  EXPECT_GE(counts.passed * 100, counts.all() * percent)
      << counts.passed << " of " << counts.all() << " passed";
}

TEST_F(OnnxSuite, conformanceByPlainLoops) {
  expectPassed(run("onnx", 0, "null"), 80);
}

TEST_F(OnnxSuite, conformanceOnCpu) { expectPassed(run("onnx", 1, "cpu"), 80); }

TEST_F(OnnxSuite, networksOnCpu) {
  if (!std::filesystem::exists(folder + "/models"))
    GTEST_SKIP() << "there are no networks";
  expectPassed(run("models", {}, "cpu"), 100);
}

//===- Networks that are written again ------------------------------------===//

/// A network's outputs, in order.
static std::vector<Tensor> outputsOf(const onnx::Model &model,
                                     const std::vector<Tensor> &inputs) {
  onnx::NamedTensors given;
  for (size_t i = 0; i < inputs.size(); ++i)
    given[model.inputs()[i].name] = inputs[i];
  onnx::NamedTensors results = model.run(given);
  std::vector<Tensor> outputs;
  for (const onnx::ValueInfo &info : model.outputs())
    outputs.push_back(results.at(info.name));
  return outputs;
}

static std::vector<Tensor> inputsOf(const OnnxCase &one,
                                    const onnx::Model &model) {
  onnx::NamedTensors given = readCaseInputs(one, model, device("cpu"));
  std::vector<Tensor> inputs;
  for (const onnx::ValueInfo &info : model.inputs())
    inputs.push_back(given.at(info.name));
  return inputs;
}

static void expectSame(const Tensor &got, const Tensor &want) {
  std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  double scale = 1e-30;
  for (double each : b)
    scale = std::isfinite(each) ? std::max(scale, std::fabs(each)) : scale;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) {
      ASSERT_NEAR(a[i], b[i], 1e-4 * scale + 1e-3 * std::fabs(b[i])) << i;
    }
}

namespace {
class OnnxWrittenAgain : public OnnxSuite {
protected:
  void TearDown() override {
    if (!kept)
      std::filesystem::remove_all(out);
  }

  /// Whether a model can be written; what is read back computes the same.
  bool again(const OnnxCase &one) {
    SCOPED_TRACE(one.id);
    std::filesystem::create_directories(out / one.id);
    std::string path = out / one.id / "model.onnx";
    onnx::Model model = onnx::load(one.folder + "/model.onnx");
    std::vector<Tensor> inputs = inputsOf(one, model);
    auto call = [&](const std::vector<Tensor> &x) {
      return outputsOf(model, x);
    };
    std::vector<Tensor> want = outputsOf(model, inputs);
    try {
      export_onnx(path, call, inputs);
    } catch (const Error &) {
      return false;
    }
    std::vector<Tensor> got = outputsOf(onnx::load(path), inputs);
    EXPECT_EQ(got.size(), want.size());
    for (size_t i = 0; i < std::min(got.size(), want.size()); ++i)
      expectSame(got[i], want[i]);
    return true;
  }

  const char *kept = std::getenv("SINTER_ONNX_EXPORTS");
  std::filesystem::path out =
      kept ? std::filesystem::path(kept)
           : std::filesystem::temp_directory_path() /
                 ("sinter-onnx-again-" + std::to_string(getpid()));
};
} // namespace

TEST_F(OnnxWrittenAgain, networks) {
  if (!std::filesystem::exists(folder + "/models"))
    GTEST_SKIP() << "there are no networks";
  for (const OnnxCase &one : findOnnxCases(folder + "/models"))
    EXPECT_TRUE(again(one)) << one.id;
}

/// Cases that read their inputs' values, or have none, cannot be exported.
TEST_F(OnnxWrittenAgain, cases) {
  int written = 0, all = 0;
  for (const OnnxCase &one : findOnnxCases(folder + "/onnx")) {
    size_t hash = std::hash<std::string>()(one.id + sourceDigest);
    if (hash % 8 != 2 || one.id == contradictsItself || !one.comparesValues)
      continue;
    try {
      ++all;
      written += again(one);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported)
          << one.id << ": " << error.message();
    } catch (const std::out_of_range &) { // it is given no tensor
    }
  }
  RecordProperty("written", written);
  EXPECT_GE(written * 100, all * 50) << written << " of " << all;
}

/// Runs the ONNX conformance cases and the networks of the folder that
/// SINTER_SUITES names: half of the cases, other ones for other sources of the
/// compiler. Nothing may be wrong; what is unsupported is counted.
#include "sinter/generated/SourceDigest.h"
#include "tools/sinter/OnnxCases.h"

#include <sinter/Creation.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

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

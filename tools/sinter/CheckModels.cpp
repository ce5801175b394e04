/// `sinter check`: cases laid out as in the ONNX backend suite.
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/OnnxCases.h"
#include "tools/sinter/torch/TorchCases.h"

#include "runtime/params/Json.h"
#include "runtime/support/Printable.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>

#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"--device", "DEVICE",
     "cpu, null (plain loops), cuda:0, vulkan:0; default SINTER_DEVICE or cpu",
     "cpu null cuda:0 vulkan:0"},
    {"--json", nullptr, "print the counts of each operator as JSON"},
    {"--list", nullptr, "say of each unsupported case why it is"},
    {"--differences", nullptr,
     "say of each case that passed how far floats were from those wanted"},
    {"--only", "TEXT", "the cases whose names hold TEXT"},
    {"--times", "S",
     "print what each takes that passes: milliseconds to load, "
     "of the first run and the median of later ones, for S "
     "seconds"},
};
const Interface checkInterface = {
    "check DIR... [--device DEVICE]",
    "Runs each model.onnx in DIR, or in the folders of DIR, on the inputs in\n"
    "its test_data_set_K, and each model.pt2 on those of the case.safetensors\n"
    "beside it, compares with the outputs there, and prints how many passed.\n"
    "The exit code is 1 when one failed; those that are unsupported did not.",
    "sinter check models/resnet50 --differences\n"
    "sinter check models --device cuda:0 --times 2",
    flags,
    1,
    1000,
};

namespace {
struct Totals {
  Counts all;
  std::map<std::string, Counts> byOperator;
};
} // namespace

static void printLine(const std::string &id, const CaseResult &result,
                      const Arguments &arguments) {
  if (result.verdict == Verdict::passed && arguments.has("--differences"))
    fmt::print(stderr, "passed: {}: largest difference {:.3g} of {:.3g}\n", id,
               result.largestDifference, result.largestValue);
  bool isListed = arguments.has("--list");
  bool isFailed = result.verdict == Verdict::failed;
  if (!isFailed && !(isListed && result.verdict == Verdict::unsupported))
    return;
  fmt::print(stderr, "{}: {}: {}\n", isFailed ? "failed" : "unsupported", id,
             printable(result.why));
}

static void printJson(const Totals &totals) {
  auto text = [](const Counts &counts) {
    return fmt::format(R"({{"passed": {}, "failed": {}, "unsupported": {}}})",
                       counts.passed, counts.failed, counts.unsupported);
  };
  fmt::print("{{\"all\": {}, \"operators\": {{", text(totals.all));
  const char *comma = "\n";
  for (const auto &[op, counts] : totals.byOperator) {
    fmt::print("{}{}: {}", comma, runtime::json::quote(op), text(counts));
    comma = ",\n";
  }
  fmt::print("}}}}\n");
}

/// The times of a case, if they are asked for; what goes wrong is the check's
/// to say.
static std::optional<CaseTimes> timesOf(const OnnxCase &one, DeviceId device,
                                        std::optional<double> seconds) {
  if (!seconds)
    return std::nullopt;
  try {
    return timeOnnxCase(one, device, *seconds);
  } catch (const Error &) {
    return std::nullopt;
  }
}

static void printTimes(const OnnxCase &one, const CaseTimes &times) {
  fmt::print("{}: load {:.3f} ms, first run {:.3f} ms, later {:.4f} ms ({} "
             "runs)\n",
             one.id, times.load, times.first, times.later, times.runs);
}

static void count(const std::string &id, const CaseResult &result,
                  const Arguments &arguments, Totals &totals) {
  totals.all.add(result.verdict);
  totals.byOperator[result.op].add(result.verdict);
  printLine(id, result, arguments);
}

static Totals runAll(const Arguments &arguments, DeviceId device,
                     std::optional<double> seconds) {
  Totals totals;
  std::string only = arguments.get("--only");
  for (const std::string &folder : arguments.positional()) {
    std::vector<TorchCase> programs = findTorchCases(folder);
    for (const TorchCase &one : programs)
      if (one.id.find(only) != std::string::npos)
        count(one.id, runTorchCase(one, device), arguments, totals);
    if (!programs.empty())
      continue;
    for (const OnnxCase &one : findOnnxCases(folder)) {
      if (one.id.find(only) == std::string::npos)
        continue;
      // First, before a check has compiled what the first run needs.
      std::optional<CaseTimes> times = timesOf(one, device, seconds);
      CaseResult result = runOnnxCase(one, device);
      count(one.id, result, arguments, totals);
      if (times && result.verdict == Verdict::passed)
        printTimes(one, *times);
    }
  }
  return totals;
}

int runCheck(int argc, char **argv) {
  Arguments arguments(argc, argv, checkInterface);
  if (arguments.exit)
    return *arguments.exit;
  std::optional<double> seconds;
  if (arguments.has("--times"))
    seconds = arguments.seconds("--times", 0);
  if (arguments.exit)
    return *arguments.exit;
  try {
    DeviceId device = arguments.has("--device")
                          ? sinter::device(arguments.get("--device"))
                          : default_device();
    Totals totals = runAll(arguments, device, seconds);
    if (arguments.has("--json"))
      printJson(totals);
    else
      fmt::print("{} passed, {} failed, {} unsupported\n", totals.all.passed,
                 totals.all.failed, totals.all.unsupported);
    return totals.all.failed == 0 ? exitOk : exitFailed;
  } catch (const Error &error) {
    return report(makeError(error.kind(), error.message()));
  }
}

} // namespace sinter::cli

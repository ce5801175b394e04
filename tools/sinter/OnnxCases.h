/// OnnxCases: runs models of a folder on stored inputs and compares what they
/// give with stored outputs.
#pragma once

#include "sinter/runtime/DeviceId.h"

#include <sinter/Onnx.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cli {

/// A folder with `model.onnx` and `test_data_set_K` with `input_J.pb` and
/// `output_J.pb`.
struct OnnxCase {
  std::string id, folder;
  std::string op;             ///< empty: the operator of the model's first node
  bool comparesValues = true; ///< else dtypes and shapes alone
  double rtol = 1e-3, atol = 1e-5;
};

/// The inputs of the first set of a case, by their names.
onnx::NamedTensors readCaseInputs(const OnnxCase &one, const onnx::Model &model,
                                  DeviceId device);

enum class Verdict : uint8_t { passed, failed, unsupported };

struct CaseResult {
  Verdict verdict = Verdict::passed;
  std::string op;
  std::string why;              ///< unless it passed
  double largestDifference = 0; ///< of floats from what was wanted
  double largestValue = 0;      ///< of floats that were wanted
};

/// What a case takes, in milliseconds; reading its inputs is left out.
struct CaseTimes {
  double load = 0;  ///< reading the model
  double first = 0; ///< its first run: recording, compiling unless that is kept
  double later = 0; ///< the median of runs after it, ended on the device
  int runs = 0;     ///< of these
};

/// The cases in a folder: itself, or those in it. An `index.json` beside them
/// says their operators and what is compared, an `info.json` in one its
/// tolerance. An Error of kind io where the folder cannot be read.
std::vector<OnnxCase> findOnnxCases(const std::string &folder);

/// Runs one case; never throws for what the model does.
CaseResult runOnnxCase(const OnnxCase &one, DeviceId device);

/// Loads a case and runs it on its first set, again for so many seconds and at
/// least three times. An Error where that fails.
CaseTimes timeOnnxCase(const OnnxCase &one, DeviceId device, double seconds);

/// How many cases passed.
struct Counts {
  int passed = 0, failed = 0, unsupported = 0;

  void add(Verdict verdict);
  int all() const { return passed + failed + unsupported; }
};

} // namespace sinter::cli

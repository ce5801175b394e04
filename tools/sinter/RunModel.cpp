/// `sinter run`: a model on given or random inputs. Maps no compiler for a
/// `.sinter` file.
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/Measure.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/ModelEntry.h"
#include "tools/sinter/ProgramText.h"
#include "tools/sinter/Replay.h"
#include "tools/sinter/help/Terminal.h"
#include "tools/sinter/trust/Trust.h"

#include "runtime/device/Device.h"
#include "runtime/graph/Elements.h"
#include "runtime/params/Json.h"
#include "runtime/reference/Repro.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Printable.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    entryFlag,
    trustFlag,
    trustedKeysFlag,
    deviceFlag,
    inputFlag,
    randomInputsFlag,
    randomDimFlag,
    {"--output-dir", "DIR", "write each output there as .npy"},
    {"--repeat", "N",
     "run N times and print the shortest time until outputs are there"},
    {"--json", nullptr, "print outputs and counters as JSON"},
    {"--memory", nullptr, "first print the peak of memory and what makes it"},
    {"--shrink", nullptr, "make a repro smaller: writes NAME.min.mlir"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
    tuneFlag,
    tileFlag,
};
const Interface runInterface = {
    "run MODEL [--entry NAME] [--input NAME=FILE.npy]... [--random-inputs "
    "SEED]",
    "Runs a .mlir or .sinter model once, or --repeat times, and prints its\n"
    "outputs' types and sums, or writes them to --output-dir. Weights, and "
    "the\n"
    "state that a run begins with, are those of the file. A repro of\n"
    "SINTER_VERIFY is run on its own inputs and compared with the reference:\n"
    "the exit code is 1 when it still differs.",
    "sinter run net.sinter --input x=image.npy --output-dir out\n"
    "sinter run net.onnx --random-inputs 1 --repeat 100",
    flags,
    1,
    1,
};

static std::string outputName(const RunnableModel &model, size_t index) {
  const std::string &name = model.entry
                                ? model.entry->point().outputs[index].name
                                : model.program->outputs()[index].name;
  return name.empty() ? fmt::format("output{}", index) : name;
}

/// Whether an output is the caller's, and not what state or weights become.
static bool isGiven(const RunnableModel &model, size_t index) {
  return !model.entry || model.entry->point().outputs[index].updates < 0;
}

// Names come from a model that somebody else may have made: each must be one
// file in the directory that was asked for, and none another's.
static Status checkFileNames(const RunnableModel &model) {
  constexpr size_t longest = 255 - std::string_view(".npy").size();
  std::set<std::string> names;
  for (size_t index = 0; index < model.program->outputs().size(); ++index) {
    if (!isGiven(model, index))
      continue;
    std::string label = outputName(model, index);
    auto refuse = [&](const char *why) {
      return makeError(ErrorKind::invalid_argument,
                       fmt::format("run: --output-dir: output {} is named {}: "
                                   "{}; nothing was written",
                                   index, json::quote(label), why));
    };
    auto isControl = [](unsigned char code) {
      return code < 32 || code == 127;
    };
    if (label.find('/') != label.npos)
      return refuse("a file's name has no '/'");
    if (std::ranges::any_of(label, isControl))
      return refuse("it has a control character");
    if (label.size() > longest)
      return refuse("that is too long for a file's name");
    if (!names.insert(label).second)
      return refuse("an output before it has this name");
  }
  return {};
}

/// Before the run, which may take long.
static Status makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error)
    return {};
  return makeError(ErrorKind::io, fmt::format("run: --output-dir: {}: {}", path,
                                              error.message()));
}

static Result<HostArray> fetch(const Program &program, const Output &output,
                               size_t index) {
  HostArray array;
  array.dtype = program.outputs()[index].dtype;
  array.dims = output.dims;
  // Checked before the run.
  size_t bytes = elementsOf(array.dims).value_or(0) * byteWidth(array.dtype);
  array.bytes.resize(bytes);
  if (bytes > 0)
    SINTER_TRY(program.device().copyOut(array.bytes, *output.buffer, 0));
  return array;
}

static std::string summary(const HostArray &array) {
  return fmt::format("{}[{}] {}", name(array.dtype), fmt::join(array.dims, ","),
                     firstElements(array, 8));
}

static Status giveOutputs(const RunnableModel &model,
                          const std::vector<Output> &outputs,
                          const std::string &directory, FILE *to) {
  for (size_t index = 0; index < outputs.size(); ++index) {
    if (!isGiven(model, index))
      continue;
    SINTER_TRY_ASSIGN(HostArray array,
                      fetch(*model.program, outputs[index], index));
    std::string label = outputName(model, index);
    if (directory.empty()) {
      fmt::print(to, "{}: {}\n", printableName(label), summary(array));
      continue;
    }
    std::filesystem::path path = std::filesystem::path(directory) / label;
    SINTER_TRY(writeNpy(path.string() + ".npy", viewOf(array)));
  }
  return {};
}

static Status printMemory(const Program &program,
                          std::span<const Binding> inputs) {
  SINTER_TRY_ASSIGN(PeakMemory peak, peakMemory(program, inputs));
  fmt::print("{}", printable(memoryText(
                       peak, program.inputs(), program.outputs(),
                       [&](uint32_t node) { return program.siteOf(node); })));
  std::fflush(stdout); // before what may not fit
  return {};
}

static Status runModel(const Model &model, Arguments &arguments) {
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = arguments.has("--memory");
  if (!arguments.has("--memory-limit"))
    request.memoryLimit = sinter::flags().memoryLimit;
  SINTER_TRY_ASSIGN(Device * device, openDevice(arguments, request));
  SINTER_TRY_ASSIGN(RunnableModel loaded,
                    loadModel(model, arguments, request, *device));
  const std::shared_ptr<const Program> &program = loaded.program;
  if (!program->choice().empty())
    fmt::print(stderr, "{}\n", printable(program->choice()));
  SINTER_TRY_ASSIGN(Runnable runnable, bindModel(loaded, arguments));
  if (arguments.has("--output-dir")) {
    SINTER_TRY(checkFileNames(loaded));
    SINTER_TRY(makeFolder(arguments.get("--output-dir")));
  }
  RunCounters counters;
  SINTER_TRY_ASSIGN(
      std::vector<Output> outputs,
      runOnce(runnable, counters,
              arguments.has("--memory") ? printMemory : BeforeRun()));
  int64_t repeats = std::max<int64_t>(1, arguments.number("--repeat", 1));
  SINTER_TRY(device->synchronize());
  double best = 0;
  for (int64_t round = 1; round < repeats; ++round) {
    auto start = std::chrono::steady_clock::now();
    RunCounters again;
    SINTER_TRY_ASSIGN(outputs, runOnce(runnable, again));
    SINTER_TRY(device->synchronize());
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    best = round == 1 ? elapsed.count() : std::min(best, elapsed.count());
  }
  SINTER_TRY(giveOutputs(loaded, outputs, arguments.get("--output-dir"),
                         arguments.has("--json") ? stderr : stdout));
  if (arguments.has("--json"))
    fmt::print("{{\"launches\": {}, \"bytes_read\": {}, \"bytes_written\": {}, "
               "\"arena_bytes\": {}, \"microseconds\": {:.1f}}}\n",
               counters.launches, counters.bytesRead, counters.bytesWritten,
               counters.arenaBytes, best);
  else if (repeats > 1)
    fmt::print("{:.1f} us, {} launches\n", best, counters.launches);
  return {};
}

int runRun(int argc, char **argv) {
  Arguments arguments(argc, argv, runInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
  if (!model)
    return report(model.error());
  bool hasInputs = arguments.has("--input") || arguments.has("--random-inputs");
  if (reference::isRepro(model->text) && !hasInputs)
    return replayRepro(*model, arguments);
  if (arguments.has("--shrink")) {
    fmt::print(stderr, "{}--shrink takes a repro of SINTER_VERIFY\n",
               errorPrefix());
    return exitUsage;
  }
  Status done = runModel(*model, arguments);
  if (arguments.exit)
    return *arguments.exit;
  return done ? exitOk : report(done.error());
}

} // namespace sinter::cli

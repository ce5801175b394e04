/// `sinter report`: what a model compiles to, as a page.
#include "runtime/params/Json.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/report/Page.h"
#include "tools/sinter/report/ReportData.h"
#include "tools/sinter/report/Stages.h"
#include "tools/sinter/report/Times.h"
#include "tools/sinter/trust/Trust.h"

#include <fmt/format.h>
#include <sinter/version.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--html", "FILE", "where the page is written; - is the standard output"},
    {"--run", nullptr, "measure the kernels, too, on random inputs"},
    {"--repeat", "N", "run N times (default 20)"},
    entryFlag,
    trustFlag,
    trustedKeysFlag,
    deviceFlag,
    inputFlag,
    randomInputsFlag,
    {"--dim", "sN=VALUE", "a symbolic dim (default 4)"},
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
const Interface reportInterface = {
    "report MODEL --html FILE [--run]",
    "Writes a page that shows a program: its kernels as a graph, each with "
    "its\n"
    "ops, lines and buffers; every decision of fusion and its reason; the\n"
    "memory of each step; bytes and operations of the kernels, and with --run\n"
    "their times against this machine's ceilings; the IR of each stage, to be\n"
    "searched. The page is one file and loads nothing. Without --run the same\n"
    "input gives the same bytes.",
    "sinter report net.onnx --html net.html\n"
    "sinter report net.sinter --html net.html --run --device cuda:0\n"
    "sinter report step.mlir --html step.html --dynamic x:0=batch --dim s0=32",
    flags,
    1,
    1,
};

// A part of the page for each program of the model.
static Result<std::string> dataOf(const Model &model,
                                  const Arguments &arguments,
                                  const CompileRequest &request,
                                  const std::optional<LaunchTimes> &times) {
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    selectParts(model, arguments, request));
  std::string json =
      fmt::format("{{\"model\": {}, \"sinter\": {}, \"programs\": [",
                  json::quote(printable(arguments.positional()[0])),
                  json::quote(SINTER_VERSION));
  const char *comma = "";
  for (const FileParts &parts : all) {
    SINTER_TRY_ASSIGN(std::vector<int64_t> symbols,
                      symbolValues(parts.program.numSymbols, arguments));
    SINTER_TRY_ASSIGN(std::string stages,
                      stagesJson(model, parts, arguments, request));
    json += comma + programJson(parts, symbols, times, stages);
    comma = ",\n";
  }
  return json + "]}\n";
}

static Status writeReport(const Model &model, Arguments &arguments) {
  int64_t repeats = arguments.number("--repeat", 20);
  if (arguments.exit)
    return {};
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = true;
  std::optional<LaunchTimes> times;
  if (arguments.has("--run")) {
    SINTER_TRY_ASSIGN(Device * device, openDevice(arguments, request));
    // The page is about the program that was measured.
    arguments.setDefault("--target", device->target());
    SINTER_TRY_ASSIGN(times, measureLaunches(model, arguments, repeats));
  }
  SINTER_TRY_ASSIGN(request, tunedRequest(model, request));
  request.tuneOn.clear(); // it has been done
  SINTER_TRY_ASSIGN(std::string data, dataOf(model, arguments, request, times));
  return writeText(arguments.get("--html"), pageOf(data));
}

int runReport(int argc, char **argv) {
  Arguments arguments(argc, argv, reportInterface);
  if (arguments.exit)
    return *arguments.exit;
  if (arguments.get("--html").empty())
    return report(makeError(ErrorKind::invalid_argument,
                            "report: --html FILE says where the page goes")),
           exitUsage;
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
  if (!model)
    return report(model.error());
  Status done = writeReport(*model, arguments);
  if (arguments.exit)
    return *arguments.exit;
  return done ? exitOk : report(done.error());
}

} // namespace sinter::cli

/// `sinter bench`: how long models and built-in cases take.
#include "runtime/params/Json.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/Measure.h"
#include "tools/sinter/help/Terminal.h"

#include "sinter/runtime/DType.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <string>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--json", nullptr, "print JSON"},
    {"--seconds", "S", "call each for that long (default 0.5)"},
    {"--m", "M", "rows of a product's result (default 1024)"},
    {"--n", "N", "its columns (default 1024)"},
    {"--k", "K", "what its factors have in common (default 1024)"},
    {"--rows", "ROWS", "of the other cases (default 1024)"},
    {"--cols", "COLUMNS", "of the other cases (default 1024)"},
    {"--dtype", "DTYPE", "f32 (default), f64, f16 or bf16", "f32 f64 f16 bf16"},
    entryFlag,
    trustFlag,
    trustedKeysFlag,
    deviceFlag,
    inputFlag,
    randomInputsFlag,
    randomDimFlag,
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
const Interface benchInterface = {
    "bench MODEL|CASE... [--json]",
    "Compiles each model or built-in case and calls it on random inputs: the\n"
    "least and the median time of a call, how long it keeps the host busy\n"
    "(waiting for a device apart), how many calls launched graphs that were\n"
    "there, bytes and arithmetic per second, launches. The cases:\n"
    "matmul_bias_relu (--m, --n, --k), and softmax, layer_norm, gelu, add,\n"
    "sum_rows, sum_columns (--rows, --cols).\n"
    "tools/bench compares with other frameworks.",
    "sinter bench matmul_bias_relu --m 4096 --n 4096 --k 4096 --dtype bf16 "
    "--device cuda:0\n"
    "sinter bench net.onnx --json",
    flags,
    1,
    1000,
    "matmul_bias_relu softmax layer_norm gelu add sum_rows sum_columns",
};

namespace {

/// A case as text of the dialect, in which {m} and so on stand for what the
/// flags say, and {t} for the dtype.
struct BuiltIn {
  const char *name;
  const char *text;
  /// Multiplications and additions, by sizes; 0: not arithmetic that counts.
  double (*flops)(std::map<std::string, int64_t> &);
};

} // namespace

static double flopsOfProduct(std::map<std::string, int64_t> &size) {
  return 2.0 * double(size["m"]) * double(size["n"]) * double(size["k"]);
}

static constexpr BuiltIn builtIns[] = {
    {"matmul_bias_relu",
     R"(func.func @main(%x: tensor<{m}x{k}x{t}>, %w: tensor<{k}x{n}x{t}>, %b: tensor<{n}x{t}>) -> tensor<{m}x{n}x{t}> {
  %0 = sinter.matmul %x, %w : (tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %1 = sinter.broadcast %b {shape = affine_map<() -> ({m}, {n})>} : (tensor<{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %2 = sinter.add %0, %1 : (tensor<{m}x{n}x{t}>, tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %3 = sinter.relu %2 : (tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %3 : tensor<{m}x{n}x{t}>
})",
     flopsOfProduct},
    {"softmax",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}>
  return %0 : tensor<{rows}x{cols}x{t}>
})",
     nullptr},
    {"layer_norm",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>, %w: tensor<{cols}x{t}>, %b: tensor<{cols}x{t}>) -> tensor<{rows}x{cols}x{t}> {
  %0 = sinter.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : (tensor<{rows}x{cols}x{t}>, tensor<{cols}x{t}>, tensor<{cols}x{t}>) -> tensor<{rows}x{cols}x{t}>
  return %0 : tensor<{rows}x{cols}x{t}>
})",
     nullptr},
    {"gelu",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}> {
  %0 = sinter.gelu %x {approximate = "none"} : (tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}>
  return %0 : tensor<{rows}x{cols}x{t}>
})",
     nullptr},
    {"add",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>, %y: tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}> {
  %0 = sinter.add %x, %y : (tensor<{rows}x{cols}x{t}>, tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{cols}x{t}>
  return %0 : tensor<{rows}x{cols}x{t}>
})",
     nullptr},
    {"sum_rows",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{t}> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<{rows}x{cols}x{t}>) -> tensor<{rows}x{t}>
  return %0 : tensor<{rows}x{t}>
})",
     nullptr},
    {"sum_columns",
     R"(func.func @main(%x: tensor<{rows}x{cols}x{t}>) -> tensor<{cols}x{t}> {
  %0 = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<{rows}x{cols}x{t}>) -> tensor<{cols}x{t}>
  return %0 : tensor<{cols}x{t}>
})",
     nullptr},
};

static const BuiltIn *findBuiltIn(const std::string &name) {
  for (const BuiltIn &each : builtIns)
    if (name == each.name)
      return &each;
  return nullptr;
}

static void replaceAll(std::string &text, const std::string &what,
                       const std::string &by) {
  for (size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

namespace {
/// One line of the report.
struct Measured {
  std::string name;
  Times times;
  double flops = 0;
};
} // namespace

/// The sizes that the flags give; prints the error and sets `exit` of a wrong
/// one.
static std::map<std::string, int64_t> sizesOf(Arguments &arguments) {
  std::map<std::string, int64_t> sizes;
  for (const char *name : {"m", "n", "k", "rows", "cols"}) {
    std::string flag = std::string("--") + name;
    sizes[name] = arguments.number(flag, 1024);
    if (!arguments.exit && sizes[name] < 1) {
      fmt::print(stderr, "{}bench: {} is not a size: {}\n", errorPrefix(), flag,
                 sizes[name]);
      arguments.exit = exitUsage;
    }
  }
  return sizes;
}

static std::string textOf(const BuiltIn &builtIn,
                          const std::map<std::string, int64_t> &sizes,
                          const std::string &dtype) {
  std::string text = builtIn.text;
  replaceAll(text, "{t}", dtype);
  for (const auto &[name, size] : sizes)
    replaceAll(text, "{" + name + "}", std::to_string(size));
  return text;
}

static Result<Measured> measureOne(const std::string &name,
                                   std::map<std::string, int64_t> sizes,
                                   double seconds, Arguments &arguments) {
  Measured measured{name, {}, 0};
  Model model;
  if (const BuiltIn *builtIn = findBuiltIn(name)) {
    model.path = name;
    model.text = textOf(*builtIn, sizes, arguments.get("--dtype", "f32"));
    if (builtIn->flops)
      measured.flops = builtIn->flops(sizes);
  } else {
    SINTER_TRY_ASSIGN(model, readModelFile(name, arguments));
  }
  SINTER_TRY_ASSIGN(Runnable runnable, makeRunnable(model, arguments));
  SINTER_TRY_ASSIGN(measured.times, measure(runnable, seconds));
  return measured;
}

static void print(const std::vector<Measured> &all, bool asJson) {
  if (!asJson)
    fmt::print("{:>11} {:>11} {:>9} {:>7} {:>8} {:>8} {:>9} {:>8}  case\n",
               "least us", "median us", "host us", "calls", "replays", "GB/s",
               "GFLOP/s", "launches");
  const char *separator = "[";
  for (const auto &[name, times, flops] : all) {
    auto bytes = double(times.counters.bytesRead + times.counters.bytesWritten);
    double nanoseconds = times.least * 1e3;
    if (asJson)
      fmt::print("{}{{\"case\": {}, \"least_us\": {:.2f}, \"median_us\": "
                 "{:.2f}, \"host_us\": {:.2f}, \"calls\": {}, "
                 "\"recordings\": {}, \"replays\": {}, \"bytes\": {}, "
                 "\"flops\": {:.0f}, \"launches\": {}}}",
                 separator, json::quote(name), times.least, times.median,
                 times.host, times.calls, times.recordings, times.replays,
                 bytes, flops, times.counters.launches);
    else
      fmt::print("{:>11.1f} {:>11.1f} {:>9.1f} {:>7} {:>8} {:>8.1f} {:>9} "
                 "{:>8}  {}\n",
                 times.least, times.median, times.host, times.calls,
                 times.replays, bytes / nanoseconds,
                 flops > 0 ? fmt::format("{:.1f}", flops / nanoseconds) : "-",
                 times.counters.launches, name);
    separator = ",\n ";
  }
  if (asJson)
    fmt::print("]\n");
}

int runBench(int argc, char **argv) {
  Arguments arguments(argc, argv, benchInterface);
  if (arguments.exit)
    return *arguments.exit;
  std::map<std::string, int64_t> sizes = sizesOf(arguments);
  if (arguments.exit)
    return *arguments.exit;
  double seconds = arguments.seconds("--seconds", 0.5);
  if (arguments.exit)
    return *arguments.exit;
  std::string dtype = arguments.get("--dtype", "f32");
  if (dtype != "f32" && dtype != "f64" && dtype != "f16" && dtype != "bf16") {
    fmt::print(stderr,
               "{}--dtype is f32, f64, f16 or bf16 for the built-in "
               "cases, got '{}'\n",
               errorPrefix(), dtype);
    return exitUsage;
  }
  std::vector<Measured> all;
  for (const std::string &name : arguments.positional()) {
    Result<Measured> measured = measureOne(name, sizes, seconds, arguments);
    if (!measured)
      return report(measured.error());
    all.push_back(std::move(*measured));
  }
  print(all, arguments.has("--json"));
  return exitOk;
}

} // namespace sinter::cli

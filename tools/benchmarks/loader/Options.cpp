/// Reads the command line.
#include "tools/benchmarks/loader/Options.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sinter::bench {

static constexpr const char *help =
    "usage: loader-bench [--device cuda:0] [--workers N] [--prefetch N]\n"
    "  [--batch N] [--items N] [--batches N] [--step-ms MS]\n"
    "  [--peer 'python3 tools/benchmarks/loader/torch_loader.py']\n"
    "Prints a JSON object a line: how long loops with steps of that time wait\n"
    "for batches, images a second without steps, and short epochs.\n";

[[noreturn]] static void end(int status) {
  std::fputs(help, status ? stderr : stdout);
  std::exit(status);
}

static double numberOf(const char *text) {
  char *rest = nullptr;
  double value = std::strtod(text, &rest);
  if (rest == text || *rest || !(value >= 0 && value < 1e9))
    end(2);
  return value;
}

LoaderBenchOptions readOptions(int count, char **arguments) {
  LoaderBenchOptions options;
  for (int i = 1; i < count; i += 2) {
    std::string_view name = arguments[i];
    if (name == "--help")
      end(0);
    if (i + 1 == count)
      end(2);
    const char *value = arguments[i + 1];
    auto whole = [value] { return static_cast<int64_t>(numberOf(value)); };
    if (name == "--device")
      options.device = value;
    else if (name == "--workers")
      options.workers = whole();
    else if (name == "--prefetch")
      options.prefetch = whole();
    else if (name == "--batch")
      options.batch = whole();
    else if (name == "--items")
      options.items = whole();
    else if (name == "--batches")
      options.batches = whole();
    else if (name == "--step-ms")
      options.stepMilliseconds = numberOf(value);
    else if (name == "--peer")
      options.peer = value;
    else
      end(2);
  }
  return options;
}

} // namespace sinter::bench

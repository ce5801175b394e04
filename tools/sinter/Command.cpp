/// The table of commands, and how errors are printed.
#include "tools/sinter/Command.h"

#include "runtime/support/Printable.h"
#include "runtime/support/Sites.h"
#include "tools/sinter/ProgressLine.h"

#include <cstdio>
#include <string>

namespace sinter::cli {

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"devices", "list devices, their features and memory", runDevices},
      {"compile", "compile a model to a .sinter file", runCompile},
      {"run", "run a model on files or random inputs", runRun},
      {"inspect", "print a model at a stage of the compiler", runInspect},
      {"explain", "list kernels, what was fused, what was not and why",
       runExplain},
      {"bench", "measure models and built-in cases", runBench},
      {"profile", "measure a model's kernels against this machine's ceilings",
       runProfile},
      {"check", "run ONNX models on stored inputs and compare their outputs",
       runCheck},
      {"diff", "compare what two models compile to", runDiff},
      {"opt", "run compiler passes on text", runOpt},
      {"cache", "show, empty or check the program cache", runCache},
  };
  return table;
}

int report(const ErrorInfo &error) {
  ProgressLine::hide();
  std::string context;
  auto add = [&](const std::string &part) {
    if (part.empty() || error.message.find(part) != std::string::npos)
      return;
    context += (context.empty() ? "" : ", ") + part;
  };
  add(error.op);
  for (const std::string &shape : error.shapes)
    add(shape);
  add(siteString(error.site));
  if (!context.empty())
    context = " (" + context + ")";
  std::fprintf(stderr, "error: %s\n",
               printable(error.message + context).c_str());
  return exitFailed;
}

} // namespace sinter::cli

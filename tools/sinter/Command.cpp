/// The table of commands, and how errors are printed.
#include "tools/sinter/Command.h"

#include "runtime/support/Printable.h"
#include "runtime/support/Sites.h"
#include "tools/sinter/ProgressLine.h"
#include "tools/sinter/help/Terminal.h"

#include <cstdio>
#include <string>

namespace sinter::cli {

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"devices", "list devices, their features and memory", runDevices,
       &devicesInterface},
      {"compile", "compile a model to a .sinter file", runCompile,
       &compileInterface},
      {"embed", "make a compiled model a part of a C program", runEmbed,
       &embedInterface},
      {"run", "run a model on files or random inputs", runRun, &runInterface},
      {"inspect", "print a model at a stage of the compiler", runInspect,
       &inspectInterface},
      {"explain", "list kernels, what was fused, what was not and why",
       runExplain, &explainInterface},
      {"bench", "measure models and built-in cases", runBench, &benchInterface},
      {"profile", "measure a model's kernels against this machine's ceilings",
       runProfile, &profileInterface},
      {"report", "write a model's kernels, decisions and memory as a page",
       runReport, &reportInterface},
      {"check", "run ONNX models on stored inputs and compare their outputs",
       runCheck, &checkInterface},
      {"diff", "compare what two models compile to", runDiff, &diffInterface},
      {"convert", "write a weight file in another format, under other names",
       runConvert, &convertInterface},
      {"opt", "run compiler passes on text", runOpt, nullptr},
      {"keygen", "make a pair of keys for signing", runKeygen,
       &keygenInterface},
      {"sign", "sign a .sinter file", runSign, &signInterface},
      {"verify", "check the signature of a .sinter file", runVerify,
       &verifyInterface},
      {"cache", "show, empty or check the program cache", runCache,
       &cacheInterface},
      {"completion", "print what a shell completes commands by", runCompletion,
       &completionInterface},
      {"man", "print a page of the manual", runMan, &manInterface},
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
  std::fprintf(stderr, "%s%s\n", errorPrefix(),
               printable(error.message + context).c_str());
  return exitFailed;
}

} // namespace sinter::cli

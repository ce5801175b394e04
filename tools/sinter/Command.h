/// The commands of the tool, and what they share.
#pragma once

#include "sinter/runtime/Error.h"

#include <span>

namespace sinter::cli {

/// Exit codes: it worked, the thing failed, or it was asked for wrongly.
inline constexpr int exitOk = 0;
inline constexpr int exitFailed = 1;
inline constexpr int exitUsage = 2;

struct Interface;

/// One command. `run` gets the command's name as argv[0].
struct Command {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);
  const Interface *interface; ///< null: it parses by itself
};

/// Every command, in the order of the help.
std::span<const Command> commands();

extern const Interface reportInterface;
extern const Interface inspectInterface, explainInterface, checkInterface,
    diffInterface, compileInterface, embedInterface, runInterface,
    benchInterface, profileInterface, devicesInterface, cacheInterface,
    completionInterface, manInterface, convertInterface, keygenInterface,
    signInterface, verifyInterface;

int runOpt(int argc, char **argv);
int runReport(int argc, char **argv);
int runInspect(int argc, char **argv);
int runExplain(int argc, char **argv);
int runCheck(int argc, char **argv);
int runDiff(int argc, char **argv);
int runConvert(int argc, char **argv);
int runCompile(int argc, char **argv);
int runEmbed(int argc, char **argv);
int runRun(int argc, char **argv);
int runBench(int argc, char **argv);
int runProfile(int argc, char **argv);
int runDevices(int argc, char **argv);
int runCache(int argc, char **argv);
int runKeygen(int argc, char **argv);
int runSign(int argc, char **argv);
int runVerify(int argc, char **argv);
int runCompletion(int argc, char **argv);
int runMan(int argc, char **argv);

/// Prints `error: WHAT (op, shapes, file:line)` to the standard error and gives
/// the exit code: usage for invalid arguments of the command line, else failed.
int report(const ErrorInfo &error);

} // namespace sinter::cli

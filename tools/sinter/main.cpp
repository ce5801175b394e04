/// The command line tool: finds the command and runs it.
#include "tools/sinter/Command.h"
#include "tools/sinter/ProgressLine.h"
#include "tools/sinter/help/Terminal.h"

#include <sinter/version.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

using namespace sinter::cli;

static void printUsage(FILE *to) {
  std::fputs("usage: sinter COMMAND [ARGUMENTS]\n\n", to);
  for (const Command &command : commands())
    std::fprintf(to, "  %-10s %s\n", command.name, command.summary);
  std::fputs(
      "\n`sinter COMMAND --help` explains one; `sinter --version` prints "
      "the version.\n",
      to);
}

static const Command *findCommand(std::string_view name) {
  for (const Command &command : commands())
    if (name == command.name)
      return &command;
  return nullptr;
}

static int runCommand(int argc, char **argv) {
  // Under the name sinter-opt the tool is its command opt.
  std::string_view program = argv[0];
  if (program.ends_with("sinter-opt"))
    return findCommand("opt")->run(argc, argv);
  if (argc < 2) {
    printUsage(stderr);
    return exitUsage;
  }
  std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    printUsage(stdout);
    return exitOk;
  }
  if (name == "--version" || name == "-V") {
    std::puts("sinter " SINTER_VERSION);
    return exitOk;
  }
  const Command *command = findCommand(name);
  if (!command) {
    std::vector<std::string_view> names;
    for (const Command &each : commands())
      names.emplace_back(each.name);
    std::fprintf(stderr, "%sno command '%s'%s; see sinter --help\n",
                 errorPrefix(), argv[1], meantText(name, names).c_str());
    return exitUsage;
  }
  return command->run(argc - 1, argv + 1);
}

/// What was printed and did not arrive, as on a full disk, is a failure.
int main(int argc, char **argv) {
  int code = exitFailed;
  try {
    ProgressLine progress;
    code = runCommand(argc, argv);
  } catch (const std::system_error &failure) { // of fmt::print
    std::fprintf(stderr, "%scannot write: %s\n", errorPrefix(), failure.what());
    return exitFailed;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "%sout of memory\n", errorPrefix());
    return exitFailed;
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return code;
  std::perror("error: standard output: cannot write");
  return code == exitOk ? exitFailed : code;
}

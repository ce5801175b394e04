/// `sinter opt`: the compiler's passes on text.
#include "runtime/program/CompilerHook.h"
#include "tools/sinter/Command.h"

namespace sinter::cli {

int runOpt(int argc, char **argv) {
  Result<const runtime::CompilerHook *> hook = runtime::compilerHook();
  if (!hook)
    return report(hook.error());
  return (*hook)->optMain(argc, argv);
}

} // namespace sinter::cli

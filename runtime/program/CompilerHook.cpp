/// Finds the compiler: registered, or a library beside this one.
#include "runtime/program/CompilerHook.h"

#include "runtime/files/OwnFolder.h"
#include "runtime/support/Fork.h"
#include "runtime/support/WorkTimes.h"

#include <sinter/version.h>

#include <atomic>
#include <mutex>
#include <string>

#include <dlfcn.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

std::atomic<const CompilerHook *> registered{nullptr};

ErrorInfo noCompiler(const std::string &why) {
  return makeError(ErrorKind::compile,
                   "no compiler: " + why +
                       "; programs that are compiled already still run");
}

Result<const CompilerHook *> openCompiler() {
  WorkTimer timer(Work::opening);
  std::string path = ownFolder() + "/libsinter-compiler.so." +
                     std::to_string(SINTER_VERSION_MAJOR) + "." +
                     std::to_string(SINTER_VERSION_MINOR);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return noCompiler(dlerror());
  auto *entry = reinterpret_cast<const CompilerHook *(*)()>(
      dlsym(library, compilerHookSymbol));
  if (!entry)
    return noCompiler(path + " does not export " + compilerHookSymbol);
  const CompilerHook *hook = entry();
  if (!hook)
    return noCompiler(path + " offers none");
  registered.store(hook, std::memory_order_release);
  return hook;
}

} // namespace

void sinter::runtime::registerCompiler(const CompilerHook *hook) {
  registered.store(hook, std::memory_order_release);
}

Result<const CompilerHook *> sinter::runtime::compilerHook() {
  if (const CompilerHook *hook = registered.load(std::memory_order_acquire))
    return hook;
  static auto &opening = *new ForkMutex;
  std::lock_guard lock(opening);
  if (const CompilerHook *hook = registered.load(std::memory_order_acquire))
    return hook;
  return openCompiler();
}

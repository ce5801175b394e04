/// Offers the compiler to the runtime at start-up, where both are in one file.
#include "runtime/program/CompilerHook.h"

extern "C" const sinter::runtime::CompilerHook *sinter_compiler_hook();

namespace {

struct RegisterCompiler {
  RegisterCompiler() {
    sinter::runtime::registerCompiler(sinter_compiler_hook());
  }
} registerCompiler;

} // namespace

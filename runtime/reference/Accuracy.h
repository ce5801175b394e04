/// Accuracy: how far off the ops of a compiled program may be.
#pragma once

#include "runtime/program/CompilerHook.h"

namespace sinter::reference {

/// How far off each op may be.
struct Accuracy {
  double roundings = 4;
  /// Whether numbers below the least normal `f32` may be taken, and given, as
  /// zeros.
  bool flushesDenormals = false;
};

/// That of programs compiled so, as docs/numerics.md and docs/semantics.md say.
Accuracy accuracyOf(const runtime::CompileRequest &request);

} // namespace sinter::reference

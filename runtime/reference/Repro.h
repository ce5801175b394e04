/// Repro: a graph that came out wrong, with everything to run it again.
///
/// Two files side by side: `NAME.mlir` has the graph as text below a comment
/// that says how it was compiled, `NAME.safetensors` the inputs' bytes.
#pragma once

#include "runtime/program/CompilerHook.h"
#include "runtime/reference/Reference.h"
#include "sinter/runtime/DeviceId.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::reference {

struct Repro {
  graph::Graph graph;
  std::vector<HostTensor> inputs;  ///< one per input of the graph
  runtime::CompileRequest request; ///< without debug and dynamic
  std::string difference;          ///< what was found
  std::string site;                ///< `file:line` of the op, or empty
  /// Where it is run again, no part of the files; without it on the first
  /// device of the target's kind.
  std::optional<DeviceId> device;
};

/// Writes `NAME.mlir` for a `path` that ends so, and the inputs beside it. Both
/// appear whole or not at all, the inputs first. Needs the compiler, which
/// knows the text.
Status writeRepro(const std::string &path, const Repro &repro);

/// Whether a text begins as a repro does.
bool isRepro(std::string_view text);

/// Reads the text of the file at `path` and the inputs beside it. Trusts
/// nothing; an error of kind `io` says what is wrong.
Result<Repro> readRepro(const std::string &path, std::string_view text);

/// Compiles and runs the graph. The difference from the reference
/// that is more than rounding, or empty. An error when it cannot be compiled
/// or run, or when the reference refuses it.
Result<std::string> replay(const Repro &repro);

} // namespace sinter::reference

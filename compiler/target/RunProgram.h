/// RunProgram: programs of the machine's that make one file of another.
#pragma once

#include "sinter/runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace sinter::compiler {

/// A program and how it is called: behind its arguments come the input and,
/// where it writes one, `-o` and the output.
struct OuterProgram {
  llvm::StringRef name;
  llvm::StringRef purpose; ///< as `GLSL is compiled by`
  llvm::StringRef origin;  ///< as `Debian's package glslang-tools`
  std::vector<std::string> arguments;
  llvm::StringRef inputSuffix;
  llvm::StringRef outputSuffix; ///< empty: it writes to its standard output
};

struct ProgramResult {
  int code = 0;
  std::string input;  ///< the file's name, as the program knows it
  std::string said;   ///< both of its streams
  std::string output; ///< the file's bytes
};

/// Runs it over files that go away again. An error of kind `unsupported` says
/// that there is none, of kind `io` that no file can be written, of kind
/// `compile` that it cannot be started.
Result<ProgramResult> runProgram(const OuterProgram &program,
                                 llvm::StringRef input);

} // namespace sinter::compiler

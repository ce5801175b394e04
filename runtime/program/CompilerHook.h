/// The one registered pointer through which the runtime reaches the compiler.
#pragma once

#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// The tile of one kernel's product: both by name, as schedules say it.
struct TileChoice {
  std::string kernel;
  std::string tile;
  bool operator==(const TileChoice &) const = default;
};

/// Options of a compilation, as plain data (compiler/Compiler.h documents the
/// meaning of each).
struct CompileRequest {
  std::string target = "cpu";
  uint8_t numerics = 1;    ///< compiler::NumericsMode
  uint8_t fusion = 0;      ///< compiler::Fusion
  int64_t memoryLimit = 0; ///< bytes; 0 for none
  bool debug = false;
  std::vector<std::string> dynamic = {};
  std::vector<TileChoice> tiles = {};
  /// The device on which the fastest tiles are found before anything is
  /// compiled (runtime/tune); none where it is empty. Not the compiler's.
  std::string tuneOn = {};
};

/// What libsinter-compiler offers. Functions never throw.
struct CompilerHook {
  Result<std::vector<std::byte>> (*compile)(const graph::Graph &,
                                            const CompileRequest &);
  Result<std::vector<std::byte>> (*compileText)(std::string_view mlir,
                                                const CompileRequest &);
  Result<std::string> (*exportGraph)(const graph::Graph &);
  Result<graph::Graph> (*readGraph)(std::string_view mlir);
  Result<std::string> (*inspect)(const graph::Graph &, std::string_view stage,
                                 const CompileRequest &);
  Result<std::string> (*inspectText)(std::string_view mlir,
                                     std::string_view stage,
                                     const CompileRequest &);
  std::string_view (*digest)();
  /// `sinter opt`: runs passes as the arguments say and returns the exit code.
  int (*optMain)(int argc, char **argv);
  /// The machine code of a program's image as text.
  Result<std::string> (*disassemble)(std::span<const std::byte> image);
  Result<std::vector<std::string>> (*kernelTiles)(std::string_view kernel,
                                                  const CompileRequest &);
  Result<std::vector<std::byte>> (*compileKernel)(std::string_view kernel,
                                                  const CompileRequest &);
  Result<std::string> (*machineText)(std::string_view target);
};

/// The hook: the one registered by `registerCompiler` (static builds), else
/// libsinter-compiler.so of this version opened now, found beside the runtime
/// library. An error of kind `compile` when there is none.
Result<const CompilerHook *> compilerHook();
void registerCompiler(const CompilerHook *hook);

/// The symbol that libsinter-compiler.so exports:
/// `extern "C" const CompilerHook *sinter_compiler_hook();`
inline constexpr const char *compilerHookSymbol = "sinter_compiler_hook";

} // namespace sinter::runtime

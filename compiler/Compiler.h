/// The only compiler header that others see. No MLIR types.
#pragma once

#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::compiler {

/// The stages in order; one vocabulary for folders, dumps and flags.
enum class Stage : uint8_t {
  import,
  simplify,
  fuse,
  plan,
  lower,
  target,
  package,
};

enum class NumericsMode : uint8_t { exact, standard, fast };

/// The tier: what fusion is allowed to do.
enum class Fusion : uint8_t {
  full,
  none, ///< one op per kernel, after composites are expanded
};

/// The tile of one kernel's product: both by name, as schedules say it.
struct TileChoice {
  std::string kernel;
  std::string tile;
};

struct Options {
  /// `cpu` (this machine's exact features), `cpu:x86-64-v3`,
  /// `cpu:x86-64-v4`, `cpu:scalar`; with `+FEATURE` after it, that too;
  /// `cpu:aarch64`, for another machine.
  std::string target = "cpu";
  NumericsMode numerics = NumericsMode::standard;
  Fusion fusion = Fusion::full;
  /// Bytes of inputs, outputs and temporaries above which values are computed
  /// again rather than kept; 0 for no limit.
  int64_t memoryLimit = 0;
  /// Include source lines (the debug section).
  bool debug = false;
  /// Axes of a text's inputs that become symbols: `INPUT:AXIS=SYMBOL`.
  std::vector<std::string> dynamic = {};
  /// Tiles to take in place of those that the target would take unasked. An
  /// error when there is no such kernel, or it has no such tile.
  std::vector<TileChoice> tiles = {};
};

/// A compiled model: the bytes of a `.sinter` file.
using ModelBytes = std::vector<std::byte>;

/// Compiles a graph into the bytes of a model file. Thread-safe and
/// deterministic: equal graphs and options give equal bytes, whatever
/// `Graph::sites` says unless `debug` is set.
Result<ModelBytes> compile(const graph::Graph &graph,
                           const Options &options) noexcept;

/// Compiles `sinter`-dialect text, as `exportGraph` writes it.
Result<ModelBytes> compileText(std::string_view mlir,
                               const Options &options) noexcept;

/// The graph as `sinter`-dialect text: exactly what `compile` starts from.
Result<std::string> exportGraph(const graph::Graph &graph) noexcept;

/// The graph that such a text says, for those who compute it without MLIR.
Result<graph::Graph> readGraph(std::string_view mlir) noexcept;

/// The IR after `stage` (a stage's name, or `llvm`, `asm`) as text.
Result<std::string> inspect(const graph::Graph &graph, std::string_view stage,
                            const Options &options) noexcept;
Result<std::string> inspectText(std::string_view mlir, std::string_view stage,
                                const Options &options) noexcept;

/// The numbers of a machine by which kernels for a target are chosen, a line
/// each: name, value and meaning. Empty where there are none.
Result<std::string> machineText(std::string_view target) noexcept;

/// The names of the tiles that a kernel's schedule may choose from, the one
/// that is taken unasked first; none for most kernels. `kernel` is its text as
/// a model file has it.
Result<std::vector<std::string>> kernelTiles(std::string_view kernel,
                                             const Options &options) noexcept;

/// Compiles one kernel into a program that launches it once. First it has an
/// input for each of the kernel's symbols, of u8, whose only size is that
/// symbol's value; then the kernel's. `tiles` goes by the kernel's name.
Result<ModelBytes> compileKernel(std::string_view kernel,
                                 const Options &options) noexcept;

/// Digest of the compiler's own sources and of the LLVM version: part of every
/// key, 32 hexadecimal digits.
std::string_view digest();

} // namespace sinter::compiler

/// The seam between kernel formation and code: one kernel in, code out.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/target/Target.h"
#include "dialects/program/Program.h"
#include "sinter/runtime/Dim.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::compiler {

/// One counted launch of a kernel.
struct PhaseCode {
  std::string symbol;          ///< a KernelFunction in the object
  uint32_t chunks = 0;         ///< index into KernelCode::exprs
  float chunkMicroseconds = 0; ///< an estimate for one chunk
  /// The kernel's input that alone decides what this phase writes, and the one
  /// workspace that it writes: the executor may keep it while the input stays
  /// the same. -1 for any other phase.
  int32_t prepares = -1;
  uint32_t workspace = 0; ///< number among the workspaces
};

/// The code of one kernel. Expressions are over the kernel's own symbols,
/// post-order, and evaluate with sinter::evaluate.
struct KernelCode {
  std::string object; ///< bytes of a relocatable object, no undefined symbols
  std::vector<Expr> exprs;
  uint32_t numSymbols = 0;
  std::vector<PhaseCode> phases; ///< run in order
  /// Bytes of each workspace (indices into exprs); they follow inputs and
  /// outputs in KernelBlock::buffers.
  std::vector<uint32_t> workspaces;
  /// What its schedule may choose from, the one that is taken unasked first:
  /// names of a product's tiles, or of the ways of reductions (`nameOf`).
  std::vector<std::string> tiles;
  /// What of a reduced axis, or of k, is a part, where that is known; 0 where
  /// nothing is cut so.
  int64_t split = 0;
  // Only when EmitOptions::keepText:
  std::string loweredText; ///< scf, arith, vector, memref
  std::string llvmText;
  std::string asmText;
};

struct EmitOptions {
  NumericsMode numerics = NumericsMode::standard;
  bool verify = false;    ///< run the verifier on every form of the kernel
  bool keepText = false;  ///< fill the texts
  bool lowerOnly = false; ///< stop at loweredText (implies keepText)
};

/// A kernel as functions of loops over memory.
struct EmittedLoops {
  /// In the kernel's context. Of a user's kernel, its code as an attribute.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelCode code; ///< all but what the target makes of the module
};

/// The first half of `emitKernel`, before the target's passes.
llvm::FailureOr<EmittedLoops> emitLoops(program::KernelOp kernel,
                                        const Target &target,
                                        NumericsMode numerics);

/// Emits one kernel. On failure a diagnostic stands at the op concerned.
/// Thread-safe when each call's kernel has a context of its own (with
/// threading disabled); the kernel itself is not changed. Dialects that the
/// lowered form needs are loaded on demand.
llvm::FailureOr<KernelCode> emitKernel(program::KernelOp kernel,
                                       const Target &target,
                                       const EmitOptions &options);

/// What there would be of a kernel.
struct AnnouncedKernel {
  KernelCode code; ///< but for what the target makes
  /// The tiles of a product, each with the sizes that have it; one for all, as
  /// a rule.
  llvm::SmallVector<program::VariantAttr> variants;
};

/// What `emitKernel` would give of a kernel, but for its code. Diagnostics as
/// there.
llvm::FailureOr<AnnouncedKernel> announceKernel(program::KernelOp kernel,
                                                const Target &target,
                                                NumericsMode numerics);

/// Bytes of each workspace, over the kernel's symbols.
mlir::AffineMap workspacesOf(const KernelCode &code,
                             mlir::MLIRContext *context);

/// Whether `emitKernel` can emit this kernel; `why` receives the reason when
/// not. Cheap: looks at the structure only.
bool canEmit(program::KernelOp kernel, std::string *why = nullptr);

/// Whether two ops are results of one sort, which one kernel gives.
bool sortTogether(mlir::Operation *a, mlir::Operation *b);

/// The names of the kinds a kernel's root may have, as its `kind` attribute
/// says them.
namespace kernel_kinds {
inline constexpr const char *map = "map";
inline constexpr const char *reduce = "reduce";
inline constexpr const char *rowwise = "rowwise";
inline constexpr const char *contraction = "contraction";
inline constexpr const char *gatherScatter = "gather_scatter";
inline constexpr const char *prefix = "prefix";
inline constexpr const char *sort = "sort";
inline constexpr const char *attention = "attention";
inline constexpr const char *opaque = "opaque";
} // namespace kernel_kinds

/// The mode that a pass's option names; fails after an error at the module.
llvm::FailureOr<NumericsMode> numericsNamed(mlir::ModuleOp module,
                                            llvm::StringRef pass,
                                            llvm::StringRef name);

/// The name of the tile that a schedule says for all sizes, or nothing.
llvm::StringRef scheduledTile(program::KernelOp kernel);
/// What of a reduced axis, or of k, it makes a part; 0 where it says nothing of
/// it, or there is no kernel.
int64_t scheduledSplit(program::KernelOp kernel);

} // namespace sinter::compiler

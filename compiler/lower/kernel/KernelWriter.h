/// KernelWriter: one kernel becoming phases of one module.
#pragma once

#include "compiler/lower/element/Emission.h"
#include "compiler/lower/kernel/EmitKernel.h"

#include <functional>

namespace sinter::compiler {

struct Sink;

/// A workspace of a kernel: elements of a type.
struct Workspace {
  mlir::AffineExpr elements;
  mlir::Type element;
};

/// What a phase makes that may be kept from one run to the next: a workspace
/// (its number among the kernel's buffers) from one input alone.
struct Preparation {
  unsigned input = 0;
  unsigned workspace = 0;
};

class KernelWriter {
public:
  using Value = mlir::Value;
  using EmitChunk = std::function<void(Emission &, Value chunk)>;

  /// One that `announces` emits no functions: it says which there would be.
  KernelWriter(program::KernelOp kernel, const Target &target,
               NumericsMode numerics, mlir::ModuleOp module,
               bool announces = false);

  program::KernelOp kernel;
  const Target &target;
  const NumericsMode numerics;

  /// Workspaces and phases that are added next are of some sizes alone: 1 for
  /// these, 0 for others, of which they have no elements and no chunks.
  void setSizes(mlir::AffineExpr those) { sizes = those; }
  bool hasAllSizes() const { return isOne(sizes); }
  /// Announces a workspace; all before the first phase. Returns its number
  /// among the kernel's buffers.
  unsigned addWorkspace(mlir::AffineExpr elements, mlir::Type element);
  /// Emits a function that `emitAll` fills, for the target to run where it has
  /// a unit for whole blocks.
  void addBlockPhase(mlir::AffineExpr chunks,
                     llvm::function_ref<void(Emission &)> emitAll);
  /// Emits a function that runs `emitChunk` for each chunk of its range.
  void addPhase(mlir::AffineExpr chunks, double chunkMicroseconds,
                const EmitChunk &emitChunk,
                std::optional<Preparation> preparation = std::nullopt);

  /// Announces the one phase of a kernel whose code is given, not emitted.
  void addGivenPhase(llvm::StringRef source);

  /// Notes a tile that the schedule may name; one taken unasked first.
  void offerTile(const std::string &name) {
    if (!llvm::is_contained(code.tiles, name))
      code.tiles.push_back(name);
  }

  /// A tile of the names for sizes of which `holds` is 1 (null: all that the
  /// writer is at): its number. It is what the schedule says, or the first.
  size_t chooseTile(mlir::AffineExpr holds, llvm::ArrayRef<std::string> names);
  /// The tiles chosen, and for which sizes.
  llvm::ArrayRef<program::VariantAttr> variants() const { return chosen; }

  /// Notes the split that was taken.
  void noteSplit(int64_t split) { code.split = std::max<int64_t>(split, 0); }

  unsigned numInputs();
  /// The number of an output among the kernel's buffers.
  unsigned outputBuffer(unsigned output);
  llvm::ArrayRef<Workspace> workspaces() const { return allWorkspaces; }
  bool failed() const { return hasFailed; }

  /// Everything but the target's code.
  KernelCode takeCode();

private:
  /// Begins a function, and runs `emit` in it.
  void addFunction(PhaseCode phase, mlir::AffineExpr chunks,
                   llvm::function_ref<void(Emission &)> emit);
  std::string nextSymbol();
  uint32_t exprOf(mlir::AffineExpr expr);
  uint32_t append(Expr expr);

  mlir::ModuleOp module;
  KernelCode code;
  llvm::SmallVector<Workspace> allWorkspaces;
  llvm::SmallVector<program::VariantAttr> chosen;
  mlir::AffineExpr sizes;
  const bool announces;
  bool hasFailed = false;
};

// ---- skeletons: each adds the phases of a kernel of its kind ---------------

/// Whether a kernel can be done in some way, and whether that is worth it.
enum class Fit { none, possible, best };

/// Elementwise kernels, and reductions over rows or columns with what is done
/// to their results: outputs are walked in rows, each by a lane or by all of
/// them.
Fit fitOfRows(KernelWriter &writer, program::Owner owner);
void emitRows(KernelWriter &writer, program::Owner owner);
/// One more phase, where others have made the results of reductions: `known`
/// says where they are.
void emitKnownRows(KernelWriter &writer,
                   const std::function<void(Emission &)> &known);
/// The same in the best of all ways (see Schedule.h) for what stands beside a
/// root of its own.
void emitBestRows(KernelWriter &writer);
/// A transposed tensor that is stored, where neither side is read or written in
/// short pieces.
Fit fitOfTurn(KernelWriter &writer);
void emitTurn(KernelWriter &writer);
/// Reductions along long rows with what is done to their results, each row by a
/// block of the target's threads, which keep it.
Fit fitOfBlockRows(KernelWriter &writer);
void emitBlockRows(KernelWriter &writer);
/// The same of rows of any length, which no thread keeps. Not in `exact`.
Fit fitOfLongRows(KernelWriter &writer);
void emitLongRows(KernelWriter &writer);
/// Emits rows [begin, end) of a kernel of reductions along rows.
using RowsOfPart =
    std::function<void(Emission &, mlir::Value begin, mlir::Value end)>;
/// The rows of such a kernel for a skeleton that makes, part by part, what they
/// read. Each part has a multiple of `unit` rows.
RowsOfPart rowsOfPart(KernelWriter &writer, int64_t unit);
/// Long reductions whose results are few: partial states of chunks, merged in
/// order by a second phase. One more stores what is made of whole rows.
/// `split` is what a task would have of a row; 0 for the skeleton's own.
Fit fitOfSplitReduction(KernelWriter &writer, int64_t split);
void emitSplitReduction(KernelWriter &writer);
/// Reductions whose operand's last axis stays, with what is done to their
/// results, by the skeletons of such.
Fit fitOfColumns(KernelWriter &writer, program::Skeleton skeleton,
                 program::Owner owner);
void emitColumns(KernelWriter &writer, program::Skeleton skeleton,
                 program::Owner owner);
/// One matmul with sources before and sinks after it.
void emitContraction(KernelWriter &writer, mlir::Value product);
/// One matmul in the target's units for whole blocks, whose operands lie in
/// memory as those take them and whose sinks are `sinks`. Sizes that no unit
/// takes, if there are any, are those of `others`: it announces workspaces, and
/// gives what adds the phases. False, and nothing added, for another kernel.
bool emitInBlocks(KernelWriter &writer, mlir::Value product,
                  llvm::ArrayRef<Sink> sinks,
                  llvm::function_ref<std::function<void()>()> others);
/// One scatter_add, its result stored.
void emitScatter(KernelWriter &writer, mlir::Value scattered);
/// Parts of attention that read the same scores, their results stored.
void emitAttention(KernelWriter &writer);
/// One cumsum, its result stored.
void emitPrefix(KernelWriter &writer, mlir::Value prefix);
/// The code of a user's kernel, whose one op `op` is.
llvm::FailureOr<TargetCode> compileGiven(program::KernelOp kernel,
                                         mlir::Operation *op,
                                         llvm::StringRef symbol,
                                         const Target &target, bool keepText);
/// Results of one sort, each stored.
void emitSort(KernelWriter &writer, mlir::Operation *op);

} // namespace sinter::compiler

/// Fuse: groups the ops of `main` into kernels and records every decision.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/fuse/ClassifyKernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::compiler {

struct FuseOptions {
  Fusion fusion = Fusion::full;
  NumericsMode numerics = NumericsMode::standard;
  KernelCaps caps;
  int64_t memoryLimit = 0; ///< see RecomputeValues.h; 0 for none
};

/// One considered merge. The program stores it; `sinter explain` shows it.
struct FusionDecision {
  bool accepted = false;
  std::string rule;
  int64_t bytes = 0;
  float estUs = 0;
  std::vector<uint32_t> nodes;
  std::string detail;
};

/// Chooses the groups: merges along the edges that save most traffic first,
/// then kernels side by side that read the same tensors, then small ones that
/// read nothing in common.
std::vector<FusionDecision> formKernels(FusionGraph &graph,
                                        const FuseOptions &options);

/// The stage: groups, and each as a kernel and a launch in place of its ops.
/// Loops bound groups. Equal kernels are written once. Fails after a diagnostic
/// when an op cannot be emitted even alone. On the module's `main`. The
/// decisions are kept in the module, in a resource-free attribute that
/// `decisionsOf` reads.
llvm::LogicalResult fuse(mlir::ModuleOp module, const FuseOptions &options);

/// Name of the attribute of the module that holds the decisions.
inline constexpr const char *decisionsAttr = "program.decisions";
std::vector<FusionDecision> decisionsOf(mlir::ModuleOp module);
/// Adds to those that the module has.
void addDecisions(mlir::ModuleOp module,
                  const std::vector<FusionDecision> &decisions);

} // namespace sinter::compiler

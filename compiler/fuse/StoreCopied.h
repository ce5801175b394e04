/// What one op alone would be written out too often by.
#pragma once

#include "compiler/fuse/CountEmissions.h"
#include "compiler/fuse/FormKernels.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter::compiler {

/// Has the op's value written to memory by the kernel that computes it: those
/// that read it do not repeat the op. Marks it, and keeps the decision.
void storeValue(mlir::Operation *op, ClassifiedOps &ops,
                FusionDecision decision,
                std::vector<FusionDecision> &decisions);

/// Views, sources and single numbers are repeated in every kernel that reads
/// them, and in one kernel for each access. Where that makes an op alone too
/// many elements (see EmissionCounter), values behind it are stored, those
/// first that take the most with them; and so are long chains of views that
/// many kernels would repeat. Before any group is formed.
class CopiedStorer {
public:
  CopiedStorer(ClassifiedOps &ops, const FuseOptions &options,
               std::vector<FusionDecision> &decisions)
      : ops(ops), options(options), decisions(decisions), copies(ops.size()) {}

  /// Op after op, in the order of the program: what one reads is settled
  /// before. Whether something was stored.
  bool consider(unsigned index);

private:
  bool storeNearest(unsigned index, const OpSet &body,
                    const EmissionCounter &counter);
  uint64_t elementsOf(unsigned index) const {
    return EmissionCounter(ops, ops.body({index}), {index}).total();
  }
  std::optional<unsigned> mostCopied(unsigned index, const OpSet &body,
                                     const EmissionCounter &counter) const;
  void store(unsigned stored, unsigned reader, std::string why);

  ClassifiedOps &ops;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  /// By inlined op: how often the core ops so far have it.
  llvm::SmallVector<uint64_t> copies;
};

} // namespace sinter::compiler

/// Domains: which outputs of a pointwise kernel are walked together.
#pragma once

#include "dialects/program/Program.h"

namespace sinter::compiler {

/// Whether a tensor of any rank is known to have one element.
bool isOneElement(mlir::Value value);

/// For each output the number of its domain, from 0 in order. Outputs share a
/// domain when they share a tensor or what is computed from one: an output may
/// take the place of an input that another reads, too. Single numbers connect
/// single numbers only.
llvm::SmallVector<unsigned> domainsOf(program::KernelOp kernel);

} // namespace sinter::compiler

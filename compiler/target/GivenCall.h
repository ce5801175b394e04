/// GivenCall: what a user's kernel is told of its call, in every language.
#pragma once

#include "dialects/sinter/Dialect.h"
#include "runtime/device/GivenLaunch.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <utility>

namespace sinter::compiler {

/// A tensor of the call: IN0, IN1, ..., OUT.
struct GivenTensor {
  std::string name;
  DType dtype = DType::f32;
  llvm::ArrayRef<int64_t> extents;

  /// NAME_RANK, NAME_DIM0, ..., NAME_SIZE.
  llvm::SmallVector<std::pair<std::string, int64_t>> sizes() const;
};

/// The operands in order, then the result.
llvm::SmallVector<GivenTensor> tensorsOf(ir::OpaqueOpInterface given);

/// How it is launched; `buffers` are the tensors' numbers among the kernel's.
runtime::GivenLaunch launchOf(ir::OpaqueOpInterface given,
                              llvm::ArrayRef<unsigned> buffers);

} // namespace sinter::compiler

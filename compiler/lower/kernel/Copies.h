/// Copies: parts of a kernel that differ in nothing but the buffers they read
/// and write. One body serves all of them.
#pragma once

#include "compiler/lower/element/Emission.h"

#include "llvm/ADT/DenseMap.h"

namespace sinter::compiler {

/// Inputs of the original part, and which inputs take their places.
using Places = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Whether `copy` is computed from the kernel's inputs as `original` is; then
/// `places` has the inputs that `original` reads.
bool isCopy(mlir::Value original, mlir::Value copy, Places &places);

/// For each copy the kernel's buffers in place of those of the original.
class BufferTable {
public:
  /// One copy: numbers of the original's buffers and of its own. Every copy
  /// names the same buffers of the original in the same order.
  using Pairs = llvm::SmallVector<std::pair<unsigned, unsigned>>;
  void add(Pairs pairs) { copies.push_back(std::move(pairs)); }
  int64_t size() const { return copies.size(); }

  /// Emits `body` as a part of its own that uses the buffers of copy number
  /// `copy` (an index value).
  void emit(Emission &emission, mlir::Value copy,
            llvm::function_ref<void()> body) const;

private:
  llvm::SmallVector<Pairs> copies;
};

} // namespace sinter::compiler

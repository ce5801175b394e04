/// A kernel's own symbols, and its canonical text and name.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace sinter::compiler {

/// Renumbers the program's symbols as a kernel's own, by first appearance, so
/// that kernels which differ only in which symbols they use are one.
class KernelSymbols {
public:
  explicit KernelSymbols(unsigned programSymbols) : total(programSymbols) {}

  /// Meets the symbols of a type, or of an op's result and attributes.
  void collect(mlir::Type type);
  void collect(mlir::Operation *op);
  unsigned size() const { return order.size(); }

  /// The same over the kernel's symbols. Everything must have been collected.
  mlir::Type renamed(mlir::Type type) const;
  void rename(mlir::Operation *op) const;
  /// Each of the kernel's symbols in terms of the program's.
  mlir::AffineMap launchDims() const;

private:
  void collect(mlir::AffineMap map);
  mlir::AffineMap renamed(mlir::AffineMap map) const;

  unsigned total;
  llvm::SmallMapVector<unsigned, unsigned, 4> order;
  mlir::MLIRContext *context = nullptr;
};

/// The kernel as text that depends on nothing but what it computes and how: no
/// name, no locations.
std::string canonicalText(program::KernelOp kernel);

/// `KIND_` and 16 hexadecimal digits of the canonical text's hash.
std::string kernelName(program::KernelOp kernel);

} // namespace sinter::compiler

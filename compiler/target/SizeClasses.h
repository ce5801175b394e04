/// SizeClasses: what follows from a size that a launch may know first.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace sinter::compiler {

/// A value from a size on, up to that of the next step.
struct SizeStep {
  int64_t size;
  mlir::AffineExpr value;
};

/// The value at a size, as an expression of it. Steps ascend; the first one's
/// value is that of all smaller sizes, too.
mlir::AffineExpr valueAt(mlir::AffineExpr size, llvm::ArrayRef<SizeStep> steps);

/// What a size is at least, if it is not 0.
int64_t leastOf(mlir::AffineExpr size);

/// The classes that a size may be in: a single one where it is known. What is
/// chosen by the class alone is the same for a program that knows the size and
/// for one that does not.
class SizeClasses {
public:
  /// Classes have the names of numbers from `first` to `last`, both powers of
  /// two, of so many binary digits before zeros: a size has that of the next
  /// one below or above.
  struct Names {
    int64_t first, last;
    unsigned digits;
    bool areAbove;
  };

  /// Of a size that is 0 or lies from `least` to `most`.
  SizeClasses(mlir::AffineExpr size, const Names &names, int64_t least,
              int64_t most);

  llvm::ArrayRef<int64_t> all() const { return classes; }
  /// A function of the class, as an expression of the size.
  mlir::AffineExpr
  valueOf(llvm::function_ref<mlir::AffineExpr(int64_t name)> at) const;

private:
  int64_t nameOf(int64_t size) const;
  int64_t nameBelow(int64_t size) const;
  int64_t next(int64_t name) const;
  int64_t stepAt(int64_t size) const;

  mlir::AffineExpr size;
  Names names;
  llvm::SmallVector<int64_t> classes; ///< their names, ascending
};

} // namespace sinter::compiler

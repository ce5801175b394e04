/// Fragments: matrices of 16 x 16 that the threads of a subgroup multiply
/// together.
#pragma once

#include "compiler/target/simt/Numbers.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace sinter::compiler {

/// Emits at the builder's place code that all threads of a subgroup run. Of a
/// matrix each has some values.
class Fragments {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using MutableValues = llvm::MutableArrayRef<Value>;

  static constexpr int64_t size = 16;

  /// What is fixed of matrices in a workgroup's memory, whose groups are of 16
  /// bytes: the groups from one line to the next, and whether lines are
  /// columns.
  struct Lines {
    Value memory;
    int64_t stride = 0;
    bool areColumns = false;
  };
  /// A matrix there: the group that it begins at (i32).
  struct Place {
    Lines lines;
    Value group;
  };
  /// An operand, by its values or where it is read.
  struct Operand {
    Place place;
    Value matrix;
  };

  virtual ~Fragments() = default;

  /// Values that a thread has of a matrix of sums (f32).
  virtual int64_t count() const = 0;
  virtual Value zero() const = 0;
  /// An operand of sixteen bits.
  virtual Operand load(const Place &place, bool isLeft) const = 0;
  /// Adds products to sums.
  virtual void add(MutableValues sums, const Operand &left,
                   const Operand &right) const = 0;
  /// Sums to a place whose lines are rows.
  virtual void store(mlir::ValueRange sums, const Place &place) const = 0;
};

/// Cooperative matrices of the device (SPV_KHR_cooperative_matrix): `element`
/// is f16 or bf16.
std::unique_ptr<const Fragments> makeMatrixFragments(mlir::OpBuilder &builder,
                                                     mlir::Location loc,
                                                     mlir::Type element);

/// The same by loops over numbers, each thread some sums; `lane` is its number
/// (i32) in its subgroup of so many.
std::unique_ptr<const Fragments>
makeLoopFragments(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Type element, mlir::Value lane, int64_t threads);

} // namespace sinter::compiler

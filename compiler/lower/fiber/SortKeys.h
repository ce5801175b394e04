/// SortKeys: elements as integers in the order in which a sort puts them.
#pragma once

#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

/// Maps elements of a type to signed integers of 32 or 64 bits: the element
/// that comes first has the smallest. Equal elements have equal keys, NaN is
/// the largest element. Works on scalars and on vectors alike.
class SortKeys {
public:
  using Value = mlir::Value;

  SortKeys(mlir::Type element, bool descending, mlir::MLIRContext *context);

  /// i32, or i64 for elements of 64 bits.
  mlir::Type type() const { return key; }
  bool isWide() const { return key.getIntOrFloatBitWidth() == 64; }
  /// Bits in which keys differ: keys lie in [-2^(bits - 1), 2^(bits - 1)).
  unsigned bits() const { return width; }

  Value keyOf(Emission &emission, Value element) const;
  /// An element with that key; not always the one the key was made of.
  Value elementOf(Emission &emission, Value key) const;
  /// Whether elements of different bits have that key: of both zeros, and of
  /// every NaN. Null where no elements do.
  Value isShared(Emission &emission, Value key) const;

private:
  bool isUnsigned() const;
  Value flip(Emission &emission, Value key) const;
  Value foldSign(Emission &emission, Value bits) const;

  mlir::Type element, key;
  bool descending;
  unsigned width;
};

} // namespace sinter::compiler

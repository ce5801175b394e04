/// Numbers: arithmetic of what threads count by.
#pragma once

#include "mlir/IR/Builders.h"

#include <utility>

namespace sinter::compiler {

/// Emits at the builder's place. Numbers are i32.
class Numbers {
public:
  using Value = mlir::Value;

  Numbers(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  Value number(int32_t value) const;
  Value add(Value a, Value b) const;
  Value add(Value a, int32_t b) const { return add(a, number(b)); }
  Value sub(Value a, Value b) const;
  Value mul(Value a, int32_t b) const;
  /// Of numbers that are not negative.
  Value divide(Value a, int32_t b) const;
  Value smaller(Value a, Value b) const;
  Value bitAnd(Value a, int32_t b) const;
  Value bitXor(Value a, Value b) const;
  Value shiftRight(Value a, int32_t b) const;
  /// Quotient and remainder by a power of two, of one that is not negative.
  std::pair<Value, Value> split(Value a, int64_t by) const;
  Value equals(Value a, int32_t b) const;
  Value less(Value a, Value b) const;
  /// The bits of both (i64).
  Value orWide(Value a, int64_t b) const;
  Value select(Value condition, Value a, Value b) const;
  Value toI32(Value index) const;
  Value toIndex(Value number) const;
  /// A float of at most 32 bits, or a vector of such, as f32.
  Value toF32(Value value) const;

protected:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace sinter::compiler

/// The primitives of the reference, one plain function each.
#pragma once

#include "runtime/graph/AttrWords.h"
#include "runtime/reference/HostValue.h"

#include <span>
#include <string_view>

namespace sinter::reference {

/// One evaluation of one op. Dims in `attrs` are concrete.
struct Call {
  graph::OpId op = graph::leafOp;
  std::span<const HostValue *const> operands;
  std::span<const uint64_t> attrs;
  DType dtype = DType::f32;  ///< of the result
  std::vector<int64_t> dims; ///< of the result

  const HostValue &operator[](size_t index) const { return *operands[index]; }
  HostValue makeResult() const { return HostValue(dtype, dims); }
};

using Primitive = Result<HostValue> (*)(const Call &call);

/// One row per primitive, by mnemonic.
struct PrimitiveRow {
  std::string_view name;
  Primitive function;
  /// By how many ulp of the result, or of 1 where that is larger, it may be off
  /// in f32 and f64, as docs/semantics.md says; 0: by the roundings of any op.
  double ulp = 0;
  /// Gives elements that it is given, or these with another sign: nothing is
  /// rounded.
  bool selects = false;
};
std::span<const PrimitiveRow> pointwisePrimitives();
std::span<const PrimitiveRow> mathPrimitives();
std::span<const PrimitiveRow> specialPrimitives();
std::span<const PrimitiveRow> viewPrimitives();
std::span<const PrimitiveRow> reductionPrimitives();
std::span<const PrimitiveRow> indexedPrimitives();
std::span<const PrimitiveRow> randomPrimitives();

/// The row of a primitive, or null.
const PrimitiveRow *findPrimitive(graph::OpId op);

/// The larger and the smaller number; NaN if one is NaN; -0 is below +0.
double largerReal(double a, double b);
double smallerReal(double a, double b);

/// Row-major strides.
std::vector<int64_t> stridesOf(std::span<const int64_t> dims);
/// Steps a row-major index; false after the last one.
bool nextIndex(std::vector<int64_t> &index, std::span<const int64_t> dims);

} // namespace sinter::reference

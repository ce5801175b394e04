/// HostValue: a tensor decoded to f64 or i64, and rounding to dtypes.
#pragma once

#include "runtime/reference/Reference.h"
#include "sinter/runtime/Number.h"

#include <span>
#include <vector>

namespace sinter::reference {

/// A tensor whose elements are held as f64 (floats) or i64 (integers, bool);
/// those of u64 as an i64 of the same bits, complex ones as two f64.
struct HostValue {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<double> reals;
  std::vector<int64_t> ints;
  std::vector<double> imaginary; ///< of complex ones, whose `reals` are real

  HostValue() = default;
  HostValue(DType dtype, std::vector<int64_t> dims);

  bool isReal() const { return isFloat(dtype); }
  int64_t elements() const;
  /// Rounds and stores.
  void set(int64_t index, double value);
  void set(int64_t index, int64_t value);
  /// Copies an element of a value of the same dtype.
  void copy(int64_t index, const HostValue &from, int64_t fromIndex);
  /// A plain number as `full` and `pad` convert it.
  void set(int64_t index, Number value);
};

/// The nearest value that the float dtype has (all but f64 through f32).
double roundTo(DType dtype, double value);
/// The low bits of an integer, as the dtype reads them; bool is `!= 0`.
int64_t wrapTo(DType dtype, int64_t value);
/// Truncated toward zero and saturated; NaN is 0.
int64_t saturateTo(DType dtype, double value);
/// Whether a is less than b, as integers of the dtype are ordered.
inline bool lessInts(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::u64 ? uint64_t(a) < uint64_t(b) : a < b;
}
/// An integer of the dtype `from` in a float dtype.
double intToReal(DType dtype, int64_t value, DType from);

int64_t elementCount(std::span<const int64_t> dims);
HostValue decode(const HostTensor &tensor);
HostTensor encode(const HostValue &value);

/// The real or the imaginary part of complex elements.
HostValue partOf(const HostValue &value, bool isImaginary);
/// Complex elements of their parts.
HostValue complexOf(HostValue re, HostValue im);
/// Complex elements as memory holds them: floats, in pairs along a last axis.
/// Other values are as they are.
HostValue asPairs(HostValue value);

} // namespace sinter::reference

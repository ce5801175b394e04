/// Elements: single elements of a dtype as numbers of C++.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sinter {

/// The number at an address of any alignment; i64 and u64 are rounded to f64.
/// Of a complex number the real part.
double loadNumber(const std::byte *from, DType dtype);
/// Writes it as an element, floats rounded to nearest, others as C++ casts.
void storeNumber(std::byte *to, DType dtype, double number);

/// Elements of an array, or nothing where a dim is negative or 2^31 and more,
/// or where there are 2^31 elements or more, which no program computes with.
/// Dims of 0 count as 1 for that, so that no product of dims overflows
/// anywhere.
std::optional<size_t> elementsOf(std::span<const int64_t> dims);

/// A generator whose numbers are the same everywhere (splitmix64; Steele, Lea
/// and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// In [-1, 1).
  double real() { return double(next() >> 11) * 0x1p-52 - 1; }

private:
  uint64_t state;
};

/// Floats in [-1, 1), integers and bools 0 or 1: valid as indices, too.
std::vector<std::byte> randomElements(DType dtype, size_t count,
                                      SplitMix &random);

} // namespace sinter

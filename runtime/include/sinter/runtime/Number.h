/// Number: a plain integer or real number as an attribute.
#pragma once

#include <concepts>
#include <cstdint>

namespace sinter {

/// A number whose kind is known when it is recorded: `full({2}, 1)` holds an
/// integer, `full({2}, 0.5)` a real.
struct Number {
  bool isReal = false;
  union {
    int64_t integer = 0;
    double real;
  };

  Number() = default;
  template <std::integral T>
  Number(T value) : integer(static_cast<int64_t>(value)) {}
  template <std::floating_point T>
  Number(T value) : isReal(true), real(static_cast<double>(value)) {}

  double asReal() const { return isReal ? real : static_cast<double>(integer); }
};

} // namespace sinter

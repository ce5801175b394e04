/// Init: how the first value of a parameter is made.
#include <sinter/Init.h>

#include "frontend/Raise.h"

#include <sinter/Creation.h>

namespace sinter::init {

Init constant(double value) try {
  return [value](const Dims &shape, DType dtype, Generator &) {
    return full(shape, value, {.dtype = dtype});
  };
} catch (...) {
  detail::raiseExhausted({});
}

Init uniform(double low, double high) try {
  return [low, high](const Dims &shape, DType dtype, Generator &generator) {
    return sinter::uniform(shape, generator, low, high, dtype);
  };
} catch (...) {
  detail::raiseExhausted({});
}

Init normal(double mean, double deviation) try {
  return
      [mean, deviation](const Dims &shape, DType dtype, Generator &generator) {
        return sinter::normal(shape, generator, mean, deviation, dtype);
      };
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::init

/// Init: how the first value of a parameter is made.
#include <sinter/Init.h>

#include <sinter/Creation.h>

namespace sinter::init {

Init constant(double value) {
  return [value](const Dims &shape, DType dtype, Generator &) {
    return full(shape, value, {.dtype = dtype});
  };
}

Init uniform(double low, double high) {
  return [low, high](const Dims &shape, DType dtype, Generator &generator) {
    return sinter::uniform(shape, generator, low, high, dtype);
  };
}

Init normal(double mean, double deviation) {
  return
      [mean, deviation](const Dims &shape, DType dtype, Generator &generator) {
        return sinter::normal(shape, generator, mean, deviation, dtype);
      };
}

} // namespace sinter::init

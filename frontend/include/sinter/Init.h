/// Init: how the first value of a parameter is made.
#pragma once

#include <sinter/Random.h>
#include <sinter/Tensor.h>

#include <functional>

namespace sinter {

/// Records a tensor of that shape and dtype. Random numbers come from the
/// generator, which belongs to the parameter alone.
using Init = std::function<Tensor(const Dims &, DType, Generator &)>;

namespace init {
Init constant(double value);
inline Init zeros() { return constant(0); }
inline Init ones() { return constant(1); }
/// Reals in [low, high).
Init uniform(double low, double high);
Init normal(double mean, double deviation);
} // namespace init

} // namespace sinter

/// Parts that functions made of arithmetic share. What is given is f32 or f64,
/// scalars or vectors; every input is allowed where nothing else is said.
#pragma once

#include "compiler/math/ElementMath.h"

namespace sinter::compiler {

/// A power 2^n * (1 + less).
struct Power {
  mlir::Value less;
  mlir::Value exponent; ///< n, in the bits where exponents stand
};
/// e^x, in the range where n is an exponent.
Power expandPower(ElementMath &m, mlir::Value x);
/// 2^x, likewise; exact where x is an integer.
Power expandPowerOfTwo(ElementMath &m, mlir::Value x);
/// 2^n of an exponent's bits.
mlir::Value powerOfTwo(ElementMath &m, mlir::Value exponent);
/// The power as a number, where |n| is below twice the largest exponent.
mlir::Value scaled(ElementMath &m, const Power &power);
mlir::Value expandExp(ElementMath &m, mlir::Value x);

/// log x = exponent * ln 2 + f - square + tail, where 1 + f is in [sqrt(1/2),
/// sqrt(2)), square is f^2 / 2, and tail is less than f^3.
struct Logarithm {
  mlir::Value exponent, f, square, tail;
};
/// Of positive finite x.
Logarithm splitLogarithm(ElementMath &m, mlir::Value x);
/// `result`, but for 0, infinity, NaN and negative x.
mlir::Value withLogEdges(ElementMath &m, mlir::Value result, mlir::Value x);
mlir::Value expandLog(ElementMath &m, mlir::Value x);

/// Of f64.
mlir::Value expandErf64(ElementMath &m, mlir::Value x);
mlir::Value expandErfc64(ElementMath &m, mlir::Value x);

/// a * b as the nearest number, and what that is off by.
struct ExactProduct {
  mlir::Value value, lost;
};
ExactProduct exactProduct(ElementMath &m, mlir::Value a, mlir::Value b);

/// Whether a lane at least is set.
mlir::Value anyLane(ElementMath &m, mlir::Value condition);

} // namespace sinter::compiler

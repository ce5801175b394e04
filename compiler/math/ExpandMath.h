/// Transcendental functions and 16-bit float conversions as arithmetic.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// What the machine does by itself.
struct MathFeatures {
  bool fma = false;
  bool rounds = false;            ///< to integers in one instruction
  bool roundsDoubles = true;      ///< so it does f64, and zeros keep their sign
  bool nativeF16 = false;         ///< converts f16
  bool nativeBf16 = false;        ///< converts bf16
  unsigned vectorBits = 128;      ///< 512 stands for AVX-512 F, BW, DQ and VL
  bool alike = false;             ///< no function that only some vectors have
  bool approximates = false;      ///< functions and roots of f32
  bool extremum = false;          ///< maximum and minimum that spread NaN
  bool denormals = true;          ///< of f32
  bool roundedRoots = true;       ///< math.sqrt of f32 rounds to nearest
  bool roundedQuotients = true;   ///< so does arith.divf of f32
  bool quotientsByZero = true;    ///< so does one by a number that is 0
  bool extremumOfNumbers = false; ///< those of what is not NaN
  /// x86's, which give their second operand where both are zero or one is NaN.
  bool secondExtremum = false;
  /// Powers of two of f32: to within 2^-22.5 of what they are.
  bool powerOfTwo = false;
};

/// Replaces math.exp, log, tanh, erf, rsqrt, sin and cos and arith.maximumf and
/// minimumf on f32 and f64, and conversions to and from f16 and bf16, by ops
/// that are instructions (scalars and vectors), so that no library is called.
/// Where approximations are allowed, math.sqrt too; where they are not, an
/// arith.divf that the machine does not round, by a number or a size, or by
/// anything if functions are to be alike; and one by a number that may be 0.
/// An exp marked `afn` is that of a number for which it is not above the
/// largest number; below the normal range it may be 0.
void expandMath(mlir::ModuleOp module, const MathFeatures &features);

} // namespace sinter::compiler

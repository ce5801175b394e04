/// Marks: attributes of tensor ops by which one pass tells those after it, and
/// emitters, what it knows or allows.
#pragma once

namespace sinter::compiler {

/// The attribute of an `add`, a `sub` or a `sum` along axes that names the
/// operand whose product is not rounded by itself. Numerics modes other than
/// `exact` set it before anything looks at shapes, so that static and symbolic
/// programs agree.
inline constexpr const char *contractAttr = "sinter.contract";

/// The attribute of a `div` whose divisor comes from a reduction of elements of
/// its own shape, so that a row or a column shares it, or in `fast` is a
/// number. Numerics modes other than `exact` set it before anything looks at
/// shapes, so that static and symbolic programs agree.
inline constexpr const char *sharedDivisorAttr = "sinter.shared_divisor";

/// Gathers and scatters alike: x, positions along an axis of it, ...
inline constexpr unsigned positionsOperand = 1;

/// The attribute of an op that uses positions which are in range: they cannot
/// be otherwise, or another op has checked them and keeps them so.
inline constexpr const char *checkedAttr = "sinter.checked";
/// That of the op which checks them, in a kernel of its own.
inline constexpr const char *checksAttr = "sinter.checks";

} // namespace sinter::compiler

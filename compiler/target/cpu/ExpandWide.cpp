/// exp and erf on vectors of 16 floats. A register holds a table: a permutation
/// looks up 16 of its elements at once, so that the polynomials are short.
#include "compiler/target/cpu/ExpandWide.h"

#include "compiler/lower/ElementMath.h"
#include "compiler/target/cpu/WholeVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

constexpr unsigned tableSize = 16;

// 2^(i / 16).
constexpr double roots[tableSize] = {
    1,          1.04427378, 1.09050773, 1.13878863, 1.18920712, 1.24185781,
    1.29683955, 1.35425555, 1.41421356, 1.47682615, 1.54221083, 1.61049033,
    1.68179283, 1.75625216, 1.83400809, 1.91520656};

// Of erf(i * erfStep + d), less d itself where i is 0, the coefficients of d^0,
// of d^1 and so on. The error is 2.2e-8 of the result at most, and twice that
// in the last row, which ends at 1.
constexpr double erfStep = 33.0 / 128;
constexpr double erfTable[6][tableSize] = {
    {0, 0.284591423, 0.534123028, 0.725959838, 0.855271812, 0.931698077,
     0.971302097, 0.989295912, 0.996463751, 0.998967132, 0.999733666,
     0.999939441, 0.999987869, 0.999997861, 0.999999668, 1},
    {0.128379163, 1.05581719, 0.864947187, 0.62037988, 0.389576783, 0.214188267,
     0.103101629, 0.0434512851, 0.016032712, 0.00517939053, 0.00146493282,
     0.000362764058, 7.8649949e-05, 1.49293366e-05, 2.48113696e-06,
     3.61018543e-07},
    {0, -0.272196569, -0.445980738, -0.479821349, -0.401752236, -0.276105478,
     -0.159488081, -0.078417049, -0.0330673497, -0.0120173247, -0.0037763951,
     -0.00102857352, -0.00024324208, -5.00105121e-05, -8.94845062e-06,
     -1.39459973e-06},
    {-0.376122226, -0.305177145, -0.135023398, 0.0406067964, 0.146340992,
     0.165879367, 0.130104164, 0.0798623891, 0.0401243754, 0.0168636363,
     0.00600281339, 0.00182391919, 0.000475538829, 0.000106786062,
     2.07102043e-05, 3.4761777e-06},
    {0, 0.129050233, 0.182243361, 0.143641591, 0.0586495994, -0.0143324569,
     -0.0470247052, -0.0457548906, -0.0303751446, -0.0156355821, -0.00654083934,
     -0.00227585313, -0.000667515612, -0.000166455221, -3.54969311e-05,
     -6.50079861e-06},
    {0.112169953, 0.0789652719, 0.00355512984, -0.0560136378, -0.0675860029,
     -0.0420693757, -0.00985959401, 0.00900246533, 0.0129198831, 0.00937518565,
     0.00490259149, 0.00201678856, 0.000677267709, 0.000189355428,
     4.46075507e-05, 8.92470594e-06}};

class WideMath : public ElementMath {
public:
  WideMath(OpBuilder &builder, Location loc, Type type)
      : ElementMath(builder, loc, type) {
    fused = true;
  }

  Value table(ArrayRef<double> numbers) {
    SmallVector<float> elements(numbers.begin(), numbers.end());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(cast<VectorType>(type),
                               ArrayRef<float>(elements)));
  }

  // The elements whose numbers are in the low four bits of `positions`.
  Value lookUp(ArrayRef<double> numbers, Value positions) {
    return callIntrinsic(builder, loc, type, "llvm.x86.avx512.permvar.sf.512",
                         {table(numbers), positions});
  }

  // x * 2^floor(exponent), rounded once.
  Value scale(Value x, Value exponent) {
    return callIntrinsic(builder, loc, type,
                         "llvm.x86.avx512.mask.scalef.ps.512",
                         {x, exponent, x, allLanes(), currentRounding()});
  }

  // `x`, or if that is NaN or larger in magnitude, `most` with x's sign.
  Value bounded(Value x, double most) {
    constexpr int64_t least = 2; // of magnitudes, with the first one's sign
    return callIntrinsic(
        builder, loc, type, "llvm.x86.avx512.mask.range.ps.512",
        {x, num(most), i32(least), x, allLanes(), currentRounding()});
  }

private:
  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  }
  Value currentRounding() { return i32(4); }
  Value allLanes() {
    return LLVM::ConstantOp::create(builder, loc, builder.getI16Type(), -1);
  }
};

} // namespace

// e^x = 2^n * 2^(i / 16) * e^r with |r| <= ln(2) / 32.
static Value wideExp(WideMath &m, Value x) {
  // Adding 1.5 * 2^19 leaves sixteenths in the low bits.
  Value magic = m.num(786432.0);
  Value shifted = m.mulAdd(x, m.num(1.4426950408889634), magic);
  Value count = m.sub(shifted, magic);
  Value r = m.mulAdd(count, m.num(-0.693359375), x);
  r = m.mulAdd(count, m.num(2.12194440e-4), r);
  // Of infinities and of what is far out of range, `count` decides alone.
  r = m.bounded(r, 0.03125);
  Value tail = m.polynomial(r, {5.000162248e-1, 1.666703195e-1});
  Value power = m.mulAdd(m.mul(r, r), tail, r);
  Value root = m.lookUp(roots, m.toBits(shifted));
  return m.scale(m.mulAdd(root, power, root), count);
}

static Value wideErf(WideMath &m, Value x) {
  // Beyond, the result is 1. NaN stays.
  Value most = m.num(3.99), magnitude = m.abs(x);
  Value t = m.select(m.lt(most, magnitude), most, magnitude);
  // Adding 1.5 * 2^23 leaves the number of the nearest step in the low bits.
  Value magic = m.num(12582912.0);
  Value shifted = m.mulAdd(t, m.num(1 / erfStep), magic);
  Value step = m.sub(shifted, magic);
  Value d = m.mulAdd(step, m.num(-erfStep), t);
  Value positions = m.toBits(shifted), sum;
  for (const auto &coefficients :
       llvm::reverse(ArrayRef(erfTable).drop_front())) {
    Value c = m.lookUp(coefficients, positions);
    sum = sum ? m.mulAdd(sum, d, c) : c;
  }
  // At 0 what is beside x itself is small, and so is what it is off by.
  Value start =
      m.select(m.lt(m.num(0.0), step), m.lookUp(erfTable[0], positions), t);
  return m.withSign(m.mulAdd(sum, d, start), x);
}

Value expandWide(OpBuilder &builder, Operation *op) {
  Value x = op->getOperand(0);
  bool isErf = isa<math::ErfOp>(op);
  if (!getElementTypeOrSelf(x.getType()).isF32() ||
      !(isErf || isa<math::ExpOp>(op)))
    return {};
  return byWholeVectors(
      builder, op->getLoc(), 512, x, [&](ArrayRef<Value> parts) {
        WideMath m(builder, op->getLoc(), parts[0].getType());
        return isErf ? wideErf(m, parts[0]) : wideExp(m, parts[0]);
      });
}

} // namespace sinter::compiler

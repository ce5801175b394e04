/// sin and cos: x is reduced to a quadrant and an angle in [-pi/4, pi/4], whose
/// sine and cosine are short series. Everything is computed in f64; for f32 the
/// angle is one number and the series are shorter. Where products and sums are
/// fused, small f32 stay f32.
///
/// What few numbers need is in functions that all places of a kernel call: it
/// is several times as long as the rest.
#include "compiler/math/ExpandTrig.h"

#include "compiler/math/Elementary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace sinter::compiler {
namespace {

/// x = quadrant * pi/2 + high + low; of the quadrant only two bits count.
struct Angle {
  Value high, low, quadrant;
};

/// a + b, and what the rounding lost.
struct Sum {
  Value value, lost;
};

class TrigExpansion {
public:
  TrigExpansion(ElementMath &m, bool isNarrow, bool isCosine)
      : m(m), isNarrow(isNarrow), isCosine(isCosine) {}

  Value expand(Value x);
  Value expandLarge(Value x) { return valueAt(x, reduceLarge(x)); }

private:
  Angle reduceSmall(Value x);
  Angle reduceLarge(Value x);
  SmallVector<Value> window(Value position);
  SmallVector<Value> product(Value mantissa, ArrayRef<Value> limbs);
  Angle angleOf(ArrayRef<Value> fraction);
  Value sine(const Angle &angle);
  Value cosine(const Angle &angle);
  Value valueAt(Value x, const Angle &angle);

  Sum exactSum(Value a, Value b);
  Value low32(Value a) { return m.andBits(a, m.bit(0xffffffff)); }
  Value shlBy(Value a, Value n) { return m.make<arith::ShLIOp>(a, n); }
  Value mulBits(Value a, Value b) { return m.make<arith::MulIOp>(a, b); }

  ElementMath &m;
  /// Whether an f32 is asked for.
  bool isNarrow;
  bool isCosine;
};

} // namespace

// On a math.sin or math.cos: of some lanes, for which it is to be called.
static constexpr StringLiteral farAttr = "sinter.far";
// Beside it: of an f32 that was widened.
static constexpr StringLiteral narrowAttr = "sinter.narrow";

// From here on the multiples of pi/2 are no longer exact in three parts.
static constexpr double largest = 0x1p20;

// pi/2 in parts of 33 bits, so that their multiples below 2^20 are exact.
static constexpr double halfPi[4] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                     0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

// The bits of 2/pi after 34 zeros.
static constexpr uint32_t twoOverPi[38] = {
    0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566,
    0x4f10e410, 0x7f9458ea, 0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba,
    0x82746487, 0x3f877ac7, 0x2c4a69cf, 0xba208d7d, 0x4baed121, 0x3a671c09,
    0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff,
    0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9,
    0xa797fa8b, 0x5d49eeb1, 0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec,
    0x47e35742, 0x1580cc11};

Sum TrigExpansion::exactSum(Value a, Value b) {
  Value sum = m.add(a, b);
  Value second = m.sub(sum, a);
  Value lost = m.add(m.sub(a, m.sub(sum, second)), m.sub(b, second));
  return {sum, lost};
}

// |x| below `largest`: subtracts the nearest multiple of pi/2, part by part.
Angle TrigExpansion::reduceSmall(Value x) {
  // Adding 1.5 * 2^52 leaves the rounded quotient in the low bits.
  Value magic = m.num(6755399441055744.0);
  Value shifted = m.add(m.mul(x, m.num(0.63661977236758134308)), magic);
  Value count = m.sub(shifted, magic);
  Value quadrant = m.toBits(shifted);
  auto part = [&](double number) { return m.mul(count, m.num(-number)); };
  Value first = m.add(x, part(halfPi[0])); // exact
  if (isNarrow) // 0x1.0b4611a626331p-34 is what the first part leaves
    return {m.add(first, part(0x1.0b4611a626331p-34)), m.num(0), quadrant};
  Sum second = exactSum(first, part(halfPi[1]));
  Sum third = exactSum(second.value, part(halfPi[2]));
  Value low = m.add(m.add(second.lost, third.lost), part(halfPi[3]));
  Sum angle = exactSum(third.value, low);
  return {angle.value, angle.lost, quadrant};
}

// 192 bits of the table from bit `position` on, as six limbs of 32 bits, the
// most significant first. The words are brought near by halving distances.
SmallVector<Value> TrigExpansion::window(Value position) {
  // An f32 is below 2^128: its window starts in the first four words.
  unsigned levels = isNarrow ? 2 : 5;
  SmallVector<Value> words;
  for (unsigned i = 0; i < 6 + (1u << levels); ++i)
    words.push_back(m.bit(twoOverPi[i]));
  for (unsigned level = levels; level-- > 0;) {
    unsigned distance = 1u << level;
    Value flag = m.bit(uint64_t(distance) << 5);
    Value isFar = m.same(m.andBits(position, flag), flag);
    SmallVector<Value> nearer;
    for (unsigned i = 0; i + distance < words.size(); ++i)
      nearer.push_back(m.select(isFar, words[i + distance], words[i]));
    words = nearer;
  }
  Value shift = m.andBits(position, m.bit(31));
  SmallVector<Value> limbs;
  for (unsigned i = 0; i < 6; ++i) {
    Value pair = m.orBits(m.shl(words[i], 32), words[i + 1]);
    limbs.push_back(m.shr(shlBy(pair, shift), 32));
  }
  return limbs;
}

// mantissa (53 bits) times the limbs, modulo 2^192; limbs as in window().
SmallVector<Value> TrigExpansion::product(Value mantissa,
                                          ArrayRef<Value> limbs) {
  Value low = low32(mantissa), high = m.shr(mantissa, 32);
  SmallVector<Value> byLow, byHigh, result(6);
  for (Value limb : llvm::reverse(limbs)) {
    byLow.push_back(mulBits(low, limb));
    byHigh.push_back(mulBits(high, limb));
  }
  Value carry = m.bit(0);
  for (unsigned place = 0; place < 6; ++place) {
    Value sum = m.addBits(carry, low32(byLow[place]));
    if (place >= 1) {
      sum = m.addBits(sum, m.shr(byLow[place - 1], 32));
      sum = m.addBits(sum, low32(byHigh[place - 1]));
    }
    if (place >= 2)
      sum = m.addBits(sum, m.shr(byHigh[place - 2], 32));
    result[5 - place] = low32(sum);
    carry = m.shr(sum, 32);
  }
  return result;
}

// pi/2 times a fraction in [-1/2, 1/2): four limbs after the point, the first
// with a sign.
Angle TrigExpansion::angleOf(ArrayRef<Value> fraction) {
  SmallVector<Value> parts;
  for (unsigned i = 0; i < 4; ++i)
    parts.push_back(m.mul(m.toFloat(fraction[i]),
                          m.num(std::ldexp(1.0, -32 * int(i + 1)))));
  Sum top = exactSum(parts[0], parts[1]);
  Value rest = m.add(top.lost, m.add(parts[2], parts[3]));
  Sum number = exactSum(top.value, rest);
  // In halves of 26 and 27 bits, whose products are exact.
  Value coarse = m.fromBits(
      m.andBits(m.toBits(number.value), m.bit(~uint64_t(0x7ffffff))));
  Value fine = m.sub(number.value, coarse);
  Value high = m.num(0x1.921fb5p+0), middle = m.num(0x1.110b46p-26);
  Value low = m.num(0x1.1a62633145c07p-54);
  Value main = m.mul(coarse, high);
  Value cross = m.add(m.mul(coarse, middle), m.mul(fine, high));
  Value small = m.add(m.mul(fine, middle), m.mul(number.value, low));
  small = m.add(small, m.mul(number.lost, m.num(1.5707963267948966)));
  Sum angle = exactSum(main, m.add(cross, small));
  return {angle.value, angle.lost, {}};
}

// Payne and Hanek: |x| = mantissa * 2^e, and of 2/pi * 2^e only the bits below
// 4 matter, 192 of them are enough for the closest x to a multiple of pi/2.
Angle TrigExpansion::reduceLarge(Value x) {
  Value word = m.toBits(x);
  Value exponent = m.andBits(m.shr(word, 52), m.bit(0x7ff));
  Value fractionBits = m.bit((uint64_t(1) << 52) - 1);
  Value mantissa =
      m.orBits(m.andBits(word, fractionBits), m.bit(uint64_t(1) << 52));
  // At 2^20, the first number of this way, the window starts at the table's.
  Value position = m.subBits(exponent, m.bit(1023 + 20));
  SmallVector<Value> limbs = product(mantissa, window(position));
  // The two bits before the point, then the fraction as a number with a sign.
  SmallVector<Value> fraction;
  for (unsigned i = 0; i < 4; ++i)
    fraction.push_back(
        low32(m.orBits(m.shl(limbs[i], 2), m.shr(limbs[i + 1], 30))));
  Value quadrant = m.addBits(m.shr(limbs[0], 30), m.shr(fraction[0], 31));
  fraction[0] = m.shrSigned(m.shl(fraction[0], 32), 32);
  Angle angle = angleOf(fraction);
  Value isNegative = m.lt(x, m.num(0));
  auto withSign = [&](Value value) {
    return m.select(isNegative, m.sub(m.num(0), value), value);
  };
  return {withSign(angle.high), withSign(angle.low),
          m.select(isNegative, m.subBits(m.bit(0), quadrant), quadrant)};
}

// 1/first!, -1/(first + 2)!, ... with alternating signs.
static SmallVector<double> inverseFactorials(int first, int count) {
  SmallVector<double> result;
  double factorial = 1, sign = first % 4 < 2 ? 1 : -1;
  for (int i = 2; i <= first; ++i)
    factorial *= i;
  for (int i = 0, n = first; i < count; ++i, n += 2) {
    result.push_back(sign / factorial);
    factorial *= double(n + 1) * (n + 2);
    sign = -sign;
  }
  return result;
}

// x - x^3/3! + ..., with the low part to first order.
Value TrigExpansion::sine(const Angle &angle) {
  Value x = angle.high, z = m.mul(x, x), cube = m.mul(z, x);
  Value tail = m.polynomial(z, inverseFactorials(5, isNarrow ? 4 : 7));
  Value third = m.num(-1.0 / 6);
  if (isNarrow)
    return m.mulAdd(cube, m.mulAdd(tail, z, third), x);
  // tail is the series from x^5 / x^5 on: the whole is
  // x + cube * third + (low - z * low / 2 + cube * z * tail).
  Value correction = m.sub(m.mul(m.num(0.5), angle.low), m.mul(cube, tail));
  Value rest = m.sub(m.mul(z, correction), angle.low);
  return m.sub(x, m.sub(rest, m.mul(cube, third)));
}

// 1 - x^2/2 + ..., where 1 - x^2/2 is kept with what its rounding lost.
Value TrigExpansion::cosine(const Angle &angle) {
  Value x = angle.high, z = m.mul(x, x), one = m.num(1.0);
  Value tail = m.polynomial(z, inverseFactorials(4, isNarrow ? 4 : 7));
  Value half = m.mul(m.num(0.5), z);
  Value base = m.sub(one, half);
  Value lost = m.sub(m.sub(one, base), half);
  Value rest = m.sub(m.mul(m.mul(z, z), tail), m.mul(x, angle.low));
  return m.add(base, m.add(lost, rest));
}

Value TrigExpansion::valueAt(Value x, const Angle &angle) {
  Value sineValue = sine(angle), cosineValue = cosine(angle);
  Value quadrant = angle.quadrant;
  if (isCosine) // cos x = sin(x + pi/2)
    quadrant = m.addBits(quadrant, m.bit(1));
  Value isOdd = m.same(m.andBits(quadrant, m.bit(1)), m.bit(1));
  Value value = m.select(isOdd, cosineValue, sineValue);
  Value sign = m.shl(m.andBits(quadrant, m.bit(2)), 62);
  Value result = m.fromBits(m.addBits(m.toBits(value), sign));
  if (isCosine)
    return result;
  // Also keeps the sign of zeros.
  return m.select(m.lt(m.abs(x), m.num(0x1p-27)), x, result);
}

// `near`, but for lanes that are far what a function gives that is called where
// there are such lanes.
static Value withFarLanes(ElementMath &m, Value x, Value near, Value isFar,
                          bool isCosine, bool isNarrow) {
  auto branch = scf::IfOp::create(m.builder, m.loc, m.type, anyLane(m, isFar),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(m.builder);
  m.builder.setInsertionPointToStart(branch.thenBlock());
  Value far = isCosine ? m.make<math::CosOp>(x) : m.make<math::SinOp>(x);
  far.getDefiningOp()->setAttr(farAttr, m.builder.getUnitAttr());
  if (isNarrow)
    far.getDefiningOp()->setAttr(narrowAttr, m.builder.getUnitAttr());
  scf::YieldOp::create(m.builder, m.loc, m.select(isFar, far, near));
  m.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(m.builder, m.loc, near);
  return branch.getResult(0);
}

static Value isAtLeast(ElementMath &m, Value magnitude, double number) {
  return arith::CmpFOp::create(m.builder, m.loc, arith::CmpFPredicate::OGE,
                               magnitude, m.num(number));
}

Value TrigExpansion::expand(Value x) {
  Value near = valueAt(x, reduceSmall(x));
  Value magnitude = m.abs(x);
  Value isFinite = m.lt(magnitude, m.num(INFINITY));
  Value isLarge =
      m.make<arith::AndIOp>(isFinite, isAtLeast(m, magnitude, largest));
  return withFarLanes(m, x, near, isLarge, isCosine, isNarrow);
}

static Value expandByDouble(OpBuilder &builder, Location loc, Value x,
                            bool isCosine, bool fma) {
  Type type = x.getType();
  ElementMath given(builder, loc, type);
  Type wide = given.shaped(builder.getF64Type());
  ElementMath m(builder, loc, wide);
  m.fused = fma;
  bool isNarrow = !given.isDouble();
  if (isNarrow)
    x = m.convert<arith::ExtFOp>(wide, x);
  Value result = TrigExpansion(m, isNarrow, isCosine).expand(x);
  return isNarrow ? m.convert<arith::TruncFOp>(type, result) : result;
}

// Beyond, more parts of pi/2 would count.
static constexpr double largestSingle = 8192;

// sin or cos of an f32 below that. The angle is high + low: x less a multiple
// of the first part of pi/2 is exact, and so is what adding the second loses.
static Value expandSingle(ElementMath &m, Value x, bool isCosine) {
  Value magic = m.num(12582912.0); // 1.5 * 2^23: the quotient in the low bits
  Value shifted = m.mulAdd(x, m.num(0.63661977236758134308), magic);
  Value count = m.sub(shifted, magic);
  Value quadrant = m.toBits(shifted);
  Value first = m.mulAdd(count, m.num(-0x1.921fb6p+0), x);
  double second = 0x1.777a5cp-25, third = 0x1.ee59dap-50;
  Value part = m.mul(count, m.num(second));
  Value high = m.add(first, part);
  Value lost = m.sub(part, m.sub(high, first));
  Value over = m.mulAdd(count, m.num(-second), part);
  Value low = m.sub(lost, m.mulAdd(count, m.num(-third), over));

  Value z = m.mul(high, high);
  Value tail =
      m.polynomial(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4});
  Value sine = m.add(high, m.mulAdd(m.mul(z, high), tail, low));
  Value one = m.num(1.0), half = m.mul(m.num(0.5), z);
  Value base = m.sub(one, half);
  lost = m.sub(m.sub(one, base), half);
  tail = m.polynomial(
      z, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5});
  Value minusLow = m.sub(m.num(0.0), low);
  Value cosine =
      m.add(base, m.mulAdd(m.mul(z, z), tail, m.mulAdd(high, minusLow, lost)));

  if (isCosine) // cos x = sin(x + pi/2)
    quadrant = m.addBits(quadrant, m.bit(1));
  Value isOdd = m.same(m.andBits(quadrant, m.bit(1)), m.bit(1));
  Value value = m.select(isOdd, cosine, sine);
  Value sign = m.shl(m.andBits(quadrant, m.bit(2)), 30);
  Value result = m.fromBits(m.addBits(m.toBits(value), sign));
  if (isCosine)
    return result;
  // Also keeps the sign of zeros.
  return m.select(m.lt(m.abs(x), m.num(0x1p-13)), x, result);
}

Value expandTrig(OpBuilder &builder, Operation *op, bool fma) {
  Value x = op->getOperand(0);
  bool isCosine = isa<math::CosOp>(op);
  ElementMath m(builder, op->getLoc(), x.getType());
  if (m.isDouble() || !fma)
    return expandByDouble(builder, op->getLoc(), x, isCosine, fma);
  m.fused = true;
  // The way by f64 is taken where a lane needs it, for that lane.
  Value single = expandSingle(m, x, isCosine);
  Value isLarge = isAtLeast(m, m.abs(x), largestSingle);
  return withFarLanes(m, x, single, isLarge, isCosine, /*isNarrow=*/false);
}

// Of f64: one lane after the other, by way of memory.
static Value expandLanes(ElementMath &m, Value x,
                         llvm::function_ref<Value(ElementMath &, Value)> one) {
  OpBuilder &builder = m.builder;
  Location loc = m.loc;
  auto type = cast<VectorType>(x.getType());
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value lanes = memref::AllocaOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
  Value first = index(0);
  vector::StoreOp::create(builder, loc, x, lanes, first);
  auto loop = scf::ForOp::create(builder, loc, first,
                                 index(type.getNumElements()), index(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    ElementMath scalar(builder, loc, type.getElementType());
    scalar.fused = m.fused;
    Value value = memref::LoadOp::create(builder, loc, lanes, lane);
    memref::StoreOp::create(builder, loc, one(scalar, value), lanes, lane);
  }
  return vector::LoadOp::create(builder, loc, type, lanes, first);
}

// The body of the function that is called for `op`.
static Value expandFar(OpBuilder &builder, Operation *op, Value x,
                       const FarOptions &options) {
  bool isCosine = isa<math::CosOp>(op), isNarrow = op->hasAttr(narrowAttr);
  ElementMath m(builder, op->getLoc(), x.getType());
  m.fused = options.fma;
  if (!m.isDouble())
    return expandByDouble(builder, op->getLoc(), x, isCosine, options.fma);
  auto large = [&](ElementMath &m, Value x) {
    return TrigExpansion(m, isNarrow, isCosine).expandLarge(x);
  };
  bool isOneByOne = options.oneByOne && isa<VectorType>(x.getType());
  return isOneByOne ? expandLanes(m, x, large) : large(m, x);
}

static std::string farName(Operation *op) {
  Type type = op->getOperand(0).getType();
  std::string name = isa<math::CosOp>(op) ? "far_cos" : "far_sin";
  name += op->hasAttr(narrowAttr)              ? "_narrow"
          : getElementTypeOrSelf(type).isF64() ? "_f64"
                                               : "_f32";
  if (auto vector = dyn_cast<VectorType>(type))
    name += "_" + std::to_string(vector.getNumElements());
  return name;
}

static func::FuncOp farFunction(ModuleOp module, Operation *op,
                                const FarOptions &options) {
  std::string name = farName(op);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  Type type = op->getOperand(0).getType();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, op->getLoc(), name,
                                       builder.getFunctionType({type}, {type}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value result = expandFar(builder, op, function.getArgument(0), options);
  func::ReturnOp::create(builder, op->getLoc(), result);
  return function;
}

bool callFarTrig(ModuleOp module, const FarOptions &options) {
  SmallVector<Operation *> worklist;
  bool isCalled = false;
  // What a function is made of may call another.
  do {
    worklist.clear();
    module.walk([&](Operation *op) {
      if (op->hasAttr(farAttr))
        worklist.push_back(op);
    });
    for (Operation *op : worklist) {
      OpBuilder builder(op);
      auto call = func::CallOp::create(builder, op->getLoc(),
                                       farFunction(module, op, options),
                                       op->getOperand(0));
      op->getResult(0).replaceAllUsesWith(call.getResult(0));
      op->erase();
      isCalled = true;
    }
  } while (!worklist.empty());
  return isCalled;
}

} // namespace sinter::compiler

/// Philox4x32-10 and what is made of its bits (docs/semantics.md).
#include "compiler/lower/element/Inline.h"

#include "compiler/math/ElementMath.h"
#include "compiler/math/Rounded.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Random.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Words = std::array<Value, 4>;

// The generator's words of one block, or of a vector of blocks, in the low
// halves of i64 values: a product of two words needs both halves, and what the
// high ones hold besides is never read.
class Philox {
public:
  Philox(Emission &emission, unsigned count)
      : emission(emission), builder(emission.builder), loc(emission.loc),
        m(builder, loc, shaped(builder.getF32Type(), count)),
        wide(shaped(builder.getI64Type(), count)), count(count) {}

  /// Arithmetic on f32 values, one for each block; i32 words are their bits.
  ElementMath &math() { return m; }

  Value narrow(Value word) { return m.convert<arith::TruncIOp>(m.bits, word); }
  Value widen(Value half) { return m.convert<arith::ExtUIOp>(wide, half); }
  Value high(Value word) {
    return arith::ShRUIOp::create(builder, loc, word,
                                  emission.integer(wide, 32));
  }

  /// The words of the blocks by the op's key and counter, and by a bit that is
  /// added to tell two uses of a block apart.
  Words words(Operation *op, Value block, uint32_t stream = 0) {
    Value key = scalar(op, 0), counter = scalar(op, 1);
    block = arith::AddIOp::create(builder, loc, scalar(op, 2), block);
    Value last = high(counter);
    if (stream)
      last = exclusive(last, emission.integer(wide, stream));
    Words all = rounds({block, high(block), counter, last}, key, high(key));
    for (Value &word : all)
      word = narrow(word);
    return all;
  }

private:
  Words rounds(Words c, Value k0, Value k1) {
    for (unsigned round = 0; round < 10; ++round) {
      Value p0 = multiply(c[0], 0xD2511F53);
      Value p1 = multiply(c[2], 0xCD9E8D57);
      c = {exclusive(exclusive(high(p1), c[1]), k0), p1,
           exclusive(exclusive(high(p0), c[3]), k1), p0};
      k0 = plus(k0, 0x9E3779B9);
      k1 = plus(k1, 0xBB67AE85);
    }
    return c;
  }

  Value multiply(Value a, uint32_t by) {
    Value low = arith::AndIOp::create(builder, loc, a,
                                      emission.integer(wide, 0xFFFFFFFF));
    return arith::MulIOp::create(builder, loc, low, emission.integer(wide, by));
  }
  Value plus(Value a, uint32_t number) {
    return arith::AddIOp::create(builder, loc, a,
                                 emission.integer(wide, number));
  }
  Value exclusive(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  Value scalar(Operation *op, unsigned operand) {
    Element word = emission.at(op->getOperand(operand), Index(), Lanes{});
    return emission.spread(word, count);
  }
  Type shaped(Type type, unsigned count) {
    return count == 1 ? type : Type(emission.vectorType(type, count));
  }

  Emission &emission;
  OpBuilder &builder;
  Location loc;
  ElementMath m;

public:
  const Type wide; ///< i64, shaped

private:
  unsigned count;
};

class RandomSource final : public ElementSource {
public:
  RandomSource(Operation *op, bool isNormal)
      : ElementSource(op->getResult(0)), op(op), isNormal(isNormal) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Philox philox(emission, lanes.count);
    ElementMath &m = philox.math();
    Coord linear = emission.linearize(index, shapeOf(tensor));
    Type element = elementOf(tensor);
    if (!isNormal && !element.isF64() && lanes.count > 2 && linear.step == 1 &&
        !linear.each)
      return uniform(emission, m, consecutive(emission, linear.base, lanes));

    OpBuilder &builder = emission.builder;
    Value position = arith::IndexCastOp::create(
        builder, emission.loc, philox.wide,
        emission.spread(Element{emission.perLane(linear)}, lanes.count));
    Value block = arith::ShRUIOp::create(builder, emission.loc, position,
                                         emission.integer(philox.wide, 2));
    Value lane = m.andBits(philox.narrow(position), m.bit(3));
    Words words = philox.words(op, block);
    if (isNormal)
      return Element{round(emission, m, normal(m, words, lane), element)};
    Value x = pick(m, words, lane);
    if (!element.isF64())
      return uniform(emission, m, x);
    Value y = pick(m, philox.words(op, block, 0x80000000), lane);
    return Element{uniform64(emission, philox, x, y)};
  }

private:
  // The words of consecutive elements: every block is computed once, not once
  // for each of its four elements.
  Value consecutive(Emission &emission, Value first, const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    // Half as many blocks as elements are enough wherever the first one stands.
    int64_t count = lanes.count, blocks = count / 2;
    Philox philox(emission, blocks);
    // Signed: the first lanes of a mask may stand before the tensor.
    Value number =
        arith::ShRSIOp::create(builder, loc, first, emission.constant(2));
    Value block =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
    block = arith::AddIOp::create(
        builder, loc, emission.spread(Element{block}, blocks),
        emission.laneOffsets(1, blocks, builder.getI64Type()));
    Words words = philox.words(op, block);
    auto shuffle = [&](Value a, Value b, int64_t length,
                       llvm::function_ref<int64_t(int64_t)> from) {
      return vector::ShuffleOp::create(
                 builder, loc, a, b,
                 llvm::map_to_vector(llvm::seq<int64_t>(length), from))
          .getResult();
    };
    auto paired = [&](Value a, Value b) {
      return shuffle(a, b, 2 * blocks, [&](int64_t lane) {
        return lane / 2 + lane % 2 * blocks;
      });
    };
    Value low = paired(words[0], words[1]), high = paired(words[2], words[3]);
    Value all = shuffle(low, high, 4 * blocks, [&](int64_t lane) {
      int64_t place = lane / 4 * 2 + lane % 2;
      return lane % 4 < 2 ? place : 2 * blocks + place;
    });
    Value skipped =
        arith::AndIOp::create(builder, loc, first, emission.constant(3));
    Value result;
    for (int64_t start = 4; start-- > 0;) {
      Value from =
          shuffle(all, all, count, [&](int64_t lane) { return start + lane; });
      if (!result) {
        result = from;
        continue;
      }
      Value isHere =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, skipped,
                                emission.constant(start));
      result = arith::SelectOp::create(builder, loc, isHere, from, result);
    }
    return result;
  }

  // The leading bits of each word, as many as the type holds, as a fraction.
  Element uniform(Emission &emission, ElementMath &m, Value word) {
    Type element = elementOf(tensor);
    unsigned bits = element.isF32() ? 24 : element.isF16() ? 11 : 8;
    Value number = m.toFloat(m.shr(word, 32 - bits));
    number = m.mul(number, m.num(std::ldexp(1.0, -int(bits))));
    return Element{round(emission, m, number, element)};
  }

  // f32 values in the result's type.
  static Value round(Emission &emission, ElementMath &m, Value number,
                     Type element) {
    if (element.isF32())
      return number;
    Type type = m.shaped(element);
    if (element.isF64())
      return arith::ExtFOp::create(emission.builder, emission.loc, type,
                                   number);
    return arith::TruncFOp::create(emission.builder, emission.loc, type,
                                   number);
  }

  static Value uniform64(Emission &emission, Philox &philox, Value x, Value y) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value high = arith::ShLIOp::create(builder, loc, philox.widen(x),
                                       emission.integer(philox.wide, 32));
    Value word = arith::OrIOp::create(builder, loc, high, philox.widen(y));
    word = arith::ShRUIOp::create(builder, loc, word,
                                  emission.integer(philox.wide, 11));
    Type type = philox.math().shaped(builder.getF64Type());
    Value number = arith::SIToFPOp::create(builder, loc, type, word);
    return arith::MulFOp::create(builder, loc, number,
                                 emission.number(type, 0x1p-53));
  }

  static Value pick(ElementMath &m, const Words &words, Value lane) {
    Value result = words[3];
    for (unsigned number = 3; number-- > 0;)
      result = m.select(m.same(lane, m.bit(number)), words[number], result);
    return result;
  }

  // A constant by its bits.
  static Value exactly(ElementMath &m, uint32_t bits) {
    return m.num(llvm::bit_cast<float>(bits));
  }
  // ((first * x + c1) * x + c2) ...
  static Value horner(ElementMath &m, Value x, ArrayRef<uint32_t> bits) {
    Value sum = exactly(m, bits.front());
    for (uint32_t constant : bits.drop_front())
      sum = m.add(m.mul(sum, x), exactly(m, constant));
    return sum;
  }

  static Value normal(ElementMath &m, const Words &words, Value lane) {
    Value isFirst = m.below(lane, m.bit(2));
    Value x = m.select(isFirst, words[0], words[2]);
    Value y = m.select(isFirst, words[1], words[3]);
    Value radius = radiusOf(m, x);
    auto [sine, cosine] = angleOf(m, y);
    Value isEven = m.same(m.andBits(lane, m.bit(1)), m.bit(0));
    return m.mul(radius, m.select(isEven, cosine, sine));
  }

  // sqrt(-2 ln u) with u in (0, 1].
  static Value radiusOf(ElementMath &m, Value x) {
    Value one = m.num(1.0);
    Value f = m.toFloat(m.addBits(m.shr(x, 8), m.bit(1)));
    Value word = m.toBits(f);
    Value e = m.subBits(m.shr(word, 23), m.bit(127));
    Value t = m.fromBits(
        m.orBits(m.andBits(word, m.bit(0x007FFFFF)), m.bit(0x3F800000)));
    Value isLarge = m.lt(exactly(m, 0x3FB504F3), t);
    t = m.select(isLarge, m.mul(t, m.num(0.5)), t);
    e = m.select(isLarge, m.addBits(e, m.bit(1)), e);
    Value g = m.toFloat(m.subBits(e, m.bit(24)));
    Value z = m.sub(t, one);
    Value w = m.mul(z, z);
    Value p =
        horner(m, z,
               {0x3D9021BB, 0xBDEBD1B8, 0x3DEF251A, 0xBDFE5D4F, 0x3E11E9BF,
                0xBE2AAE50, 0x3E4CCEAC, 0xBE7FFFFC, 0x3EAAAAAA});
    p = m.mul(m.mul(p, z), w);
    p = m.add(m.mul(g, exactly(m, 0xB95E8083)), p);
    p = m.add(m.mul(w, m.num(-0.5)), p);
    Value n = m.add(z, p);
    n = m.add(m.mul(g, exactly(m, 0x3F318000)), n);
    Value squared = m.mul(n, m.num(-2.0));
    Value zero = m.num(0.0);
    Value root = m.sqrt(m.select(m.lt(zero, squared), squared, zero));
    root.getDefiningOp()->setAttr(roundedAttr, m.builder.getUnitAttr());
    return root;
  }

  // Sine and cosine of 2 pi y / 2^32.
  static std::pair<Value, Value> angleOf(ElementMath &m, Value y) {
    Value quadrant = m.shr(m.addBits(y, m.bit(0x20000000)), 30);
    Value d = m.subBits(y, m.shl(quadrant, 30));
    Value a = m.mul(m.toFloat(d), exactly(m, 0x30C90FDB));
    Value v = m.mul(a, a);
    Value s = horner(m, v, {0xB94CA1F9, 0x3C08839E, 0xBE2AAAA3});
    s = m.add(m.mul(m.mul(s, v), a), a);
    Value c = horner(m, v, {0x37CCF5CE, 0xBAB6061A, 0x3D2AAAA5});
    c = m.mul(m.mul(c, v), v);
    c = m.add(m.mul(v, m.num(-0.5)), c);
    c = m.add(c, m.num(1.0));
    Value isOdd = m.same(m.andBits(quadrant, m.bit(1)), m.bit(1));
    Value cosine = m.select(isOdd, s, c), sine = m.select(isOdd, c, s);
    // cos is negative in quadrants 1 and 2, sin in 2 and 3.
    Value sign = m.bit(0x80000000);
    auto negateIf = [&](Value condition, Value value) {
      Value flipped = m.fromBits(m.make<arith::XOrIOp>(m.toBits(value), sign));
      return m.select(condition, flipped, value);
    };
    Value high = m.same(m.andBits(quadrant, m.bit(2)), m.bit(2));
    Value differs = m.make<arith::XOrIOp>(isOdd, high);
    return {negateIf(high, sine), negateIf(differs, cosine)};
  }

  Operation *op;
  bool isNormal;
};

} // namespace

std::unique_ptr<ElementSource> makeRandom(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (isa<ir::RandomUniformOp, ir::RandomNormalOp>(op))
    return std::make_unique<RandomSource>(op, isa<ir::RandomNormalOp>(op));
  return nullptr;
}

} // namespace sinter::compiler

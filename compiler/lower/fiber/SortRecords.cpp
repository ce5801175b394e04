/// SortRecords: keys and positions in memory, and how they are put in order.
///
/// A few records are ranked: each is compared with every other, many at a time,
/// and put where its rank says; nothing branches. More are moved by one digit
/// of the key after the other, the lowest first, into buckets.
#include "compiler/lower/fiber/SortRecords.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

// The most records that are ranked: the work grows with their square.
static constexpr int64_t mostRanked = 256;
static constexpr unsigned digitBits = 8;
static constexpr int64_t bucketsPerDigit = 1 << digitBits;
static constexpr unsigned keyShift = 32;
// Buffers of the frame.
enum : unsigned { rankSlot, keySlot, bucketSlot };

SortRecords::SortRecords(Emission &emission, const SortKeys &keys, Value buffer,
                         Value base, Value capacity, ReadKeys readKeys)
    : emission(emission), builder(emission.builder), loc(emission.loc),
      keys(keys), buffer(buffer), readKeys(std::move(readKeys)),
      count(emission.target.lanes()),
      digits(std::min(32u, keys.bits()) / digitBits) {
  Value room =
      emission.add(capacity, emission.constant(padding(emission.target)));
  arrays = {base, emission.add(base, room)};
}

AffineExpr SortRecords::bufferElements(AffineExpr records,
                                       const Target &target) {
  return (records + padding(target)) * 2;
}

// ---- records
// -----------------------------------------------------------------

Value SortRecords::join(Emission &emission, Value key, Value positions) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = positions.getType();
  Value wide = arith::ExtSIOp::create(builder, loc, type, key);
  wide = arith::ShLIOp::create(builder, loc, wide,
                               emission.integer(type, keyShift));
  return arith::OrIOp::create(builder, loc, wide, positions);
}

Value SortRecords::lowHalf(Emission &emission, Value records) {
  return arith::AndIOp::create(
      emission.builder, emission.loc, records,
      emission.integer(records.getType(), int64_t(UINT32_MAX)));
}

Value SortRecords::highHalf(Emission &emission, Value records) {
  Value high =
      arith::ShRSIOp::create(emission.builder, emission.loc, records,
                             emission.integer(records.getType(), keyShift));
  Type narrow = emission.builder.getI32Type();
  if (auto vector = dyn_cast<VectorType>(records.getType()))
    narrow = vector.clone(narrow);
  return arith::TruncIOp::create(emission.builder, emission.loc, narrow, high);
}

Value SortRecords::make(Value keyVector, Value positions) {
  return keys.isWide() ? positions : join(emission, keyVector, positions);
}

Value SortRecords::positionsOf(Value records) {
  return lowHalf(emission, records);
}

Value SortRecords::keysOf(Value records) { return highHalf(emission, records); }

void SortRecords::store(Value records, Value at) {
  storeAt(records, emission.add(arrays.from, at));
}

Value SortRecords::load(Value at) {
  return loadAt(emission.add(ordered, at), count);
}

Value SortRecords::loadAt(Value place, unsigned lanes) {
  if (lanes == 1)
    return memref::LoadOp::create(builder, loc, buffer, place);
  VectorType type = emission.vectorType(builder.getI64Type(), lanes);
  return vector::LoadOp::create(builder, loc, type, buffer, place);
}

void SortRecords::storeAt(Value value, Value place) {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(builder, loc, value, buffer, place);
  else
    memref::StoreOp::create(builder, loc, value, buffer, place);
}

Value SortRecords::frame(int64_t elements, Type type, unsigned slot) {
  static const char keysOfSlots[bucketSlot + 1] = {};
  return emission.frameBuffer(&keysOfSlots[slot],
                              MemRefType::get({elements}, type));
}

Value SortRecords::i64(int64_t value) {
  return emission.integer(builder.getI64Type(), value);
}

Value SortRecords::toIndex(Value value) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      value);
}

Value SortRecords::tailMask(Value number, Value at) {
  return emission.tailMask(emission.sub(number, at), count);
}

Value SortRecords::wideKeys(Value records, Value mask) {
  Value positions = positionsOf(records);
  Value places = arith::IndexCastOp::create(
      builder, loc, emission.vectorType(builder.getIndexType(), count),
      positions);
  return readKeys(emission, places, mask);
}

void SortRecords::order(Value number, int64_t known) {
  if (known >= 0) {
    ordered = known <= mostRanked ? orderByRank(number) : orderByDigits(number);
    return;
  }
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                      number, emission.constant(mostRanked));
  ordered = emission
                .branch(
                    isFew, builder.getIndexType(),
                    [&]() -> Values { return {orderByRank(number)}; },
                    [&]() -> Values { return {orderByDigits(number)}; })
                .front();
}

// ---- few records
// -------------------------------------------------------------

Value SortRecords::orderByRank(Value number) {
  Value zero = emission.constant(0);
  Value ranks = frame(mostRanked + padding(emission.target),
                      builder.getI64Type(), rankSlot);
  Value keyArray = buffer, base = arrays.from;
  if (keys.isWide()) {
    keyArray = copyWideKeys(number);
    base = zero;
  }
  emission.loop(zero, number, 2 * count, [&](Value start) {
    vector::StoreOp::create(
        builder, loc, ranksOf(keyArray, base, start, number), ranks, start);
  });
  emission.loop(zero, number, 1, [&](Value i) {
    Value record = loadAt(emission.add(arrays.from, i), 1);
    Value rank = toIndex(memref::LoadOp::create(builder, loc, ranks, i));
    storeAt(record, emission.add(arrays.to, rank));
  });
  return arrays.to;
}

// The keys of the records at hand, one after the other.
Value SortRecords::copyWideKeys(Value number) {
  Value copied = frame(mostRanked + padding(emission.target),
                       builder.getI64Type(), keySlot);
  emission.loop(emission.constant(0), number, count, [&](Value i) {
    Value records = loadAt(emission.add(arrays.from, i), count);
    Value read = wideKeys(records, tailMask(number, i));
    vector::StoreOp::create(builder, loc, read, copied, i);
  });
  return copied;
}

// How many come before each of several keys. Equal ones, which only wide keys
// are, come in the order in which they stand.
Value SortRecords::ranksOf(Value keyArray, Value base, Value start,
                           Value number) {
  VectorType type = emission.vectorType(builder.getI64Type(), 2 * count);
  Value mine = vector::LoadOp::create(builder, loc, type, keyArray,
                                      emission.add(base, start));
  Value numbers = arith::AddIOp::create(
      builder, loc, emission.laneOffsets(1, 2 * count, builder.getI64Type()),
      emission.spread(Element{arith::IndexCastOp::create(
                          builder, loc, builder.getI64Type(), start)},
                      2 * count));
  auto compare = [&](arith::CmpIPredicate predicate, Value a,
                     Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  auto countBefore = [&](Value from, Value to, Value ranks,
                         llvm::function_ref<Value(Value, Value)> isBefore) {
    return emission
        .loop(from, to, 1, ranks,
              [&](Value j, ValueRange carried) -> Values {
                Value other = memref::LoadOp::create(builder, loc, keyArray,
                                                     emission.add(base, j));
                other = vector::BroadcastOp::create(builder, loc, type, other);
                Value before = isBefore(j, other);
                Value minusOne =
                    arith::ExtSIOp::create(builder, loc, type, before);
                return {
                    arith::SubIOp::create(builder, loc, carried[0], minusOne)};
              })
        .front();
  };
  auto isLess = [&](Value, Value other) {
    return compare(arith::CmpIPredicate::slt, other, mine);
  };
  Value zero = emission.constant(0);
  Value ranks = emission.integer(type, 0);
  if (!keys.isWide())
    return countBefore(zero, number, ranks, isLess);
  Value end =
      emission.min(number, emission.add(start, emission.constant(2 * count)));
  ranks = countBefore(zero, start, ranks, [&](Value, Value other) {
    return compare(arith::CmpIPredicate::sle, other, mine);
  });
  ranks = countBefore(start, end, ranks, [&](Value j, Value other) -> Value {
    Value at =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), j);
    at = vector::BroadcastOp::create(builder, loc, type, at);
    Value isEarlier = compare(arith::CmpIPredicate::slt, at, numbers);
    Value isEqual = compare(arith::CmpIPredicate::eq, other, mine);
    Value tie = arith::AndIOp::create(builder, loc, isEqual, isEarlier);
    return arith::OrIOp::create(builder, loc, tie, isLess(j, other));
  });
  return countBefore(end, number, ranks, isLess);
}

// ---- many records
// ------------------------------------------------------------

Value SortRecords::orderByDigits(Value number) {
  if (!keys.isWide()) {
    countDigits(number, arrays.from);
    return placeDigits(number, arrays, /*lastIsSigned=*/true).from;
  }
  // The low half of the keys first.
  takeHalf(number, arrays.from, /*high=*/false);
  countDigits(number, arrays.from);
  Arrays half = placeDigits(number, arrays, /*lastIsSigned=*/false);
  takeHalf(number, half.from, /*high=*/true);
  countDigits(number, half.from);
  return placeDigits(number, half, /*lastIsSigned=*/true).from;
}

// Puts one half of the keys beside the positions.
void SortRecords::takeHalf(Value number, Value from, bool high) {
  emission.loop(emission.constant(0), number, count, [&](Value i) {
    Value place = emission.add(from, i);
    Value records = loadAt(place, count);
    Value half = wideKeys(records, tailMask(number, i));
    Type type = half.getType();
    Value width = emission.integer(type, keyShift);
    if (high)
      half = arith::ShRUIOp::create(builder, loc, half, width);
    half = arith::ShLIOp::create(builder, loc, half, width);
    storeAt(arith::OrIOp::create(builder, loc, half, positionsOf(records)),
            place);
  });
}

// The digit at a shift, as an index.
Value SortRecords::digitOf(Value record, Value shift) {
  Value digit = arith::ShRUIOp::create(builder, loc, record, shift);
  digit = arith::AndIOp::create(builder, loc, digit, i64(bucketsPerDigit - 1));
  return toIndex(digit);
}

// Counts the records of each bucket, for all digits.
void SortRecords::countDigits(Value number, Value from) {
  Type word = builder.getI32Type();
  int64_t buckets = digits * bucketsPerDigit;
  Value counts = frame(buckets, word, bucketSlot);
  Value zeros = emission.integer(emission.vectorType(word, count), 0);
  Value zero = emission.constant(0);
  emission.loop(zero, emission.constant(buckets), count, [&](Value i) {
    vector::StoreOp::create(builder, loc, zeros, counts, i);
  });
  Value one = emission.integer(word, 1);
  emission.loop(zero, number, 1, [&](Value i) {
    Value record = loadAt(emission.add(from, i), 1);
    for (unsigned digit = 0; digit < digits; ++digit) {
      Value bucket =
          emission.add(digitOf(record, i64(keyShift + digit * digitBits)),
                       emission.constant(digit * bucketsPerDigit));
      Value before = memref::LoadOp::create(builder, loc, counts, bucket);
      Value after = arith::AddIOp::create(builder, loc, before, one);
      memref::StoreOp::create(builder, loc, after, counts, bucket);
    }
  });
}

// Moves the records by one digit after the other. A digit that all records have
// in common moves none.
SortRecords::Arrays SortRecords::placeDigits(Value number, Arrays start,
                                             bool lastIsSigned) {
  Value counts =
      frame(digits * bucketsPerDigit, builder.getI32Type(), bucketSlot);
  Value zero = emission.constant(0);
  Value records =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
  auto pass = [&](Value digit, ValueRange carried) -> Values {
    Arrays now{carried[0], carried[1]};
    Value buckets = emission.mul(digit, emission.constant(bucketsPerDigit));
    Value shift =
        emission.add(emission.mul(digit, emission.constant(digitBits)),
                     emission.constant(keyShift));
    shift =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), shift);
    Value first = digitOf(loadAt(now.from, 1), shift);
    Value common = memref::LoadOp::create(builder, loc, counts,
                                          emission.add(buckets, first));
    Value isCommon = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, common, records);
    SmallVector<Type> types(2, builder.getIndexType());
    return emission.branch(
        isCommon, types, [&]() -> Values { return {now.from, now.to}; },
        [&]() -> Values {
          Value turn = zero;
          if (lastIsSigned) {
            Value isLast =
                arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      digit, emission.constant(digits - 1));
            turn = arith::SelectOp::create(
                builder, loc, isLast, emission.constant(bucketsPerDigit / 2),
                zero);
          }
          startBuckets(buckets, turn);
          placeDigit(number, now, shift, buckets);
          return {now.to, now.from};
        });
  };
  Values after = emission.loop(zero, emission.constant(digits), 1,
                               {start.from, start.to}, pass);
  return {after[0], after[1]};
}

// Turns the buckets' counts into where they begin. The digit with the sign
// begins in the middle.
void SortRecords::startBuckets(Value buckets, Value turn) {
  Type word = builder.getI32Type();
  Value counts = frame(digits * bucketsPerDigit, word, bucketSlot);
  emission.loop(
      emission.constant(0), emission.constant(bucketsPerDigit), 1,
      emission.integer(word, 0), [&](Value i, ValueRange carried) -> Values {
        Value bucket = arith::XOrIOp::create(builder, loc, i, turn);
        bucket = emission.add(buckets, bucket);
        Value size = memref::LoadOp::create(builder, loc, counts, bucket);
        memref::StoreOp::create(builder, loc, carried[0], counts, bucket);
        return {arith::AddIOp::create(builder, loc, carried[0], size)};
      });
}

void SortRecords::placeDigit(Value number, Arrays now, Value shift,
                             Value buckets) {
  Type word = builder.getI32Type();
  Value counts = frame(digits * bucketsPerDigit, word, bucketSlot);
  Value one = emission.integer(word, 1);
  emission.loop(emission.constant(0), number, 1, [&](Value i) {
    Value record = loadAt(emission.add(now.from, i), 1);
    Value bucket = emission.add(buckets, digitOf(record, shift));
    Value place = memref::LoadOp::create(builder, loc, counts, bucket);
    Value next = arith::AddIOp::create(builder, loc, place, one);
    memref::StoreOp::create(builder, loc, next, counts, bucket);
    storeAt(record, emission.add(now.to, toIndex(place)));
  });
}

} // namespace sinter::compiler

/// TopFilter: which elements of a row may be among the first few.
#include "compiler/lower/fiber/TopFilter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

// Vectors of extremes that one segment of a row is brought to.
static constexpr unsigned vectorsPerSegment = 8;
// Groups for each element that is kept.
static constexpr int64_t groupsPerKept = 4;
static constexpr int64_t mostKept = 2048;
// Vectors that are looked at together for any that is kept.
static constexpr unsigned vectorsPerLook = 4;

static Type comparedType(Type element, const SortKeys &keys,
                         MLIRContext *context) {
  if (!isa<FloatType>(element))
    return keys.type();
  return element.getIntOrFloatBitWidth() == 64 ? element
                                               : Float32Type::get(context);
}

TopFilter::TopFilter(Type element, bool descending, int64_t kept,
                     const Target &target, MLIRContext *context)
    : descending(descending), kept(kept), lanes(target.lanes()),
      elementKeys(element, descending, context),
      comparedKeys(element, descending, context) {
  int64_t groups = int64_t(vectorsPerSegment) * lanes;
  segments = std::max<int64_t>(1, (kept * groupsPerKept + groups - 1) / groups);
  compared = comparedType(element, elementKeys, context);
  if (isa<FloatType>(compared))
    comparedKeys = SortKeys(compared, descending, context);
}

int64_t TopFilter::leastLength() const {
  if (kept < 1 || kept > mostKept)
    return -1;
  return segments * vectorsPerSegment * lanes * 4;
}

// ---- elements
// ----------------------------------------------------------------

Value TopFilter::convert(Emission &emission, Value element) const {
  if (!isa<FloatType>(compared))
    return elementKeys.keyOf(emission, element);
  Type type = compared;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    type = vector.clone(compared);
  if (element.getType() == type)
    return element;
  return arith::ExtFOp::create(emission.builder, emission.loc, type, element);
}

// A NaN is never an extreme: groups without it bound the others.
Value TopFilter::first(Emission &emission, Value extreme, Value element) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  if (!isa<FloatType>(compared))
    return arith::MinSIOp::create(builder, loc, element, extreme);
  auto predicate =
      descending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value isFirst =
      arith::CmpFOp::create(builder, loc, predicate, element, extreme);
  return arith::SelectOp::create(builder, loc, isFirst, element, extreme);
}

// A NaN is always kept.
Value TopFilter::isKept(Emission &emission, Value element, Value bound) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  if (!isa<FloatType>(compared))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                 element, bound);
  auto predicate =
      descending ? arith::CmpFPredicate::UGE : arith::CmpFPredicate::ULE;
  return arith::CmpFOp::create(builder, loc, predicate, element, bound);
}

// What comes after every element.
Value TopFilter::start(Emission &emission) const {
  Type type = emission.vectorType(compared, lanes);
  if (isa<FloatType>(compared)) {
    double infinity = std::numeric_limits<double>::infinity();
    return emission.number(type, descending ? -infinity : infinity);
  }
  unsigned width = compared.getIntOrFloatBitWidth();
  return emission.integer(type, int64_t((uint64_t(1) << (width - 1)) - 1));
}

// ---- passes
// ------------------------------------------------------------------

Value TopFilter::run(Emission &emission, const SortRow &row,
                     const SortKeys &keys, SortRecords &records) const {
  static const char slot = 0;
  int64_t groups = segments * vectorsPerSegment * lanes;
  Value extremes = emission.frameBuffer(
      &slot, MemRefType::get({groups}, comparedKeys.type()));
  findExtremes(emission, row, extremes);
  Value bound = boundOf(emission, extremes);
  return keep(emission, row, keys, records, bound);
}

void TopFilter::findExtremes(Emission &emission, const SortRow &row,
                             Value extremes) const {
  int64_t step = int64_t(vectorsPerSegment) * lanes;
  Value zero = emission.constant(0), tile = emission.constant(step);
  Value count = emission.constant(segments);
  Value tiles = emission.floorDiv(row.length, tile);
  Value whole = emission.mul(tiles, tile);
  Value perSegment = emission.floorDiv(
      emission.add(tiles, emission.constant(segments - 1)), count);
  auto take = [&](Value extreme, Value at, const Lanes &which) -> Value {
    Value element =
        convert(emission, row.read(emission, emission.along(at, lanes), which));
    if (which.mask)
      element = arith::SelectOp::create(emission.builder, emission.loc,
                                        which.mask, element, start(emission));
    return first(emission, extreme, element);
  };
  emission.loop(zero, count, 1, [&](Value segment) {
    Value begin = emission.mul(emission.mul(segment, perSegment), tile);
    begin = emission.min(begin, whole);
    Value end = emission.min(
        emission.add(begin, emission.mul(perSegment, tile)), whole);
    Emission::Values found(vectorsPerSegment, start(emission));
    found = emission.loop(
        begin, end, step, found,
        [&](Value i, ValueRange carried) -> Emission::Values {
          Emission::Values after;
          for (auto [number, extreme] : llvm::enumerate(carried))
            after.push_back(take(
                extreme,
                emission.add(i, emission.constant(int64_t(number) * lanes)),
                Lanes{lanes, {}}));
          return after;
        });
    for (auto [number, extreme] : llvm::enumerate(found)) {
      Value place = emission.add(emission.mul(segment, tile),
                                 emission.constant(int64_t(number) * lanes));
      // What is compared is a key already, unless it is a float.
      Value key = isa<FloatType>(compared)
                      ? comparedKeys.keyOf(emission, extreme)
                      : extreme;
      vector::StoreOp::create(emission.builder, emission.loc, key, extremes,
                              place);
    }
  });
}

// How many extremes have a key below `trial`.
Value TopFilter::countBelow(Emission &emission, Value extremes,
                            Value trial) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  VectorType type = emission.vectorType(comparedKeys.type(), lanes);
  int64_t step = int64_t(vectorsPerSegment) * lanes;
  Value bound = vector::BroadcastOp::create(builder, loc, type, trial);
  auto counts = emission.loop(
      emission.constant(0), emission.constant(segments * step), step,
      emission.integer(type, 0),
      [&](Value i, ValueRange carried) -> Emission::Values {
        Value counts = carried[0];
        for (unsigned number = 0; number < vectorsPerSegment; ++number) {
          Value place =
              emission.add(i, emission.constant(int64_t(number) * lanes));
          Value group =
              vector::LoadOp::create(builder, loc, type, extremes, place);
          Value isBelow = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::slt, group, bound);
          Value minusOne = arith::ExtSIOp::create(builder, loc, type, isBelow);
          counts = arith::SubIOp::create(builder, loc, counts, minusOne);
        }
        return {counts};
      });
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD,
                                     counts.front());
}

// The key of the `kept`-th extreme, bit by bit: the largest bound that fewer
// extremes are below.
Value TopFilter::boundOf(Emission &emission, Value extremes) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type key = comparedKeys.type();
  unsigned width = key.getIntOrFloatBitWidth();
  Value sign = emission.integer(key, int64_t(uint64_t(1) << (width - 1)));
  Value most = emission.integer(key, kept), one = emission.integer(key, 1);
  // Keys as unsigned numbers, the highest bit first.
  auto addBit = [&](Value, ValueRange carried) -> Emission::Values {
    Value trial = arith::OrIOp::create(builder, loc, carried[0], carried[1]);
    Value below = countBelow(emission, extremes,
                             arith::XOrIOp::create(builder, loc, trial, sign));
    Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        below, most);
    Value next = arith::ShRUIOp::create(builder, loc, carried[1], one);
    return {arith::SelectOp::create(builder, loc, isFew, trial, carried[0]),
            next};
  };
  Value found = emission
                    .loop(emission.constant(0), emission.constant(width), 1,
                          {emission.integer(key, 0), sign}, addBit)
                    .front();
  found = arith::XOrIOp::create(builder, loc, found, sign);
  return isa<FloatType>(compared) ? comparedKeys.elementOf(emission, found)
                                  : found;
}

namespace {

/// The second pass over a row: appends the records of what is kept.
class Keeper {
public:
  /// Of a vector of elements, which are kept.
  using IsKept = llvm::function_ref<Value(Value elements)>;

  Keeper(Emission &emission, const SortRow &row, const SortKeys &keys,
         SortRecords &records, IsKept isKept)
      : emission(emission), builder(emission.builder), loc(emission.loc),
        row(row), keys(keys), records(records), isKept(isKept),
        lanes(records.lanes()) {}

  /// The number of records.
  Value run() {
    Value zero = emission.constant(0);
    int64_t step = int64_t(vectorsPerLook) * lanes;
    Value stride = emission.constant(step);
    Value whole = emission.mul(emission.floorDiv(row.length, stride), stride);
    auto kept = emission.loop(
        zero, whole, step, zero, [&](Value i, ValueRange carried) -> Values {
          return {look(i, vectorsPerLook, false, carried[0])};
        });
    return emission
        .loop(whole, row.length, lanes, kept,
              [&](Value i, ValueRange carried) -> Values {
                return {look(i, 1, true, carried[0])};
              })
        .front();
  }

private:
  using Values = Emission::Values;
  struct Look {
    Value at, elements, mask;
  };

  Look lookAt(Value at, bool isLast) {
    Lanes which{lanes, {}};
    if (isLast)
      which.mask = emission.tailMask(emission.sub(row.length, at), lanes);
    Look one{at, row.read(emission, emission.along(at, lanes), which), {}};
    one.mask = isKept(one.elements);
    if (isLast)
      one.mask = arith::AndIOp::create(builder, loc, one.mask, which.mask);
    return one;
  }

  // Looks at several vectors together: mostly nothing is kept of any.
  Value look(Value start, unsigned vectors, bool isLast, Value number) {
    SmallVector<Look> looks;
    Value any;
    for (unsigned v = 0; v < vectors; ++v) {
      Value at = emission.add(start, emission.constant(int64_t(v) * lanes));
      looks.push_back(lookAt(at, isLast));
      Value mask = looks.back().mask;
      any = any ? Value(arith::OrIOp::create(builder, loc, any, mask)) : mask;
    }
    return whereAny(any, number, [&] {
      Value after = number;
      for (const Look &one : looks)
        after = whereAny(one.mask, after, [&] { return append(one, after); });
      return after;
    });
  }

  Value whereAny(Value mask, Value number, llvm::function_ref<Value()> then) {
    Value any = vector::ReductionOp::create(builder, loc,
                                            vector::CombiningKind::OR, mask);
    return emission
        .branch(
            any, builder.getIndexType(), [&]() -> Values { return {then()}; },
            [&]() -> Values { return {number}; })
        .front();
  }

  // Every lane is stored; the next goes over it if it was not meant.
  Value append(const Look &look, Value number) {
    Value positions = arith::IndexCastOp::create(
        builder, loc, emission.vectorType(builder.getI64Type(), lanes),
        emission.perLane(emission.along(look.at, lanes)));
    Value made = records.make(keys.keyOf(emission, look.elements), positions);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      auto laneOf = [&](Value vector) -> Value {
        return vector::ExtractOp::create(builder, loc, vector, int64_t(lane));
      };
      records.store(laneOf(made), number);
      Value isMeant = arith::IndexCastUIOp::create(
          builder, loc, builder.getIndexType(), laneOf(look.mask));
      number = arith::AddIOp::create(builder, loc, number, isMeant);
    }
    return number;
  }

  Emission &emission;
  OpBuilder &builder;
  Location loc;
  const SortRow &row;
  const SortKeys &keys;
  SortRecords &records;
  IsKept isKept;
  unsigned lanes;
};

} // namespace

Value TopFilter::keep(Emission &emission, const SortRow &row,
                      const SortKeys &keys, SortRecords &records,
                      Value bound) const {
  Value bounds = emission.spread(Element{bound}, lanes);
  auto keeps = [&](Value elements) {
    return isKept(emission, convert(emission, elements), bounds);
  };
  return Keeper(emission, row, keys, records, keeps).run();
}

} // namespace sinter::compiler

/// AttentionMerge: the parts of the keys that queries walked apart, in order.
#include "compiler/lower/attention/AttentionMerge.h"

#include "compiler/lower/attention/AttentionBlock.h"
#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/target/SizeClasses.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

// With so many queries there are tiles for whole tiles' rows; so many batches
// fill a device by themselves; fewer keys are walked in less time than a launch
// takes.
static constexpr int64_t mostQueries = 16, mostBatches = 256, leastKeys = 256;

static AffineExpr isWithin(AffineExpr size, int64_t least, int64_t most) {
  MLIRContext *context = size.getContext();
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  int64_t known = constantOf(size);
  if (known >= 0)
    return number(known >= least && known <= most);
  SmallVector<SizeStep, 3> steps{{0, number(least <= 0)}};
  if (least > 0)
    steps.push_back({least, number(1)});
  if (most < std::numeric_limits<int64_t>::max())
    steps.push_back({most + 1, number(0)});
  return valueAt(size, steps);
}

AffineExpr KeySplit::sizes(AffineExpr queries, AffineExpr batches,
                           AffineExpr keys) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  return isWithin(queries, 0, mostQueries) * isWithin(batches, 0, mostBatches) *
         isWithin(keys, leastKeys, any);
}

// So that there are at most 32 parts of all but the longest, in whole stages.
AffineExpr KeySplit::lengthFor(AffineExpr keys) {
  MLIRContext *context = keys.getContext();
  constexpr int64_t stage = 64, parts = 32, longest = 4096;
  SmallVector<SizeStep> steps;
  for (int64_t length = stage, least = 0; length <= longest; length *= 2) {
    AffineExpr value = getAffineConstantExpr(length, context);
    int64_t known = constantOf(keys);
    if (known >= 0 && (known <= length * parts || length == longest))
      return value;
    steps.push_back({least, value});
    least = length * parts + 1;
  }
  return valueAt(keys, steps);
}

namespace {

/// Merges what parts have of one query.
class Merge {
public:
  using Value = mlir::Value;

  Merge(Emission &emission, const KeySplit &split, const AttentionParts &parts,
        Value query)
      : emission(emission), split(split), parts(parts), query(query),
        count(emission.extent(split.parts)) {}

  void run(KernelWriter &writer);

private:
  /// The part's row of the workspace that has `width` numbers a row.
  Value placeOf(Value part, int64_t width) {
    Value queries = emission.extent(split.queries);
    Value row = emission.add(emission.mul(part, queries), query);
    return emission.mul(row, emission.constant(width));
  }
  Value load(unsigned workspace, Value place, const Lanes &lanes);
  Value largestOf(Value part) {
    return load(split.softmax, placeOf(part, 2), Lanes{});
  }
  Value largest();
  Value unlessInfinite(Value number);
  void store(KernelWriter &writer, Value result, Value column,
             const Lanes &lanes, Value numbers);

  Emission &emission;
  const KeySplit &split;
  AttentionParts parts;
  const Value query, count;
};

} // namespace

Value Merge::load(unsigned workspace, Value place, const Lanes &lanes) {
  Coord at = lanes.count == 1 ? emission.uniform(place)
                              : emission.along(place, lanes.count);
  return loadLanes(emission, emission.entry.buffers[workspace], at, lanes);
}

// A NaN is passed over: it is in the sum, too.
Value Merge::largest() {
  OpBuilder &builder = emission.builder;
  Value least = emission.number(builder.getF32Type(),
                                -std::numeric_limits<double>::infinity());
  return emission
      .loop(emission.constant(0), count, 1, least,
            [&](Value part, ValueRange carried) -> Emission::Values {
              Value own = largestOf(part), most = carried.front();
              Value isLarger = arith::CmpFOp::create(
                  builder, emission.loc, arith::CmpFPredicate::OGT, own, most);
              return {arith::SelectOp::create(builder, emission.loc, isLarger,
                                              own, most)};
            })
      .front();
}

// Where every score is -inf, 0 instead.
Value Merge::unlessInfinite(Value number) {
  OpBuilder &builder = emission.builder;
  Value infinite = emission.number(number.getType(),
                                   -std::numeric_limits<double>::infinity());
  Value isInfinite = arith::CmpFOp::create(
      builder, emission.loc, arith::CmpFPredicate::OEQ, number, infinite);
  return arith::SelectOp::create(builder, emission.loc, isInfinite,
                                 emission.number(number.getType(), 0), number);
}

void Merge::store(KernelWriter &writer, Value result, Value column,
                  const Lanes &lanes, Value numbers) {
  Shape shape = shapeOf(result);
  AffineExpr rows = shape[shape.size() - 2];
  Value end = emission.extent(rows);
  SmallVector<Coord> coordinates =
      batchCoordinates(emission, shape, emission.floorDiv(query, end));
  coordinates.push_back(emission.uniform(emission.mod(query, end)));
  coordinates.push_back(lanes.count == 1 ? emission.uniform(column)
                                         : emission.along(column, lanes.count));
  Value value = fromAccumulator(emission, numbers, elementOf(result));
  storeElements(emission, emission.entry.buffers[bufferOfPart(writer, result)],
                result, emission.fromCoordinates(coordinates), lanes,
                canonicalNan(emission, result, Element{value}));
}

// The sum of a query that sees no key counts as 1, so that what it weighs stays
// 0.
void Merge::run(KernelWriter &writer) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value output = parts.output.getResult();
  int64_t length = constantOf(shapeOf(output).back());
  unsigned lanes = emission.target.lanes();
  SmallVector<std::pair<Value, Lanes>> pieces;
  for (int64_t column = 0; column < length; column += lanes) {
    Value mask;
    if (length - column < lanes)
      mask = emission.tailMask(emission.constant(length - column), lanes);
    pieces.push_back({emission.constant(column), Lanes{lanes, mask, false}});
  }
  Value most = largest(), base = unlessInfinite(most);
  Type number = builder.getF32Type();
  Emission::Values inits{emission.number(number, 0)};
  inits.append(pieces.size(),
               emission.number(emission.vectorType(number, lanes), 0));
  Emission::Values sums = emission.loop(
      emission.constant(0), count, 1, inits,
      [&](Value part, ValueRange carried) {
        Value weight = math::ExpOp::create(
            builder, loc,
            arith::SubFOp::create(builder, loc, largestOf(part), base),
            arith::FastMathFlags::afn);
        Value own =
            load(split.softmax,
                 emission.add(placeOf(part, 2), emission.constant(1)), Lanes{});
        Emission::Values next{
            multiplyAdd(emission, own, weight, carried.front())};
        Value row = placeOf(part, length);
        Value spread = emission.spread(Element{weight}, lanes);
        for (auto [piece, sum] : llvm::zip(pieces, carried.drop_front()))
          next.push_back(multiplyAdd(
              emission,
              load(split.sums, emission.add(row, piece.first), piece.second),
              spread, sum));
        return next;
      });
  Value isNone =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                            sums.front(), emission.number(number, 0));
  Value sum = arith::SelectOp::create(builder, loc, isNone,
                                      emission.number(number, 1), sums.front());
  Value divisor = emission.spread(Element{sum}, lanes);
  for (auto [piece, numbers] : llvm::zip(pieces, ArrayRef(sums).drop_front()))
    store(writer, output, piece.first, piece.second,
          arith::DivFOp::create(builder, loc, numbers, divisor));
  if (parts.logsumexp)
    store(writer, parts.logsumexp.getResult(), emission.constant(0), Lanes{},
          arith::AddFOp::create(builder, loc, base,
                                math::LogOp::create(builder, loc, sum)));
}

void addMergedKeys(KernelWriter &writer, const AttentionParts &parts,
                   const KeySplit &split) {
  constexpr double microseconds = 1;
  writer.addPhase(split.queries, microseconds,
                  [&](Emission &emission, Value query) {
                    Merge(emission, split, parts, query).run(writer);
                  });
}

} // namespace sinter::compiler

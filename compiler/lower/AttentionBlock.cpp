/// AttentionBlock: packing, products and storing; softmax stands in
/// AttentionSoftmax.cpp.
#include "compiler/lower/AttentionBlock.h"

#include "compiler/lower/CanonicalNan.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/MatrixProduct.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

AttentionTile chooseAttentionTile(const Target &target, Type element) {
  AttentionTile tile;
  tile.accumulator = accumulatorType(element);
  tile.lanes = target.lanes();
  if (tile.accumulator.getIntOrFloatBitWidth() == 64)
    tile.lanes = std::max(2u, tile.lanes / 2);
  // A sum per row and vector, the vectors, and an element: 15 of 16 registers.
  tile.rows = target.vectorRegisters() >= 32 ? 12 : 6;
  return tile;
}

// What frame buffers are told apart by.
static const void *slotKey(unsigned slot) {
  static const char keys[16] = {};
  return &keys[slot];
}

Panel AttentionBlock::panel(unsigned slot, int64_t rows) {
  // A tile may begin at any row, and end behind the last one.
  int64_t held =
      llvm::alignTo(std::max<int64_t>(rows, 1) + tile.rows / 3, tile.lanes);
  auto type = MemRefType::get({held * tile.width()}, tile.accumulator);
  return {emission.frameBuffer(slotKey(slot), type), rows};
}

void AttentionBlock::begin(Value begin, AffineExpr extent) {
  first = begin;
  Value end = emission.extent(extent);
  last = emission.sub(end, emission.constant(1));
  int64_t lanes = constantOf(extent);
  isWhole = lanes >= 0 && lanes % tile.width() == 0;
  Value width = emission.constant(tile.width());
  valid = isWhole ? width : emission.min(emission.sub(end, first), width);
}

Value AttentionBlock::place(Value row, Value lane) {
  return emission.add(emission.mul(row, emission.constant(tile.width())), lane);
}

Value AttentionBlock::load(Panel from, Value row, Value lane) {
  auto type = emission.vectorType(tile.accumulator, tile.lanes);
  return vector::LoadOp::create(emission.builder, emission.loc, type,
                                from.buffer, place(row, lane));
}

void AttentionBlock::save(Panel to, Value row, Value lane, Value vector) {
  vector::StoreOp::create(emission.builder, emission.loc, vector, to.buffer,
                          place(row, lane));
}

Index AttentionBlock::indexOf(ArrayRef<Coord> last) {
  SmallVector<Coord> coordinates(batch);
  coordinates.append(last.begin(), last.end());
  return emission.fromCoordinates(coordinates);
}

Value AttentionBlock::read(Value tensor, ArrayRef<Coord> last,
                           const Lanes &lanes) {
  Value value = emission.vectorAt(tensor, indexOf(last), lanes);
  return toAccumulator(emission, value, elementOf(tensor));
}

Value AttentionBlock::spread(Value scalar) {
  return emission.spread(Element{scalar}, tile.lanes);
}

Value AttentionBlock::laneMask(Value lane) {
  if (isWhole)
    return {};
  return emission.tailMask(emission.sub(valid, lane), tile.lanes);
}

void AttentionBlock::forVectors(llvm::function_ref<void(Value lane)> emit) {
  emission.loop(emission.constant(0), valid, tile.lanes, emit);
}

void AttentionBlock::forGroups(llvm::function_ref<void(Value lane)> emit) {
  emission.loop(emission.constant(0), valid, groupLanes(), emit);
}

AttentionBlock::Range AttentionBlock::seenByOne(Value step, Value count,
                                                Value lane, int64_t lanes) {
  Value zero = emission.constant(0);
  if (!mask.causal)
    return {zero, count};
  // The place in the block of the first lane's own step.
  Value own = emission.sub(emission.add(first, lane), step);
  if (mask.walksKeys)
    return {emission.min(emission.max(own, zero), count), count};
  Value end = emission.add(own, emission.constant(lanes));
  return {zero, emission.min(emission.max(end, zero), count)};
}

AttentionBlock::Range AttentionBlock::seenByAll(Value step, Value count,
                                                Value lane, int64_t lanes) {
  if (!mask.causal)
    return seenByOne(step, count, lane, lanes);
  // What the first query sees, or what sees the last key.
  if (mask.walksKeys)
    lane = emission.add(lane, emission.constant(lanes - 1));
  return seenByOne(step, count, lane, 1);
}

AttentionBlock::Range AttentionBlock::scored(Value step, Value count,
                                             Value lane) {
  Value inGroup = emission.mod(lane, emission.constant(groupLanes()));
  return seenByOne(step, count, emission.sub(lane, inGroup), groupLanes());
}

void AttentionBlock::forScored(
    Value step, Value count, Value lane,
    llvm::function_ref<void(Range range, bool hides)> emit) {
  Range all = scored(step, count, lane);
  if (!mask.causal)
    return emit(all, false);
  Range seen = seenByAll(step, count, lane, tile.lanes);
  if (mask.walksKeys)
    emit({all.from, seen.from}, true);
  emit(seen, false);
  if (!mask.walksKeys)
    emit({seen.to, all.to}, true);
}

void AttentionBlock::forSteps(
    Value from, Value to,
    llvm::function_ref<void(Value step, Value count)> emit) {
  emission.loop(from, to, tile.steps, [&](Value step) {
    Value left = emission.sub(to, step);
    emit(step, emission.min(left, emission.constant(tile.steps)));
  });
}

// A square of vectors with rows and lanes exchanged: at distance h, each pair
// of vectors trades the blocks of h lanes that stand across the diagonal.
AttentionBlock::Values AttentionBlock::transposed(Values rows) {
  unsigned count = rows.size();
  for (unsigned h = count / 2; h > 0; h /= 2) {
    SmallVector<int64_t> upper, lower;
    for (unsigned lane = 0; lane < count; ++lane) {
      bool stays = (lane & h) == 0;
      upper.push_back(stays ? lane : count + lane - h);
      lower.push_back(stays ? lane + h : count + lane);
    }
    for (unsigned row = 0; row < count; ++row) {
      if (row & h)
        continue;
      Value a = rows[row], b = rows[row + h];
      rows[row] = vector::ShuffleOp::create(emission.builder, emission.loc, a,
                                            b, upper);
      rows[row + h] = vector::ShuffleOp::create(emission.builder, emission.loc,
                                                a, b, lower);
    }
  }
  return rows;
}

// Columns [0, length) in vectors; the last one masked.
static void forColumns(Emission &emission, int64_t length, unsigned lanes,
                       llvm::function_ref<void(Value, unsigned, Value)> emit) {
  int64_t whole = length / lanes * lanes, rest = length - whole;
  if (whole)
    emission.loop(emission.constant(0), emission.constant(whole), lanes,
                  [&](Value column) { emit(column, lanes, Value()); });
  if (rest)
    emit(emission.constant(whole), rest,
         emission.tailMask(emission.constant(rest), lanes));
}

Panel AttentionBlock::pack(Value tensor, double scale) {
  int64_t length = constantOf(shapeOf(tensor).back());
  Panel result = panel(laneSlot + packed++, length);
  forVectors([&](Value lane) {
    SmallVector<Value> from;
    for (unsigned r = 0; r < tile.lanes; ++r) {
      Value row = emission.add(emission.add(first, lane), emission.constant(r));
      from.push_back(isWhole ? row : emission.min(row, last));
    }
    forColumns(
        emission, length, tile.lanes,
        [&](Value column, unsigned count, Value mask) {
          Values rows;
          for (Value row : from) {
            Value x = read(
                tensor,
                {emission.uniform(row), emission.along(column, tile.lanes)},
                Lanes{tile.lanes, mask, false});
            if (scale != 1)
              x = arith::MulFOp::create(emission.builder, emission.loc, x,
                                        emission.number(x.getType(), scale));
            rows.push_back(x);
          }
          rows = transposed(std::move(rows));
          for (unsigned r = 0; r < count; ++r)
            save(result, emission.add(column, emission.constant(r)), lane,
                 rows[r]);
        });
  });
  return result;
}

Panel AttentionBlock::zeros(int64_t rows) {
  Panel result = panel(sumSlot + summed++, rows);
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  Value zero = emission.number(type, 0);
  emission.loop(
      emission.constant(0), emission.constant(rows), 1, [&](Value row) {
        forVectors([&](Value lane) { save(result, row, lane, zero); });
      });
  return result;
}

// ---- products --------------------------------------------------------------

void AttentionBlock::productTile(Panel result, Value row, unsigned rows,
                                 Value lane, Range depth, Panel right,
                                 ElementAt left, bool adds, Panel rescale,
                                 Value lastRow) {
  SmallVector<Value> lanes, numbers;
  for (unsigned v = 0; v < tile.vectors; ++v)
    lanes.push_back(emission.add(lane, emission.constant(v * tile.lanes)));
  for (unsigned r = 0; r < rows; ++r) {
    Value number = emission.add(row, emission.constant(r));
    numbers.push_back(number);
  }
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  Values sums(rows * tile.vectors, emission.number(type, 0));
  for (unsigned v = 0; adds && v < tile.vectors; ++v) {
    Value scale;
    if (rescale.buffer)
      scale = load(rescale, emission.constant(0), lanes[v]);
    for (unsigned r = 0; r < rows; ++r) {
      Value &sum = sums[r * tile.vectors + v];
      sum = load(result, numbers[r], lanes[v]);
      if (scale)
        sum = arith::MulFOp::create(emission.builder, emission.loc, sum, scale);
    }
  }
  sums = emission.loop(
      depth.from, depth.to, 1, sums, [&](Value k, ValueRange carried) {
        Values next(carried);
        SmallVector<Value> vectors;
        for (Value at : lanes)
          vectors.push_back(load(right, k, at));
        for (unsigned r = 0; r < rows; ++r) {
          Value at = numbers[r];
          Value element =
              spread(left(lastRow ? emission.min(at, lastRow) : at, k));
          for (unsigned v = 0; v < tile.vectors; ++v) {
            Value &sum = next[r * tile.vectors + v];
            sum = multiplyAdd(emission, element, vectors[v], sum);
          }
        }
        return next;
      });
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < tile.vectors; ++v)
      save(result, numbers[r], lanes[v], sums[r * tile.vectors + v]);
}

// result[row][lane] (+)= sum over depth of left(row, k) * right[k][lane].
void AttentionBlock::product(Panel result, RangeOf rowsOf, RangeOf depthOf,
                             Panel right, ElementAt left, bool adds,
                             Panel rescale) {
  forGroups([&](Value lane) {
    auto [begin, end] = rowsOf(lane);
    Range depth = depthOf(lane);
    auto emit = [&](Value row, int64_t count, Value lastRow) {
      productTile(result, row, count, lane, depth, right, left, adds, rescale,
                  lastRow);
    };
    auto fixed = getConstantIntValue(emission.sub(end, begin));
    Value row = begin;
    // What is left of whole tiles has smaller ones.
    for (int64_t step : {int64_t(tile.rows), int64_t(tile.rows) / 3}) {
      int64_t known = fixed ? *fixed / step * step : 1;
      if (known == 0)
        continue;
      Value tiles =
          emission.floorDiv(emission.sub(end, row), emission.constant(step));
      Value stop =
          emission.add(row, emission.mul(tiles, emission.constant(step)));
      emission.loop(row, stop, step,
                    [&](Value at) { emit(at, step, Value()); });
      row = stop;
      if (fixed)
        *fixed -= known;
    }
    if (fixed) {
      if (*fixed)
        emit(row, *fixed, {});
      return;
    }
    // Rows past the end repeat the last one; nothing reads them.
    Value lastRow = emission.sub(end, emission.constant(1));
    int64_t step = tile.rows / 3;
    emission.loop(row, end, step, [&](Value at) { emit(at, step, lastRow); });
  });
}

Panel AttentionBlock::scores(Value tensor, Value step, Value count, Panel lanes,
                             unsigned slot) {
  Panel result = panel(scoresSlot + slot, tile.steps);
  product(
      result, [&](Value lane) { return scored(step, count, lane); },
      [&](Value) {
        return Range{emission.constant(0), emission.constant(lanes.rows)};
      },
      lanes,
      [&](Value row, Value k) {
        Value from = emission.add(step, row);
        return read(tensor, {emission.uniform(from), emission.uniform(k)},
                    Lanes{});
      },
      /*adds=*/false, {});
  return result;
}

void AttentionBlock::accumulate(Panel result, Value tensor, Value step,
                                Value count, Panel weights, Panel rescale) {
  product(
      result,
      [&](Value) {
        return Range{emission.constant(0), emission.constant(result.rows)};
      },
      [&](Value lane) { return scored(step, count, lane); }, weights,
      [&](Value row, Value k) {
        Value from = emission.add(step, k);
        return read(tensor, {emission.uniform(from), emission.uniform(row)},
                    Lanes{});
      },
      /*adds=*/true, rescale);
}

// ---- storing ---------------------------------------------------------------

void AttentionBlock::store(Panel from, Value tensor, unsigned buffer,
                           double factor, Panel divisor) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  forVectors([&](Value lane) {
    Value scale = emission.number(type, factor);
    if (divisor.buffer)
      scale = arith::DivFOp::create(builder, loc, scale,
                                    load(divisor, emission.constant(0), lane));
    auto emit = [&](Value column, unsigned, Value mask) {
      Values rows;
      for (unsigned r = 0; r < tile.lanes; ++r) {
        Value x = load(from, emission.add(column, emission.constant(r)), lane);
        if (divisor.buffer || factor != 1)
          x = arith::MulFOp::create(builder, loc, x, scale);
        rows.push_back(x);
      }
      rows = transposed(std::move(rows));
      for (unsigned r = 0; r < tile.lanes; ++r) {
        Value row =
            emission.add(emission.add(first, lane), emission.constant(r));
        auto put = [&] {
          Index index = indexOf(
              {emission.uniform(row), emission.along(column, tile.lanes)});
          Value x = fromAccumulator(emission, rows[r], elementOf(tensor));
          storeElements(emission, emission.entry.buffers[buffer], tensor, index,
                        Lanes{tile.lanes, mask, false},
                        canonicalNan(emission, tensor, Element{x}));
        };
        if (isWhole) {
          put();
          continue;
        }
        Value exists = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sle, row, last);
        emission.when(exists, put);
      }
    };
    forColumns(emission, from.rows, tile.lanes, emit);
  });
}

} // namespace sinter::compiler

/// AttentionBlock: panels, ranges and products; packing and storing stand in
/// AttentionPanels.cpp, softmax in AttentionSoftmax.cpp.
#include "compiler/lower/attention/AttentionBlock.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

int64_t AttentionTile::panelElements(int64_t length) const {
  // A tile may begin at any row, and end behind the last one.
  return llvm::alignTo(std::max<int64_t>(length, 1) + rows / 3, lanes) *
         width();
}

int64_t AttentionTile::pitch(int64_t length) const {
  return llvm::alignTo(std::max<int64_t>(length, 1), lanes);
}

static int64_t frameBytes(const AttentionTile &tile,
                          const AttentionFrame &frame) {
  constexpr int64_t softmaxPanels = 3;
  int64_t elements = softmaxPanels * tile.panelElements(1) +
                     frame.scores * tile.panelElements(tile.steps);
  for (int64_t rows : frame.panels)
    elements += tile.panelElements(rows);
  for (int64_t length : frame.steps)
    elements += tile.steps * tile.pitch(length);
  return elements * (tile.accumulator.getIntOrFloatBitWidth() / 8);
}

// Of fewer lanes threads have nothing to do; of fewer steps than a tile has
// rows each element that is read serves fewer sums.
static void fitFrame(AttentionTile &tile, const Target &target,
                     const AttentionFrame &frame) {
  struct Limits {
    unsigned lanes;
    int64_t steps;
  };
  const unsigned mostLanes = std::min(tile.lanes, 32u);
  tile.vectors = 1;
  for (Limits fewest : {Limits{4, 16}, Limits{2, 4}})
    for (tile.lanes = mostLanes; tile.lanes >= fewest.lanes; tile.lanes /= 2)
      for (tile.steps = causalGranule; tile.steps >= fewest.steps;
           tile.steps /= 2)
        if (frameBytes(tile, frame) <= target.frameBytes())
          return;
  tile.lanes = 2;
  tile.steps = 4;
}

AttentionTile chooseAttentionTile(const Target &target, Type element,
                                  const AttentionFrame &frame) {
  AttentionTile tile;
  tile.accumulator = accumulatorType(element);
  tile.lanes = target.lanes();
  if (tile.accumulator.getIntOrFloatBitWidth() == 64)
    tile.lanes = std::max(2u, tile.lanes / 2);
  // A sum per row and vector, the vectors, and an element: 15 of 16 registers.
  tile.rows = target.vectorRegisters() >= 32 ? 12 : 6;
  if (target.frameBytes() < std::numeric_limits<int64_t>::max())
    fitFrame(tile, target, frame);
  return tile;
}

Value AttentionBlock::frame(unsigned slot, int64_t elements) {
  // What buffers are told apart by.
  static const char keys[16] = {};
  auto type = MemRefType::get({elements}, tile.accumulator);
  return emission.frameBuffer(&keys[slot], type);
}

Panel AttentionBlock::panel(unsigned slot, int64_t rows) {
  return {frame(slot, tile.panelElements(rows)), rows};
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
                                                Value position, int64_t lanes) {
  Value zero = emission.constant(0);
  if (!mask.causal)
    return {zero, count};
  // The place in the block of the first lane's own step.
  Value own = emission.sub(position, step);
  if (mask.walksKeys)
    return {emission.min(emission.max(own, zero), count), count};
  Value end = emission.add(own, emission.constant(lanes));
  return {zero, emission.min(emission.max(end, zero), count)};
}

AttentionBlock::Range AttentionBlock::seenByAll(Value step, Value count,
                                                Value lane) {
  // What the first query sees, or what sees the last key.
  Value position = emission.add(first, lane);
  if (mask.walksKeys)
    position = emission.add(position, emission.constant(tile.lanes - 1));
  return seenByOne(step, count, position, 1);
}

AttentionBlock::Range AttentionBlock::scored(Value step, Value count,
                                             Value lane) {
  Value position = emission.add(first, lane);
  int64_t granule = std::max(causalGranule, groupLanes());
  Value inGranule = emission.mod(position, emission.constant(granule));
  return seenByOne(step, count, emission.sub(position, inGranule), granule);
}

void AttentionBlock::forScored(
    Value step, Value count, Value lane,
    llvm::function_ref<void(Range range, bool hides)> emit) {
  Range all = scored(step, count, lane);
  if (!mask.causal)
    return emit(all, false);
  Range seen = seenByAll(step, count, lane);
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

Panel AttentionBlock::scores(const StepRows &rows, Value step, Value count,
                             Panel lanes, unsigned slot) {
  Panel result = panel(scoresSlot + slot, tile.steps);
  product(
      result, [&](Value lane) { return scored(step, count, lane); },
      [&](Value) {
        return Range{emission.constant(0), emission.constant(lanes.rows)};
      },
      lanes,
      [&](Value row, Value k) { return elementOfStep(rows, step, row, k); },
      /*adds=*/false, {});
  return result;
}

void AttentionBlock::accumulate(Panel result, const StepRows &rows, Value step,
                                Value count, Panel weights, Panel rescale) {
  product(
      result,
      [&](Value) {
        return Range{emission.constant(0), emission.constant(result.rows)};
      },
      [&](Value lane) { return scored(step, count, lane); }, weights,
      [&](Value row, Value k) { return elementOfStep(rows, step, k, row); },
      /*adds=*/!result.isUnset, rescale);
}

} // namespace sinter::compiler

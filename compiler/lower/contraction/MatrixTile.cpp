/// MatrixTile: the matrix leaf for vector machines.
#include "compiler/lower/contraction/MatrixTile.h"

#include "compiler/lower/contraction/UnitTile.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/program/Program.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Values of k that a round of the inner loop takes: its own work would be a
// fifth of that of the sums.
constexpr int64_t unrolled = 4;
// Where threads wait for what they read, instead.
constexpr int64_t waitedFor = 8;

static bool isPointwise(Operation *op) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  return described &&
         described.getPatternKind() == graph::PatternKind::pointwise;
}

// Of the frame's buffers.
static const char leftKey = 0, rightKey = 0, sumsKey = 0;

MatrixTile::MatrixTile(Emission &emission, ir::ContractionOpInterface op,
                       const TileShape &tile, ArrayRef<Sink> sinks,
                       SmallVector<Coord> batch, Value wholeRight,
                       Value batchNumber)
    : emission(emission), access(emission, op, tile, std::move(batch)),
      tile(tile), sinks(sinks), copier(access, tile),
      shape(shapeOf(op.getResult())), depth(access.depth),
      wholeRight(wholeRight), batchNumber(batchNumber) {
  int64_t count = constantOf(shape[shape.size() - 2]);
  // What the unit has summed is finished row by row.
  clampsRows = (count < 0 && !tile.image) ||
               (tile.copiesLeft && !tile.inUnit && count % tile.rows != 0);
  auto buffer = [&](const char &key, int64_t elements, Type held) {
    return emission.frameBuffer(&key, MemRefType::get({elements}, held));
  };
  if (tile.copiesLeft)
    left = buffer(leftKey, copier.leftElements(), access.copied);
  if (tile.image)
    left = buffer(leftKey,
                  tile.image->imageLines(tile.imageLines) * tile.image->width +
                      tile.lanes,
                  access.accumulator);
  if (tile.rightCopy == TileShape::RightCopy::panel)
    right = buffer(rightKey, tile.depthBlock * tile.columns(), access.copied);
  if (tile.blocksDepth || tile.keepsSums || tile.inUnit)
    sums = buffer(sumsKey, tile.sumsElements(), access.accumulator);
  findFinishing();
}

void MatrixTile::computePartial(const Part &given, const PartialSums &to) {
  partial = to;
  compute(given);
}

void MatrixTile::compute(const Part &given) {
  part = given;
  if (!part.depth.end)
    part.depth = {emission.constant(0), emission.extent(depth)};
  if (tile.inUnit)
    UnitTile::begin(emission);
  copyImage();
  if (tile.blocksDepth)
    computeInDepthBlocks();
  else
    computeAtOnce();
  if (tile.inUnit)
    UnitTile::end(emission);
}

void MatrixTile::computeAtOnce() {
  enterDepth(part.depth);
  if (tile.panelsInside)
    return eachTile([&](Value row) {
      eachPanel([&] {
        if (tile.keepsSums)
          prefetchFinishing(row);
        complete(row, accumulate(row, zeros()));
      });
    });
  Value yes =
      arith::ConstantIntOp::create(emission.builder, emission.loc, 1, 1);
  eachPanel([&] {
    copyRightPanel();
    findSurplus();
    eachTile([&](Value row) {
      prefetchPanel(row);
      prefetchFinishing(row);
      if (tile.inUnit)
        return computeInUnit(row, yes, yes);
      complete(row, accumulate(row, zeros()));
    });
  });
}

void MatrixTile::computeInDepthBlocks() {
  auto [first, last] = part.depth;
  // A result is stored even where there is nothing to sum.
  Value end =
      constantOf(depth) > 0
          ? last
          : emission.max(last, emission.add(first, emission.constant(1)));
  // Blocks hold whole runs, of all of k.
  bool cutsBlocks = tile.split && tile.leftRun;
  Value size = emission.constant(tile.depthBlock), start = first;
  if (cutsBlocks)
    start = emission.mul(emission.floorDiv(first, size), size);
  emission.loop(start, end, tile.depthBlock, [&](Value k) {
    Value stop = emission.add(k, size);
    enterDepth(
        {cutsBlocks ? emission.max(k, first) : k, emission.min(stop, last)});
    Value isFirst = compare(arith::CmpIPredicate::eq, k, start);
    Value isLast = compare(arith::CmpIPredicate::sge, stop, last);
    Value isInner = compare(arith::CmpIPredicate::slt, stop, last);
    eachPanel([&] {
      copyRightPanel();
      findSurplus();
      eachTile([&](Value row) {
        prefetchPanel(row);
        if (!finishing.empty())
          emission.when(isLast, [&] { prefetchFinishing(row); });
        if (tile.inUnit)
          return computeInUnit(row, isFirst, isLast);
        Values before = zeros();
        before = emission.branch(
            isFirst, ValueRange(before).getTypes(), [&] { return before; },
            [&] { return loadSums(row); });
        Values after = accumulate(row, before);
        if (tile.keepsSums)
          return saveSums(row, after);
        emission.when(isInner, [&] { saveSums(row, after); });
        emission.when(isLast, [&] { finishTile(row, after); });
      });
    });
  });
}

void MatrixTile::computeInUnit(Value row, Value isFirst, Value isLast) {
  int64_t words = emission.target.matrixUnit()->words;
  auto placeOfLeft = [&](int64_t r, Value k) {
    if (!tile.copiesLeft)
      return placeOfInput(rowOf(row, r), k);
    return copier.placeOfLeft(emission.sub(row, part.firstRow), r,
                              emission.sub(k, range.begin));
  };
  int64_t columnStep = tile.rightInSquares ? int64_t(tile.depthStep) : 1;
  auto right = [&](int64_t vector, Value k) {
    return emission.add(placeOfRight(0, k).second,
                        emission.constant(vector * words * columnStep));
  };
  auto placeOfSum = [&](int64_t r, int64_t vector) {
    return emission.add(placeOfSums(row, r, 0),
                        emission.constant(vector * words));
  };
  Value rightCopy = placeOfRight(0, range.begin).first;
  Value from = left;
  int64_t stride = tile.leftStride();
  if (!tile.copiesLeft) {
    auto input = cast<BlockArgument>(access.lhs);
    from = emission.entry.buffers[input.getArgNumber()];
    stride = constantOf(shapeOf(input).back()) / int64_t(tile.perWord);
  }
  UnitTile(emission, tile, vectors * tile.lanes / unsigned(words))
      .multiply(
          {from, placeOfLeft, stride},
          {rightCopy, right, tile.rightInSquares ? columnStep : tile.columns()},
          range.begin, range.end, {sums, placeOfSum, tile.sumsStride()},
          isFirst);
  if (tile.keepsSums)
    return;
  emission.when(isLast, [&] {
    Value end = emission.min(emission.add(row, emission.constant(tile.rows)),
                             part.endRow);
    unsigned height = std::exchange(rows, 1);
    emission.loop(row, end, 1,
                  [&](Value one) { finishTile(one, loadSums(one)); });
    rows = height;
  });
}

// Of the word `k` of the left operand, an input.
Value MatrixTile::placeOfInput(Value row, Value k) {
  Value first = emission.mul(k, emission.constant(tile.perWord));
  Index index =
      access.leftIndex(emission.uniform(row), emission.uniform(first));
  return emission.linearize(index, shapeOf(access.lhs)).base;
}

Value MatrixTile::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(emission.builder, emission.loc, predicate, a, b);
}

// The last tile, where it is not whole, has code of its own, unless its rows
// are read from a copy that goes on: each clamped row would be one more address
// to hold.
void MatrixTile::eachTile(llvm::function_ref<void(Value)> emit) {
  if (tile.image)
    return eachTileOfImage(emit);
  int64_t count = constantOf(shape[shape.size() - 2]);
  int64_t rest = count < 0 ? 0 : count % tile.rows;
  rows = tile.rows;
  if (tile.copiesLeft || rest == 0)
    return emission.loop(part.firstRow, part.endRow, tile.rows, emit);
  Value whole = emission.constant(count - rest);
  emission.loop(part.firstRow, emission.min(part.endRow, whole), tile.rows,
                emit);
  rows = rest;
  emission.loop(emission.max(part.firstRow, whole), part.endRow, rest, emit);
}

void MatrixTile::eachTileOfImage(llvm::function_ref<void(Value)> emit) {
  int64_t count = tile.image->positions, rest = count % tile.rows;
  Value positions = emission.constant(count);
  Value whole = emission.constant(count - rest);
  Value lines =
      emission.floorDiv(emission.sub(part.endRow, part.firstRow), positions);
  emission.loop(emission.constant(0), lines, 1, [&](Value number) {
    line = number;
    Value start = emission.add(part.firstRow, emission.mul(line, positions));
    auto emitAt = [&](Value at) {
      position = at;
      emit(emission.add(start, at));
    };
    rows = tile.rows;
    emission.loop(emission.constant(0), whole, tile.rows, emitAt);
    rows = rest;
    if (rest > 0)
      emitAt(whole);
  });
}

// The last panel, where it is not whole, has code of its own.
void MatrixTile::eachPanel(llvm::function_ref<void()> emit) {
  Value end = emission.extent(shape.back());
  int64_t step = tile.columns(), size = constantOf(shape.back());
  Value panels = emission.floorDiv(end, emission.constant(step));
  Value whole = emission.mul(panels, emission.constant(step));
  if (size < 0 || size >= step)
    emission.loop(part.firstColumn, emission.min(part.endColumn, whole), step,
                  [&](Value j) {
                    beginPanel(j, tile.vectors, {});
                    emit();
                  });
  if (size >= 0 && size % step == 0)
    return;
  Value valid = emission.sub(end, whole);
  unsigned count = tile.vectors;
  if (size >= 0) {
    count = llvm::divideCeil(size % step, tile.lanes);
    if (size % tile.lanes == 0)
      valid = {};
  }
  if (size >= 0 && tile.columnBlock >= size) {
    beginPanel(whole, count, valid);
    return emit();
  }
  // A loop of one round or none: the part that holds the last columns.
  emission.loop(emission.max(part.firstColumn, whole), part.endColumn, step,
                [&](Value j) {
                  beginPanel(j, count, valid);
                  emit();
                });
}

void MatrixTile::beginPanel(Value first, unsigned count, Value valid) {
  column = first;
  vectors = count;
  masks = access.masksOf(count, tile.lanes, valid);
}

void MatrixTile::enterDepth(const DepthRange &given) {
  range = given;
  if (tile.copiesLeft)
    copier.copyLeft(part.firstRow, part.endRow, range, left);
}

void MatrixTile::copyImage() {
  if (!tile.image)
    return;
  Value positions = emission.constant(tile.image->positions);
  Value first = emission.floorDiv(part.firstRow, positions);
  Value end = emission.floorDiv(part.endRow, positions);
  ImageStager(emission, *tile.image, tile.lanes, access.element)
      .copy(first, emission.sub(end, first), left);
}

void MatrixTile::copyRightPanel() {
  if (tile.rightCopy != TileShape::RightCopy::panel)
    return;
  bool isWhole = vectors == tile.vectors &&
                 llvm::none_of(masks, [](Value m) { return bool(m); });
  Value end = emission.extent(shape.back());
  copier.copyRight(column, isWhole ? Value() : emission.sub(end, column), range,
                   right, emission.constant(0));
}

// As much as a row of zeros, in sums enough to keep the multipliers busy.
void MatrixTile::findSurplus() {
  if (tile.leftZero == 0)
    return;
  Type type = emission.vectorType(access.accumulator, tile.lanes);
  Value zero = emission.integer(type, 0), word = access.leftZeros(type);
  auto addStep = [&](Value k, unsigned first, Values &sums) {
    for (unsigned v = 0; v < vectors; ++v)
      sums[first + v] = access.addProduct(word, rightAt(v, k), sums[first + v]);
  };
  Value whole = copier.endOfWhole(range, unrolled);
  Values sums = emission.loop(
      range.begin, whole, unrolled, Values(unrolled * vectors, zero),
      [&](Value k, ValueRange given) {
        Values sums(given);
        for (int64_t at = 0; at < unrolled; ++at)
          addStep(emission.add(k, emission.constant(at)), at * vectors, sums);
        return sums;
      });
  sums =
      emission.loop(whole, range.end, 1, sums, [&](Value k, ValueRange given) {
        Values sums(given);
        addStep(k, 0, sums);
        return sums;
      });
  surplus.assign(sums.begin(), sums.begin() + vectors);
  for (unsigned number = vectors; number < sums.size(); ++number) {
    Value &sum = surplus[number % vectors];
    sum = arith::AddIOp::create(emission.builder, emission.loc, sum,
                                sums[number]);
  }
}

MatrixTile::Values MatrixTile::withoutSurplus(const Values &carried) {
  Values sums = carried;
  for (unsigned number = 0; tile.leftZero != 0 && number < sums.size();
       ++number)
    sums[number] =
        arith::SubIOp::create(emission.builder, emission.loc, sums[number],
                              surplus[number % vectors]);
  return sums;
}

// Of so many bytes each.
int64_t MatrixTile::elementsOfLine(int64_t bytes) const {
  return emission.target.machines().usual.lineBytes / bytes;
}

// Each tile fetches a share of the panel after this one: the copy is too large
// to be near, and a panel too short for a stream of loads to lead up to.
void MatrixTile::prefetchPanel(Value row) {
  if (tile.rightCopy != TileShape::RightCopy::whole || tile.image)
    return;
  int64_t bytes = access.accumulator.getIntOrFloatBitWidth() / 8;
  int64_t line = elementsOfLine(bytes), tiles = tile.rowBlock / tile.rows;
  int64_t elements = tile.depthBlock * tile.columns();
  int64_t share = llvm::alignTo(llvm::divideCeil(elements, tiles), line);
  // Few tiles go through panels so fast that the processor sees a stream.
  if (share > 32 * line)
    return;
  Value width = emission.constant(tile.columns());
  Value start = copier.placeOfPanel(batchNumber, emission.add(column, width));
  Value number = emission.floorDiv(emission.sub(row, part.firstRow),
                                   emission.constant(tile.rows));
  start = emission.add(start, emission.mul(range.begin, width));
  start = emission.add(start, emission.mul(number, emission.constant(share)));
  for (int64_t at = 0; at < share; at += line)
    memref::PrefetchOp::create(emission.builder, emission.loc, wholeRight,
                               emission.add(start, emission.constant(at)),
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

// The copy is read in one stream, too large for the first cache: its lines are
// asked for as early as the next cache but one takes to give them.
void MatrixTile::prefetchRight(Value k) {
  constexpr int64_t bytesAhead = 4 << 10;
  if (tile.rightCopy != TileShape::RightCopy::whole)
    return;
  // Two loads go with two sums: where rows are few, loads are what takes time.
  if (rows + 2 * vectors > rows * vectors)
    return;
  int64_t bytes = access.copied.getIntOrFloatBitWidth() / 8;
  int64_t width = int64_t(vectors) * tile.lanes;
  auto [copy, place] = placeOfRight(0, k);
  for (int64_t at = 0; at < width; at += elementsOfLine(bytes))
    memref::PrefetchOp::create(
        emission.builder, emission.loc, copy,
        emission.add(place, emission.constant(bytesAhead / bytes + at)),
        /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

void MatrixTile::addFinishing(unsigned number, Value tensor, bool isWritten) {
  // What is small stays in a cache.
  constexpr int64_t leastBytes = 256 << 10;
  constexpr size_t mostBuffers = 8;
  MLIRContext *context = emission.builder.getContext();
  int64_t elements = constantOf(product(shape, 0, shape.size(), context));
  int64_t bytes = memoryType(elementOf(tensor)).getIntOrFloatBitWidth() / 8;
  bool isLarge = elements < 0 || elements * bytes >= leastBytes;
  if (isLarge && finishing.size() < mostBuffers)
    finishing.push_back({number, bytes, isWritten});
}

void MatrixTile::findFinishing() {
  if (tile.split)
    return;
  // A short sum leaves no time.
  constexpr int64_t leastDepth = 64;
  int64_t length = constantOf(depth);
  if (length >= 0 && length < leastDepth)
    return;
  llvm::SmallSetVector<Value, 16> read;
  for (const Sink &sink : sinks)
    read.insert(sink.value);
  auto kernel = cast<program::KernelOp>(emission.body.getParentOp());
  if (tile.keepsSums)
    for (auto [number, output] : llvm::enumerate(kernel.getOutputs())) {
      read.insert(output);
      if (shapeOf(output) == shape)
        addFinishing(kernel.getInputs().size() + number, output, true);
    }
  for (unsigned next = 0; next < read.size(); ++next) {
    Value value = read[next];
    Operation *op = value.getDefiningOp();
    // A reshape of an input has its elements in the same order.
    Value reshaped = ir::reshapedOperand(value);
    Value base = reshaped ? reshaped : value;
    if (auto input = dyn_cast<BlockArgument>(base)) {
      if (shapeOf(value) == shape)
        addFinishing(input.getArgNumber(), input, false);
    } else if (isPointwise(op) ||
               (tile.keepsSums && !isa<ir::ContractionOpInterface>(op))) {
      read.insert(op->operand_begin(), op->operand_end());
    }
  }
}

// A tile's parts of these lie in as many pages as it has rows, which no
// processor foresees; summing it leaves the time to fetch them.
void MatrixTile::prefetchFinishing(Value row) {
  for (const Finishing &each : finishing) {
    int64_t line = elementsOfLine(each.bytes);
    int64_t width = int64_t(vectors) * tile.lanes;
    for (unsigned r = 0; r < rows; ++r)
      for (int64_t at = 0; at < width; at += line) {
        Value there = emission.add(column, emission.constant(at));
        Index index = access.indexOf(emission.uniform(rowOf(row, r)),
                                     emission.uniform(there));
        memref::PrefetchOp::create(
            emission.builder, emission.loc, emission.entry.buffers[each.buffer],
            emission.linearize(index, shape).base, each.isWritten,
            /*localityHint=*/tile.keepsSums ? 2 : 3, /*isDataCache=*/true);
      }
  }
}

MatrixTile::Values MatrixTile::zeros() {
  Type type = emission.vectorType(access.accumulator, tile.lanes);
  return Values(rows * vectors, emission.number(type, 0));
}

MatrixTile::Values MatrixTile::accumulate(Value row, const Values &carried) {
  if (tile.image)
    return accumulateRuns(row, carried);
  // Blocks begin at multiples of a vector, or of runs.
  int64_t size = constantOf(depth);
  int64_t steps = emission.target.traits().inOrder ? waitedFor : unrolled;
  bool isWhole = size >= 0 && size % steps == 0 &&
                 (!tile.leftRun || tile.depthBlock % steps == 0);
  Values results = withoutSurplus(carried);
  if (!tile.turnsRight)
    return accumulateRange(row, range, results, steps, isWhole);
  Value first = range.begin;
  // Whole lines first: where columns lie a power of two apart, none stays in
  // the cache until its other half is asked for.
  int64_t bits = access.accumulator.getIntOrFloatBitWidth();
  int64_t line = std::max<int64_t>(512 / bits, tile.lanes);
  for (int64_t step : {line, int64_t(tile.lanes)}) {
    Value end = copier.endOfWhole({first, range.end}, step);
    results = emission.loop(first, end, step, results,
                            [&](Value k, ValueRange given) {
                              return addSquares(row, k, step, Values(given));
                            });
    first = end;
  }
  return accumulateRange(row, {first, range.end}, results, 1, true);
}

// Steps that come out even, where about as many as elsewhere do: more would
// take more registers.
static int64_t stepsOfRun(int64_t run) {
  for (int64_t steps : {unrolled, unrolled - 1, unrolled + 1})
    if (run % steps == 0)
      return steps;
  return unrolled;
}

// A run of k in each of the image's lines under a window.
MatrixTile::Values MatrixTile::accumulateRuns(Value row,
                                              const Values &carried) {
  const ImageWindows &image = *tile.image;
  Value run = emission.constant(image.run);
  Value below = emission.mul(line, emission.constant(image.lineStride));
  Value across = emission.mul(position, emission.constant(image.step));
  Value end = emission.add(range.end, emission.constant(image.run - 1));
  bool cutsRuns = tile.blocksDepth && tile.depthBlock % image.run != 0;
  int64_t steps = stepsOfRun(cutsRuns ? unrolled : image.run);
  return emission.loop(
      emission.floorDiv(range.begin, run), emission.floorDiv(end, run), 1,
      carried, [&](Value tap, ValueRange given) {
        Value down = emission.mul(tap, emission.constant(image.lineDilation));
        Value place = emission.mul(emission.add(below, down),
                                   emission.constant(image.width));
        DepthRange span{emission.mul(tap, run), {}};
        span.end = emission.add(span.begin, run);
        lineStart = emission.sub(emission.add(place, across), span.begin);
        if (cutsRuns)
          span = {emission.max(span.begin, range.begin),
                  emission.min(span.end, range.end)};
        return accumulateRange(row, span, Values(given), steps,
                               image.run % steps == 0);
      });
}

// `steps` values of k at a time, which come out even where `isWhole`.
MatrixTile::Values MatrixTile::accumulateRange(Value row,
                                               const DepthRange &span,
                                               Values results, int64_t steps,
                                               bool isWhole) {
  auto addSteps = [&](Value k, int64_t steps, ValueRange given) {
    Values sums(given);
    for (int64_t at = 0; at < steps; ++at) {
      Value here = emission.add(k, emission.constant(at));
      SmallVector<Value> columns;
      for (unsigned v = 0; v < vectors; ++v)
        columns.push_back(rightAt(v, here));
      prefetchRight(here);
      addProducts(row, here, 0, columns, sums);
    }
    return sums;
  };
  Value whole = isWhole ? span.end : copier.endOfWhole(span, steps);
  results = emission.loop(
      span.begin, whole, steps, results,
      [&](Value k, ValueRange given) { return addSteps(k, steps, given); });
  if (isWhole)
    return results;
  return emission.loop(
      whole, span.end, 1, results,
      [&](Value k, ValueRange given) { return addSteps(k, 1, given); });
}

// `step` values of k, whose rows of the right operand are made of its columns
// in registers.
MatrixTile::Values MatrixTile::addSquares(Value row, Value k, int64_t step,
                                          Values sums) {
  for (unsigned v = 0; v < vectors; ++v)
    for (int64_t at = 0; at < step; at += tile.lanes) {
      Value first = emission.add(column, emission.constant(v * tile.lanes));
      Value start = emission.add(k, emission.constant(at));
      auto lines = copier.linesAlongDepth(first, bool(masks[v]), start);
      for (auto [i, right] : llvm::enumerate(lines))
        addProducts(row, emission.add(start, emission.constant(i)), v, right,
                    sums);
    }
  return sums;
}

// Of the vectors of the panel from number `first` on.
void MatrixTile::addProducts(Value row, Value k, unsigned first,
                             ArrayRef<Value> right, Values &sums) {
  for (unsigned r = 0; r < rows; ++r) {
    Value value = leftAt(row, r, k);
    for (auto [v, factor] : llvm::enumerate(right)) {
      Value &sum = sums[r * vectors + first + v];
      sum = access.addProduct(value, factor, sum);
    }
  }
}

Value MatrixTile::leftAt(Value row, unsigned r, Value k) {
  Value value;
  if (tile.image) {
    Value place =
        emission.add(emission.add(lineStart, k),
                     emission.constant(int64_t(r) * tile.image->step));
    value = memref::LoadOp::create(emission.builder, emission.loc, left, place);
  } else if (tile.copiesLeft) {
    Value place = copier.placeOfLeft(emission.sub(row, part.firstRow), r,
                                     emission.sub(k, range.begin));
    value = memref::LoadOp::create(emission.builder, emission.loc, left, place);
  } else {
    value = access.leftAt(emission.uniform(rowOf(row, r)), emission.uniform(k),
                          Lanes{});
  }
  return emission.spread(Element{value}, tile.lanes);
}

Value MatrixTile::rightAt(unsigned vector, Value k) {
  if (tile.rightCopy == TileShape::RightCopy::none)
    return access.rightAt(emission.uniform(k), columnOf(vector),
                          lanesOf(vector));
  auto [copy, place] = placeOfRight(vector, k);
  return access.load(copy, place, tile.lanes);
}

std::pair<Value, Value> MatrixTile::placeOfRight(unsigned vector, Value k) {
  Value width = emission.constant(tile.columns());
  Value inner = emission.constant(int64_t(vector) * tile.lanes);
  if (tile.rightCopy == TileShape::RightCopy::panel) {
    Value line = emission.mul(emission.sub(k, range.begin), width);
    return {right, emission.add(line, inner)};
  }
  Value start = copier.placeOfPanel(batchNumber, column);
  Value line = emission.add(start, emission.mul(k, width));
  return {wholeRight, emission.add(line, inner)};
}

Value MatrixTile::placeOfSums(Value row, unsigned r, unsigned vector) {
  int64_t inner = int64_t(vector) * tile.lanes;
  int64_t lines = r * tile.sumsStride();
  if (tile.keepsSums) {
    Value line = emission.mul(emission.sub(row, part.firstRow),
                              emission.constant(tile.sumsStride()));
    return emission.add(emission.add(line, column),
                        emission.constant(lines + inner));
  }
  Value panel = emission.mul(emission.sub(column, part.firstColumn),
                             emission.constant(tile.rowBlock));
  Value line = emission.mul(emission.sub(row, part.firstRow),
                            emission.constant(tile.columns()));
  return emission.add(emission.add(panel, line),
                      emission.constant(lines + inner));
}

MatrixTile::Values MatrixTile::loadSums(Value row) {
  Values values;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < vectors; ++v)
      values.push_back(access.load(sums, placeOfSums(row, r, v), tile.lanes));
  return values;
}

void MatrixTile::saveSums(Value row, const Values &values) {
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < vectors; ++v)
      access.store(values[r * vectors + v], sums, placeOfSums(row, r, v));
}

void MatrixTile::complete(Value row, const Values &values) {
  if (tile.keepsSums)
    return saveSums(row, values);
  finishTile(row, values);
}

void MatrixTile::storePartial(Value row, const Values &values) {
  Value width = emission.extent(shape.back());
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < vectors; ++v) {
      Value place = emission.add(
          emission.add(partial->start, emission.mul(rowOf(row, r), width)),
          columnOf(v).base);
      Value sum = values[r * vectors + v];
      if (masks[v])
        vector::MaskedStoreOp::create(emission.builder, emission.loc,
                                      partial->buffer, place, masks[v], sum);
      else
        access.store(sum, partial->buffer, place);
    }
}

void MatrixTile::finishTile(Value row, const Values &values) {
  if (partial)
    return storePartial(row, values);
  struct Store {
    const Sink *sink;
    Index index;
    Lanes lanes;
    Element element;
  };
  SmallVector<Store> stores;
  auto indexAt = [&](unsigned r, unsigned v) {
    return access.indexOf(emission.uniform(rowOf(row, r)), columnOf(v));
  };
  // Everything is read before anything is written: a row past the end stands
  // for the last one, and an output may take an input's place.
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < vectors; ++v) {
      Value sum =
          fromAccumulator(emission, values[r * vectors + v], access.element);
      emission.provide(access.result, indexAt(r, v), lanesOf(v), Element{sum});
    }
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned v = 0; v < vectors; ++v)
      for (const Sink &sink : sinks) {
        Index index = indexAt(r, v);
        Element value = emission.at(sink.value, index, lanesOf(v));
        stores.push_back({&sink, index, lanesOf(v), value});
      }
  for (const Store &store : stores)
    storeToSink(emission, *store.sink, store.index, store.lanes, store.element);
}

Value MatrixTile::rowOf(Value row, unsigned r) {
  Value number = emission.add(row, emission.constant(r));
  if (!clampsRows)
    return number;
  AffineExpr rowCount = shape[shape.size() - 2];
  return emission.min(
      number, emission.sub(emission.extent(rowCount), emission.constant(1)));
}

Coord MatrixTile::columnOf(unsigned vector) {
  return emission.along(
      emission.add(column, emission.constant(int64_t(vector) * tile.lanes)),
      tile.lanes);
}

Lanes MatrixTile::lanesOf(unsigned vector) {
  return Lanes{tile.lanes, masks[vector], false};
}

} // namespace sinter::compiler

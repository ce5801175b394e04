/// The skeleton of long reductions whose results are the places of a small
/// window for each of many channels. A task takes in the 64 rows of a block of
/// the canonical order, line by line: lanes are channels, and what the places
/// of a window share with each other, or with those of the next row, is read
/// once. Inside of an image nothing is masked. Phases that follow merge blocks
/// to chunks, and chunks to results, in order.
#include "compiler/lower/reduce/WindowSums.h"
#include "compiler/analysis/ElementCost.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;

// Results for each channel, and channels at least.
constexpr int64_t mostTaps = 49, leastChannels = 8;
// Rows that one phase serves.
constexpr int64_t fewestRows = 4 * canonicalBlock;
// Elements that are taken in by one piece of code, and of a line.
constexpr int64_t mostUnrolled = 50, mostTogether = 4;
// Tasks for each of the many threads that wait for memory: with fewer, places
// of a window are shared out, too.
constexpr int64_t enoughTasks = 2048;
// Partial states that are read at a time.
constexpr int64_t partsAtOnce = 32;
// Blocks of a chunk.
constexpr int64_t partsOfChunk = canonicalChunk / canonicalBlock;
// What two vectors of a thread take in the time of one.
constexpr double wideFactor = 1.6;

// A reduction, and the workspaces of its states, state[part][tap][channel].
struct Sum {
  Operation *op = nullptr;
  std::unique_ptr<Combiner> combiner;
  unsigned blocks = 0, chunks = 0;
};

// States that stand in parts, `count` of them.
struct Parts {
  unsigned Sum::*buffer;
  AffineExpr count;
};

class WindowSumsSkeleton {
public:
  WindowSumsSkeleton(KernelWriter &writer, const ColumnSpace &space)
      : writer(writer), space(space),
        sinks(space.sinks(writer.outputBuffer(0))) {}

  bool applies();
  void run();

private:
  AffineExpr number(int64_t value) const {
    return getAffineConstantExpr(value, space.context);
  }
  bool findDims();
  bool findChannel();
  void findInteriors();
  unsigned chooseLanes() const;
  int64_t chooseGroups() const;

  // ---- the first phase
  void emitBlock(Emission &emission, Value task);
  Values takeRows(Emission &emission, Value begin, Value end, Value group,
                  Value channel, const Lanes &lanes);
  Values takeLine(Emission &emission, ArrayRef<Coord> place, Value from,
                  Value to, Value group, Value channel, const Lanes &lanes,
                  ValueRange states);
  Values takeInterior(Emission &emission, ArrayRef<Coord> place, Value from,
                      Value to, Value group, Value channel, const Lanes &lanes,
                      ValueRange states);
  Values takePlaces(Emission &emission, ArrayRef<Coord> place, Value at,
                    int64_t count, Value group, Value channel,
                    const Lanes &lanes, ValueRange states);
  int64_t together() const;
  Value isInside(Emission &emission, ArrayRef<Coord> place) const;
  void assumeGroup(Emission &emission, Value group) const;
  SmallVector<Coord> tapCoordinates(Emission &emission, int64_t tap,
                                    Value group) const;
  int64_t tapsOfGroup() const { return taps / groups; }

  // ---- merging
  void eachChannel(Emission &emission, Value block, unsigned lanes,
                   llvm::function_ref<void(Value, const Lanes &)> body);
  Value placeOf(Emission &emission, Value part, Value tap, Value channel) const;
  Values mergeParts(Emission &emission, const Parts &parts, Value begin,
                    Value end, Value tap, Value channel, const Lanes &lanes);
  void addMergePhases(const Parts &blocks, const Parts &chunks);
  void store(Emission &emission, const Values &totals, Value tap, Value channel,
             const Lanes &lanes);

  KernelWriter &writer;
  const ColumnSpace &space;
  const SmallVector<Sink> sinks;
  std::vector<Sum> sums;
  Shape rowDims;                 ///< reduced, the last of them the line's
  SmallVector<unsigned> tapAxes; ///< that stay, but for the channels
  SmallVector<int64_t> tapSizes;
  unsigned channelAxis = 0;
  int64_t taps = 1, channels = 0;
  SmallVector<Interior> interiors; ///< of `rowDims`
  unsigned lanes = 1;
  int64_t groups = 1; ///< of taps, by the first axis that has several
};

} // namespace

//===- What applies -------------------------------------------------------===//

// Of every operand, elements along the channels are neighbours.
bool WindowSumsSkeleton::findChannel() {
  int64_t best = 0;
  for (unsigned axis = 0; axis < space.shape.size(); ++axis) {
    if (space.isReduced(axis))
      continue;
    int64_t run = 0;
    for (const Sum &sum : sums)
      run = std::gcd(run, neighboursAlong(sum.op->getOperand(0), axis));
    if (run > best) {
      best = run;
      channelAxis = axis;
    }
  }
  channels = constantOf(space.shape[channelAxis]);
  return best >= leastChannels && channels >= leastChannels;
}

bool WindowSumsSkeleton::findDims() {
  // Neighbours that are last already are the columns' skeleton's.
  if (!findChannel() ||
      channelAxis + space.tailRank >= unsigned(space.shape.size()))
    return false;
  for (unsigned axis = 0; axis < space.shape.size(); ++axis) {
    if (space.isReduced(axis)) {
      rowDims.push_back(space.shape[axis]);
    } else if (axis != channelAxis) {
      int64_t size = constantOf(space.shape[axis]);
      if (size < 1 || size > mostTaps)
        return false;
      tapAxes.push_back(axis);
      tapSizes.push_back(size);
      taps *= size;
    }
  }
  return taps * int64_t(sums.size()) <= mostTaps;
}

void WindowSumsSkeleton::findInteriors() {
  for (int64_t axis : space.axes) {
    Interior all = Interior::everything();
    for (const Sum &sum : sums)
      all = all.both(interiorOf(sum.op->getOperand(0), unsigned(axis)));
    interiors.push_back(all);
  }
}

bool WindowSumsSkeleton::applies() {
  if (!writer.target.traits().apart)
    return false;
  for (Operation *op : space.reductions) {
    std::unique_ptr<Combiner> combiner = makeCombiner(op->getResult(0));
    if (combiner->needsPosition() || combiner->types().size() != 1)
      return false;
    sums.push_back({op, std::move(combiner)});
  }
  int64_t rows = constantOf(space.extent);
  if ((rows >= 0 && rows < fewestRows) || !findDims() ||
      constantOf(rowDims.back()) < 1)
    return false;
  findInteriors();
  lanes = chooseLanes();
  groups = chooseGroups();
  return true;
}

// A vector has two for each thread; one, or fewer, where there are not as many
// channels.
unsigned WindowSumsSkeleton::chooseLanes() const {
  unsigned one = std::max(1U, writer.target.lanes() / 2);
  if (channels < int64_t(one))
    return unsigned(llvm::PowerOf2Ceil(uint64_t(channels)));
  auto blocks = [&](unsigned width) {
    return double(llvm::divideCeil(uint64_t(channels), width));
  };
  return wideFactor * blocks(2 * one) <= blocks(one) ? 2 * one : one;
}

int64_t WindowSumsSkeleton::chooseGroups() const {
  int64_t rows = constantOf(space.extent);
  int64_t tasks = int64_t(llvm::divideCeil(uint64_t(channels), lanes)) *
                  int64_t(llvm::divideCeil(uint64_t(rows), canonicalBlock));
  if (rows < 0 || tasks >= enoughTasks)
    return 1;
  for (int64_t size : tapSizes)
    if (size > 1)
      return size;
  return 1;
}

//===- Blocks of rows -----------------------------------------------------===//

void WindowSumsSkeleton::run() {
  AffineExpr results = number(taps * channels);
  Parts blocks{&Sum::blocks, space.extent.ceilDiv(canonicalBlock)};
  Parts chunks{&Sum::chunks, space.extent.ceilDiv(canonicalChunk)};
  bool isOneChunk = isOne(chunks.count);
  for (Sum &sum : sums) {
    Type state = sum.combiner->types().front();
    sum.blocks = writer.addWorkspace(blocks.count * results, state);
    if (!isOneChunk)
      sum.chunks = writer.addWorkspace(chunks.count * results, state);
  }
  auto columns = int64_t(llvm::divideCeil(uint64_t(channels), lanes));
  double elements = double(canonicalBlock * lanes * tapsOfGroup());
  writer.addPhase(
      blocks.count * (groups * columns),
      elements * elementNanoseconds(writer.kernel.getBlock(), writer.target) /
          1000,
      [this](Emission &emission, Value task) {
        emission.readsNearest = true;
        emitBlock(emission, task);
      });
  addMergePhases(blocks, chunks);
}

void WindowSumsSkeleton::emitBlock(Emission &emission, Value task) {
  Value columns =
      emission.constant(int64_t(llvm::divideCeil(uint64_t(channels), lanes)));
  Value split = emission.constant(groups);
  Value column = emission.mod(task, columns);
  Value rest = emission.floorDiv(task, columns);
  Value group = emission.mod(rest, split);
  Value part = emission.floorDiv(rest, split);
  Value begin = emission.mul(part, emission.constant(canonicalBlock));
  Value end =
      emission.min(emission.add(begin, emission.constant(canonicalBlock)),
                   emission.extent(space.extent));
  Value firstTap = emission.mul(group, emission.constant(tapsOfGroup()));
  eachChannel(emission, column, lanes, [&](Value channel, const Lanes &own) {
    Values states = takeRows(emission, begin, end, group, channel, own);
    for (auto [number, state] : llvm::enumerate(states)) {
      const Sum &sum = sums[number / tapsOfGroup()];
      Value tap = emission.add(
          firstTap, emission.constant(int64_t(number) % tapsOfGroup()));
      storeStates(emission, *sum.combiner, {emission.entry.buffers[sum.blocks]},
                  placeOf(emission, part, tap, channel), own, {state});
    }
  });
}

// States of a block, those of a reduction after each other.
Values WindowSumsSkeleton::takeRows(Emission &emission, Value begin, Value end,
                                    Value group, Value channel,
                                    const Lanes &own) {
  Values fresh;
  for (const Sum &sum : sums)
    for (int64_t tap = 0; tap < tapsOfGroup(); ++tap)
      fresh.append(sum.combiner->init(emission, own.count));
  Value length = emission.extent(rowDims.back()), one = emission.constant(1);
  Value first = emission.floorDiv(begin, length);
  Value last =
      emission.add(emission.floorDiv(emission.sub(end, one), length), one);
  return emission.loop(
      first, last, 1, fresh, [&](Value line, ValueRange states) {
        Value start = emission.mul(line, length);
        Value from =
            emission.max(emission.sub(begin, start), emission.constant(0));
        Value to = emission.min(emission.sub(end, start), length);
        Index index;
        index.tail = emission.uniform(line);
        index.tailRank = unsigned(rowDims.size()) - 1;
        SmallVector<Coord> place;
        if (index.tailRank > 0)
          place = emission.coordinates(
              index, Shape(rowDims.begin(), rowDims.end() - 1));
        return takeLine(emission, place, from, to, group, channel, own, states);
      });
}

// Whether what is before the line lies inside; null where all does.
Value WindowSumsSkeleton::isInside(Emission &emission,
                                   ArrayRef<Coord> place) const {
  Value all;
  for (auto [coord, interior] : llvm::zip(place, interiors)) {
    if (interior.isAll())
      continue;
    Value own = arith::CmpIOp::create(
        emission.builder, emission.loc, arith::CmpIPredicate::ult,
        emission.sub(coord.base, emission.constant(interior.low)),
        emission.constant(interior.high - interior.low));
    all = all ? arith::AndIOp::create(emission.builder, emission.loc, all, own)
              : own;
  }
  return all;
}

// Elements [from, to) of a line in order: what lies before the interior, of the
// interior as many as are taken in together, and what is left by the same code
// as what lies before.
Values WindowSumsSkeleton::takeLine(Emission &emission, ArrayRef<Coord> place,
                                    Value from, Value to, Value group,
                                    Value channel, const Lanes &own,
                                    ValueRange states) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  const Interior &along = interiors.back();
  Value low = from, high = to;
  if (!along.isAll()) {
    low = emission.min(emission.max(emission.constant(along.low), from), to);
    high = emission.max(emission.min(emission.constant(along.high), to), low);
  }
  Value step = emission.constant(together());
  high = emission.add(
      low,
      emission.mul(emission.floorDiv(emission.sub(high, low), step), step));
  auto choose = [&](Value flag, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, flag, a, b);
  };
  Value inside = isInside(emission, place);
  if (inside) {
    low = choose(inside, low, to);
    high = choose(inside, high, to);
  }
  Value zero = emission.constant(0);
  return emission.loop(
      zero, emission.constant(2), 1, states,
      [&](Value side, ValueRange carried) {
        Value isBefore = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::eq, side, zero);
        Values after = emission.loop(
            choose(isBefore, from, high), choose(isBefore, low, to), 1, carried,
            [&](Value at, ValueRange before) {
              assumeGroup(emission, group);
              Values taken = takePlaces(emission, place, at, 1, group, channel,
                                        own, before);
              emission.forgetRanges();
              return taken;
            });
        Value isNext = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, low, high);
        isNext = arith::AndIOp::create(builder, loc, isBefore, isNext);
        return emission.branch(
            isNext, ValueRange(after).getTypes(),
            [&] {
              for (auto [coord, interior] : llvm::zip(place, interiors))
                if (!interior.isAll())
                  emission.assumeRange(coord.base, interior.low,
                                       interior.high - 1);
              Values taken = takeInterior(emission, place, low, high, group,
                                          channel, own, after);
              emission.forgetRanges();
              return taken;
            },
            [&] { return after; });
      });
}

// Of a line, by one piece of code.
int64_t WindowSumsSkeleton::together() const {
  int64_t most = mostUnrolled / (tapsOfGroup() * int64_t(sums.size()));
  return int64_t(llvm::bit_floor(
      uint64_t(std::clamp<int64_t>(most, 1, constantOf(rowDims.back())))));
}

// A multiple of those that are taken in together.
Values WindowSumsSkeleton::takeInterior(Emission &emission,
                                        ArrayRef<Coord> place, Value from,
                                        Value to, Value group, Value channel,
                                        const Lanes &own, ValueRange states) {
  const Interior &along = interiors.back();
  int64_t count = together();
  assumeGroup(emission, group);
  return emission.loop(
      from, to, count, states, [&](Value at, ValueRange before) {
        if (!along.isAll())
          emission.assumeRange(at, along.low, along.high - count);
        return takePlaces(emission, place, at, count, group, channel, own,
                          before);
      });
}

void WindowSumsSkeleton::assumeGroup(Emission &emission, Value group) const {
  if (groups > 1)
    emission.assumeRange(group, 0, groups - 1);
}

// Along the axes that stay, but for the channels. A group's taps are those at
// one place of the first axis that has several.
SmallVector<Coord> WindowSumsSkeleton::tapCoordinates(Emission &emission,
                                                      int64_t tap,
                                                      Value group) const {
  SmallVector<Coord> result(tapSizes.size());
  for (size_t next = tapSizes.size(); next-- > 0;) {
    result[next] = emission.uniform(emission.constant(tap % tapSizes[next]));
    tap /= tapSizes[next];
  }
  if (groups == 1)
    return result;
  for (auto [size, coord] : llvm::zip(tapSizes, result))
    if (size > 1) {
      coord = emission.uniform(group);
      break;
    }
  return result;
}

// `count` elements of the line from `at` on, one after the other.
Values WindowSumsSkeleton::takePlaces(Emission &emission, ArrayRef<Coord> place,
                                      Value at, int64_t count, Value group,
                                      Value channel, const Lanes &own,
                                      ValueRange states) {
  Values after(states);
  Coord along = own.count == 1 ? emission.uniform(channel)
                               : emission.along(channel, own.count);
  for (int64_t next = 0; next < count; ++next) {
    SmallVector<Coord> coordinates(space.shape.size());
    for (auto [axis, coord] : llvm::zip(space.axes, place))
      coordinates[axis] = coord;
    coordinates[space.axes.back()] =
        emission.uniform(emission.add(at, emission.constant(next)));
    coordinates[channelAxis] = along;
    for (int64_t tap = 0; tap < tapsOfGroup(); ++tap) {
      for (auto [axis, coord] :
           llvm::zip(tapAxes, tapCoordinates(emission, tap, group)))
        coordinates[axis] = coord;
      Index index = emission.fromCoordinates(coordinates);
      for (auto [number, sum] : llvm::enumerate(sums)) {
        Value &state = after[int64_t(number) * tapsOfGroup() + tap];
        Value element = emission.vectorAt(sum.op->getOperand(0), index, own);
        state = sum.combiner
                    ->take(emission, {state},
                           sum.combiner->lift(emission, element, {}))
                    .front();
      }
    }
  }
  return after;
}

//===- Merging ------------------------------------------------------------===//

// Those of block number `block`, so many lanes at a time.
void WindowSumsSkeleton::eachChannel(
    Emission &emission, Value block, unsigned width,
    llvm::function_ref<void(Value, const Lanes &)> body) {
  Value size = emission.constant(width), all = emission.constant(channels);
  bool isOneBlock = channels <= int64_t(width);
  Value first = isOneBlock ? emission.constant(0) : emission.mul(block, size);
  Value end = isOneBlock ? all : emission.min(emission.add(first, size), all);
  eachColumn(emission, first, end, width, channels, body);
}

Value WindowSumsSkeleton::placeOf(Emission &emission, Value part, Value tap,
                                  Value channel) const {
  Value row = emission.add(emission.mul(part, emission.constant(taps)), tap);
  return emission.add(emission.mul(row, emission.constant(channels)), channel);
}

// Parts [begin, end) in order, some of which are on their way at once.
Values WindowSumsSkeleton::mergeParts(Emission &emission, const Parts &parts,
                                      Value begin, Value end, Value tap,
                                      Value channel, const Lanes &own) {
  Values states;
  for (const Sum &sum : sums)
    states.append(sum.combiner->init(emission, own.count));
  auto merge = [&](Value from, Value to, int64_t count, ValueRange before) {
    return emission.loop(
        from, to, count, before, [&](Value part, ValueRange carried) {
          SmallVector<Values> read;
          for (int64_t next = 0; next < count; ++next)
            for (const Sum &sum : sums)
              read.push_back(loadStates(
                  emission, *sum.combiner,
                  {emission.entry.buffers[sum.*parts.buffer]},
                  placeOf(emission, emission.add(part, emission.constant(next)),
                          tap, channel),
                  own));
          Values after(carried);
          for (auto [number, state] : llvm::enumerate(read)) {
            size_t which = number % sums.size();
            after[which] = sums[which]
                               .combiner->merge(emission, {after[which]}, state)
                               .front();
          }
          return after;
        });
  };
  int64_t together = std::max<int64_t>(1, partsAtOnce / int64_t(sums.size()));
  Value step = emission.constant(together);
  Value whole =
      emission.mul(emission.floorDiv(emission.sub(end, begin), step), step);
  Value middle = emission.add(begin, whole);
  return merge(middle, end, 1, merge(begin, middle, together, states));
}

void WindowSumsSkeleton::addMergePhases(const Parts &blocks,
                                        const Parts &chunks) {
  unsigned width = std::min(lanes, std::max(1U, writer.target.lanes() / 2));
  auto columns = int64_t(llvm::divideCeil(uint64_t(channels), width));
  constexpr double microsecondsOfPart = 0.001;
  bool isOneChunk = isOne(chunks.count);
  if (!isOneChunk)
    writer.addPhase(
        chunks.count * (taps * columns),
        microsecondsOfPart * double(partsOfChunk * width),
        [=, this](Emission &emission, Value task) {
          Value all = emission.constant(columns);
          Value column = emission.mod(task, all);
          Value rest = emission.floorDiv(task, all);
          Value tap = emission.mod(rest, emission.constant(taps));
          Value chunk = emission.floorDiv(rest, emission.constant(taps));
          Value size = emission.constant(partsOfChunk);
          Value begin = emission.mul(chunk, size);
          Value end = emission.min(emission.add(begin, size),
                                   emission.extent(blocks.count));
          eachChannel(
              emission, column, width, [&](Value channel, const Lanes &own) {
                Values states =
                    mergeParts(emission, blocks, begin, end, tap, channel, own);
                for (auto [sum, state] : llvm::zip(sums, states))
                  storeStates(emission, *sum.combiner,
                              {emission.entry.buffers[sum.chunks]},
                              placeOf(emission, chunk, tap, channel), own,
                              {state});
              });
        });
  writer.addPhase(
      number(taps * columns), microsecondsOfPart * double(partsOfChunk * width),
      [=, this](Emission &emission, Value task) {
        const Parts &parts = isOneChunk ? blocks : chunks;
        Value all = emission.constant(columns);
        Value column = emission.mod(task, all);
        Value tap = emission.floorDiv(task, all);
        eachChannel(
            emission, column, width, [&](Value channel, const Lanes &own) {
              store(emission,
                    mergeParts(emission, parts, emission.constant(0),
                               emission.extent(parts.count), tap, channel, own),
                    tap, channel, own);
            });
      });
}

// What is made of the totals; all is known before any is stored.
void WindowSumsSkeleton::store(Emission &emission, const Values &totals,
                               Value tap, Value channel, const Lanes &own) {
  Shape sizes;
  for (int64_t size : tapSizes)
    sizes.push_back(number(size));
  SmallVector<Coord> tapPlace;
  if (!sizes.empty()) {
    Index flat;
    flat.tail = emission.uniform(tap);
    flat.tailRank = unsigned(sizes.size());
    tapPlace = emission.coordinates(flat, sizes);
  }
  Coord along = own.count == 1 ? emission.uniform(channel)
                               : emission.along(channel, own.count);
  Operation *first = sums.front().op;
  bool keepsDims = reductionAxes(first).keepdims;
  SmallVector<Coord> place;
  unsigned next = 0;
  for (unsigned axis = 0; axis < space.shape.size(); ++axis) {
    if (axis == channelAxis)
      place.push_back(along);
    else if (!space.isReduced(axis))
      place.push_back(tapPlace[next++]);
    else if (keepsDims)
      place.push_back(emission.uniform(emission.constant(0)));
  }
  Shape shape = shapeOf(first->getResult(0));
  Index index = emission.fromCoordinates(place), flat;
  flat.tail = emission.linearize(index, shape);
  auto indexOf = [&](Value value) {
    if (shapeOf(value) == shape)
      return index;
    flat.tailRank = unsigned(shapeOf(value).size());
    return flat;
  };
  for (auto [sum, total] : llvm::zip(sums, totals)) {
    Value result = sum.op->getResult(0);
    Element element{sum.combiner->finish(emission, {total})};
    emission.provide(result, indexOf(result), own, element);
    emission.setSource(result, makeKnown(result, element));
  }
  SmallVector<Element> elements;
  for (const Sink &sink : sinks)
    elements.push_back(emission.at(sink.value, indexOf(sink.value), own));
  for (auto [sink, element] : llvm::zip(sinks, elements))
    storeToSink(emission, sink, indexOf(sink.value), own, element);
}

bool fitWindowSums(KernelWriter &writer, const ColumnSpace &space) {
  return WindowSumsSkeleton(writer, space).applies();
}

void emitWindowSums(KernelWriter &writer, const ColumnSpace &space) {
  WindowSumsSkeleton skeleton(writer, space);
  skeleton.applies(); // it finds out how
  skeleton.run();
}

} // namespace sinter::compiler

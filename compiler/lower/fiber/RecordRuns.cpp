/// RecordRuns: runs in registers, and merges of runs in memory.
#include "compiler/lower/fiber/RecordRuns.h"

#include "compiler/lower/element/ElementSource.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

using Values = Emission::Values;

// Vectors of words in the registers of a run's threads.
static constexpr unsigned vectorsOfRun = 4;
// Rough times of a word: of a run in registers, of a merge.
static constexpr double runMicroseconds = 0.01, mergeMicroseconds = 0.02;

RecordRuns::RecordRuns(KernelWriter &writer, AffineExpr rows, int64_t length,
                       int64_t kept, unsigned words)
    : writer(writer), rows(rows), length(length), kept(std::min(kept, length)),
      words(words) {
  int64_t runs = llvm::divideCeil(length, int64_t(runLanes()));
  unsigned arrays = runs > 1 ? 2 : 1;
  Type i64 = IntegerType::get(writer.kernel.getContext(), 64);
  for (unsigned array = 0; array < arrays; ++array)
    for (unsigned word = 0; word < words; ++word)
      buffers[array].push_back(writer.addWorkspace(rows * length, i64));
}

// A power of two; of rows that are a run, no more than they need.
unsigned RecordRuns::runLanes() const {
  unsigned most = writer.target.lanes() * vectorsOfRun / words;
  if (length >= int64_t(most))
    return most;
  return std::max<unsigned>(4, llvm::bit_ceil(unsigned(length)));
}

void RecordRuns::addPhases(const Make &make, const Take &take) {
  int64_t size = runLanes();
  int64_t runs = llvm::divideCeil(length, size);
  bool isOneRun = runs <= 1;
  writer.addPhase(rows * std::max<int64_t>(runs, 1),
                  runMicroseconds * double(size),
                  [&](Emission &emission, Value task) {
                    orderRun(emission, task, make, isOneRun ? take : Take());
                  });
  for (; size < length; size *= 2, last ^= 1)
    addMerge(size, buffers[last], buffers[last ^ 1]);
  if (!take || isOneRun)
    return;
  unsigned width = writer.target.lanes();
  int64_t vectors = llvm::divideCeil(kept, int64_t(width));
  writer.addPhase(
      rows * vectors, mergeMicroseconds, [&](Emission &emission, Value task) {
        Value count = emission.constant(vectors);
        Value row = emission.floorDiv(task, count);
        Value at =
            emission.mul(emission.mod(task, count), emission.constant(width));
        Lanes lanes{width, {}, false};
        if (kept % width != 0)
          lanes.mask = emission.tailMask(
              emission.sub(emission.constant(kept), at), width);
        take(emission, row, at, lanes,
             load(emission, row, emission.along(at, width), lanes));
      });
}

Values RecordRuns::loadFrom(Emission &emission, const Buffers &from,
                            const Coord &at, const Lanes &lanes) const {
  Values loaded;
  for (unsigned buffer : from)
    loaded.push_back(
        loadLanes(emission, emission.entry.buffers[buffer], at, lanes));
  return loaded;
}

Values RecordRuns::load(Emission &emission, Value row, const Coord &at,
                        const Lanes &lanes) const {
  Value base = emission.mul(row, emission.constant(length));
  return loadFrom(emission, buffers[last],
                  emission.add(emission.uniform(base), at), lanes);
}

Value RecordRuns::less(Emission &emission, const Values &a,
                       const Values &b) const {
  using P = arith::CmpIPredicate;
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value isLess = arith::CmpIOp::create(builder, loc, P::slt, a[0], b[0]);
  if (words == 1)
    return isLess;
  Value isEqual = arith::CmpIOp::create(builder, loc, P::eq, a[0], b[0]);
  Value isEarlier = arith::CmpIOp::create(builder, loc, P::slt, a[1], b[1]);
  Value tie = arith::AndIOp::create(builder, loc, isEqual, isEarlier);
  return arith::OrIOp::create(builder, loc, isLess, tie);
}

// ---- runs
// --------------------------------------------------------------------

// Lanes in order, by a network: in each step every lane is compared with
// another one, and one of both takes the smaller.
Values RecordRuns::ordered(Emission &emission, Values state,
                           unsigned lanes) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  auto flags = emission.vectorType(builder.getI1Type(), lanes);
  for (unsigned size = 2; size <= lanes; size *= 2)
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      SmallVector<int64_t> partners;
      SmallVector<bool> takesLarger;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        partners.push_back(lane ^ distance);
        takesLarger.push_back(((lane & distance) == 0) != ((lane & size) == 0));
      }
      Values other;
      for (Value word : state)
        other.push_back(
            vector::ShuffleOp::create(builder, loc, word, word, partners));
      Value isLarger = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(flags, takesLarger));
      Value takes = arith::XOrIOp::create(
          builder, loc, less(emission, other, state), isLarger);
      for (auto [word, theirs] : llvm::zip(state, other))
        word = arith::SelectOp::create(builder, loc, takes, theirs, word);
    }
  return state;
}

void RecordRuns::orderRun(Emission &emission, Value task, const Make &make,
                          const Take &take) const {
  unsigned width = runLanes();
  int64_t runs = std::max<int64_t>(1, llvm::divideCeil(length, int64_t(width)));
  Value count = emission.constant(runs), all = emission.constant(length);
  Value row = emission.floorDiv(task, count);
  Value at = emission.mul(emission.mod(task, count), emission.constant(width));
  Lanes lanes{width, {}, false};
  if (length % width != 0)
    lanes.mask = emission.tailMask(emission.sub(all, at), width);
  Values state = make(emission, row, at, lanes);
  // What is no record comes last.
  if (lanes.mask)
    for (Value &word : state)
      word = arith::SelectOp::create(
          emission.builder, emission.loc, lanes.mask, word,
          emission.integer(word.getType(), INT64_MAX));
  state = ordered(emission, state, width);
  if (kept < int64_t(width))
    lanes.mask = emission.tailMask(
        emission.min(emission.constant(kept), emission.sub(all, at)), width);
  if (take)
    return take(emission, row, at, lanes, state);
  Value place = emission.add(emission.mul(row, all), at);
  for (auto [word, buffer] : llvm::zip(state, buffers[0])) {
    Value memory = emission.entry.buffers[buffer];
    if (lanes.mask)
      vector::MaskedStoreOp::create(emission.builder, emission.loc, memory,
                                    place, lanes.mask, word);
    else
      vector::StoreOp::create(emission.builder, emission.loc, word, memory,
                              place);
  }
}

// ---- merges
// ------------------------------------------------------------------

void RecordRuns::addMerge(int64_t size, const Buffers &from,
                          const Buffers &to) {
  unsigned width = writer.target.lanes();
  int64_t runs = llvm::divideCeil(length, size);
  int64_t vectors = llvm::divideCeil(std::min(size, kept), int64_t(width));
  writer.addPhase(rows * (runs * vectors), mergeMicroseconds * width,
                  [&](Emission &emission, Value task) {
                    mergeVector(emission, task, size, from, to);
                  });
}

// Brings some records of a run to their places among those of the run beside.
void RecordRuns::mergeVector(Emission &emission, Value task, int64_t size,
                             const Buffers &from, const Buffers &to) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  unsigned width = writer.target.lanes();
  int64_t most = std::min(size, kept);
  Value runs = emission.constant(llvm::divideCeil(length, size));
  Value vectors = emission.constant(llvm::divideCeil(most, int64_t(width)));
  Value all = emission.constant(length), full = emission.constant(size);
  Value vector = emission.floorDiv(task, vectors);
  Value first =
      emission.mul(emission.mod(task, vectors), emission.constant(width));
  Value row = emission.floorDiv(vector, runs);
  Value run = emission.mod(vector, runs);
  Value pair = emission.floorDiv(run, emission.constant(2));
  Value partner =
      emission.sub(emission.add(emission.mul(pair, emission.constant(4)),
                                emission.constant(1)),
                   run);
  Value base = emission.mul(row, all);
  auto beginOf = [&](Value number) {
    return emission.min(emission.mul(number, full), all);
  };
  auto countOf = [&](Value begin) {
    return emission.min(emission.sub(all, begin), emission.constant(most));
  };
  Value own = beginOf(run), other = beginOf(partner);
  Value mask = emission.tailMask(emission.sub(countOf(own), first), width);
  Value start = emission.add(emission.add(base, own), first);
  Values mine = loadFrom(emission, from, emission.along(start, width),
                         Lanes{width, mask, false});
  Value before = countBefore(
      emission, mine, {from, emission.add(base, other), countOf(other), most},
      mask);
  Value rank = arith::AddIOp::create(
      builder, loc, emission.perLane(emission.along(first, width)), before);
  if (kept < length) {
    Value isKept = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, rank,
        emission.spread(Element{emission.constant(kept)}, width));
    mask = arith::AndIOp::create(builder, loc, mask, isKept);
  }
  Value begin =
      emission.add(base, emission.mul(pair, emission.constant(2 * size)));
  for (auto [word, buffer] : llvm::zip(mine, to))
    vector::ScatterOp::create(builder, loc, Type(),
                              emission.entry.buffers[buffer], begin, rank, mask,
                              word);
}

Value RecordRuns::countBelow(Emission &emission, const Values &words, Value row,
                             Value mask) const {
  Value count = emission.constant(length);
  Value first = emission.mul(row, count);
  return countBefore(emission, words, {buffers[last], first, count, length},
                     mask);
}

// How many records of a range in order come before each of mine: the largest
// number of them that do, bit by bit.
Value RecordRuns::countBefore(Emission &emission, const Values &mine,
                              const Range &range, Value mask) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  unsigned width =
      unsigned(cast<VectorType>(mine.front().getType()).getNumElements());
  auto spread = [&](Value scalar) {
    return emission.spread(Element{scalar}, width);
  };
  VectorType type = emission.vectorType(builder.getIndexType(), width);
  auto highest = int64_t(llvm::bit_floor(uint64_t(range.most)));
  Values start{emission.integer(type, 0), emission.constant(highest)};
  Value end = spread(range.count);
  Value behind = spread(emission.sub(range.first, emission.constant(1)));
  auto addBit = [&](Value, ValueRange carried) -> Values {
    Value trial =
        arith::AddIOp::create(builder, loc, carried[0], spread(carried[1]));
    Value isThere = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ule, trial, end);
    if (mask)
      isThere = arith::AndIOp::create(builder, loc, isThere, mask);
    Value place = arith::AddIOp::create(builder, loc, trial, behind);
    Values theirs = loadFrom(emission, range.from, Coord{{}, 0, place, width},
                             Lanes{width, isThere, false});
    Value isBefore = arith::AndIOp::create(
        builder, loc, less(emission, theirs, mine), isThere);
    return {arith::SelectOp::create(builder, loc, isBefore, trial, carried[0]),
            emission.floorDiv(carried[1], emission.constant(2))};
  };
  Value bits = emission.constant(llvm::Log2_64(uint64_t(highest)) + 1);
  return emission.loop(emission.constant(0), bits, 1, start, addBit).front();
}

} // namespace sinter::compiler

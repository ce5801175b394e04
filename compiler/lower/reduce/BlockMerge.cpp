/// Parts merged by blocks of threads.
#include "compiler/lower/reduce/BlockMerge.h"

#include "compiler/target/BlockThreads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Of a block: one for each thread of a warp, which here are so many, however
// many a device runs together; fewer where its memory is small.
static constexpr int64_t mostColumns = 32, leastColumns = 8;
static constexpr int64_t mostWarps = 8;
// Registers of a thread, and what it has aside from what is on its way.
static constexpr int64_t mostRegisters = 128, otherRegisters = 32;
static constexpr int64_t partsOfChunk = BlockMerge::partsOfChunk;

namespace {

using Values = Emission::Values;

/// How a block shares its work and its memory, where each number of each part
/// at hand has a row of columns.
struct MergeLayout {
  MergeLayout(int64_t parts, size_t numbers, int64_t mostNumbers);

  int64_t threads() const { return warps * columns; }
  int64_t rows() const { return chunks * rowsOfChunk; } ///< of a number
  int64_t placeOfTotals() const { return int64_t(numbers) * rows() * columns; }
  int64_t memory() const {
    return placeOfTotals() + int64_t(numbers) * chunks * columns;
  }

  size_t numbers;
  int64_t columns = mostColumns;
  int64_t warps = mostWarps;
  int64_t chunks = 1; ///< of parts, at a time; each has a warp for each number
  int64_t rowsOfChunk = partsOfChunk;
};

} // namespace

MergeLayout::MergeLayout(int64_t parts, size_t numbers, int64_t mostNumbers)
    : numbers(numbers) {
  auto fits = [&](int64_t some) {
    MergeLayout other = *this;
    other.chunks = some;
    return other.memory() <= mostNumbers && some * int64_t(numbers) <= warps;
  };
  if (parts >= 0 && parts < partsOfChunk) {
    int64_t least = int64_t(std::max<size_t>(1, numbers));
    warps = std::clamp(parts, least, std::max(mostWarps, least));
    rowsOfChunk = int64_t(llvm::alignTo(std::max<int64_t>(1, parts), warps));
  } else {
    int64_t all =
        parts < 0 ? 1 : int64_t(llvm::divideCeil(parts, partsOfChunk));
    while (chunks < all && fits(chunks + 1))
      ++chunks;
  }
  while (memory() > mostNumbers && columns > leastColumns)
    columns /= 2;
}

// ---- a block ---------------------------------------------------------------

namespace {

class Merger {
public:
  Merger(Emission &emission, const MergedNumbers &merged,
         const MergeLayout &layout, AffineExpr parts, AffineExpr width)
      : emission(emission), unit(*emission.target.blockThreads()),
        merged(merged), layout(layout), all(emission.extent(parts)),
        width(emission.extent(width)) {}

  void run();

private:
  int64_t loadsOfThread() const { return layout.rows() / layout.warps; }
  void wait() { unit.wait(emission.builder, emission.loc); }
  Value number(int64_t value) { return emission.constant(value); }
  Value place(int64_t first, Value row) {
    return emission.add(emission.mul(row, number(layout.columns)),
                        emission.add(number(first), lane));
  }
  Value placeOf(size_t number, Value row) {
    return place(int64_t(number) * layout.rows() * layout.columns, row);
  }
  Value placeOfTotal(size_t number, Value chunk) {
    return place(layout.placeOfTotals() +
                     int64_t(number) * layout.chunks * layout.columns,
                 chunk);
  }
  Value load(Value at) {
    return memref::LoadOp::create(emission.builder, emission.loc, block.memory,
                                  at);
  }
  void store(Value value, Value at) {
    memref::StoreOp::create(emission.builder, emission.loc, value, block.memory,
                            at);
  }
  Value isLess(Value a, Value b) {
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ult, a, b);
  }
  /// Whether the warp is the chunk's `sub(warp, first)` of a number.
  Value isOf(Value first, int64_t count) {
    return isLess(emission.sub(warp, first), number(count));
  }

  void mergeAll();
  void bring(Value begin);
  void mergeChunks(Value begin);
  Value mergedRows(size_t number, Value first, Value count);
  Values addChunks(Value begin, ValueRange carried);

  Emission &emission;
  const BlockThreads &unit;
  const MergedNumbers &merged;
  const MergeLayout &layout;
  const Value all, width;
  BlockThreads::Block block;
  Value lane, warp, column;
};

} // namespace

void Merger::run() {
  block =
      unit.begin(emission.builder, emission.loc, emission.entry,
                 layout.threads(), layout.memory(),
                 std::min(mostRegisters,
                          otherRegisters + loadsOfThread() * merged.reads()));
  emission.within(emission.builder.getInsertionBlock(), [&] { mergeAll(); });
}

void Merger::mergeAll() {
  lane = emission.mod(block.thread, number(layout.columns));
  warp = emission.floorDiv(block.thread, number(layout.columns));
  Value own =
      emission.add(emission.mul(block.number, number(layout.columns)), lane);
  // Threads behind the last column repeat that.
  column = emission.min(own, emission.sub(width, number(1)));
  Values totals;
  for (size_t each = 0; each < layout.numbers; ++each)
    totals.push_back(merged.init(emission, each));
  totals = emission.loop(number(0), all, layout.chunks * partsOfChunk, totals,
                         [&](Value begin, ValueRange carried) {
                           bring(begin);
                           wait();
                           mergeChunks(begin);
                           wait();
                           return addChunks(begin, carried);
                         });
  Value stores = arith::AndIOp::create(
      emission.builder, emission.loc,
      isLess(block.thread, number(layout.columns)), isLess(own, width));
  emission.when(stores, [&] { merged.finish(emission, column, totals); });
}

// All is on its way before any of it is needed. Behind the last part that is
// read again, and not merged.
void Merger::bring(Value begin) {
  Value last = emission.sub(all, number(1));
  auto rowOf = [&](int64_t load) {
    return emission.add(warp, number(load * layout.warps));
  };
  SmallVector<Values> parts;
  for (int64_t load = 0; load < loadsOfThread(); ++load)
    parts.push_back(merged.at(
        emission, emission.min(emission.add(begin, rowOf(load)), last),
        column));
  for (auto [load, part] : llvm::enumerate(parts))
    for (auto [each, value] : llvm::enumerate(part))
      store(value, placeOf(each, rowOf(int64_t(load))));
}

// A warp for each number of each chunk.
void Merger::mergeChunks(Value begin) {
  for (size_t each = 0; each < layout.numbers; ++each) {
    Value first = number(int64_t(each) * layout.chunks);
    emission.when(isOf(first, layout.chunks), [&] {
      Value chunk = emission.sub(warp, first);
      Value size = number(partsOfChunk);
      Value from = emission.add(begin, emission.mul(chunk, size));
      Value to = emission.min(emission.add(from, size), all);
      Value count = emission.sub(to, emission.min(from, all));
      Value row = emission.mul(chunk, number(layout.rowsOfChunk));
      store(mergedRows(each, row, count), placeOfTotal(each, chunk));
    });
  }
}

Value Merger::mergedRows(size_t each, Value first, Value count) {
  constexpr int64_t together = 16;
  auto merge = [&](Value begin, Value end, int64_t step, Value start) {
    return emission
        .loop(begin, end, step, start,
              [&](Value row, ValueRange carried) -> Values {
                Value state = carried.front();
                Value from = emission.add(first, row);
                for (int64_t next = 0; next < step; ++next)
                  state = merged.merge(
                      emission, each, state,
                      load(placeOf(each, emission.add(from, number(next)))));
                return {state};
              })
        .front();
  };
  Value step = number(together);
  Value whole = emission.mul(emission.floorDiv(count, step), step);
  Value state = merge(number(0), whole, together, merged.init(emission, each));
  return merge(whole, count, 1, state);
}

// All threads add the same.
Values Merger::addChunks(Value begin, ValueRange carried) {
  Values totals(carried);
  for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    Value from = emission.add(begin, number(chunk * partsOfChunk));
    for (size_t each = 0; each < layout.numbers; ++each) {
      Value after = merged.merge(emission, each, totals[each],
                                 load(placeOfTotal(each, number(chunk))));
      totals[each] =
          chunk == 0
              ? after
              : arith::SelectOp::create(emission.builder, emission.loc,
                                        isLess(from, all), after, totals[each]);
    }
  }
  return totals;
}

// ---- the phase -------------------------------------------------------------

BlockMerge::BlockMerge(KernelWriter &writer, AffineExpr parts, AffineExpr width,
                       size_t numbers)
    : writer(writer), parts(parts), width(width), numbers(numbers) {}

bool BlockMerge::applies() const {
  const BlockThreads *unit = writer.target.blockThreads();
  if (!unit || constantOf(width) <= 0)
    return false;
  MergeLayout layout(constantOf(parts), numbers, unit->mostNumbers());
  return layout.threads() % unit->warpThreads() == 0 &&
         layout.threads() <= unit->mostThreads() &&
         int64_t(numbers) * layout.chunks <= layout.warps &&
         layout.memory() <= unit->mostNumbers();
}

void BlockMerge::addPhase(const MergedNumbers &merged) const {
  MergeLayout layout(constantOf(parts), numbers,
                     writer.target.blockThreads()->mostNumbers());
  int64_t chunks =
      layout.threads() / writer.target.blockThreads()->warpThreads();
  writer.addBlockPhase(width.ceilDiv(layout.columns) * chunks,
                       [&](Emission &emission) {
                         Merger(emission, merged, layout, parts, width).run();
                       });
}

} // namespace sinter::compiler

/// The row skeleton: outputs are walked row by row, lanes along the row.
/// Elementwise kernels are one row; a reduction over trailing axes is pulled
/// where its row is known, ahead of the passes that use it.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/Access.h"
#include "compiler/analysis/Domains.h"
#include "compiler/analysis/ElementCost.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/Copies.h"
#include "compiler/lower/reduce/RowStaging.h"
#include "compiler/lower/reduce/ShortRows.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Bytes of a row that are brought to the first-level cache beside the row at
// hand.
constexpr int64_t longestFetched = 16 * 1024;
// Two rows of that many elements stay in the first-level cache.
constexpr int64_t longestTogether = 2048;
// Outputs of that many bytes go past the caches, which do not hold them.
constexpr int64_t streamedBytes = 64 * 1024 * 1024;
// Runs of a chunk's columns that are worked on side by side then.
constexpr int64_t runsAtOnce = 4;

// How one output is walked.
struct Walk {
  Value value;
  unsigned domain = 0;
  unsigned buffer = 0;
  unsigned tailRank = 0; ///< dims along a row; 0: one element a row
  AffineExpr rows, inner;
};

// Outputs that are walked together.
struct Group {
  unsigned domain = 0;
  AffineExpr rows;
  AffineExpr inner; ///< of those that have rows; null when none has
  SmallVector<Walk> walks;
};

// The kernel's first reduction of more than one element that runs along rows.
Operation *findRowReduction(program::KernelOp kernel) {
  for (Operation &op : kernel.getBlock()) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (described &&
        described.getPatternKind() == graph::PatternKind::reduction &&
        canonicalOrder(&op) == CanonicalOrder::lanes &&
        !isOne(reducedExtent(&op)))
      return &op;
  }
  return nullptr;
}

// The first dim of the row that `reduction` reduces.
unsigned firstRowDim(Operation *reduction) {
  Shape shape = shapeOf(reduction->getOperand(0));
  SmallVector<int64_t> axes = reductionAxes(reduction).axes;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (llvm::is_contained(axes, int64_t(dim)) && !isOne(shape[dim]))
      return dim;
  return 0;
}

// Trailing dims of `value` that form the rows of `reduction`, or 0.
unsigned rowDims(Value value, Operation *reduction) {
  Shape row = shapeOf(reduction->getOperand(0)), shape = shapeOf(value);
  unsigned first = firstRowDim(reduction);
  if (shape.size() != row.size())
    return 0;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != row[dim])
      return 0;
  return shape.size() - first;
}

// Dims that are walked as a row: as many as need no division on the way to the
// buffers. Threads of which most had no element would take longer than
// divisions do: their rows are at least as long as there are lanes.
unsigned widestTail(Value value, const Target &target) {
  Shape shape = shapeOf(value);
  unsigned rank = shape.size(), tailRank = rank ? 1 : 0;
  for (unsigned wide = rank; wide > 1 && tailRank == 1; --wide)
    if (keepsTail(value, wide))
      tailRank = wide;
  auto isShort = [&] {
    int64_t length =
        constantOf(product(shape, rank - tailRank, rank, value.getContext()));
    return length >= 0 && length < int64_t(target.lanes());
  };
  while (target.traits().apart && tailRank < rank && isShort())
    ++tailRank;
  return tailRank;
}

// Elements of a chunk: fewer than the target says where it runs many tasks and
// all there are would not be chunks for them.
static int64_t chunkElementsOf(const KernelWriter &writer) {
  constexpr int64_t enoughChunks = 1024, fewestElements = 16;
  int64_t most = writer.target.chunkElements(), largest = 0;
  if (!writer.target.traits().manyTasks)
    return most;
  program::KernelOp kernel = writer.kernel;
  for (Operation &op : kernel.getBlock())
    for (Value result : op.getResults()) {
      Shape shape = shapeOf(result);
      int64_t elements =
          constantOf(product(shape, 0, shape.size(), op.getContext()));
      if (elements < 0)
        return most;
      largest = std::max(largest, elements);
    }
  int64_t share = int64_t(llvm::bit_floor(uint64_t(largest / enoughChunks)));
  return std::clamp(share, fewestElements, most);
}

// Makes the results of reductions known, where phases before have made them.
using Known = std::function<void(Emission &)>;

class RowsSkeleton {
public:
  RowsSkeleton(KernelWriter &writer, bool byLanes, Known known = {})
      : writer(writer), kernel(writer.kernel), context(kernel->getContext()),
        chunkElements(chunkElementsOf(writer)), byLanes(byLanes),
        known(std::move(known)),
        reduction(byLanes || this->known ? nullptr : findRowReduction(kernel)) {
    if (!reduction)
      return;
    unsigned rank = shapeOf(reduction->getOperand(0)).size();
    staging.emplace(kernel, reduction, rank - firstRowDim(reduction),
                    writer.target.frameBytes());
  }

  void run() {
    SmallVector<Group> groups = groupsOfOutputs();
    if (!reduction)
      return addSharedPhase(groups);
    SmallVector<Task> tasks;
    for (const Group &group : groups)
      tasks.push_back(taskOf(group));
    for (const Task &task : tasks)
      addPhase(task);
  }

  // The walk of parts that have a multiple of `unit` rows.
  RowsOfPart rowsOfPart(int64_t unit) {
    return [this, unit, groups = groupsOfOutputs()](Emission &emission,
                                                    Value begin, Value end) {
      for (const Group &group : groups)
        emitBlock(emission, group, {begin, end, number(unit)},
                  wholeRow(emission, group));
    };
  }

private:
  SmallVector<Group> groupsOfOutputs() {
    SmallVector<Group> groups;
    for (const Walk &walk : walks()) {
      Group *found = nullptr;
      for (Group &group : groups)
        if (group.domain == walk.domain && group.rows == walk.rows &&
            (!group.inner || walk.tailRank == 0 || group.inner == walk.inner))
          found = &group;
      if (!found) {
        groups.push_back({walk.domain, walk.rows, {}, {}});
        found = &groups.back();
      }
      if (walk.tailRank)
        found->inner = walk.inner;
      found->walks.push_back(walk);
    }
    return groups;
  }

  AffineExpr number(int64_t value) {
    return getAffineConstantExpr(value, context);
  }

  struct Range {
    Value begin, end;
    int64_t length = -1; ///< when constant; then begin is 0
  };

  static Range wholeRow(Emission &emission, const Group &group) {
    if (!group.inner)
      return {emission.constant(0), emission.constant(1), 1};
    return {emission.constant(0), emission.extent(group.inner),
            constantOf(group.inner)};
  }

  // The walk of one group, chunk by chunk.
  struct Task {
    AffineExpr chunks;
    double microseconds = 0; ///< of a chunk
    KernelWriter::EmitChunk emit;
  };

  void addPhase(const Task &task) {
    writer.addPhase(task.chunks, task.microseconds,
                    [&](Emission &emission, Value chunk) {
                      if (known)
                        known(emission);
                      task.emit(emission, chunk);
                    });
  }

  // Groups that differ in their buffers only: one of them, and all.
  struct Copies {
    const Group *original;
    Task task;
    BufferTable table;
  };

  // The buffers of `copy` in place of those of `original`, if that is all that
  // tells them apart.
  std::optional<BufferTable::Pairs> placesOf(const Group &original,
                                             const Group &copy) {
    if (original.rows != copy.rows || original.inner != copy.inner ||
        original.walks.size() != copy.walks.size())
      return std::nullopt;
    Places places;
    BufferTable::Pairs pairs;
    for (auto [from, to] : llvm::zip(original.walks, copy.walks)) {
      if (from.tailRank != to.tailRank || !isCopy(from.value, to.value, places))
        return std::nullopt;
      pairs.push_back({from.buffer, to.buffer});
    }
    for (auto [buffer, input] : llvm::enumerate(kernel.getInputs()))
      if (Value place = places.lookup(input))
        pairs.push_back({buffer, cast<BlockArgument>(place).getArgNumber()});
    return pairs;
  }

  SmallVector<Copies> findCopies(ArrayRef<Group> groups) {
    SmallVector<Copies> all;
    for (const Group &group : groups) {
      std::optional<BufferTable::Pairs> pairs;
      for (Copies &copies : all) {
        pairs = placesOf(*copies.original, group);
        if (!pairs)
          continue;
        copies.table.add(std::move(*pairs));
        break;
      }
      if (pairs)
        continue;
      all.push_back({&group, taskOf(group), {}});
      all.back().table.add(*placesOf(group, group));
    }
    return all;
  }

  // One phase for all: the range of chunks is split among the groups.
  void addSharedPhase(ArrayRef<Group> groups) {
    SmallVector<Copies> parts = findCopies(groups);
    const Task &first = parts.front().task;
    if (groups.size() == 1)
      return addPhase(first);
    AffineExpr total = number(0);
    double microseconds = 0;
    for (const Copies &part : parts) {
      total = total + part.task.chunks * part.table.size();
      microseconds = std::max(microseconds, part.task.microseconds);
    }
    auto emit = [&](Emission &emission, Value chunk) {
      AffineExpr begin = number(0);
      for (const Copies &part : parts) {
        AffineExpr count = part.task.chunks * part.table.size();
        Value own = emission.sub(chunk, emission.extent(begin));
        // Unsigned: chunks before `begin` are far beyond the end.
        Value isOwn = arith::CmpIOp::create(emission.builder, emission.loc,
                                            arith::CmpIPredicate::ult, own,
                                            emission.extent(count));
        emission.when(isOwn, [&] { emitCopies(emission, part, own); });
        begin = begin + count;
      }
    };
    addPhase({total, microseconds, emit});
  }

  void emitCopies(Emission &emission, const Copies &part, Value chunk) {
    Value chunks = emission.extent(part.task.chunks);
    Value copy = emission.floorDiv(chunk, chunks);
    Value own = emission.mod(chunk, chunks);
    part.table.emit(emission, copy, [&] { part.task.emit(emission, own); });
  }

  // Outputs of one domain have their common rows, if they have one shape.
  // Single elements of any rank are a row each.
  void alignDomain(MutableArrayRef<Walk> walks, unsigned domain) {
    unsigned narrowest = ~0u;
    bool sameShape = true, areSingle = true;
    Walk *first = nullptr;
    for (Walk &walk : walks) {
      if (walk.domain != domain)
        continue;
      first = first ? first : &walk;
      narrowest = std::min(narrowest, walk.tailRank);
      sameShape &= shapeOf(walk.value) == shapeOf(first->value);
      areSingle &= isOneElement(walk.value);
    }
    for (Walk &walk : walks)
      if (walk.domain == domain && (sameShape || areSingle))
        walk.tailRank = sameShape ? narrowest : 0;
  }

  SmallVector<Walk> walks() {
    SmallVector<Walk> result;
    SmallVector<unsigned> domains = domainsOf(kernel);
    for (auto [number, value] : llvm::enumerate(kernel.getOutputs())) {
      Walk walk;
      walk.value = value;
      walk.domain = reduction ? 0 : domains[number];
      walk.buffer = writer.outputBuffer(number);
      walk.tailRank = reduction ? rowDims(value, reduction)
                                : widestTail(value, writer.target);
      result.push_back(walk);
    }
    for (unsigned domain = 0; !reduction && domain < domains.size(); ++domain)
      alignDomain(result, domain);
    for (Walk &walk : result) {
      Shape shape = shapeOf(walk.value);
      unsigned lead = shape.size() - walk.tailRank;
      walk.rows = product(shape, 0, lead, context);
      walk.inner = product(shape, lead, shape.size(), context);
    }
    return result;
  }

  // Elements that are read to make one output element.
  int64_t depth() {
    int64_t result = 1;
    if (known)
      return result;
    for (Operation &op : kernel.getBlock()) {
      auto described = dyn_cast<ir::SinterOpInterface>(&op);
      AffineExpr extent;
      if (described &&
          described.getPatternKind() == graph::PatternKind::reduction)
        extent = reducedExtent(&op);
      if (auto contraction = dyn_cast<ir::ContractionOpInterface>(&op))
        extent = depthOf(contraction);
      if (!extent)
        continue;
      int64_t length = constantOf(extent);
      result = std::max<int64_t>(result, length < 0 ? 256 : length);
    }
    return result;
  }

  Task taskOf(const Group &group) {
    AffineExpr inner = group.inner ? group.inner : number(1);
    int64_t innerSize = constantOf(inner), deep = depth();
    // Columns of one chunk: all, unless rows are long and independent.
    int64_t columns = chunkElements;
    if (!reduction && deep > 1)
      columns = std::clamp<int64_t>(chunkElements / deep / 64 * 64, 64,
                                    chunkElements);
    // A block of what is read across rows stays in the cache. Threads wait for
    // each element of it: there are more of them, then.
    int64_t most = chunkElements;
    if (!reduction && readsAcross(group)) {
      columns = std::min<int64_t>(columns, 64);
      most = acrossElements(group);
    }
    bool splits = !reduction && !(innerSize >= 0 && innerSize <= columns);
    AffineExpr columnBlocks =
        splits ? inner.ceilDiv(number(columns)) : number(1);
    // Rows of one chunk.
    AffineExpr rowBlock = number(1);
    if (innerSize >= 0) {
      int64_t width = splits ? columns : innerSize;
      int64_t work = std::max<int64_t>(1, width) * deep;
      if (reduction)
        work = std::max(std::max<int64_t>(1, innerSize), deep);
      rowBlock = number(std::max<int64_t>(1, most / work));
    } else {
      // inner + 1: no division by zero for an empty row.
      rowBlock = number(chunkElements).ceilDiv(inner + 1);
    }
    AffineExpr rowBlocks = group.rows.ceilDiv(rowBlock);
    AffineExpr chunks = rowBlocks * columnBlocks;
    if (!reduction)
      chunks = emptyAware(chunks, group.rows, inner);
    auto emit = [=, this](Emission &emission, Value chunk) {
      Value blocks = emission.extent(columnBlocks);
      Value rowNumber = emission.floorDiv(chunk, blocks);
      Value columnNumber = emission.mod(chunk, blocks);
      Value step = emission.extent(rowBlock);
      Value begin = emission.mul(rowNumber, step);
      Value rows = emission.extent(group.rows);
      Value end = emission.min(emission.add(begin, step), rows);
      Range range = wholeRow(emission, group);
      if (splits) {
        Value width = emission.constant(columns);
        range.begin = emission.mul(columnNumber, width);
        range.end = emission.min(emission.add(range.begin, width),
                                 emission.extent(inner));
        range.length = -1;
      }
      emitBlock(emission, group, {begin, end, rowBlock}, range);
    };
    double elements = double(chunkElements);
    return {chunks,
            elements * elementNanoseconds(kernel.getBlock(), writer.target) /
                1000,
            emit};
  }

  // Rows [begin, end): a multiple of `unit`, or the last of all.
  struct RowRange {
    Value begin, end;
    AffineExpr unit;
  };

  void emitBlock(Emission &emission, const Group &group, const RowRange &rows,
                 const Range &range) {
    eachVariant(emission, group, [&](const Variant &variant) {
      if (isOne(group.rows))
        return emitRows(emission, group, emission.constant(0), range, variant);
      int64_t together = variant.staged ? 1 : rowsTogether(group, rows.unit);
      emission.loop(rows.begin, rows.end, together, [&](Value row) {
        SmallVector<Value> side{row};
        for (int64_t i = 1; i < together; ++i)
          side.push_back(emission.add(row, emission.constant(i)));
        emitRows(emission, group, side, range, variant);
      });
    });
  }

  // How a row is worked on, where that depends on sizes. No bit does.
  struct Variant {
    bool staged = false, streamed = false;
  };

  using VariantBody = llvm::function_ref<void(const Variant &)>;

  // Emits `body` once, or under conditions where sizes are not known.
  void eachVariant(Emission &emission, const Group &group, VariantBody body) {
    int64_t longest = group.inner && staging ? staging->longest() : 0;
    int64_t length = group.inner ? constantOf(group.inner) : 1;
    if (longest && length < 0) {
      Value row = emission.extent(group.inner);
      Value fits = arith::CmpIOp::create(emission.builder, emission.loc,
                                         arith::CmpIPredicate::sle, row,
                                         emission.constant(longest));
      return either(emission, fits,
                    [&](bool staged) { body({staged, false}); });
    }
    Variant variant{longest >= length && longest > 0, false};
    if (!canStream(emission, group))
      return body(variant);
    AffineExpr elements = group.rows * group.inner;
    int64_t least = streamedBytes / bytesOf(group);
    auto stream = [&](bool streamed) {
      variant.streamed = streamed;
      body(variant);
      if (streamed)
        emission.target.endStreaming(emission.builder, emission.loc);
    };
    if (int64_t count = constantOf(elements); count >= 0)
      return stream(count >= least);
    Value isLarge = arith::CmpIOp::create(
        emission.builder, emission.loc, arith::CmpIPredicate::sge,
        emission.extent(elements), emission.constant(least));
    either(emission, isLarge, stream);
  }

  static void either(Emission &emission, Value condition,
                     llvm::function_ref<void(bool)> body) {
    Value otherwise = arith::XOrIOp::create(
        emission.builder, emission.loc, condition,
        emission.integer(emission.builder.getI1Type(), 1));
    emission.when(condition, [&] { body(true); });
    emission.when(otherwise, [&] { body(false); });
  }

  // Bytes that an element of the group's rows has in all outputs.
  static int64_t bytesOf(const Group &group) {
    int64_t bytes = 0;
    for (const Walk &walk : group.walks)
      if (walk.tailRank)
        bytes += memoryType(elementOf(walk.value)).getIntOrFloatBitWidth() / 8;
    return std::max<int64_t>(1, bytes);
  }

  // Whole vectors must start at multiples of their size, and have one that
  // can be streamed. Buffers are aligned to more.
  static bool canStream(Emission &emission, const Group &group) {
    int64_t lanes = emission.target.lanes();
    if (!group.inner)
      return false;
    int64_t length = constantOf(group.inner);
    if (!isOne(group.rows) && (length < 0 || length % lanes != 0))
      return false;
    return llvm::all_of(group.walks, [&](const Walk &walk) {
      Type memory = memoryType(elementOf(walk.value));
      return walk.tailRank == 0 ||
             memory.getIntOrFloatBitWidth() * lanes >= 128;
    });
  }

  // Whether neighbours in a row are not neighbours in memory.
  static bool readsAcross(const Group &group) {
    return llvm::any_of(group.walks, [](const Walk &walk) {
      return walk.tailRank == 1 &&
             !runsAlong(walk.value, shapeOf(walk.value).size() - 1);
    });
  }

  // Elements of a chunk of what is read across rows.
  int64_t acrossElements(const Group &group) const {
    constexpr int64_t enoughChunks = 8192, fewest = 64;
    AffineExpr inner =
        group.inner ? group.inner : getAffineConstantExpr(1, context);
    int64_t all = constantOf(group.rows * inner);
    if (!writer.target.traits().manyTasks || all < 0 || chunkElements <= fewest)
      return chunkElements;
    return std::clamp(int64_t(llvm::bit_floor(uint64_t(all / enoughChunks))),
                      fewest, chunkElements);
  }

  // No chunk where there is nothing to write.
  AffineExpr emptyAware(AffineExpr chunks, AffineExpr rows, AffineExpr inner) {
    if (constantOf(rows) == 0 || constantOf(inner) == 0)
      return number(0);
    return chunks;
  }

  // Rows that are worked on side by side: two where they are short, and come
  // out even. What is known after a whole row is waited for at once.
  int64_t rowsTogether(const Group &group, AffineExpr unit) {
    int64_t rows = constantOf(group.rows), block = constantOf(unit);
    int64_t length = group.inner ? constantOf(group.inner) : -1;
    bool isEven = rows > 0 && rows % 2 == 0 && block > 0 && block % 2 == 0;
    return staging && isEven && length > 1 && length <= longestTogether ? 2 : 1;
  }

  void emitRows(Emission &emission, const Group &group, ArrayRef<Value> rows,
                const Range &range, const Variant &variant) {
    if (variant.staged)
      staging->begin(emission, rowLead(emission, rows.front()));
    if (rows.size() > 1) {
      SmallVector<SmallVector<Coord>> leads;
      for (Value row : rows)
        leads.push_back(rowLead(emission, row));
      staging->computeTogether(emission, leads);
    }
    for (Value row : rows)
      storeAll(emission, group, row, {}, Lanes{}, variant);
    if (group.inner) {
      if (variant.staged)
        staging->prepare(emission);
      emitColumns(emission, group, rows, range, variant);
    }
    if (variant.staged)
      staging->end(emission);
  }

  // The leading coordinates of what is reduced.
  SmallVector<Coord> rowLead(Emission &emission, Value row) {
    Shape shape = shapeOf(reduction->getOperand(0));
    unsigned tailRank = shape.size() - firstRowDim(reduction);
    return rowIndex(emission, shape, tailRank, row).lead;
  }

  void emitColumns(Emission &emission, const Group &group, ArrayRef<Value> rows,
                   const Range &range, const Variant &variant) {
    unsigned lanes = emission.target.lanes();
    if (range.length >= 0 && range.length < lanes)
      lanes = std::max<int64_t>(1, llvm::PowerOf2Ceil(range.length));
    auto emitLanes = [&](Value column, unsigned count, Value mask) {
      if (reduction && !mask)
        for (Value row : rows)
          fetchAhead(emission,
                     emission.add(row, emission.constant(int64_t(rows.size()))),
                     column, count);
      for (Value row : rows)
        storeAll(emission, group, row, column, Lanes{count, mask, false},
                 variant);
    };
    // Whole groups of lanes; of a known length whole vectors; what is left.
    Value begin = range.begin;
    int64_t left = range.length;
    unsigned wide = loopLanes(emission.body, emission.target);
    SmallVector<unsigned> steps{lanes};
    if (wide > lanes && left < 0)
      steps = {wide};
    else if (wide > lanes && left >= int64_t(wide))
      steps = {wide, lanes};
    for (unsigned step : steps) {
      if (left >= 0 && left < int64_t(step))
        continue;
      Value length = emission.sub(range.end, begin);
      Value width = emission.constant(step);
      Value whole = emission.mul(emission.floorDiv(length, width), width);
      Value middle = emission.add(begin, whole);
      if (hasRuns(emission, rows, left < 0 ? left : left / step, variant))
        begin = emitFarApart(emission, group, rows.front(), begin, middle, step,
                             variant);
      emission.loop(begin, middle, step,
                    [&](Value column) { emitLanes(column, step, {}); });
      begin = middle;
      left = left < 0 ? left : left % step;
    }
    auto emitRest = [&](Value from) {
      Value rest = emission.sub(range.end, from);
      emitLanes(from, lanes, emission.tailMask(rest, lanes));
    };
    if (left < 0)
      emission.loop(begin, range.end, lanes, emitRest);
    else if (left > 0)
      emitRest(begin);
  }

  // Whether columns, so many steps where that is known, are worked on in runs.
  bool hasRuns(Emission &emission, ArrayRef<Value> rows, int64_t steps,
               const Variant &variant) const {
    if (rows.size() > 1 || byLanes)
      return false;
    if (emission.target.traits().inOrder)
      return (steps < 0 || steps >= runsAtOnce) &&
             !isArithmeticLong(emission.body);
    return variant.streamed && !reduction && steps < 0;
  }

  // Columns from `begin` on, in a few runs side by side, all of which are read
  // before the first is written: a processor looks ahead in a page at most, and
  // more pages at a time keep its memory busy. Gives the first column that is
  // left.
  Value emitFarApart(Emission &emission, const Group &group, Value row,
                     Value begin, Value end, unsigned step,
                     const Variant &variant) {
    Value width = emission.constant(int64_t(step) * runsAtOnce);
    Value steps = emission.floorDiv(emission.sub(end, begin), width);
    Value length = emission.mul(steps, emission.constant(step));
    Value first = emission.add(begin, length);
    Lanes lanes{step, {}, false};
    emission.loop(begin, first, step, [&](Value column) {
      SmallVector<Stored> runs;
      for (int64_t run = 0; run < runsAtOnce; ++run) {
        runs.push_back(readAll(emission, group, row, column, lanes));
        column = emission.add(column, length);
      }
      for (const Stored &run : runs)
        writeAll(emission, group, run, lanes, variant);
    });
    return emission.add(begin, emission.mul(steps, width));
  }

  // Asks for what the inputs have in row `row`, which is reduced next, at the
  // lanes from `column` on: processors look ahead in a page at most. Beyond the
  // last row nothing comes of it.
  void fetchAhead(Emission &emission, Value row, Value column, unsigned count) {
    Shape shape = shapeOf(reduction->getOperand(0));
    unsigned rank = shape.size(), tailRank = rank - firstRowDim(reduction);
    int64_t length = constantOf(product(shape, rank - tailRank, rank, context));
    for (BlockArgument input : kernel.getInputs()) {
      int64_t bits = memoryType(elementOf(input)).getIntOrFloatBitWidth();
      if (shapeOf(input) != shape || length < 0 ||
          length * bits > 8 * longestFetched)
        continue;
      int64_t perLine = 8 * emission.target.machines().usual.lineBytes / bits;
      for (int64_t first = 0; first < int64_t(count); first += perLine) {
        Index index = rowIndex(emission, shape, tailRank, row);
        Value at = emission.add(column, emission.constant(first));
        index.tail = emission.uniform(at);
        index.tailRank = tailRank;
        memref::PrefetchOp::create(emission.builder, emission.loc,
                                   emission.buffers[input.getArgNumber()],
                                   emission.linearize(index, shape).base,
                                   /*isWrite=*/false,
                                   /*localityHint=*/3, /*isDataCache=*/true);
      }
    }
  }

  // Stores the elements at `column` of outputs that have rows, or those of
  // outputs that have one element a row. All are read before the first is
  // written, because an output may take an input's place.
  void storeAll(Emission &emission, const Group &group, Value row, Value column,
                const Lanes &lanes, const Variant &variant) {
    writeAll(emission, group, readAll(emission, group, row, column, lanes),
             lanes, variant);
  }

  // What is stored, and where; nothing for a walk that has none at `column`.
  using Stored = SmallVector<std::pair<Index, Element>>;

  Stored readAll(Emission &emission, const Group &group, Value row,
                 Value column, const Lanes &lanes) {
    Stored elements;
    for (const Walk &walk : group.walks) {
      if ((walk.tailRank != 0) != bool(column)) {
        elements.emplace_back();
        continue;
      }
      Index index = rowIndex(emission, shapeOf(walk.value), walk.tailRank, row);
      if (column) {
        index.tail = lanes.count == 1 ? emission.uniform(column)
                                      : emission.along(column, lanes.count);
        index.tailRank = walk.tailRank;
      }
      elements.push_back({index, emission.at(walk.value, index, lanes)});
    }
    return elements;
  }

  void writeAll(Emission &emission, const Group &group, const Stored &elements,
                const Lanes &lanes, const Variant &variant) {
    for (auto [walk, stored] : llvm::zip(group.walks, elements))
      if (stored.second.value)
        storeElements(emission, emission.buffers[walk.buffer], walk.value,
                      stored.first, lanes, stored.second, variant.streamed);
  }

  // The index whose leading dims are those of row `row`.
  Index rowIndex(Emission &emission, const Shape &shape, unsigned tailRank,
                 Value row) {
    Index flat;
    unsigned lead = shape.size() - tailRank;
    if (lead == 0)
      return flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = lead;
    Shape leading(shape.begin(), shape.begin() + lead);
    if (tailRank == 0)
      return flat;
    Index index;
    index.lead = emission.coordinates(flat, leading);
    return index;
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  MLIRContext *context;
  const int64_t chunkElements;
  const bool byLanes; ///< whether threads reduce rows of their own
  const Known known;
  Operation *reduction;
  std::optional<RowStaging> staging;
};

} // namespace

RowsOfPart rowsOfPart(KernelWriter &writer, int64_t unit) {
  auto skeleton = std::make_shared<RowsSkeleton>(
      writer, lanesHaveRows(writer.kernel, writer.target));
  return [skeleton, walk = skeleton->rowsOfPart(unit)](Emission &emission,
                                                       Value begin, Value end) {
    walk(emission, begin, end);
  };
}

Fit fitOfRows(KernelWriter &writer, program::Owner owner) {
  if (owner != program::Owner::lane)
    return Fit::best;
  return lanesHaveRows(writer.kernel, writer.target) ? Fit::best : Fit::none;
}

void emitKnownRows(KernelWriter &writer,
                   const std::function<void(Emission &)> &known) {
  RowsSkeleton(writer, /*byLanes=*/false, known).run();
}

void emitRows(KernelWriter &writer, program::Owner owner) {
  RowsSkeleton(writer, owner == program::Owner::lane).run();
}

} // namespace sinter::compiler

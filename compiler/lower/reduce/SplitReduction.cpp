/// Long reductions in two phases: the states of canonical chunks, then their
/// merge in order. Those that need the results of others have two more. The
/// bits are those of one phase.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/ElementCost.h"
#include "compiler/analysis/Marks.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/reduce/BlockChunk.h"
#include "compiler/lower/reduce/RowSpace.h"
#include "compiler/lower/reduce/StoredSource.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// One phase serves up to here, and more results than these.
struct Unsplit {
  int64_t longest, results;
};
constexpr Unsplit byCores = {256 * 1024, 64},
                  byThreads = {canonicalChunk, 4096};
// Canonical chunks that one call of the first phase handles: of threads many
// wait for memory at once.
constexpr int64_t chunksOfCore = 8, chunksOfThreads = 1;
// Vectors of partial states that threads have on their way.
constexpr int64_t vectorsAtOnce = 4;
// Fewer chunks are blocks' of threads: warps would leave most of a device idle.
// No bit depends on it.
constexpr int64_t manyChunks = 2048;

using Values = Emission::Values;

// A reduction of the kernel and where its partial states stand:
// state[value][result * chunks + chunk].
struct Partial {
  Operation *op = nullptr;
  std::shared_ptr<Combiner> combiner;
  unsigned level = 0; ///< how many follow each other up to it
  SmallVector<unsigned> buffers;
  unsigned result = 0; ///< the workspace of its results, where others need them
};

// The result's element merged from partial states.
class MergedSource final : public ElementSource {
public:
  MergedSource(Partial partial, int64_t chunks)
      : ElementSource(partial.op->getResult(0)), partial(std::move(partial)),
        chunks(chunks) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    if (lanes.count != 1)
      return emission.fail(tensor, "is read with lanes across its results");
    Value result = emission.linearize(index, shapeOf(tensor)).base;
    Value base = emission.mul(result, emission.constant(chunks));
    const Combiner &combiner = *partial.combiner;
    Values total = combiner.init(emission, 1);
    int64_t begin = 0;
    if (emission.target.traits().inOrder)
      total = mergeVectors(emission, base, begin, total);
    total = emission.loop(emission.constant(begin), emission.constant(chunks),
                          1, total, [&](Value chunk, ValueRange carried) {
                            return combiner.merge(
                                emission, Values(carried),
                                load(emission, emission.add(base, chunk), 1));
                          });
    return Element{combiner.finish(emission, total)};
  }

private:
  // States of neighbouring chunks, from one number of a chunk on.
  Values load(Emission &emission, Value place, unsigned lanes) const {
    Values states;
    for (unsigned buffer : partial.buffers)
      states.push_back(loadLanes(emission, emission.entry.buffers[buffer],
                                 lanes == 1 ? emission.uniform(place)
                                            : emission.along(place, lanes),
                                 Lanes{lanes, {}, false}));
    return states;
  }

  // Whole vectors of states, several of them on their way: one after the other
  // where bits depend on it, and else lane by lane. `begin` becomes the first
  // chunk that is left.
  Values mergeVectors(Emission &emission, Value base, int64_t &begin,
                      const Values &total) const {
    const Combiner &combiner = *partial.combiner;
    unsigned lanes = emission.target.lanes();
    int64_t together = std::min<int64_t>(vectorsAtOnce, chunks / lanes);
    if (together == 0 || combiner.mergesLong())
      return total;
    int64_t step = lanes * together;
    int64_t end = chunks / step * step;
    bool inOrder = combiner.isOrdered();
    Values merged = emission.loop(
        emission.constant(begin), emission.constant(end), step,
        inOrder ? total : combiner.init(emission, lanes),
        [&](Value first, ValueRange carried) {
          SmallVector<Values> states;
          for (int64_t next = 0; next < together; ++next)
            states.push_back(load(emission,
                                  emission.add(emission.add(base, first),
                                               emission.constant(next * lanes)),
                                  lanes));
          Values all(carried);
          for (const Values &some : states)
            all = inOrder ? mergeInOrder(emission, all, some, lanes)
                          : combiner.merge(emission, all, some);
          return all;
        });
    begin = end;
    return inOrder ? merged : mergeLanes(emission, combiner, merged, lanes);
  }

  Values mergeInOrder(Emission &emission, Values total, const Values &states,
                      unsigned lanes) const {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Values one;
      for (Value state : states)
        one.push_back(vector::ExtractOp::create(emission.builder, emission.loc,
                                                state, int64_t(lane)));
      total = partial.combiner->merge(emission, total, one);
    }
    return total;
  }

  Partial partial;
  int64_t chunks;
};

class SplitSkeleton {
public:
  explicit SplitSkeleton(KernelWriter &writer)
      : writer(writer), kernel(writer.kernel), context(kernel->getContext()),
        manyTasks(writer.target.traits().manyTasks) {}

  Fit fit(int64_t split) {
    if (!canSplit())
      return Fit::none;
    if (split > 0)
      return split < constantOf(reduced) ? Fit::possible : Fit::none;
    bool isBest = storesRows ? areFewRows() : isLong() && !areReadAgain();
    return isBest ? Fit::best : Fit::possible;
  }

  bool canSplit() {
    for (Operation &op : kernel.getBlock()) {
      auto described = dyn_cast<ir::SinterOpInterface>(&op);
      if (!described ||
          described.getPatternKind() != graph::PatternKind::reduction)
        continue;
      AffineExpr extent = reducedExtent(&op);
      AffineExpr count = countOf(op.getResult(0));
      if (!partials.empty() && (extent != reduced || count != results))
        return false;
      reduced = extent;
      results = count;
      if (canonicalOrder(&op) != CanonicalOrder::lanes || !hasChunks())
        return false;
      partials.push_back({&op, makeCombiner(op.getResult(0)), 0, {}, 0});
    }
    // Only values of the results' size are stored, or only whole rows.
    RowSpace space(kernel);
    storesRows =
        space.find() && llvm::all_of(kernel.getOutputs(),
                                     [&](Value o) { return space.isFull(o); });
    for (Value output : kernel.getOutputs())
      if (countOf(output) != results && !storesRows)
        return false;
    findLevels();
    return !partials.empty();
  }

  void run() {
    int64_t length = constantOf(reduced);
    chunks = llvm::divideCeil(length, canonicalChunk);
    for (Partial &partial : partials) {
      for (Type type : partial.combiner->types())
        partial.buffers.push_back(writer.addWorkspace(results * chunks, type));
      if (storesRows || partial.level < lastLevel)
        partial.result =
            writer.addWorkspace(results, elementOf(partial.op->getResult(0)));
    }
    int64_t chunksOfTask = this->chunksOfTask();
    writer.noteSplit(chunksOfTask * canonicalChunk);
    int64_t tasks = llvm::divideCeil(chunks, chunksOfTask);
    double elements = double(canonicalChunk * chunksOfTask);
    for (level = 0; level <= lastLevel; ++level) {
      auto block = chunksOfTask == 1 ? blockOfLevel() : std::nullopt;
      if (block)
        addBlockPhase(*block);
      else
        writer.addPhase(
            results * tasks,
            elements * elementNanoseconds(kernel.getBlock(), writer.target) /
                2000,
            [&](Emission &emission, Value task) {
              setSources(emission);
              emitTask(emission, task, tasks, chunksOfTask);
            });
      // A group of threads for each result, or one core for all.
      writer.addPhase(manyTasks ? results : number(1), mergeMicroseconds(),
                      [&](Emission &emission, Value task) {
                        setSources(emission);
                        emitMerge(emission, task);
                      });
    }
    if (storesRows)
      emitKnownRows(writer, [&](Emission &emission) { setSources(emission); });
  }

private:
  AffineExpr number(int64_t value) {
    return getAffineConstantExpr(value, context);
  }
  AffineExpr countOf(Value tensor) {
    Shape shape = shapeOf(tensor);
    return product(shape, 0, shape.size(), context);
  }

  // Any number of them, as no bit depends on it.
  int64_t chunksOfTask() const {
    int64_t scheduled = scheduledSplit(writer.kernel);
    if (scheduled > 0 && scheduled % canonicalChunk == 0 &&
        scheduled / canonicalChunk <= chunks)
      return scheduled / canonicalChunk;
    return manyTasks ? chunksOfThreads : chunksOfCore;
  }

  bool hasChunks() const {
    int64_t count = constantOf(results);
    bool isKnown = count >= 0 || manyTasks;
    return constantOf(reduced) > canonicalChunk && isKnown && count != 0;
  }

  // Where results are many, each is made at once.
  bool isLong() const {
    const Unsplit &unsplit = manyTasks ? byThreads : byCores;
    return constantOf(reduced) > unsplit.longest &&
           constantOf(results) <= unsplit.results;
  }

  // Blocks of threads, or cores, of which each has a row would be a small part
  // of all. A phase takes as long as some tens of thousands of elements do.
  bool areFewRows() const {
    constexpr int64_t fewRows = 32, longRow = 128 * 1024;
    int64_t count = constantOf(results);
    return manyTasks && count >= 0 && count <= fewRows &&
           constantOf(reduced) >= longRow;
  }

  // Whether reductions that follow each other read rows again which are near
  // where a block of threads has each. Of few rows most threads would have
  // none.
  bool areReadAgain() const {
    constexpr int64_t enoughRows = 128;
    int64_t count = constantOf(results);
    return lastLevel > 0 && (count < 0 || count >= enoughRows) &&
           fitOfLongRows(writer) == Fit::best;
  }

  double mergeMicroseconds() {
    return 0.005 * double(chunks * std::max<int64_t>(1, constantOf(results)));
  }

  void findLevels() {
    llvm::DenseMap<Value, unsigned> levels; // of what a reduction is behind
    for (Operation &op : kernel.getBlock()) {
      unsigned own = 0;
      for (Value operand : op.getOperands())
        own = std::max(own, levels.lookup(operand));
      for (Partial &partial : partials)
        if (partial.op == &op) {
          partial.level = own++;
          lastLevel = std::max(lastLevel, partial.level);
        }
      if (op.getNumResults())
        levels[op.getResult(0)] = own;
    }
  }

  // What phases before have made.
  void setSources(Emission &emission) {
    for (const Partial &partial : partials) {
      Value result = partial.op->getResult(0);
      if (partial.level < level)
        emission.setSource(result, makeStored(result, partial.result));
    }
  }

  Index indexOfResult(Emission &emission, Value tensor, Value result) {
    Index index;
    index.tailRank = shapeOf(tensor).size();
    index.tail = emission.uniform(result);
    return index;
  }

  void emitTask(Emission &emission, Value task, int64_t tasks,
                int64_t chunksOfTask) {
    Value result = emission.floorDiv(task, emission.constant(tasks));
    Value first = emission.mul(emission.mod(task, emission.constant(tasks)),
                               emission.constant(chunksOfTask));
    Value last =
        emission.min(emission.add(first, emission.constant(chunksOfTask)),
                     emission.constant(chunks));
    emission.loop(first, last, 1, [&](Value chunk) {
      Value size = emission.constant(canonicalChunk);
      Value begin = emission.mul(chunk, size);
      Value end =
          emission.min(emission.add(begin, size), emission.extent(reduced));
      Value place =
          emission.add(emission.mul(result, emission.constant(chunks)), chunk);
      for (const Partial &partial : partials)
        if (partial.level == level)
          emitPartial(emission, partial, result, begin, end, place);
    });
  }

  // For the sums of the level at hand, where their chunks are few.
  std::optional<BlockChunk> blockOfLevel() const {
    const BlockThreads *unit = writer.target.blockThreads();
    int64_t count = constantOf(results);
    if (!unit || count < 0 || count * chunks > manyChunks)
      return std::nullopt;
    bool multiplies = false;
    for (const Partial &partial : partials) {
      if (partial.level != level)
        continue;
      if (!BlockChunk::takes(partial.op))
        return std::nullopt;
      multiplies |= partial.op->hasAttr(contractAttr);
    }
    std::optional<BlockChunk> block(std::in_place, *unit, multiplies);
    if (!block->fits())
      block.reset();
    return block;
  }

  void addBlockPhase(BlockChunk &block) {
    writer.addBlockPhase(
        results * (chunks * block.warps()), [&](Emission &emission) {
          block.begin(emission);
          emission.within(emission.builder.getInsertionBlock(), [&] {
            setSources(emission);
            emitBlock(emission, block);
          });
        });
  }

  // A chunk of a result.
  void emitBlock(Emission &emission, BlockChunk &block) {
    Value count = emission.constant(chunks);
    Value result = emission.floorDiv(block.number(), count);
    Value begin = emission.mul(emission.mod(block.number(), count),
                               emission.constant(canonicalChunk));
    Value end = isWhole() ? Value() : emission.extent(reduced);
    for (const Partial &partial : partials) {
      if (partial.level != level)
        continue;
      Index index = indexOfResult(emission, partial.op->getResult(0), result);
      Value state = block.reduce(emission, partial.op, begin, end,
                                 [&](const Coord &r, const Lanes &lanes) {
                                   return reductionElement(emission, partial.op,
                                                           index, r, lanes);
                                 });
      emission.when(block.isFirst(emission), [&] {
        memref::StoreOp::create(emission.builder, emission.loc, state,
                                emission.entry.buffers[partial.buffers.front()],
                                block.number());
      });
    }
  }

  bool isWhole() const { return constantOf(reduced) % canonicalChunk == 0; }

  void emitPartial(Emission &emission, const Partial &partial, Value result,
                   Value begin, Value end, Value place) {
    Index index = indexOfResult(emission, partial.op->getResult(0), result);
    RowReduction row(
        emission, *partial.combiner, lanesAlongReduced(emission, partial.op),
        [&](const Coord &r, const Lanes &lanes) {
          return reductionElement(emission, partial.op, index, r, lanes);
        });
    Values state =
        isWhole() ? row.chunk(begin, canonicalChunk) : row.chunk(begin, end);
    for (auto [value, buffer] : llvm::zip(state, partial.buffers))
      memref::StoreOp::create(emission.builder, emission.loc, value,
                              emission.entry.buffers[buffer], place);
  }

  void emitMerge(Emission &emission, Value task) {
    for (const Partial &partial : partials)
      if (partial.level == level)
        emission.setSource(partial.op->getResult(0),
                           std::make_unique<MergedSource>(partial, chunks));
    if (manyTasks)
      return storeResult(emission, task);
    emission.loop(emission.constant(0), emission.extent(results), 1,
                  [&](Value result) { storeResult(emission, result); });
  }

  // What the level has made, for those that follow; or at last what the kernel
  // is to store.
  void storeResult(Emission &emission, Value result) {
    auto store = [&](Value tensor, unsigned buffer) {
      Index index = indexOfResult(emission, tensor, result);
      Element element = emission.at(tensor, index, Lanes{});
      storeElements(emission, emission.entry.buffers[buffer], tensor, index,
                    Lanes{}, element);
    };
    if (storesRows || level < lastLevel) {
      for (const Partial &partial : partials)
        if (partial.level == level)
          store(partial.op->getResult(0), partial.result);
      return;
    }
    for (auto [number, output] : llvm::enumerate(kernel.getOutputs()))
      store(output, writer.outputBuffer(number));
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  MLIRContext *context;
  const bool manyTasks;
  SmallVector<Partial> partials;
  AffineExpr reduced, results;
  bool storesRows = false;
  int64_t chunks = 0;
  unsigned lastLevel = 0;
  unsigned level = 0; ///< of the phase at hand
};

} // namespace

Fit fitOfSplitReduction(KernelWriter &writer, int64_t split) {
  return SplitSkeleton(writer).fit(split);
}

void emitSplitReduction(KernelWriter &writer) {
  SplitSkeleton skeleton(writer);
  skeleton.fit(/*split=*/0); // it finds out how
  skeleton.run();
}

} // namespace sinter::compiler

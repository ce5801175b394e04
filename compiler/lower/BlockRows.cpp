/// Rows that a block of threads works on together, where lanes are threads: a
/// row stands in the threads' registers, so that it is read once however many
/// passes there are. Threads take columns; sums pass through the memory that
/// they share, in the canonical order.
#include "compiler/lower/BlockRows.h"

#include "compiler/lower/BlockColumns.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/KernelWriter.h"
#include "compiler/lower/MultiplyAdd.h"
#include "compiler/lower/ReductionOrder.h"
#include "compiler/target/BlockThreads.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;
using graph::PatternKind;

// Shorter rows are those of a warp; longer ones have more than one chunk.
constexpr int64_t shortestRow = 2048, longestRow = canonicalChunk;
// Neighbours that a thread reads at once, and elements of a row that it has
// where the row's length allows that.
constexpr int64_t neighbours = 4, elementsOfThread = 16;
// Registers of a thread aside from elements.
constexpr int64_t otherRegisters = 32;
// Rounds of a canonical sum that are read at a time.
constexpr int64_t roundsAtOnce = 16;

PatternKind kindOf(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind();
}

// One reduction along rows.
struct RowResult {
  Operation *op = nullptr;
  std::unique_ptr<Combiner> combiner;
};

class BlockRows {
public:
  explicit BlockRows(KernelWriter &writer)
      : writer(writer), kernel(writer.kernel), context(kernel->getContext()),
        unit(writer.target.blockThreads()) {}

  bool applies() {
    return unit && 2 * unit->warpThreads() == canonicalLanes &&
           findReductions() && hasRows() && cutRow() && takeColumns() &&
           storesRows() && numbers() <= unit->mostNumbers();
  }

  void run() {
    columns->announce();
    AffineExpr blocks = columns->empty() ? rows : columns->blocks();
    writer.addBlockPhase(blocks * warps(), [&](Emission &emission) {
      block = unit->begin(emission.builder, emission.loc, emission.entry,
                          threads, numbers(), registers());
      if (columns->empty())
        emitRow(emission, block.number);
      else
        emitRows(emission);
    });
    if (!columns->empty())
      columns->addMergePhase();
  }

private:
  // ---- which kernels -------------------------------------------------------

  bool findReductions() {
    for (Operation &op : kernel.getBlock()) {
      if (isa<program::YieldOp>(op))
        continue;
      if (!isa<ir::SinterOpInterface>(op) || !joinsBlockRows(&op))
        return false;
      if (kindOf(&op) == PatternKind::reduction && !addReduction(&op))
        return false;
    }
    return !reductions.empty();
  }

  bool addReduction(Operation *op) {
    Shape own = shapeOf(op->getOperand(0));
    int64_t last = int64_t(own.size()) - 1;
    if (shape.empty())
      shape = own;
    if (own != shape || own.empty())
      return false;
    SmallVector<int64_t> axes = reductionAxes(op).axes;
    auto combiner = makeCombiner(op->getResult(0));
    if (axes == SmallVector<int64_t>{last})
      reductions.push_back({op, std::move(combiner)});
    else if (last > 0 && axes == llvm::to_vector(llvm::seq<int64_t>(0, last)))
      columnOps.push_back({op, std::move(combiner)});
    else
      return false;
    return true;
  }

  bool hasRows() {
    length = constantOf(shape.back());
    rows = product(shape, 0, shape.size() - 1, context);
    return isRowOfBlock(length);
  }

  // Threads that have equally many elements, near to what they should have.
  bool cutRow() {
    int64_t best = 0;
    for (int64_t some = unit->warpThreads(); some <= unit->mostThreads();
         some += unit->warpThreads()) {
      if (length % (some * neighbours) != 0)
        continue;
      auto distance = [&](int64_t count) {
        return std::abs(length / count - elementsOfThread);
      };
      if (!best || distance(some) < distance(best))
        best = some;
    }
    constexpr int64_t mostElements = 2 * elementsOfThread;
    threads = best;
    return best && length / best <= mostElements;
  }

  bool isFull(Value value) const { return shapeOf(value) == shape; }

  bool takeColumns() {
    columns.emplace(writer, rows);
    for (RowResult &one : columnOps)
      columns->add(one.op, std::move(one.combiner));
    return columns->empty() || columns->canMerge();
  }

  bool storesRows() {
    return llvm::all_of(kernel.getOutputs(), [&](Value output) {
      Shape own = shapeOf(output);
      return isFull(output) || columns->makes(output) ||
             product(own, 0, own.size(), context) == rows;
    });
  }

  // What a thread has of the inputs' rows and of what is made of them; of
  // columns also their states and what is read of each row.
  int64_t registers() {
    int64_t arrays = rowInputs() + 1;
    if (!columns->empty())
      arrays += int64_t(columnOps.size()) + 1;
    return otherRegisters + length / threads * arrays;
  }

  int64_t rowInputs() {
    return llvm::count_if(kernel.getInputs(),
                          [&](Value input) { return isFull(input); });
  }

  // ---- memory of a block ---------------------------------------------------

  // A number of each warp, for two reductions in turn; those of a sum's lanes;
  // the elements of a sum, or two factors of each.
  int64_t warps() { return threads / unit->warpThreads(); }
  int64_t resultPlace() { return 2 * unit->warpThreads(); }
  int64_t elementsPlace() { return resultPlace() + canonicalLanes; }
  int64_t numbers() {
    bool staged = false, multiplied = false;
    for (const RowResult &result : reductions) {
      staged |= result.combiner->isOrdered();
      multiplied |= isContracted(result);
    }
    return elementsPlace() + length * (int64_t(staged) + int64_t(multiplied));
  }

  static bool isOrdered(const RowResult &result) {
    return result.combiner->isOrdered();
  }

  // Whether products need not be rounded before they are added.
  static bool isContracted(const RowResult &result) {
    return result.combiner->isOrdered() && result.op->hasAttr(contractAttr);
  }

  Value load(Emission &emission, Value place) {
    return memref::LoadOp::create(emission.builder, emission.loc, block.memory,
                                  place);
  }

  void wait(Emission &emission) { unit->wait(emission.builder, emission.loc); }

  Value isBelow(Emission &emission, Value a, int64_t bound) {
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ult, a,
                                 emission.constant(bound));
  }

  // ---- one row -------------------------------------------------------------

  static Lanes lanes() { return Lanes{unsigned(neighbours), {}, false}; }
  int64_t steps() const { return length / (threads * neighbours); }

  // The thread's first column of a step.
  Value columnOf(Emission &emission, int64_t step) {
    Value first = emission.mul(block.thread, emission.constant(neighbours));
    return emission.add(first, emission.constant(step * threads * neighbours));
  }

  // Of neighbours in a row, or of a row's number where there is no column.
  Index indexOf(Emission &emission, Value tensor, Value row, Value column) {
    Shape own = shapeOf(tensor);
    Index flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = own.size() - (column ? 1 : 0);
    if (!column)
      return flat;
    Index index;
    if (flat.tailRank)
      index.lead = emission.coordinates(
          flat, Shape(own.begin(), own.begin() + flat.tailRank));
    index.tail = emission.along(column, neighbours);
    index.tailRank = 1;
    return index;
  }

  // The rows of a block of the canonical order.
  void emitRows(Emission &emission) {
    Value size = emission.constant(canonicalBlock);
    Value begin = emission.mul(block.number, size);
    Value end = emission.min(emission.add(begin, size), emission.extent(rows));
    Value one = emission.constant(1), last = emission.sub(end, one);
    SmallVector<Value> starts;
    for (int64_t step = 0; step < steps(); ++step)
      starts.push_back(columnOf(emission, step));
    readOnce(emission, starts);
    Values states = emission.loop(
        begin, end, 1, columns->start(emission, steps(), lanes().count),
        [&](Value row, ValueRange carried) {
          readRow(emission, row);
          fetchRow(emission, emission.min(emission.add(row, one), last));
          emitRow(emission, row);
          Values after = columns->take(emission, carried, [&](Value tensor) {
            return elementsOf(emission, tensor, row);
          });
          // The next row's numbers of warps take the place of this one's.
          if (!llvm::all_of(reductions, isOrdered))
            wait(emission);
          return after;
        });
    columns->keep(emission, block.number, states, starts);
  }

  // What all rows read stays in registers.
  void readOnce(Emission &emission, ArrayRef<Value> starts) {
    for (BlockArgument input : kernel.getInputs()) {
      Shape own = shapeOf(input);
      if (own.size() != 1 || own.back() != shape.back())
        continue;
      for (Value column : starts) {
        Index index;
        index.tail = emission.along(column, neighbours);
        index.tailRank = 1;
        emission.at(input, index, lanes());
      }
    }
  }

  Values elementsOf(Emission &emission, Value tensor, Value row) {
    Values elements;
    for (int64_t step = 0; step < steps(); ++step)
      elements.push_back(emission.vectorAt(
          tensor, indexOf(emission, tensor, row, columnOf(emission, step)),
          lanes()));
    return elements;
  }

  void emitRow(Emission &emission, Value row) {
    readRow(emission, row);
    for (auto [number, result] : llvm::enumerate(reductions))
      reduce(emission, result, row, int64_t(number));
    storeRow(emission, row);
  }

  // All that is read of the row is on its way at once.
  void readRow(Emission &emission, Value row) {
    for (BlockArgument input : kernel.getInputs())
      for (int64_t step = 0; isFull(input) && step < steps(); ++step)
        emission.at(input,
                    indexOf(emission, input, row, columnOf(emission, step)),
                    lanes());
  }

  // Asks for a row that is read next.
  void fetchRow(Emission &emission, Value row) {
    for (BlockArgument input : kernel.getInputs())
      for (int64_t step = 0; isFull(input) && step < steps(); ++step) {
        Index index = indexOf(emission, input, row, columnOf(emission, step));
        unit->fetch(emission.builder, emission.loc,
                    emission.buffers[input.getArgNumber()],
                    emission.linearize(index, shapeOf(input)).base);
      }
  }

  void storeRow(Emission &emission, Value row) {
    for (auto [number, output] : llvm::enumerate(kernel.getOutputs())) {
      Value buffer = emission.entry.buffers[writer.outputBuffer(number)];
      if (columns->makes(output))
        continue;
      if (isFull(output))
        for (int64_t step = 0; step < steps(); ++step)
          store(emission, buffer, output,
                indexOf(emission, output, row, columnOf(emission, step)),
                lanes());
      else
        emission.when(isBelow(emission, block.thread, 1), [&] {
          store(emission, buffer, output, indexOf(emission, output, row, {}),
                Lanes{});
        });
    }
  }

  static void store(Emission &emission, Value buffer, Value output,
                    const Index &index, const Lanes &lanes) {
    storeElements(emission, buffer, output, index, lanes,
                  emission.at(output, index, lanes));
  }

  // ---- reductions ----------------------------------------------------------

  void reduce(Emission &emission, const RowResult &result, Value row,
              int64_t turn) {
    Value tensor = result.op->getResult(0);
    Values elements = elementsOf(emission, result.op->getOperand(0), row);
    Value state = result.combiner->isOrdered()
                      ? sumInOrder(emission, result, elements, turn)
                      : mergeAll(emission, *result.combiner, elements, turn);
    Element element{result.combiner->finish(emission, {state})};
    emission.provide(tensor, indexOf(emission, tensor, row, {}), Lanes{},
                     element);
    emission.setSource(tensor, makeKnown(tensor, element));
  }

  Value merge(Emission &emission, const Combiner &combiner, Value a, Value b) {
    return combiner.merge(emission, {a}, {b}).front();
  }

  // Merges what the threads of a warp have.
  Value mergeWarp(Emission &emission, const Combiner &combiner, Value state) {
    for (int64_t distance = unit->warpThreads() / 2; distance > 0;
         distance /= 2)
      state = merge(
          emission, combiner, state,
          unit->exchange(emission.builder, emission.loc, state, distance));
    return state;
  }

  // In whatever order: no bit depends on it. Numbers of warps stand in one of
  // two places, so that the next reduction need not wait for those that read
  // these.
  Value mergeAll(Emission &emission, const Combiner &combiner,
                 const Values &elements, int64_t turn) {
    Value all;
    for (Value element : elements) {
      Value lifted = combiner.lift(emission, element, {}).front();
      all = all ? merge(emission, combiner, all, lifted) : lifted;
    }
    Value state;
    for (int64_t lane = 0; lane < neighbours; ++lane) {
      Value one =
          vector::ExtractOp::create(emission.builder, emission.loc, all, lane);
      state = state ? merge(emission, combiner, state, one) : one;
    }
    state = mergeWarp(emission, combiner, state);
    if (warps() == 1)
      return state;
    Value first = emission.constant(turn % 2 * unit->warpThreads());
    Value warp =
        emission.floorDiv(block.thread, emission.constant(unit->warpThreads()));
    memref::StoreOp::create(emission.builder, emission.loc, state, block.memory,
                            emission.add(first, warp));
    wait(emission);
    state = {};
    for (int64_t number = 0; number < warps(); ++number) {
      Value one =
          load(emission, emission.add(first, emission.constant(number)));
      state = state ? merge(emission, combiner, state, one) : one;
    }
    return state;
  }

  // Stores elements, or both factors of each, where one warp sums them.
  struct Staged {
    bool multiplied = false, squared = false;
  };

  Staged stage(Emission &emission, const RowResult &result,
               const Values &elements) {
    auto productOf = [](Value element) {
      return element.getDefiningOp<arith::MulFOp>();
    };
    Staged staged;
    staged.multiplied =
        isContracted(result) && llvm::all_of(elements, productOf);
    staged.squared =
        staged.multiplied && llvm::all_of(elements, [&](Value element) {
          arith::MulFOp product = productOf(element);
          return product.getLhs() == product.getRhs();
        });
    auto put = [&](Value value, int64_t step, int64_t array) {
      Value at =
          emission.add(columnOf(emission, step),
                       emission.constant(elementsPlace() + array * length));
      vector::StoreOp::create(emission.builder, emission.loc, value,
                              block.memory, at);
    };
    for (auto [step, element] : llvm::enumerate(elements)) {
      if (!staged.multiplied) {
        put(result.combiner->lift(emission, element, {}).front(), step, 0);
        continue;
      }
      arith::MulFOp product = productOf(element);
      put(product.getLhs(), step, 0);
      if (!staged.squared)
        put(product.getRhs(), step, 1);
    }
    return staged;
  }

  Value stagedAt(Emission &emission, const Staged &staged, Value place) {
    Value value = load(emission, place);
    if (!staged.multiplied)
      return value;
    Value other = value;
    if (!staged.squared)
      other = load(emission, emission.add(place, emission.constant(length)));
    return arith::MulFOp::create(emission.builder, emission.loc, value, other);
  }

  // The sum of one lane of the canonical order.
  Value sumLane(Emission &emission, const Combiner &combiner,
                const Staged &staged, Value lane) {
    int64_t rounds = std::gcd(length / canonicalLanes, roundsAtOnce);
    Value first = emission.add(lane, emission.constant(elementsPlace()));
    return emission
        .loop(emission.constant(0), emission.constant(length),
              canonicalLanes * rounds, combiner.init(emission, 1),
              [&](Value begin, ValueRange carried) {
                Values state(carried);
                Value own = emission.add(begin, first);
                for (int64_t round = 0; round < rounds; ++round) {
                  Value place = emission.add(
                      own, emission.constant(round * canonicalLanes));
                  Value element = stagedAt(emission, staged, place);
                  state = combiner.take(emission, state,
                                        combiner.lift(emission, element, {}));
                }
                return state;
              })
        .front();
  }

  // A thread sums each lane: those of other warps in each turn, as warps share
  // what issues their instructions. The tree of lanes is that of each warp.
  Value sumInOrder(Emission &emission, const RowResult &result,
                   const Values &elements, int64_t turn) {
    Staged staged = stage(emission, result, elements);
    wait(emission);
    int64_t first = canonicalLanes * (turn % (threads / canonicalLanes));
    Value lane = emission.sub(block.thread, emission.constant(first));
    Value sums = emission.constant(resultPlace());
    emission.when(isBelow(emission, lane, canonicalLanes), [&] {
      Value sum = sumLane(emission, *result.combiner, staged, lane);
      memref::StoreOp::create(emission.builder, emission.loc, sum, block.memory,
                              emission.add(lane, sums));
    });
    wait(emission);
    Value own = emission.add(
        emission.mod(block.thread, emission.constant(unit->warpThreads())),
        sums);
    Value other = emission.add(own, emission.constant(unit->warpThreads()));
    Value low = load(emission, own), high = load(emission, other);
    return mergeWarp(emission, *result.combiner,
                     merge(emission, *result.combiner, low, high));
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  MLIRContext *context;
  const BlockThreads *unit;
  SmallVector<RowResult> reductions, columnOps;
  std::optional<BlockColumns> columns;
  Shape shape; ///< of what is reduced
  AffineExpr rows;
  int64_t length = 0, threads = 0;
  BlockThreads::Block block;
};

} // namespace

bool isRowOfBlock(int64_t length) {
  return length >= shortestRow && length <= longestRow &&
         length % canonicalLanes == 0;
}

bool joinsBlockRows(Operation *op) {
  PatternKind kind = kindOf(op);
  if (kind != PatternKind::reduction)
    return kind == PatternKind::pointwise || kind == PatternKind::source ||
           isa<ir::ReshapeOp, ir::BroadcastOp>(op);
  auto combiner = makeCombiner(op->getResult(0));
  return combiner && !combiner->needsPosition() &&
         combiner->types().size() == 1 && combiner->types().front().isF32();
}

bool emitBlockRows(KernelWriter &writer) {
  BlockRows rows(writer);
  if (!rows.applies())
    return false;
  rows.run();
  return true;
}

} // namespace sinter::compiler

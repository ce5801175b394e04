/// Long reductions in two phases: the states of canonical chunks, then their
/// merge in order. The bits are those of one phase.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/ElementCost.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// One phase serves up to here.
constexpr int64_t longestUnsplit = 256 * 1024;
constexpr int64_t mostResults = 64;
// Canonical chunks that one call of the first phase handles.
constexpr int64_t chunksPerTask = 8;

// A reduction of the kernel and where its partial states stand:
// state[value][result * chunks + chunk].
struct Partial {
  Operation *op = nullptr;
  std::shared_ptr<Combiner> combiner;
  SmallVector<unsigned> buffers;
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
    OpBuilder &builder = emission.builder;
    Value result = emission.linearize(index, shapeOf(tensor)).base;
    Value base = emission.mul(result, emission.constant(chunks));
    const Combiner &combiner = *partial.combiner;
    Emission::Values total = emission.loop(
        emission.constant(0), emission.constant(chunks), 1,
        combiner.init(emission, 1), [&](Value chunk, ValueRange carried) {
          Emission::Values part;
          Value place = emission.add(base, chunk);
          for (unsigned buffer : partial.buffers)
            part.push_back(memref::LoadOp::create(
                builder, emission.loc, emission.entry.buffers[buffer], place));
          return combiner.merge(emission, Emission::Values(carried), part);
        });
    return Element{combiner.finish(emission, total)};
  }

private:
  Partial partial;
  int64_t chunks;
};

class SplitSkeleton {
public:
  explicit SplitSkeleton(KernelWriter &writer)
      : writer(writer), kernel(writer.kernel), context(kernel->getContext()) {}

  bool applies() {
    for (Operation &op : kernel.getBlock()) {
      auto described = dyn_cast<ir::SinterOpInterface>(&op);
      if (!described ||
          described.getPatternKind() != graph::PatternKind::reduction)
        continue;
      AffineExpr extent = reducedExtent(&op);
      Shape shape = shapeOf(op.getResult(0));
      int64_t count = constantOf(product(shape, 0, shape.size(), context));
      if (!partials.empty() && (extent != reduced || count != results))
        return false;
      if (!reducesTrailing(&op) ||
          canonicalOrder(&op) != CanonicalOrder::lanes ||
          constantOf(extent) <= longestUnsplit || count < 1 ||
          count > mostResults)
        return false;
      reduced = extent;
      results = count;
      partials.push_back({&op, makeCombiner(op.getResult(0)), {}});
    }
    // Only values of the results' size are stored, and no reduction feeds
    // another.
    for (Value output : kernel.getOutputs()) {
      Shape shape = shapeOf(output);
      if (constantOf(product(shape, 0, shape.size(), context)) != results)
        return false;
    }
    return !partials.empty() && areIndependent();
  }

  void run() {
    int64_t length = constantOf(reduced);
    chunks = (length + canonicalChunk - 1) / canonicalChunk;
    for (Partial &partial : partials)
      for (Type type : partial.combiner->types())
        partial.buffers.push_back(
            writer.addWorkspace(number(results * chunks), type));
    int64_t tasks = (chunks + chunksPerTask - 1) / chunksPerTask;
    double elements = double(canonicalChunk * chunksPerTask);
    writer.addPhase(number(results * tasks),
                    elements * elementNanoseconds(kernel) / 2000,
                    [&](Emission &emission, Value task) {
                      emitTask(emission, task, tasks);
                    });
    writer.addPhase(number(1), 0.005 * double(chunks * results),
                    [&](Emission &emission, Value) { emitMerge(emission); });
  }

private:
  AffineExpr number(int64_t value) {
    return getAffineConstantExpr(value, context);
  }

  bool areIndependent() {
    llvm::DenseSet<Value> after; // a reduction
    for (Operation &op : kernel.getBlock()) {
      bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
        return after.contains(operand);
      });
      bool isReduction = llvm::any_of(
          partials, [&](const Partial &partial) { return partial.op == &op; });
      if (follows && isReduction)
        return false;
      if ((follows || isReduction) && op.getNumResults())
        after.insert(op.getResult(0));
    }
    return true;
  }

  Index indexOfResult(Emission &emission, Value tensor, Value result) {
    Index index;
    index.tailRank = shapeOf(tensor).size();
    index.tail = emission.uniform(result);
    return index;
  }

  void emitTask(Emission &emission, Value task, int64_t tasks) {
    Value result = emission.floorDiv(task, emission.constant(tasks));
    Value first = emission.mul(emission.mod(task, emission.constant(tasks)),
                               emission.constant(chunksPerTask));
    Value last =
        emission.min(emission.add(first, emission.constant(chunksPerTask)),
                     emission.constant(chunks));
    emission.loop(first, last, 1, [&](Value chunk) {
      Value size = emission.constant(canonicalChunk);
      Value begin = emission.mul(chunk, size);
      Value end =
          emission.min(emission.add(begin, size), emission.extent(reduced));
      Value place =
          emission.add(emission.mul(result, emission.constant(chunks)), chunk);
      for (const Partial &partial : partials)
        emitPartial(emission, partial, result, begin, end, place);
    });
  }

  void emitPartial(Emission &emission, const Partial &partial, Value result,
                   Value begin, Value end, Value place) {
    Index index = indexOfResult(emission, partial.op->getResult(0), result);
    RowReduction row(
        emission, *partial.combiner,
        std::min<unsigned>(canonicalLanes,
                           loopLanes(emission.body, emission.target)),
        [&](const Coord &r, const Lanes &lanes) {
          return reductionElement(emission, partial.op, index, r, lanes);
        });
    bool isWhole = constantOf(reduced) % canonicalChunk == 0;
    Emission::Values state =
        isWhole ? row.chunk(begin, canonicalChunk) : row.chunk(begin, end);
    for (auto [value, buffer] : llvm::zip(state, partial.buffers))
      memref::StoreOp::create(emission.builder, emission.loc, value,
                              emission.entry.buffers[buffer], place);
  }

  void emitMerge(Emission &emission) {
    for (const Partial &partial : partials)
      emission.setSource(partial.op->getResult(0),
                         std::make_unique<MergedSource>(partial, chunks));
    emission.loop(
        emission.constant(0), emission.constant(results), 1, [&](Value result) {
          for (auto [number, output] : llvm::enumerate(kernel.getOutputs())) {
            Index index = indexOfResult(emission, output, result);
            Element element = emission.at(output, index, Lanes{});
            storeElements(emission,
                          emission.entry.buffers[writer.outputBuffer(number)],
                          output, index, Lanes{}, element);
          }
        });
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  MLIRContext *context;
  SmallVector<Partial> partials;
  AffineExpr reduced;
  int64_t results = 0, chunks = 0;
};

} // namespace

bool emitSplitReduction(KernelWriter &writer) {
  SplitSkeleton skeleton(writer);
  if (!skeleton.applies())
    return false;
  skeleton.run();
  return true;
}

} // namespace sinter::compiler

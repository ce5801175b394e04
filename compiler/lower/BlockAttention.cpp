/// Attention in the target's unit for whole blocks: where matrices lie as it
/// takes them, and in which order tiles come.
#include "compiler/lower/AttentionParts.h"

#include "compiler/lower/AttentionBlock.h"
#include "compiler/lower/BlockMatrix.h"
#include "compiler/lower/MatrixProduct.h"
#include "compiler/target/AttentionUnit.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// What tiles that run at the same time walk should stay in a cache. Where some
// walk more than others, the more tiles of unlike length there are the better
// they share out, which outweighs it (measured on an H200: 64 batches of 4096
// rows of 128 take 0.66 ms with 16 MiB, 0.53 ms with 64).
constexpr int64_t bytesWalked = 16 << 20, bytesWalkedUnevenly = 64 << 20;

class BlockAttention {
public:
  BlockAttention(KernelWriter &writer, const AttentionParts &parts,
                 const AttentionUnit &unit)
      : writer(writer), parts(parts), unit(unit),
        shape(shapeOf(parts.lanesOperand)),
        context(writer.kernel.getContext()) {}

  bool run();

private:
  using Matrix = BlockUnit::Matrix;

  bool describe();
  bool takeOperand(Value tensor, Matrix &matrix) const;
  bool takeResult(Operation *op, double factor,
                  std::optional<AttentionUnit::Sum> &sum);
  int64_t batchesTogether() const;

  class TileEmitter;

  KernelWriter &writer;
  AttentionParts parts;
  const AttentionUnit &unit;
  const Shape shape; ///< of the operand that tiles have the rows of
  MLIRContext *context;
  AttentionUnit::Attention attention;
  int64_t rows = 0; ///< of a tile
  AffineExpr blocks, batches;
};

// A plain view of an input, the axes before the last two as everywhere, whose
// rows have neighbours.
bool BlockAttention::takeOperand(Value tensor, Matrix &matrix) const {
  Shape own = shapeOf(tensor);
  bool isAlike =
      elementOf(tensor) == attention.element && own.size() == shape.size() &&
      llvm::equal(ArrayRef(own).drop_back(2), ArrayRef(shape).drop_back(2));
  auto view = stridedView(tensor);
  if (!isAlike || !view || constantOf(view->strides.back()) != 1)
    return false;
  auto found = matrixOf(*view, own);
  if (found)
    matrix = *found;
  return found.has_value();
}

bool BlockAttention::takeResult(Operation *op, double factor,
                                std::optional<AttentionUnit::Sum> &sum) {
  if (!op)
    return true;
  Value result = op->getResult(0);
  auto matrix = denseMatrix(bufferOfPart(writer, result), shapeOf(result));
  if (!matrix)
    return false;
  sum = AttentionUnit::Sum{*matrix, factor};
  return true;
}

bool BlockAttention::describe() {
  ir::AttentionOpInterface first = parts.first;
  unsigned rank = shape.size();
  bool isGradient = parts.isGradient();
  ScoreMask mask{first.getMask(), false, parts.walksKeys};
  if (!isGradient && !parts.output)
    return false;
  Value value = isGradient ? parts.value : parts.output.getValue();
  attention.element = elementOf(parts.lanesOperand);
  attention.walksKeys = parts.walksKeys;
  attention.isCausal = first.getSpan() == "causal";
  attention.isGradient = isGradient;
  attention.isMasked = !mask.addsNothing();
  attention.storesLogsumexp = bool(parts.logsumexp);
  attention.scale = first.getScale().convertToDouble();
  attention.length = constantOf(shape.back());
  attention.valueLength = constantOf(shapeOf(value).back());
  attention.rows = shape[rank - 2];
  attention.steps = shapeOf(parts.stepsOperand)[rank - 2];
  Value stepsOfChanges = isGradient && parts.walksKeys ? parts.grad : value;
  bool fits = attention.length > 0 && attention.valueLength > 0 &&
              takeOperand(parts.lanesOperand, attention.rowsOfScores) &&
              takeOperand(parts.stepsOperand, attention.stepsOfScores) &&
              takeOperand(stepsOfChanges, attention.stepsOfChanges);
  if (!fits)
    return false;
  if (!isGradient)
    return takeResult(parts.output, 1, attention.ofWeights);
  auto factorOf = [](auto op) {
    return op ? op.getFactor().convertToDouble() : 1;
  };
  return takeOperand(parts.walksKeys ? value : parts.grad,
                     attention.rowsOfChanges) &&
         takeResult(parts.queryGradient, factorOf(parts.queryGradient),
                    attention.ofChanges) &&
         takeResult(parts.keyGradient, factorOf(parts.keyGradient),
                    attention.ofChanges) &&
         takeResult(parts.valueGradient, factorOf(parts.valueGradient),
                    attention.ofWeights);
}

// Of tiles that run at the same time.
int64_t BlockAttention::batchesTogether() const {
  int64_t steps = std::max<int64_t>(constantOf(attention.steps), 1);
  int64_t bytes = 2 * steps * (attention.length + attention.valueLength);
  int64_t most = attention.isCausal ? bytesWalkedUnevenly : bytesWalked;
  return std::max<int64_t>(1, most / bytes);
}

class BlockAttention::TileEmitter final : public AttentionUnit::Client {
public:
  using Place = AttentionUnit::Place;
  using PerQuery = AttentionUnit::PerQuery;

  TileEmitter(BlockAttention &plan, Emission &emission)
      : plan(plan), emission(emission) {}

  // Some batches at a time; of these, the tiles that walk most come first.
  void inTile(Value number,
              llvm::function_ref<void(const Place &)> body) override {
    emission.within(emission.builder.getInsertionBlock(), [&] {
      Value blocks = emission.extent(plan.blocks);
      Value together = emission.constant(plan.batchesTogether());
      Value ofGroup = emission.mul(blocks, together);
      Value first = emission.mul(emission.floorDiv(number, ofGroup), together);
      Value size = emission.min(
          emission.sub(emission.extent(plan.batches), first), together);
      Value rest = emission.mod(number, ofGroup);
      Value batch = emission.add(first, emission.mod(rest, size));
      Value block = emission.floorDiv(rest, size);
      if (plan.attention.isCausal && !plan.attention.walksKeys)
        block = emission.sub(emission.sub(blocks, emission.constant(1)), block);
      Place place;
      place.row = emission.mul(block, emission.constant(plan.rows));
      place.rows = emission.extent(plan.attention.rows);
      place.steps = emission.extent(plan.attention.steps);
      for (const Coord &coordinate :
           batchCoordinates(emission, plan.shape, batch))
        place.batch.push_back(coordinate.base);
      body(place);
    });
  }

  SmallVector<Value> read(PerQuery which, const Place &place, Value query,
                          unsigned count) override {
    Value tensor =
        which == PerQuery::delta ? plan.parts.delta : plan.parts.rowLogsumexps;
    SmallVector<Value> numbers;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      Value end = emission.extent(queries());
      for (unsigned next = 0; next < count; ++next) {
        Value at = emission.add(query, emission.constant(next));
        at = emission.min(at, emission.sub(end, emission.constant(1)));
        Value number = emission.vectorAt(tensor, indexOf(place, at), {});
        numbers.push_back(toAccumulator(emission, number, elementOf(tensor)));
      }
    });
    return numbers;
  }

  // Both elements at once where each pair of keys is one of neighbours.
  std::array<Value, 2> readMask(const Place &place, Value row,
                                Value step) override {
    Value mask = plan.parts.first.getMask();
    const AttentionUnit::Attention &attention = plan.attention;
    bool isPair = !attention.walksKeys &&
                  attention.steps.getLargestKnownDivisor() % 2 == 0;
    std::array<Value, 2> added;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      auto last = [&](AffineExpr end, unsigned count) {
        return emission.sub(emission.extent(end), emission.constant(count));
      };
      row = emission.min(row, last(attention.rows, 1));
      auto read = [&](unsigned next, unsigned count) {
        Value at = emission.add(step, emission.constant(next));
        at = emission.min(at, last(attention.steps, count));
        SmallVector<Coord> coordinates;
        if (!shapeOf(mask).empty()) {
          for (Value batch : place.batch)
            coordinates.push_back(emission.uniform(batch));
          Coord along =
              count == 1 ? emission.uniform(at) : emission.along(at, count);
          coordinates.push_back(emission.uniform(row));
          coordinates.insert(coordinates.end() - attention.walksKeys, along);
        }
        Value value =
            emission.vectorAt(mask, emission.fromCoordinates(coordinates),
                              Lanes{count, {}, false});
        return toAccumulator(emission, value, elementOf(mask));
      };
      if (!isPair) {
        added = {read(0, 1), read(1, 1)};
        return;
      }
      Value both = read(0, 2);
      for (int64_t next : {0, 1})
        added[size_t(next)] = vector::ExtractOp::create(
            emission.builder, emission.loc, both, next);
    });
    return added;
  }

  void storeLogsumexp(const Place &place, Value query, Value number,
                      Value condition) override {
    OpBuilder &builder = emission.builder;
    Value result = plan.parts.logsumexp.getResult();
    unsigned buffer = bufferOfPart(plan.writer, result);
    emission.within(builder.getInsertionBlock(), [&] {
      Value exists = arith::CmpIOp::create(builder, emission.loc,
                                           arith::CmpIPredicate::slt, query,
                                           emission.extent(queries()));
      exists = arith::AndIOp::create(builder, emission.loc, exists, condition);
      emission.when(exists, [&] {
        Coord at = emission.linearize(indexOf(place, query), shapeOf(result));
        memref::StoreOp::create(builder, emission.loc, number,
                                emission.buffers[buffer], at.base);
      });
    });
  }

private:
  AffineExpr queries() const {
    const AttentionUnit::Attention &attention = plan.attention;
    return attention.walksKeys ? attention.steps : attention.rows;
  }

  // In a tensor [..., queries, 1].
  Index indexOf(const Place &place, Value query) {
    SmallVector<Coord> coordinates;
    for (Value at : place.batch)
      coordinates.push_back(emission.uniform(at));
    coordinates.push_back(emission.uniform(query));
    coordinates.push_back(emission.uniform(emission.constant(0)));
    return emission.fromCoordinates(coordinates);
  }

  BlockAttention &plan;
  Emission &emission;
};

bool BlockAttention::run() {
  if (!describe())
    return false;
  auto chosen = unit.rowsOf(attention);
  if (!chosen)
    return false;
  rows = *chosen;
  blocks = attention.rows.ceilDiv(rows);
  batches = product(shape, 0, shape.size() - 2, context);
  writer.addBlockPhase(batches * blocks, [&](Emission &emission) {
    TileEmitter tiles(*this, emission);
    unit.emit(emission.builder, emission.loc, emission.entry, attention, tiles);
  });
  return true;
}

} // namespace

bool emitAttentionInBlocks(KernelWriter &writer, const AttentionParts &parts) {
  const AttentionUnit *unit = writer.target.attentionUnit();
  return unit && BlockAttention(writer, parts, *unit).run();
}

} // namespace sinter::compiler

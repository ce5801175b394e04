/// Attention in the target's unit for whole blocks: where matrices lie as it
/// takes them, and in which order tiles come.
#include "compiler/lower/attention/AttentionParts.h"

#include "compiler/lower/attention/AttentionBlock.h"
#include "compiler/lower/attention/AttentionMerge.h"
#include "compiler/lower/contraction/BlockMatrix.h"
#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/target/AttentionUnit.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

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
        shape(shapeOf(parts.lanesOperand)), context(writer.kernel.getContext()),
        batches(product(shape, 0, shape.size() - 2, context)) {}

  /// Whether the unit has tiles for it.
  bool find();
  /// The same of few queries, whose keys are walked in parts. The sizes of
  /// which they are (1, and 0 for others).
  AffineExpr findParts();
  void addWorkspaces();
  void addPhases();

private:
  using Matrix = BlockUnit::Matrix;

  bool describe();
  void describeOperand(AttentionUnit::Operand which, Value tensor);
  std::optional<Matrix> matrixOf(Value tensor) const;
  void describeResult(Operation *op, double factor,
                      std::optional<AttentionUnit::Sum> &sum);
  int64_t batchesTogether() const;

  class TileEmitter;

  KernelWriter &writer;
  AttentionParts parts;
  const AttentionUnit &unit;
  const Shape shape; ///< of the operand that tiles have the rows of
  MLIRContext *context;
  AttentionUnit::Attention attention;
  std::array<Value, AttentionUnit::numOperands> operands;
  AttentionUnit::Tile tile;
  AffineExpr blocks;
  const AffineExpr batches;
  std::optional<KeySplit> split;
};

// A plain view of an input, the axes before the last two as everywhere, whose
// rows have neighbours.
std::optional<BlockUnit::Matrix> BlockAttention::matrixOf(Value tensor) const {
  Shape own = shapeOf(tensor);
  bool isAlike =
      elementOf(tensor) == attention.element && own.size() == shape.size() &&
      llvm::equal(ArrayRef(own).drop_back(2), ArrayRef(shape).drop_back(2));
  auto view = stridedView(tensor);
  if (!isAlike || !view || constantOf(view->strides.back()) != 1)
    return std::nullopt;
  return sinter::compiler::matrixOf(*view, own);
}

void BlockAttention::describeOperand(AttentionUnit::Operand which,
                                     Value tensor) {
  operands[which] = tensor;
  auto matrix = matrixOf(tensor);
  if (matrix)
    attention.operands[which] = *matrix;
  attention.isPlain &= matrix.has_value();
  Shape own = shapeOf(tensor);
  attention.together[which] = std::gcd(neighboursAlong(tensor, own.size() - 1),
                                       own.back().getLargestKnownDivisor());
}

void BlockAttention::describeResult(Operation *op, double factor,
                                    std::optional<AttentionUnit::Sum> &sum) {
  if (!op)
    return;
  Value result = op->getResult(0);
  auto matrix = denseMatrix(bufferOfPart(writer, result), shapeOf(result));
  attention.isPlain &= matrix.has_value();
  sum = AttentionUnit::Sum{matrix.value_or(Matrix()), factor};
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
  if (attention.length <= 0 || attention.valueLength <= 0)
    return false;
  attention.isPlain = true;
  bool grantsSteps = isGradient && parts.walksKeys;
  describeOperand(AttentionUnit::rowsOfScores, parts.lanesOperand);
  describeOperand(AttentionUnit::stepsOfScores, parts.stepsOperand);
  describeOperand(AttentionUnit::stepsOfChanges,
                  grantsSteps ? parts.grad : value);
  if (!isGradient) {
    describeResult(parts.output, 1, attention.ofWeights);
    return true;
  }
  auto factorOf = [](auto op) {
    return op ? op.getFactor().convertToDouble() : 1;
  };
  describeOperand(AttentionUnit::rowsOfChanges,
                  grantsSteps ? value : parts.grad);
  describeResult(parts.queryGradient, factorOf(parts.queryGradient),
                 attention.ofChanges);
  describeResult(parts.keyGradient, factorOf(parts.keyGradient),
                 attention.ofChanges);
  describeResult(parts.valueGradient, factorOf(parts.valueGradient),
                 attention.ofWeights);
  return true;
}

// Of tiles that run at the same time.
int64_t BlockAttention::batchesTogether() const {
  int64_t steps = std::max<int64_t>(constantOf(attention.steps), 1);
  int64_t bytes = steps * (attention.length + attention.valueLength) *
                  (attention.element.getIntOrFloatBitWidth() / 8);
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
      Value part;
      if (plan.split) {
        Value parts = emission.extent(plan.split->parts);
        part = emission.mod(number, parts);
        number = emission.floorDiv(number, parts);
      }
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
      place.row = emission.mul(block, emission.constant(plan.tile.rows));
      place.rows = emission.extent(plan.attention.rows);
      place.steps = emission.extent(plan.attention.steps);
      for (const Coord &coordinate :
           batchCoordinates(emission, plan.shape, batch))
        place.batch.push_back(coordinate.base);
      if (plan.split)
        takePart(place, part, batch);
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
  SmallVector<Value> readMask(const Place &place, Value row, Value step,
                              unsigned count) override {
    Value mask = plan.parts.first.getMask();
    const AttentionUnit::Attention &attention = plan.attention;
    bool isPair = count == 2 && !attention.walksKeys &&
                  attention.steps.getLargestKnownDivisor() % 2 == 0;
    SmallVector<Value> added;
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
          coordinates = batchOf(place);
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
        for (unsigned next = 0; next < count; ++next)
          added.push_back(read(next, 1));
        return;
      }
      Value both = read(0, 2);
      for (int64_t next : {0, 1})
        added.push_back(vector::ExtractOp::create(emission.builder,
                                                  emission.loc, both, next));
    });
    return added;
  }

  Value readOperand(AttentionUnit::Operand which, const Place &place, Value row,
                    Value column, unsigned count) override {
    Value elements;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      elements = emission.vectorAt(plan.operands[which],
                                   indexOf(place, row, column, count),
                                   Lanes{count, {}, false});
    });
    return elements;
  }

  void storeSoftmax(const Place &place, Value query, Value largest, Value sum,
                    Value condition) override {
    whereRow(query, condition, [&] {
      storePart(plan.split->softmax, query, 2, emission.constant(0), largest);
      storePart(plan.split->softmax, query, 2, emission.constant(1), sum);
    });
  }

  void store(AttentionUnit::Result which, const Place &place, Value row,
             Value column, Value numbers, Value condition) override {
    if (plan.split)
      return whereRow(row, condition, [&] {
        storePart(plan.split->sums, row, plan.attention.valueLength, column,
                  numbers);
      });
    Value result = resultOf(which);
    Value buffer = emission.entry.buffers[bufferOfPart(plan.writer, result)];
    auto type = dyn_cast<VectorType>(numbers.getType());
    unsigned count = type ? unsigned(type.getNumElements()) : 1;
    whereRow(row, condition, [&] {
      Value value = fromAccumulator(emission, numbers, elementOf(result));
      storeElements(emission, buffer, result,
                    indexOf(place, row, column, count), Lanes{count, {}, false},
                    canonicalNan(emission, result, Element{value}));
    });
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
  void whereRow(Value row, Value condition, llvm::function_ref<void()> put) {
    OpBuilder &builder = emission.builder;
    emission.within(builder.getInsertionBlock(), [&] {
      Value exists = arith::CmpIOp::create(
          builder, emission.loc, arith::CmpIPredicate::slt, row,
          emission.extent(plan.attention.rows));
      exists = arith::AndIOp::create(builder, emission.loc, exists, condition);
      emission.when(exists, put);
    });
  }

  // The steps of a part, and where its rows are in workspaces.
  void takePart(Place &place, Value part, Value batch) {
    Value length = emission.extent(plan.split->length);
    place.firstStep = emission.mul(part, length);
    place.steps =
        emission.min(emission.add(place.firstStep, length), place.steps);
    Value number =
        emission.add(emission.mul(part, emission.extent(plan.batches)), batch);
    firstQuery = emission.mul(number, emission.extent(plan.attention.rows));
  }

  void storePart(unsigned workspace, Value query, int64_t width, Value column,
                 Value numbers) {
    Value line =
        emission.mul(emission.add(firstQuery, query), emission.constant(width));
    Value place = emission.add(line, column);
    Value buffer = emission.entry.buffers[workspace];
    if (isa<VectorType>(numbers.getType()))
      vector::StoreOp::create(emission.builder, emission.loc, numbers, buffer,
                              place);
    else
      memref::StoreOp::create(emission.builder, emission.loc, numbers, buffer,
                              place);
  }

  AffineExpr queries() const {
    const AttentionUnit::Attention &attention = plan.attention;
    return attention.walksKeys ? attention.steps : attention.rows;
  }

  Value resultOf(AttentionUnit::Result which) const {
    AttentionParts &parts = plan.parts;
    if (which == AttentionUnit::Result::ofWeights)
      return parts.output ? parts.output.getResult()
                          : parts.valueGradient.getResult();
    return parts.walksKeys ? parts.keyGradient.getResult()
                           : parts.queryGradient.getResult();
  }

  SmallVector<Coord> batchOf(const Place &place) {
    SmallVector<Coord> coordinates;
    for (Value at : place.batch)
      coordinates.push_back(emission.uniform(at));
    return coordinates;
  }

  // Neighbours begin at a multiple of their number, which is said once more
  // here: what is known of an address follows from how it is made.
  Index indexOf(const Place &place, Value row, Value column, unsigned count) {
    SmallVector<Coord> coordinates = batchOf(place);
    if (count > 1) {
      Value number = emission.constant(count);
      column = emission.mul(emission.floorDiv(column, number), number);
    }
    coordinates.push_back(emission.uniform(row));
    coordinates.push_back(count == 1 ? emission.uniform(column)
                                     : emission.along(column, count));
    return emission.fromCoordinates(coordinates);
  }

  // In a tensor [..., queries, 1].
  Index indexOf(const Place &place, Value query) {
    return indexOf(place, query, emission.constant(0), 1);
  }

  BlockAttention &plan;
  Emission &emission;
  Value firstQuery; ///< of a part: its row in workspaces
};

bool BlockAttention::find() {
  if (!describe())
    return false;
  auto chosen = unit.tileFor(attention);
  if (!chosen)
    return false;
  tile = *chosen;
  blocks = attention.rows.ceilDiv(tile.rows);
  return true;
}

AffineExpr BlockAttention::findParts() {
  AffineExpr none = getAffineConstantExpr(0, context);
  if (parts.isGradient())
    return none;
  AffineExpr keys = shapeOf(parts.stepsOperand)[shape.size() - 2];
  AffineExpr rows = shape[shape.size() - 2];
  AffineExpr sizes = KeySplit::sizes(rows, batches, keys);
  attention.isPart = true;
  if (constantOf(sizes) == 0 || !find())
    return none;
  split = KeySplit();
  split->length = KeySplit::lengthFor(keys);
  split->parts = keys.ceilDiv(split->length);
  split->queries = batches * rows;
  return sizes;
}

void BlockAttention::addWorkspaces() {
  AffineExpr rows = split->parts * split->queries;
  Type number = Float32Type::get(context);
  split->sums = writer.addWorkspace(rows * attention.valueLength, number);
  split->softmax = writer.addWorkspace(rows * 2, number);
}

void BlockAttention::addPhases() {
  AffineExpr tiles = batches * blocks;
  if (split)
    tiles = tiles * split->parts;
  writer.addBlockPhase(tiles * tile.chunks, [&](Emission &emission) {
    TileEmitter tiles(*this, emission);
    unit.emit(emission.builder, emission.loc, emission.entry, attention, tiles);
  });
  if (split)
    addMergedKeys(writer, parts, *split);
}

} // namespace

AffineExpr emitAttentionInBlocks(KernelWriter &writer,
                                 const AttentionParts &parts) {
  MLIRContext *context = writer.kernel.getContext();
  AffineExpr left = getAffineConstantExpr(1, context);
  for (const auto &unit : writer.target.attentionUnits()) {
    BlockAttention plan(writer, parts, *unit);
    AffineExpr sizes = plan.findParts();
    if (constantOf(sizes) == 0)
      continue;
    writer.setSizes(sizes);
    plan.addWorkspaces();
    plan.addPhases();
    left = left - sizes;
    break;
  }
  writer.setSizes(left);
  for (const auto &unit : writer.target.attentionUnits()) {
    BlockAttention plan(writer, parts, *unit);
    if (constantOf(left) == 0 || !plan.find())
      continue;
    plan.addPhases();
    return getAffineConstantExpr(0, context);
  }
  return left;
}

} // namespace sinter::compiler

/// The space of reductions whose operand's last axis stays.
#include "compiler/lower/reduce/ColumnSpace.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

static bool isReduction(Operation *op) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  return described &&
         described.getPatternKind() == graph::PatternKind::reduction;
}

// Whether element n of the result reads element n of each operand.
static bool keepsOrder(Operation *op) {
  return ir::keepsLinearOrder(op) ||
         cast<ir::SinterOpInterface>(op).getPatternKind() ==
             graph::PatternKind::pointwise;
}

ColumnSpace::ColumnSpace(program::KernelOp given)
    : kernel(given), context(given->getContext()) {
  if (!findReductions())
    return;
  found = true;
  findSpace();
  valid = llvm::all_of(kernel.getOutputs(),
                       [&](Value output) { return isResult(output); });
}

bool ColumnSpace::isResult(Value output) const {
  Shape own = shapeOf(output);
  return product(own, 0, own.size(), context) == results;
}

SmallVector<Sink> ColumnSpace::sinks(unsigned firstBuffer) const {
  SmallVector<Sink> result;
  program::KernelOp own = kernel; // its accessors are not const
  for (Value output : own.getOutputs())
    result.push_back(
        sinkBehind(output, firstBuffer + unsigned(result.size()),
                   [&](Operation *view) { return turns.contains(view); }));
  return result;
}

bool ColumnSpace::findReductions() {
  llvm::DenseSet<Value> after; // a reduction
  auto isTurned = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && turns.contains(op);
  };
  for (Operation &op : kernel.getBlock()) {
    bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return after.contains(operand);
    });
    if (isa<program::YieldOp>(op))
      continue;
    if (follows || isReduction(&op))
      after.insert(op.getResult(0));
    bool followsTurn = llvm::any_of(op.getOperands(), isTurned);
    if ((follows && ir::permutesAxes(&op)) ||
        (followsTurn && ir::keepsLinearOrder(&op))) {
      turns.insert(&op);
      continue;
    }
    if (followsTurn || (follows && !keepsOrder(&op)))
      return false;
    if (!isReduction(&op))
      continue;
    if (canonicalOrder(&op) != CanonicalOrder::blocks)
      return false;
    ReductionAxes own = reductionAxes(&op);
    Shape dims = shapeOf(op.getOperand(0));
    if (!reductions.empty() && (own.axes != axes || dims != shape))
      return false;
    axes = own.axes;
    shape = dims;
    reductions.push_back(&op);
  }
  return !reductions.empty() && !axes.empty();
}

// The columns are the last dims, as many as one coordinate serves.
void ColumnSpace::findSpace() {
  unsigned rank = shape.size();
  tailRank = rank - 1 - unsigned(axes.back());
  for (Operation *op : reductions)
    while (tailRank > 1 && !keepsTail(op->getOperand(0), tailRank))
      --tailRank;
  width = product(shape, rank - tailRank, rank, context);
  extent = reducedExtent(reductions.front());
  Shape kept = keptDims();
  lead = product(kept, 0, kept.size(), context);
  results = lead * width;
}

Shape ColumnSpace::keptDims() const {
  Shape kept;
  for (unsigned dim = 0; dim < shape.size() - tailRank; ++dim)
    if (!isReduced(dim))
      kept.push_back(shape[dim]);
  return kept;
}

unsigned ColumnSpace::lanesOf(const Target &target) const {
  int64_t all = constantOf(width);
  unsigned lanes = target.lanes();
  if (all >= 0 && all < int64_t(lanes))
    lanes = unsigned(std::max<uint64_t>(1, llvm::PowerOf2Ceil(all)));
  return lanes;
}

int64_t ColumnSpace::divisorOf(int64_t block) const {
  int64_t all = constantOf(width);
  if (all < 0)
    return 1;
  return all <= block ? all : std::gcd(all, block);
}

static Coord columnsFrom(Emission &emission, Value column, const Lanes &lanes) {
  return lanes.count == 1 ? emission.uniform(column)
                          : emission.along(column, lanes.count);
}

static SmallVector<Coord> rowCoordinates(Emission &emission, Value lead,
                                         const Shape &dims) {
  if (dims.empty())
    return {};
  Index flat;
  flat.tail = emission.uniform(lead);
  flat.tailRank = dims.size();
  return emission.coordinates(flat, dims);
}

Index ColumnSpace::operandIndex(Emission &emission, Operation *op,
                                const Place &place, Value row, Value column,
                                const Lanes &lanes) const {
  SmallVector<Coord> kept = rowCoordinates(emission, place.lead, keptDims());
  SmallVector<Coord> parts =
      reducedCoordinates(emission, op, emission.uniform(row));
  Index index;
  unsigned nextKept = 0, nextPart = 0;
  for (unsigned dim = 0; dim < shape.size() - tailRank; ++dim)
    index.lead.push_back(isReduced(dim) ? parts[nextPart++] : kept[nextKept++]);
  index.tail = columnsFrom(emission, column, lanes);
  index.tailRank = tailRank;
  return index;
}

Index ColumnSpace::resultIndex(Emission &emission, Value output,
                               const Place &place, Value column,
                               const Lanes &lanes) const {
  Shape own = shapeOf(output);
  unsigned rank = own.size();
  bool hasTail = rank >= tailRank;
  for (unsigned i = 1; hasTail && i <= tailRank; ++i)
    hasTail = own[rank - i] == shape[shape.size() - i];
  Index index;
  if (!hasTail) {
    Value row = emission.mul(place.lead, emission.extent(width));
    index.tail = columnsFrom(emission, emission.add(row, column), lanes);
    index.tailRank = rank;
    return index;
  }
  Shape leading(own.begin(), own.end() - tailRank);
  index.lead = rowCoordinates(emission, place.lead, leading);
  index.tail = columnsFrom(emission, column, lanes);
  index.tailRank = tailRank;
  return index;
}

Value ColumnSpace::positionAt(Emission &emission, const Combiner &combiner,
                              Value row, const Lanes &lanes) {
  if (!combiner.needsPosition())
    return {};
  Value position = arith::IndexCastOp::create(
      emission.builder, emission.loc, emission.builder.getI32Type(), row);
  return emission.spread(Element{position}, lanes.count);
}

void ColumnSpace::provide(Emission &emission, Value result, const Place &place,
                          Value column, const Lanes &lanes, Value value) const {
  Element element{value};
  emission.provide(result, resultIndex(emission, result, place, column, lanes),
                   lanes, element);
  emission.setSource(result, makeKnown(result, element));
}

void eachColumn(Emission &emission, Value first, Value end, unsigned lanes,
                int64_t divisor,
                llvm::function_ref<void(Value, const Lanes &)> body) {
  Value step = emission.constant(lanes);
  Value count = emission.sub(end, first);
  Value whole = emission.mul(emission.floorDiv(count, step), step);
  Value middle = emission.add(first, whole);
  emission.loop(first, middle, lanes,
                [&](Value column) { body(column, Lanes{lanes, {}, false}); });
  if (divisor % lanes == 0)
    return;
  Value rest = emission.sub(end, middle);
  auto tail = [&] {
    Value mask = emission.tailMask(rest, lanes);
    body(middle, Lanes{lanes, mask, false});
  };
  if (rest.getDefiningOp<arith::ConstantIndexOp>())
    return tail();
  Value isLeft = arith::CmpIOp::create(emission.builder, emission.loc,
                                       arith::CmpIPredicate::sgt, rest,
                                       emission.constant(0));
  emission.when(isLeft, tail);
}

Emission::Values loadStates(Emission &emission, const Combiner &combiner,
                            ArrayRef<Value> arrays, Value at,
                            const Lanes &lanes) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Emission::Values state;
  for (auto [type, array] : llvm::zip(combiner.types(), arrays)) {
    Type memory = memoryType(type);
    Value value;
    if (lanes.count == 1) {
      value = memref::LoadOp::create(builder, loc, array, at);
    } else {
      VectorType vector = emission.vectorType(memory, lanes.count);
      if (lanes.mask)
        value = vector::MaskedLoadOp::create(builder, loc, vector, array, at,
                                             lanes.mask,
                                             emission.number(vector, 0));
      else
        value = vector::LoadOp::create(builder, loc, vector, array, at);
    }
    state.push_back(fromMemory(emission, value, type));
  }
  return state;
}

void storeStates(Emission &emission, const Combiner &combiner,
                 ArrayRef<Value> arrays, Value at, const Lanes &lanes,
                 const Emission::Values &state) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  for (auto [type, array, given] : llvm::zip(combiner.types(), arrays, state)) {
    Value value = toMemory(emission, given, type);
    if (lanes.count == 1)
      memref::StoreOp::create(builder, loc, value, array, at);
    else if (lanes.mask)
      vector::MaskedStoreOp::create(builder, loc, array, at, lanes.mask, value);
    else
      vector::StoreOp::create(builder, loc, value, array, at);
  }
}

} // namespace sinter::compiler

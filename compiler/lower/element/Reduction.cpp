/// Reductions inside a kernel, in the canonical order. Bits depend neither on
/// the vector width nor on whether the reduction is fused.
#include "compiler/analysis/ElementCost.h"
#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/element/Inline.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

using Values = Emission::Values;

namespace {

// Merges the lanes of states; state s is the vectors states[s][*], 64 lanes in
// all. Missing vectors hold nothing.
using Merge = llvm::function_ref<Values(const Values &, const Values &)>;
Values mergeTree(Emission &emission, SmallVector<Values> states, unsigned lanes,
                 Merge merge) {
  for (unsigned half = canonicalLanes / lanes / 2; half > 0; half /= 2)
    for (unsigned i = 0; i < half && i + half < states.size(); ++i)
      states[i] = merge(states[i], states[i + half]);
  Values state = states.front();
  OpBuilder &builder = emission.builder;
  for (unsigned width = lanes; width > 2; width /= 2) {
    SmallVector<int64_t> low, high;
    for (unsigned i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Values first, second;
    for (Value value : state) {
      first.push_back(
          vector::ShuffleOp::create(builder, emission.loc, value, value, low));
      second.push_back(
          vector::ShuffleOp::create(builder, emission.loc, value, value, high));
    }
    state = merge(first, second);
  }
  Values first, second;
  for (Value value : state) {
    first.push_back(vector::ExtractOp::create(builder, emission.loc, value, 0));
    second.push_back(
        vector::ExtractOp::create(builder, emission.loc, value, 1));
  }
  return merge(first, second);
}

Values choose(Emission &emission, Value mask, const Values &a,
              const Values &b) {
  Values result;
  for (auto [left, right] : llvm::zip(a, b))
    result.push_back(arith::SelectOp::create(emission.builder, emission.loc,
                                             mask, left, right));
  return result;
}

// Positions of lanes from `begin` + `offset` on, null where nobody asks.
Value positionOf(Emission &emission, const Combiner &combiner, Value begin,
                 int64_t offset, unsigned lanes) {
  if (!combiner.needsPosition())
    return {};
  OpBuilder &builder = emission.builder;
  Type i32 = builder.getI32Type();
  Value first = arith::IndexCastOp::create(builder, emission.loc, i32, begin);
  if (lanes == 1)
    return arith::AddIOp::create(builder, emission.loc, first,
                                 emission.integer(i32, offset));
  SmallVector<int32_t> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(int32_t(offset + lane));
  auto type = emission.vectorType(i32, lanes);
  Value offsets = arith::ConstantOp::create(
      builder, emission.loc,
      DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return arith::AddIOp::create(builder, emission.loc,
                               emission.spread(Element{first}, lanes), offsets);
}

} // namespace

Values mergeLanes(Emission &emission, const Combiner &combiner,
                  const Values &state, unsigned lanes) {
  return mergeTree(emission, {state}, lanes,
                   [&](const Values &a, const Values &b) {
                     return combiner.merge(emission, a, b);
                   });
}

// One result, lanes along the reduced axis. Where the combiner spreads NaN, the
// last of the values that a chunk carries has bits in lanes that saw one.

Values RowReduction::block(Value begin, Values flat, Value remaining) {
  unsigned count = kept();
  SmallVector<Value> elements;
  for (unsigned q = 0; q < statesIn(flat); ++q) {
    Value first = emission.add(begin, emission.constant(q * lanes));
    Lanes asked{lanes, {}, false};
    if (remaining) {
      Value left =
          emission.sub(remaining, emission.constant(int64_t(q) * lanes));
      auto known = left.getDefiningOp<arith::ConstantIndexOp>();
      if (known && known.value() <= 0)
        break;
      if (!known || known.value() < int64_t(lanes))
        asked.mask = emission.tailMask(left, lanes);
    }
    Coord coord = emission.along(first, lanes);
    Value element = elementAt(coord, asked);
    Values before(flat.begin() + q * count, flat.begin() + (q + 1) * count);
    Values lifted =
        combiner.lift(emission, element,
                      positionOf(emission, combiner, begin, q * lanes, lanes));
    Values after;
    if (combiner.spreadsNan()) {
      if (asked.mask)
        lifted = choose(emission, asked.mask, lifted, before);
      elements.append(lifted);
      after = combiner.mergeNumbers(emission, before, lifted);
    } else {
      after = combiner.take(emission, before, lifted);
      if (asked.mask)
        after = choose(emission, asked.mask, after, before);
    }
    llvm::copy(after, flat.begin() + q * count);
  }
  if (!elements.empty())
    flat.back() = noteNan(flat.back(), elements);
  return flat;
}

// Whole blocks, `together` of them in a step.
Values RowReduction::blocks(Value begin, Value end, const Values &flat,
                            int64_t together) {
  return emission.loop(
      begin, end, canonicalLanes * together, flat,
      [&](Value first, ValueRange carried) {
        Values state(carried);
        for (int64_t i = 0; i < together; ++i)
          state =
              block(emission.add(first, emission.constant(i * canonicalLanes)),
                    state, {});
        return state;
      });
}

// Threads wait for the elements of some blocks at a time: of more in long rows
// of which little is computed.
int64_t RowReduction::blocksAtOnce(int64_t length) const {
  constexpr int64_t longRow = 64 * canonicalLanes;
  if (!emission.target.traits().inOrder)
    return 1;
  return length < longRow || isArithmeticLong(emission.body) ? 8 : 16;
}

// A comparison looks at two vectors.
Value RowReduction::noteNan(Value noted, ArrayRef<Value> elements) {
  OpBuilder &builder = emission.builder;
  Value isNan;
  for (size_t i = 0; i < elements.size(); i += 2) {
    Value other = elements[std::min(i + 1, elements.size() - 1)];
    Value one = arith::CmpFOp::create(
        builder, emission.loc, arith::CmpFPredicate::UNO, elements[i], other);
    isNan = isNan
                ? Value(arith::OrIOp::create(builder, emission.loc, isNan, one))
                : one;
  }
  Value bits =
      arith::ExtSIOp::create(builder, emission.loc, noted.getType(), isNan);
  return arith::OrIOp::create(builder, emission.loc, noted, bits);
}

unsigned RowReduction::kept() const { return combiner.types().size(); }

unsigned RowReduction::statesIn(const Values &flat) const {
  return (flat.size() - unsigned(combiner.spreadsNan())) / kept();
}

Values RowReduction::initial(Value begin, unsigned vectors) {
  Values flat;
  for (unsigned q = 0; q < vectors; ++q)
    flat.append(combiner.start(
        emission, lanes,
        positionOf(emission, combiner, begin, q * lanes, lanes)));
  if (combiner.spreadsNan()) {
    unsigned width = combiner.types().front().getIntOrFloatBitWidth();
    Type bits = emission.builder.getIntegerType(width);
    flat.push_back(emission.integer(
        lanes == 1 ? bits : Type(emission.vectorType(bits, lanes)), 0));
  }
  return flat;
}

Values RowReduction::merged(const Values &flat) {
  SmallVector<Values> states;
  unsigned count = kept();
  for (unsigned q = 0; q < statesIn(flat); ++q)
    states.push_back(
        Values(flat.begin() + q * count, flat.begin() + (q + 1) * count));
  auto merge = [&](const Values &a, const Values &b) {
    return combiner.mergeNumbers(emission, a, b);
  };
  Values result = mergeTree(emission, states, lanes, merge);
  if (!combiner.spreadsNan())
    return result;
  OpBuilder &builder = emission.builder;
  Value noted = flat.back();
  Value isNan =
      arith::CmpIOp::create(builder, emission.loc, arith::CmpIPredicate::ne,
                            noted, emission.integer(noted.getType(), 0));
  if (isa<VectorType>(isNan.getType()))
    isNan = vector::ReductionOp::create(builder, emission.loc,
                                        vector::CombiningKind::OR, isNan);
  for (Value &value : result)
    value = arith::SelectOp::create(
        builder, emission.loc, isNan,
        emission.number(value.getType(),
                        std::numeric_limits<double>::quiet_NaN()),
        value);
  return result;
}

Values RowReduction::chunk(Value begin, int64_t length) {
  int64_t whole = length / canonicalLanes * canonicalLanes;
  int64_t rest = length - whole;
  unsigned vectors = canonicalLanes / lanes;
  if (whole == 0)
    vectors = (rest + lanes - 1) / lanes;
  Values flat = initial(begin, vectors);
  Value end = emission.add(begin, emission.constant(whole));
  if (whole == canonicalLanes) {
    flat = block(begin, flat, {});
  } else if (whole) {
    int64_t together = blocksAtOnce(whole), step = canonicalLanes * together;
    Value middle = emission.add(begin, emission.constant(whole / step * step));
    flat = blocks(begin, middle, flat, together);
    if (whole % step)
      flat = blocks(middle, end, flat, 1);
  }
  if (rest)
    flat = block(end, flat, emission.constant(rest));
  return merged(flat);
}

Values RowReduction::chunk(Value begin, Value end) {
  Value block64 = emission.constant(canonicalLanes);
  Value length = emission.sub(end, begin);
  Value whole = emission.mul(emission.floorDiv(length, block64), block64);
  Value middle = emission.add(begin, whole);
  Values flat = initial(begin, canonicalLanes / lanes);
  // Of a chunk that most rows have in full. A long body would be written out
  // many times more, and keeps threads busy as it is.
  int64_t together =
      isArithmeticLong(emission.body) ? 1 : blocksAtOnce(canonicalChunk);
  Value first = begin;
  if (together > 1) {
    Value step = emission.constant(canonicalLanes * together);
    first =
        emission.add(begin, emission.mul(emission.floorDiv(whole, step), step));
    flat = blocks(begin, first, flat, together);
  }
  flat = blocks(first, middle, flat, 1);
  Value rest = emission.sub(end, middle);
  Value isLeft = arith::CmpIOp::create(emission.builder, emission.loc,
                                       arith::CmpIPredicate::sgt, rest,
                                       emission.constant(0));
  Values before = flat;
  flat = emission.branch(
      isLeft, ValueRange(flat).getTypes(),
      [&] { return block(middle, before, rest); }, [&] { return before; });
  return merged(flat);
}

Values RowReduction::run(AffineExpr extent) {
  int64_t length = constantOf(extent);
  Value zero = emission.constant(0);
  if (length >= 0 && length <= canonicalChunk)
    return length ? chunk(zero, length) : combiner.init(emission, 1);
  Value size = emission.constant(canonicalChunk);
  Value end = emission.extent(extent);
  Value count =
      length >= 0
          ? emission.constant(length / canonicalChunk)
          : emission.floorDiv(
                emission.add(end, emission.constant(canonicalChunk - 1)), size);
  Values total = emission.loop(
      zero, count, 1, combiner.init(emission, 1),
      [&](Value number, ValueRange carried) {
        Value begin = emission.mul(number, size);
        Values part =
            length >= 0
                ? chunk(begin, canonicalChunk)
                : chunk(begin, emission.min(emission.add(begin, size), end));
        return combiner.merge(emission, Values(carried), part);
      });
  int64_t rest = length >= 0 ? length % canonicalChunk : 0;
  if (!rest)
    return total;
  Value begin = emission.constant(length - rest);
  return combiner.merge(emission, total, chunk(begin, rest));
}

// Many results, one per lane.

namespace {

class ColumnReduction {
public:
  using ElementAt = llvm::function_ref<Value(Value)>;

  ColumnReduction(Emission &emission, const Combiner &combiner, Value tensor,
                  unsigned lanes, CanonicalOrder order, ElementAt elementAt)
      : emission(emission), combiner(combiner), tensor(tensor), lanes(lanes),
        order(order), elementAt(elementAt) {}

  Values run(AffineExpr extent) {
    Value zero = emission.constant(0), end = emission.extent(extent);
    Values init = combiner.init(emission, lanes);
    int64_t length = constantOf(extent);
    if (emission.target.traits().apart && length > 0 &&
        length <= shortReduction && !emission.reductionsAround)
      return inRegisters(length);
    if (!combiner.isOrdered())
      return sequence(zero, end);
    if (length >= 0 && length <= canonicalChunk)
      return chunk(zero, end, length);
    Value size = emission.constant(canonicalChunk);
    Value count = emission.floorDiv(
        emission.add(end, emission.constant(canonicalChunk - 1)), size);
    return emission.loop(
        zero, count, 1, init, [&](Value number, ValueRange carried) {
          Value begin = emission.mul(number, size);
          Value stop = emission.min(emission.add(begin, size), end);
          return combiner.merge(emission, Values(carried),
                                chunk(begin, stop, canonicalChunk));
        });
  }

private:
  // Few elements: written out, so that all are on their way at once.
  Values inRegisters(int64_t length) {
    llvm::SaveAndRestore within(emission.reductionsAround,
                                emission.reductionsAround + 1);
    if (combiner.isOrdered() && order == CanonicalOrder::lanes)
      return tree(0, 1, length);
    Values state =
        combiner.start(emission, lanes, positionAt(emission.constant(0)));
    for (int64_t i = 0; i < length; ++i)
      state = taken(emission.constant(i), state);
    return state;
  }

  // The tree of lanes `first`, `first` + `step`, ..., each of which has seen an
  // element at most: merging those that saw none would change no bit. Depth
  // first, so that few states are kept.
  Values tree(int64_t first, int64_t step, int64_t length) {
    if (first + step >= length)
      return taken(emission.constant(first), combiner.init(emission, lanes));
    Values low = tree(first, 2 * step, length);
    return combiner.merge(emission, low, tree(first + step, 2 * step, length));
  }

  Value positionAt(Value i) {
    Value position = positionOf(emission, combiner, i, 0, 1);
    return position ? emission.spread(Element{position}, lanes) : position;
  }

  Values taken(Value i, const Values &before) {
    return combiner.take(emission, before,
                         combiner.lift(emission, elementAt(i), positionAt(i)));
  }

  Values sequence(Value begin, Value end) {
    return emission.loop(
        begin, end, 1, combiner.start(emission, lanes, positionAt(begin)),
        [&](Value i, ValueRange carried) { return taken(i, Values(carried)); });
  }

  // Blocks one after the other.
  Values blocks(Value begin, Value end) {
    Values init = combiner.init(emission, lanes);
    return emission.loop(
        begin, end, canonicalBlock, init, [&](Value first, ValueRange carried) {
          Value last = emission.min(
              emission.add(first, emission.constant(canonicalBlock)), end);
          return combiner.merge(emission, Values(carried),
                                sequence(first, last));
        });
  }

  Values chunk(Value begin, Value end, int64_t longest) {
    if (order == CanonicalOrder::blocks)
      return blocks(begin, end);
    // The 64 lanes stand in a buffer of the function's frame, a vector each:
    // one for all reductions that none of them is computed within.
    static constexpr char keys[16] = {};
    llvm::SaveAndRestore within(emission.reductionsAround,
                                emission.reductionsAround + 1);
    const void *key = within.get() < std::size(keys)
                          ? static_cast<const void *>(&keys[within.get()])
                          : tensor.getAsOpaquePointer();
    int64_t slots = 1;
    while (slots < std::min<int64_t>(longest, canonicalLanes))
      slots *= 2;
    Type state = combiner.types().front();
    auto type = MemRefType::get({canonicalLanes * int64_t(lanes)}, state);
    Value buffer = emission.frameBuffer(key, type);
    Value width = emission.constant(lanes);
    OpBuilder &builder = emission.builder;
    auto vectorType = emission.vectorType(state, lanes);
    auto load = [&](Value slot) -> Values {
      return {vector::LoadOp::create(builder, emission.loc, vectorType, buffer,
                                     emission.mul(slot, width))};
    };
    auto store = [&](Value slot, const Values &values) {
      vector::StoreOp::create(builder, emission.loc, values[0], buffer,
                              emission.mul(slot, width));
    };
    Value zero = emission.constant(0);
    emission.loop(zero, emission.constant(slots), 1, [&](Value slot) {
      store(slot, combiner.init(emission, lanes));
    });
    emission.loop(begin, end, 1, [&](Value i) {
      Value slot = emission.mod(i, emission.constant(canonicalLanes));
      store(slot, taken(i, load(slot)));
    });
    for (int64_t half = slots / 2; half > 0; half /= 2)
      emission.loop(zero, emission.constant(half), 1, [&](Value slot) {
        Value other = emission.add(slot, emission.constant(half));
        store(slot, combiner.merge(emission, load(slot), load(other)));
      });
    return load(zero);
  }

  Emission &emission;
  const Combiner &combiner;
  Value tensor;
  unsigned lanes;
  CanonicalOrder order;
  ElementAt elementAt;
};

class ReductionSource final : public ElementSource {
public:
  ReductionSource(Value tensor, std::unique_ptr<Combiner> combiner)
      : ElementSource(tensor), op(tensor.getDefiningOp()),
        operand(op->getOperand(0)), axes(reductionAxes(op)),
        combiner(std::move(combiner)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    AffineExpr extent = reducedExtent(op);
    Values state;
    CanonicalOrder order = canonicalOrder(op);
    if (lanes.count == 1 && order == CanonicalOrder::lanes) {
      RowReduction row(emission, *combiner, lanesAlongReduced(emission, op),
                       [&](const Coord &r, const Lanes &asked) {
                         return reductionElement(emission, op, index, r, asked);
                       });
      state = row.run(extent);
    } else {
      auto elementAt = [&](Value r) {
        Index inner = columnIndex(emission, index, r);
        return emission.vectorAt(operand, inner, lanes);
      };
      ColumnReduction column(emission, *combiner, tensor, lanes.count, order,
                             elementAt);
      state = column.run(extent);
    }
    return Element{combiner->finish(emission, state)};
  }

private:
  // The operand's index where lanes run along kept dims and `r` is one number.
  Index columnIndex(Emission &emission, const Index &index, Value r) {
    unsigned rank = shapeOf(operand).size();
    Coord number = emission.uniform(r);
    bool keepsGroup = !axes.keepdims && index.tailRank > 1;
    for (unsigned dim = rank - std::min(rank, index.tailRank); dim < rank;
         ++dim)
      keepsGroup &= !isReduced(axes, dim);
    if (!keepsGroup)
      return elementIndex(emission, op, keptCoordinates(emission, op, index),
                          number);
    SmallVector<Coord> parts = reducedCoordinates(emission, op, number);
    Index result;
    unsigned next = 0, part = 0;
    for (unsigned dim = 0; dim + index.tailRank < rank; ++dim)
      result.lead.push_back(isReduced(axes, dim) ? parts[part++]
                                                 : index.lead[next++]);
    result.tail = index.tail;
    result.tailRank = index.tailRank;
    return result;
  }

  Operation *op;
  Value operand;
  ReductionAxes axes;
  std::unique_ptr<Combiner> combiner;
};

} // namespace

std::unique_ptr<ElementSource> makeReduction(Value tensor) {
  auto op = cast<ir::SinterOpInterface>(tensor.getDefiningOp());
  if (op.getPatternKind() != graph::PatternKind::reduction)
    return nullptr;
  if (auto combiner = makeCombiner(tensor))
    return std::make_unique<ReductionSource>(tensor, std::move(combiner));
  return nullptr;
}

} // namespace sinter::compiler

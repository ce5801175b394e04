/// AttentionBlock: rows of tensors to panels, and panels to rows.
#include "compiler/lower/attention/AttentionBlock.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// A square of vectors with rows and lanes exchanged: at distance h, each pair
// of vectors trades the blocks of h lanes that stand across the diagonal.
AttentionBlock::Values AttentionBlock::transposed(Values rows) {
  unsigned count = rows.size();
  for (unsigned h = count / 2; h > 0; h /= 2) {
    SmallVector<int64_t> upper, lower;
    for (unsigned lane = 0; lane < count; ++lane) {
      bool stays = (lane & h) == 0;
      upper.push_back(stays ? lane : count + lane - h);
      lower.push_back(stays ? lane + h : count + lane);
    }
    for (unsigned row = 0; row < count; ++row) {
      if (row & h)
        continue;
      Value a = rows[row], b = rows[row + h];
      rows[row] = vector::ShuffleOp::create(emission.builder, emission.loc, a,
                                            b, upper);
      rows[row + h] = vector::ShuffleOp::create(emission.builder, emission.loc,
                                                a, b, lower);
    }
  }
  return rows;
}

// Columns [0, length) in vectors; the last one masked.
static void forColumns(Emission &emission, int64_t length, unsigned lanes,
                       llvm::function_ref<void(Value, unsigned, Value)> emit) {
  int64_t whole = length / lanes * lanes, rest = length - whole;
  if (whole)
    emission.loop(emission.constant(0), emission.constant(whole), lanes,
                  [&](Value column) { emit(column, lanes, Value()); });
  if (rest)
    emit(emission.constant(whole), rest,
         emission.tailMask(emission.constant(rest), lanes));
}

Panel AttentionBlock::pack(Value tensor, double scale) {
  int64_t length = constantOf(shapeOf(tensor).back());
  Panel result = panel(laneSlot + packed++, length);
  forVectors([&](Value lane) {
    SmallVector<Value> from;
    for (unsigned r = 0; r < tile.lanes; ++r) {
      Value row = emission.add(emission.add(first, lane), emission.constant(r));
      from.push_back(isWhole ? row : emission.min(row, last));
    }
    forColumns(
        emission, length, tile.lanes,
        [&](Value column, unsigned count, Value mask) {
          Values rows;
          for (Value row : from) {
            Value x = read(
                tensor,
                {emission.uniform(row), emission.along(column, tile.lanes)},
                Lanes{tile.lanes, mask, false});
            if (scale != 1)
              x = arith::MulFOp::create(emission.builder, emission.loc, x,
                                        emission.number(x.getType(), scale));
            rows.push_back(x);
          }
          rows = transposed(std::move(rows));
          for (unsigned r = 0; r < count; ++r)
            save(result, emission.add(column, emission.constant(r)), lane,
                 rows[r]);
        });
  });
  return result;
}

Panel AttentionBlock::sum(int64_t rows, Value from, Value to) {
  Panel result = panel(sumSlot + summed++, rows);
  auto steps = getConstantIntValue(emission.sub(to, from));
  result.isUnset = steps && *steps > 0 && *steps <= tile.steps;
  if (result.isUnset)
    return result;
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  Value zero = emission.number(type, 0);
  emission.loop(
      emission.constant(0), emission.constant(rows), 1, [&](Value row) {
        forVectors([&](Value lane) { save(result, row, lane, zero); });
      });
  return result;
}

// ---- rows of steps ---------------------------------------------------------

// One after the other, ready to be multiplied. Rows that are apart share few of
// the nearest cache's lines, and are each read several times.
bool AttentionBlock::liesWell(Value tensor) {
  // Where axes were regrouped, reading a row divides.
  if (elementOf(tensor) != tile.accumulator || ir::reshapedOperand(tensor))
    return false;
  auto view = stridedView(tensor);
  if (!view)
    return false;
  ArrayRef<AffineExpr> strides = view->strides;
  return constantOf(strides.back()) == 1 &&
         strides[strides.size() - 2] == shapeOf(tensor).back();
}

StepRows AttentionBlock::rowsOf(Value tensor, Value step, Value count,
                                unsigned slot) {
  if (liesWell(tensor))
    return {tensor, {}, 0};
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  int64_t length = constantOf(shapeOf(tensor).back());
  int64_t pitch = tile.pitch(length);
  Value copy = frame(stepSlot + slot, tile.steps * pitch);
  emission.loop(emission.constant(0), count, 1, [&](Value row) {
    Value from = emission.add(step, row);
    Value start = emission.mul(row, emission.constant(pitch));
    forColumns(
        emission, length, tile.lanes, [&](Value column, unsigned, Value mask) {
          Value x =
              read(tensor,
                   {emission.uniform(from), emission.along(column, tile.lanes)},
                   Lanes{tile.lanes, mask, false});
          vector::StoreOp::create(builder, loc, x, copy,
                                  emission.add(start, column));
        });
  });
  return {tensor, copy, pitch};
}

Value AttentionBlock::elementOfStep(const StepRows &rows, Value step, Value row,
                                    Value column) {
  if (!rows.copy)
    return read(
        rows.tensor,
        {emission.uniform(emission.add(step, row)), emission.uniform(column)},
        Lanes{});
  Value place =
      emission.add(emission.mul(row, emission.constant(rows.pitch)), column);
  return memref::LoadOp::create(emission.builder, emission.loc, rows.copy,
                                place);
}

// ---- storing ---------------------------------------------------------------

void AttentionBlock::store(Panel from, Value tensor, unsigned buffer,
                           double factor, Panel divisor) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  forVectors([&](Value lane) {
    Value scale = emission.number(type, factor);
    if (divisor.buffer)
      scale = arith::DivFOp::create(builder, loc, scale,
                                    load(divisor, emission.constant(0), lane));
    auto emit = [&](Value column, unsigned, Value mask) {
      Values rows;
      for (unsigned r = 0; r < tile.lanes; ++r) {
        Value x = load(from, emission.add(column, emission.constant(r)), lane);
        if (divisor.buffer || factor != 1)
          x = arith::MulFOp::create(builder, loc, x, scale);
        rows.push_back(x);
      }
      rows = transposed(std::move(rows));
      for (unsigned r = 0; r < tile.lanes; ++r) {
        Value row =
            emission.add(emission.add(first, lane), emission.constant(r));
        auto put = [&] {
          Index index = indexOf(
              {emission.uniform(row), emission.along(column, tile.lanes)});
          Value x = fromAccumulator(emission, rows[r], elementOf(tensor));
          storeElements(emission, emission.entry.buffers[buffer], tensor, index,
                        Lanes{tile.lanes, mask, false},
                        canonicalNan(emission, tensor, Element{x}));
        };
        if (isWhole) {
          put();
          continue;
        }
        Value exists = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sle, row, last);
        emission.when(exists, put);
      }
    };
    forColumns(emission, from.rows, tile.lanes, emit);
  });
}

} // namespace sinter::compiler

/// WarpgroupKernel: sums of elements in pieces.
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace sinter::compiler {

// Two stages a turn, each with sums of its own: while the second one's are
// multiplied, the first one's are added.
WarpgroupKernel::Values
WarpgroupKernel::sumPieces(const Turn &turn, Value rounds, ValueRange zeros) {
  Values carried{turn.stage, turn.parity};
  llvm::append_range(carried, zeros);
  return loop(ptx.number(0), rounds, ptx.number(2), carried,
              [&](Value, ValueRange carried) {
                Turn first{carried[0], carried[1]}, second = next(ring, first);
                Values sums = multiplyPieces(first);
                Values others = multiplyPieces(second);
                Values total =
                    added(carried.drop_front(2), warpgroup.wait(1, sums));
                release(ring, first.stage);
                total = added(total, warpgroup.wait(0, others));
                release(ring, second.stage);
                Turn then = next(ring, second);
                Values all{then.stage, then.parity};
                llvm::append_range(all, total);
                return all;
              });
}

WarpgroupKernel::Values WarpgroupKernel::multiplyPieces(const Turn &turn) {
  waitFull(ring, turn);
  Value stage = stageAt(ring, turn.stage);
  return warpgroup.multiply({shareOf(stage)},
                            ptx.add(stage, int32_t(layout.rightAt())));
}

WarpgroupKernel::Values WarpgroupKernel::added(ValueRange sums,
                                               ValueRange others) const {
  Values all;
  for (auto [sum, other] : llvm::zip_equal(sums, others))
    all.push_back(arith::AddFOp::create(builder, loc, sum, other));
  return all;
}

// Pieces of an infinity are not numbers, nor are those of what rounds to one.
// So sums that are no number, or not finite, are formed again, of elements as
// they are: all of a thread's.
WarpgroupKernel::Values
WarpgroupKernel::finite(const Place &place,
                        ArrayRef<BlockUnit::Fragment> fragments,
                        ValueRange sums) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value found = zero; // a zero times what is not finite is no number
  for (Value sum : sums)
    found = math::FmaOp::create(builder, loc, sum, zero, found);
  Value isBad = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      found, found);
  auto branch = scf::IfOp::create(builder, loc, sums.getTypes(), isBad,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  Values zeros(sums.size(), zero);
  scf::YieldOp::create(builder, loc, sumSlowly(place, fragments, zeros));
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, sums);
  return Values(branch.getResults());
}

// Fragments come by pairs, of the thread's upper row and of its lower one. What
// is behind the last row or column is not stored.
WarpgroupKernel::Values
WarpgroupKernel::sumSlowly(const Place &place,
                           ArrayRef<BlockUnit::Fragment> fragments,
                           ValueRange zeros) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto within = [&](Value first, Value own, Value end) -> Value {
    Value at = arith::AddIOp::create(builder, loc, first, own);
    Value last = arith::SubIOp::create(builder, loc, end, index(1));
    return arith::MinUIOp::create(builder, loc, at, last);
  };
  return loop(
      place.depth, place.endDepth, index(1), zeros,
      [&](Value k, ValueRange carried) {
        Value rows[2];
        for (auto [row, fragment] : llvm::zip(rows, fragments))
          row = client.readLeft(
              place, within(place.row, fragment.row, place.endRow), k, 1);
        Values sums(carried);
        for (size_t number = 0; number < fragments.size(); number += 2)
          for (size_t beside = 0; beside < 2; ++beside) {
            const BlockUnit::Fragment &fragment = fragments[number];
            Value own = arith::MulIOp::create(builder, loc, fragment.group,
                                              index(fragment.count));
            own = arith::AddIOp::create(
                builder, loc, own, index(fragment.column + int64_t(beside)));
            Value right = client.readRight(
                place, within(place.column, own, place.endColumn), k, 1);
            for (size_t row = 0; row < 2; ++row) {
              Value &sum = sums[2 * (number + row) + beside];
              sum = math::FmaOp::create(builder, loc, rows[row], right, sum);
            }
          }
        return sums;
      });
}

} // namespace sinter::compiler

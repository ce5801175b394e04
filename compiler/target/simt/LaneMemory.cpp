/// Loads and stores of vectors by the threads that have their lanes.
#include "compiler/target/simt/LaneMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

// A number that is known to divide an index; 0 divides by all.
static int64_t multipleOf(Value index, unsigned depth = 0) {
  constexpr unsigned deepest = 12;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar() || depth > deepest)
      return 1;
    return std::gcd(multipleOf(loop.getLowerBound(), depth + 1),
                    multipleOf(loop.getStep(), depth + 1));
  }
  Operation *op = index.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return std::abs(constant.value());
  if (depth > deepest)
    return 1;
  auto operand = [&](unsigned number) {
    return multipleOf(op->getOperand(number), depth + 1);
  };
  if (isa<arith::MulIOp>(op)) {
    constexpr int64_t enough = 1 << 20;
    return std::min(operand(0), enough) * std::min(operand(1), enough);
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::MinUIOp, arith::MaxUIOp, arith::RemUIOp>(op))
    return std::gcd(operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return std::gcd(operand(1), operand(2));
  return 1;
}

bool isMultiple(Value index, int64_t of) { return multipleOf(index) % of == 0; }

// What all lanes of a thread have of a mask, or null.
static Value wholeOf(Value mask) {
  auto spread = mask.getDefiningOp<vector::BroadcastOp>();
  return spread && spread.getSourceType().isInteger(1) ? spread.getSource()
                                                       : Value();
}

SmallVector<Value> LaneMemory::places(Location loc, Value start,
                                      VectorType type) {
  SmallVector<Value> all;
  for (Value lane : threads.lanes(loc, type))
    all.push_back(
        arith::AddIOp::create(builder, loc, start, threads.toIndex(loc, lane)));
  return all;
}

llvm::MaybeAlign alignmentAt(Value start, VectorType own) {
  int64_t count = own.getNumElements();
  int64_t bytes = count * own.getElementTypeBitWidth() / 8;
  int64_t multiple = multipleOf(start);
  if (!llvm::isPowerOf2_64(bytes) || multiple % count != 0)
    return {};
  return llvm::Align(std::min<int64_t>(bytes, 16));
}

// Of what is loaded or stored by one instruction where `whole` says so.
static llvm::MaybeAlign alignmentOfWhole(Value whole, Value start,
                                         VectorType own) {
  return own && whole ? alignmentAt(start, own) : llvm::MaybeAlign();
}

Value LaneMemory::both(Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

void LaneMemory::when(Location loc, Value flag,
                      llvm::function_ref<void()> emit) {
  if (!flag)
    return emit();
  auto branch = scf::IfOp::create(builder, loc, flag, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit();
}

Value LaneMemory::load(vector::LoadOp op, VectorType type) {
  Location loc = op.getLoc();
  Value buffer = op.getBase(), start = op.getIndices().front();
  SmallVector<Value> at = places(loc, start, type);
  auto own = dyn_cast<VectorType>(threads.own(type));
  if (!own)
    return memref::LoadOp::create(builder, loc, buffer, at.front());
  if (llvm::MaybeAlign alignment = alignmentAt(start, own))
    return vector::LoadOp::create(builder, loc, own, buffer,
                                  ValueRange(at.front()),
                                  /*nontemporal=*/false, alignment);
  SmallVector<Value> slots;
  for (Value place : at)
    slots.push_back(memref::LoadOp::create(builder, loc, buffer, place));
  return threads.join(slots, type);
}

Value LaneMemory::loadWhere(Location loc, Value buffer, ArrayRef<Value> places,
                            ArrayRef<Value> flags, ArrayRef<Value> otherwise,
                            VectorType type) {
  SmallVector<Value> slots;
  for (auto [place, flag, other] : llvm::zip(places, flags, otherwise)) {
    auto branch = scf::IfOp::create(builder, loc, other.getType(), flag,
                                    /*withElse=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value value = memref::LoadOp::create(builder, loc, buffer, place);
    scf::YieldOp::create(builder, loc, value);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, other);
    slots.push_back(branch.getResult(0));
  }
  return threads.join(slots, type);
}

Value LaneMemory::load(vector::MaskedLoadOp op, VectorType type) {
  Location loc = op.getLoc();
  Value buffer = op.getBase(), start = op.getIndices().front();
  auto own = dyn_cast<VectorType>(threads.own(type));
  Value whole = wholeOf(op->getOperand(2));
  llvm::MaybeAlign alignment = alignmentOfWhole(whole, start, own);
  if (alignment) {
    SmallVector<Value> at = places(loc, start, type);
    auto branch =
        scf::IfOp::create(builder, loc, own, whole, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value read = vector::LoadOp::create(builder, loc, own, buffer,
                                        ValueRange(at.front()),
                                        /*nontemporal=*/false, alignment);
    scf::YieldOp::create(builder, loc, read);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, op->getOperand(3));
    return branch.getResult(0);
  }
  VectorType mask = VectorType::get(type.getShape(), builder.getI1Type());
  return loadWhere(loc, op.getBase(),
                   places(loc, op.getIndices().front(), type),
                   threads.slots(op->getOperand(2), mask),
                   threads.slots(op->getOperand(3), type), type);
}

// The places of a gather or scatter: indices count from the offset.
static SmallVector<Value> indexed(LaneThreads &threads, Location loc,
                                  Value offset, Value indices,
                                  VectorType type) {
  OpBuilder &builder = threads.builder;
  SmallVector<Value> all;
  for (Value index : threads.slots(indices, type)) {
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         index);
    all.push_back(arith::AddIOp::create(builder, loc, offset, index));
  }
  return all;
}

Value LaneMemory::load(vector::GatherOp op, VectorType type) {
  Location loc = op.getLoc();
  VectorType mask = VectorType::get(type.getShape(), builder.getI1Type());
  return loadWhere(
      loc, op.getBase(),
      indexed(threads, loc, op.getOffsets().front(), op->getOperand(2), type),
      threads.slots(op->getOperand(3), mask),
      threads.slots(op->getOperand(4), type), type);
}

void LaneMemory::storing(Location loc, Value buffer,
                         llvm::function_ref<void()> emit) {
  bool isShared = !isOnlyWritten(buffer);
  if (isShared)
    threads.wait(loc);
  emit();
  if (isShared)
    threads.wait(loc);
}

// Whether memory may be touched between an op and the builder's place.
bool LaneMemory::isTouchedSince(Operation *op) const {
  Block *block = builder.getInsertionBlock();
  if (op->getBlock() != block)
    return true;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (next->getIterator() == builder.getInsertionPoint())
      return false;
    if (!isMemoryEffectFree(next))
      return true;
  }
  return builder.getInsertionPoint() != block->end();
}

static std::optional<int64_t> constantOf(Value index) {
  auto constant = index.getDefiningOp<arith::ConstantIndexOp>();
  return constant ? std::optional(constant.value()) : std::nullopt;
}

// Whether no thread stores an element that another has stored since the last
// wait: lanes of both begin at multiples of their number, or behind all others.
bool LaneMemory::goesOn(Value buffer, Value start, VectorType type) const {
  if (!last.wait || last.buffer != buffer || last.type != type ||
      isTouchedSince(last.wait))
    return false;
  int64_t lanes = type.getNumElements();
  if (last.isEven && multipleOf(start) % lanes == 0)
    return true;
  std::optional<int64_t> begin = constantOf(start);
  return begin && last.end && *begin >= *last.end;
}

void LaneMemory::storingVectors(Location loc, Value buffer, Value start,
                                VectorType type,
                                llvm::function_ref<void()> emit) {
  if (isOnlyWritten(buffer))
    return emit();
  int64_t lanes = type.getNumElements();
  Stored stored{buffer, type, multipleOf(start) % lanes == 0, {}, nullptr};
  if (std::optional<int64_t> begin = constantOf(start))
    stored.end = *begin + lanes;
  if (goesOn(buffer, start, type)) {
    stored.isEven = stored.isEven && last.isEven;
    if (!last.end || (stored.end && *stored.end < *last.end))
      stored.end.reset();
    last.wait->erase();
  } else {
    threads.wait(loc);
  }
  emit();
  threads.wait(loc);
  stored.wait = &*std::prev(builder.getInsertionPoint());
  last = stored;
}

void LaneMemory::store(vector::StoreOp op, VectorType type) {
  Location loc = op.getLoc();
  Value buffer = op.getBase(), start = op.getIndices().front();
  Value value = op->getOperand(0);
  SmallVector<Value> at = places(loc, start, type);
  storingVectors(loc, buffer, start, type, [&] {
    when(loc, threads.hasLane(loc, type), [&] {
      auto own = dyn_cast<VectorType>(threads.own(type));
      llvm::MaybeAlign alignment =
          own ? alignmentAt(start, own) : llvm::MaybeAlign();
      if (alignment) {
        vector::StoreOp::create(builder, loc, value, buffer,
                                ValueRange(at.front()),
                                /*nontemporal=*/false, alignment);
        return;
      }
      for (auto [place, slot] : llvm::zip(at, threads.slots(value, type)))
        memref::StoreOp::create(builder, loc, slot, buffer, place);
    });
  });
}

void LaneMemory::storeWhere(Location loc, Value buffer, ArrayRef<Value> places,
                            ArrayRef<Value> flags, ArrayRef<Value> values,
                            VectorType type) {
  storing(loc, buffer, [&] {
    Value own = threads.hasLane(loc, type);
    for (auto [place, flag, value] : llvm::zip(places, flags, values))
      when(loc, both(loc, flag, own), [&] {
        memref::StoreOp::create(builder, loc, value, buffer, place);
      });
  });
}

void LaneMemory::store(vector::MaskedStoreOp op, VectorType type) {
  Location loc = op.getLoc();
  Value start = op.getIndices().front(), value = op->getOperand(3);
  auto own = dyn_cast<VectorType>(threads.own(type));
  Value whole = wholeOf(op->getOperand(2));
  llvm::MaybeAlign alignment = alignmentOfWhole(whole, start, own);
  if (alignment) {
    SmallVector<Value> at = places(loc, start, type);
    return storing(loc, op.getBase(), [&] {
      when(loc, whole, [&] {
        vector::StoreOp::create(builder, loc, value, op.getBase(),
                                ValueRange(at.front()),
                                /*nontemporal=*/false, alignment);
      });
    });
  }
  VectorType mask = VectorType::get(type.getShape(), builder.getI1Type());
  storeWhere(loc, op.getBase(), places(loc, op.getIndices().front(), type),
             threads.slots(op->getOperand(2), mask),
             threads.slots(op->getOperand(3), type), type);
}

void LaneMemory::store(vector::ScatterOp op, VectorType type) {
  Location loc = op.getLoc();
  VectorType mask = VectorType::get(type.getShape(), builder.getI1Type());
  storeWhere(
      loc, op.getBase(),
      indexed(threads, loc, op.getOffsets().front(), op->getOperand(2), type),
      threads.slots(op->getOperand(3), mask),
      threads.slots(op->getOperand(4), type), type);
}

void LaneMemory::storeOnce(memref::StoreOp op) {
  Location loc = op.getLoc();
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            threads.thread(), threads.number(loc, 0));
  storing(loc, op.getMemRef(), [&] {
    when(loc, isFirst, [&] {
      memref::StoreOp::create(builder, loc, op.getValueToStore(),
                              op.getMemRef(), op.getIndices());
    });
  });
  op.erase();
}

} // namespace sinter::compiler

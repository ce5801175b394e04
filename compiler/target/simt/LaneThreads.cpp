/// LaneThreads: the layout, and values that go between threads.
#include "compiler/target/simt/LaneThreads.h"

#include "compiler/target/simt/LaneTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

void LaneThreads::begin(Location loc) { current = group.number(builder, loc); }

int64_t LaneThreads::perThread(VectorType type) const {
  return std::max<int64_t>(1, type.getNumElements() / size());
}

Type LaneThreads::own(Type type) const {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return type;
  int64_t count = perThread(vector);
  return count == 1 ? vector.getElementType()
                    : Type(VectorType::get({count}, vector.getElementType()));
}

LaneThreads::Slots LaneThreads::slots(Value value, VectorType type) {
  int64_t count = perThread(type);
  if (count == 1)
    return {value};
  Slots all;
  for (int64_t slot = 0; slot < count; ++slot)
    all.push_back(
        vector::ExtractOp::create(builder, value.getLoc(), value, slot));
  return all;
}

Value LaneThreads::join(ArrayRef<Value> slots, VectorType type) {
  if (slots.size() == 1)
    return slots.front();
  return vector::FromElementsOp::create(builder, slots.front().getLoc(),
                                        cast<VectorType>(own(type)), slots);
}

Value LaneThreads::spread(Value scalar, VectorType type) {
  if (perThread(type) == 1)
    return scalar;
  return vector::BroadcastOp::create(builder, scalar.getLoc(), own(type),
                                     scalar);
}

Value LaneThreads::number(Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(int32_t(value)));
}

Value LaneThreads::toIndex(Location loc, Value value) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      value);
}

LaneThreads::Slots LaneThreads::lanes(Location loc, VectorType type) {
  int64_t lanes = type.getNumElements(), count = perThread(type);
  if (lanes < size())
    return {
        arith::AndIOp::create(builder, loc, current, number(loc, lanes - 1))};
  Value first = current;
  if (count > 1)
    first = arith::MulIOp::create(builder, loc, first, number(loc, count));
  Slots all{first};
  for (int64_t slot = 1; slot < count; ++slot)
    all.push_back(
        arith::AddIOp::create(builder, loc, first, number(loc, slot)));
  return all;
}

Value LaneThreads::hasLane(Location loc, VectorType type) {
  if (type.getNumElements() >= size())
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, current,
                               number(loc, type.getNumElements()));
}

// The numbers of one slot, thread by thread.
static SmallVector<Attribute> slotValues(ArrayRef<Attribute> values,
                                         int64_t threads, int64_t count,
                                         int64_t slot) {
  SmallVector<Attribute> all;
  for (int64_t thread = 0; thread < threads; ++thread)
    all.push_back(values[int64_t(values.size()) < threads
                             ? thread % int64_t(values.size())
                             : thread * count + slot]);
  return all;
}

Value LaneThreads::table(Location loc, VectorType type,
                         ArrayRef<Attribute> values) {
  Type element = type.getElementType();
  Slots slots;
  for (int64_t slot = 0; slot < perThread(type); ++slot) {
    SmallVector<Attribute> own =
        slotValues(values, size(), perThread(type), slot);
    bool isNumber = isa<IntegerType, IndexType>(element) &&
                    !element.isInteger(1) &&
                    llvm::all_of(own, [](Attribute attribute) {
                      return cast<IntegerAttr>(attribute).getValue().isIntN(31);
                    });
    if (isNumber) {
      Value value = tableValue(
          builder, loc, current,
          llvm::map_to_vector(own, [](Attribute attribute) {
            return cast<IntegerAttr>(attribute).getValue().getSExtValue();
          }));
      if (element.isIndex())
        value = toIndex(loc, value);
      else if (element.getIntOrFloatBitWidth() < 32)
        value = arith::TruncIOp::create(builder, loc, element, value);
      else if (element.getIntOrFloatBitWidth() > 32)
        value = arith::ExtUIOp::create(builder, loc, element, value);
      slots.push_back(value);
      continue;
    }
    // One choice for each number that occurs.
    SmallVector<Attribute> distinct;
    for (Attribute attribute : own)
      if (!llvm::is_contained(distinct, attribute))
        distinct.push_back(attribute);
    Value value;
    for (Attribute attribute : distinct) {
      Value one =
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
      Value flag;
      if (value)
        flag = tableFlag(builder, loc, current,
                         llvm::map_to_vector(own, [&](Attribute other) {
                           return other == attribute;
                         }));
      value =
          value ? Value(arith::SelectOp::create(builder, loc, flag, one, value))
                : one;
    }
    slots.push_back(value);
  }
  return join(slots, type);
}

Value LaneThreads::extract(Location loc, ArrayRef<Value> slots, Value lane,
                           VectorType type) {
  Value thread = lane, value = slots.front();
  int64_t count = slots.size();
  if (count > 1) {
    thread = arith::DivUIOp::create(builder, loc, lane, number(loc, count));
    Value slot = arith::RemUIOp::create(builder, loc, lane, number(loc, count));
    for (int64_t at = 1; at < count; ++at) {
      Value isIt = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         slot, number(loc, at));
      value = arith::SelectOp::create(builder, loc, isIt, slots[at], value);
    }
  }
  return from(loc, value, thread);
}

Value LaneThreads::from(Location loc, Value value, Value thread) {
  Type type = value.getType();
  if (type.isIndex()) {
    Value bits =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    return arith::IndexCastOp::create(builder, loc, type,
                                      from(loc, bits, thread));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(width);
  Value bits = value;
  if (isa<FloatType>(type))
    bits = arith::BitcastOp::create(builder, loc, integer, bits);
  if (width < 32)
    bits = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), bits);
  bits = words(loc, bits, thread);
  if (width < 32)
    bits = arith::TruncIOp::create(builder, loc, integer, bits);
  if (isa<FloatType>(type))
    bits = arith::BitcastOp::create(builder, loc, type, bits);
  return bits;
}

// Of 32 or 64 bits.
Value LaneThreads::words(Location loc, Value bits, Value thread) {
  if (bits.getType().isInteger(32))
    return group.from(builder, loc, bits, thread);
  Type i32 = builder.getI32Type(), i64 = bits.getType();
  Value half =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
  Value low = arith::TruncIOp::create(builder, loc, i32, bits);
  Value high = arith::TruncIOp::create(
      builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, half));
  low = group.from(builder, loc, low, thread);
  high = group.from(builder, loc, high, thread);
  low = arith::ExtUIOp::create(builder, loc, i64, low);
  high = arith::ExtUIOp::create(builder, loc, i64, high);
  high = arith::ShLIOp::create(builder, loc, high, half);
  return arith::OrIOp::create(builder, loc, low, high);
}

} // namespace sinter::compiler

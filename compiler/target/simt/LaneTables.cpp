/// LaneTables: straight lines, else bit by bit.
#include "compiler/target/simt/LaneTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class TableEmitter {
public:
  TableEmitter(OpBuilder &builder, Location loc, Value thread)
      : builder(builder), loc(loc), thread(thread) {}

  Value number(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(int32_t(value)));
  }

  // first + thread * step, if that is what the values are.
  Value line(ArrayRef<int64_t> values) {
    int64_t step = values.size() > 1 ? values[1] - values[0] : 0;
    for (auto [at, value] : llvm::enumerate(values))
      if (value != values[0] + int64_t(at) * step)
        return {};
    if (step == 0)
      return number(values[0]);
    Value result = thread;
    if (step != 1)
      result = arith::MulIOp::create(builder, loc, result, number(step));
    if (values[0] != 0)
      result = arith::AddIOp::create(builder, loc, result, number(values[0]));
    return result;
  }

  // 0 or 1: the bit of each thread, all of which a word holds.
  Value bitOf(uint64_t bits, unsigned count) {
    for (unsigned place = 0; (1u << place) < count; ++place) {
      uint64_t pattern = 0;
      for (unsigned at = 0; at < count; ++at)
        pattern |= uint64_t(at >> place & 1) << at;
      if (bits != pattern)
        continue;
      Value shifted =
          arith::ShRUIOp::create(builder, loc, thread, number(place));
      return arith::AndIOp::create(builder, loc, shifted, number(1));
    }
    Type type = count > 32 ? builder.getI64Type() : builder.getI32Type();
    Value word = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(
            type, llvm::APInt(count > 32 ? 64 : 32, bits, false, true)));
    Value place = thread;
    if (count > 32)
      place = arith::ExtUIOp::create(builder, loc, type, thread);
    Value bit = arith::ShRUIOp::create(builder, loc, word, place);
    if (count > 32)
      bit = arith::TruncIOp::create(builder, loc, builder.getI32Type(), bit);
    return arith::AndIOp::create(builder, loc, bit, number(1));
  }

  Value bits(ArrayRef<int64_t> values) {
    uint64_t all =
        values.size() == 64 ? ~uint64_t(0) : (uint64_t(1) << values.size()) - 1;
    int64_t known = 0;
    Value result;
    for (unsigned place = 0; place < 32; ++place) {
      uint64_t column = 0;
      for (auto [at, value] : llvm::enumerate(values))
        column |= (uint64_t(value) >> place & 1) << at;
      if (column == all)
        known |= int64_t(1) << place;
      if (column == 0 || column == all)
        continue;
      Value bit = bitOf(column, values.size());
      if (place)
        bit = arith::ShLIOp::create(builder, loc, bit, number(place));
      result =
          result ? Value(arith::OrIOp::create(builder, loc, result, bit)) : bit;
    }
    if (known)
      result = arith::OrIOp::create(builder, loc, result, number(known));
    return result;
  }

private:
  OpBuilder &builder;
  Location loc;
  Value thread;
};

} // namespace

Value tableValue(OpBuilder &builder, Location loc, Value thread,
                 ArrayRef<int64_t> values) {
  TableEmitter emitter(builder, loc, thread);
  Value line = emitter.line(values);
  return line ? line : emitter.bits(values);
}

Value tableFlag(OpBuilder &builder, Location loc, Value thread,
                ArrayRef<bool> flags) {
  if (llvm::all_of(flags, [](bool flag) { return flag; }))
    return {};
  TableEmitter emitter(builder, loc, thread);
  uint64_t word = 0;
  for (auto [at, flag] : llvm::enumerate(flags))
    word |= uint64_t(flag) << at;
  Value bit = word ? emitter.bitOf(word, flags.size()) : emitter.number(0);
  return arith::TruncIOp::create(builder, loc, builder.getI1Type(), bit);
}

} // namespace sinter::compiler

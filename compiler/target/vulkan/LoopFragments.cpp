/// Fragments by loops: thread t of n has the sums t, t + n, ... of a matrix,
/// row by row.
#include "compiler/target/vulkan/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Of a group, numbers of sixteen bits, and of f32.
constexpr int64_t halves = 8, floats = 4;

class LoopFragments final : public Fragments {
public:
  LoopFragments(OpBuilder &builder, Location loc, Type element, Value lane,
                int64_t threads)
      : builder(builder), loc(loc), numbers(builder, loc), element(element),
        lane(lane), threads(threads) {}

  int64_t count() const override { return size * size / threads; }

  Value zero() const override {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  }

  Operand load(const Place &place, bool) const override { return {place, {}}; }

  void add(MutableValues sums, const Operand &left,
           const Operand &right) const override {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(size), index(1), sums);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value k = numbers.toI32(loop.getInductionVar());
    Values added;
    for (auto [number, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
      auto [row, column] = placeOf(int64_t(number));
      Value x = half(left.place, row, k), y = half(right.place, k, column);
      added.push_back(arith::AddFOp::create(
          builder, loc, sum, arith::MulFOp::create(builder, loc, x, y)));
    }
    scf::YieldOp::create(builder, loc, added);
    llvm::copy(loop.getResults(), sums.begin());
  }

  void store(ValueRange sums, const Place &place) const override {
    for (auto [number, sum] : llvm::enumerate(sums)) {
      auto [row, column] = placeOf(int64_t(number));
      auto [groups, inGroup] = numbers.split(column, floats);
      Value group = groupAt(place, row, groups);
      Value bits =
          arith::BitcastOp::create(builder, loc, builder.getI32Type(), sum);
      memref::StoreOp::create(
          builder, loc, bits, place.lines.memory,
          ValueRange{numbers.toIndex(group), numbers.toIndex(inGroup)});
    }
  }

private:
  // The row and the column of one of the thread's sums.
  std::pair<Value, Value> placeOf(int64_t number) const {
    return numbers.split(numbers.add(lane, int32_t(number * threads)), size);
  }

  Value groupAt(const Place &place, Value line, Value groups) const {
    Value first = numbers.add(place.group,
                              numbers.mul(line, int32_t(place.lines.stride)));
    return numbers.add(first, groups);
  }

  // An element as f32.
  Value half(const Place &place, Value row, Value column) const {
    Value line = place.lines.areColumns ? column : row;
    Value at = place.lines.areColumns ? row : column;
    auto [groups, inGroup] = numbers.split(at, halves);
    auto [words, inWord] = numbers.split(inGroup, 2);
    Value group = groupAt(place, line, groups);
    Value word = memref::LoadOp::create(
        builder, loc, place.lines.memory,
        ValueRange{numbers.toIndex(group), numbers.toIndex(words)});
    constexpr int32_t bits = 16;
    word =
        arith::ShRUIOp::create(builder, loc, word, numbers.mul(inWord, bits));
    word = arith::TruncIOp::create(builder, loc, builder.getI16Type(), word);
    Value narrow = arith::BitcastOp::create(builder, loc, element, word);
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), narrow);
  }

  OpBuilder &builder;
  const Location loc;
  const Numbers numbers;
  const Type element;
  const Value lane;
  const int64_t threads;
};

} // namespace

std::unique_ptr<const Fragments> makeLoopFragments(OpBuilder &builder,
                                                   Location loc, Type element,
                                                   Value lane,
                                                   int64_t threads) {
  return std::make_unique<LoopFragments>(builder, loc, element, lane, threads);
}

} // namespace sinter::compiler

/// UnitTile: a tile of a contraction whose products a matrix unit sums.
#include "compiler/lower/contraction/UnitTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {

// Of the frame's buffer.
static const char scratchKey = 0;

UnitTile::UnitTile(Emission &emission, const TileShape &tile, unsigned vectors)
    : emission(emission), tile(tile), unit(*emission.target.matrixUnit()),
      height(tile.rows / unit.rows), vectors(vectors) {}

void UnitTile::begin(Emission &emission) {
  auto type = MemRefType::get({64}, emission.builder.getI8Type());
  emission.target.matrixUnit()->begin(emission.builder, emission.loc,
                                      emission.frameBuffer(&scratchKey, type));
}

void UnitTile::end(Emission &emission) {
  emission.target.matrixUnit()->end(emission.builder, emission.loc);
}

void UnitTile::multiply(const Operand &left, const Operand &right, Value begin,
                        Value end, const Matrix &sums,
                        Value startsAtZero) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  auto eachSum = [&](llvm::function_ref<void(unsigned, Value)> emit) {
    for (unsigned row = 0; row < height; ++row)
      for (unsigned vector = 0; vector < vectors; ++vector)
        emit(sumOf(row, vector), sums.placeOf(row * unit.rows, vector));
  };
  eachSum([&](unsigned number, Value) { unit.zero(builder, loc, number); });
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value continues = arith::XOrIOp::create(builder, loc, startsAtZero, yes);
  emission.when(continues, [&] {
    eachSum([&](unsigned number, Value place) {
      unit.load(builder, loc, MatrixUnit::Role::sum, number, sums.buffer, place,
                sums.stride);
    });
  });
  unsigned firstLeft = height * vectors, firstRight = firstLeft + height;
  emission.loop(begin, end, unit.words, [&](Value k) {
    for (unsigned vector = 0; vector < vectors; ++vector)
      unit.load(builder, loc, MatrixUnit::Role::operand, firstRight + vector,
                right.buffer, right.placeOf(vector, k), right.stride);
    for (unsigned row = 0; row < height; ++row) {
      unit.load(builder, loc, MatrixUnit::Role::operand, firstLeft + row,
                left.buffer, left.placeOf(row * unit.rows, k), left.stride);
      for (unsigned vector = 0; vector < vectors; ++vector)
        unit.multiply(builder, loc, sumOf(row, vector), firstLeft + row,
                      firstRight + vector, tile.leftPart, tile.rightPart);
    }
  });
  eachSum([&](unsigned number, Value place) {
    unit.store(builder, loc, number, sums.buffer, place, sums.stride);
  });
}

} // namespace sinter::compiler

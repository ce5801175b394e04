/// The contraction skeleton: register tiles of rows x vectors, k ascending in
/// every element, sources before and sinks after.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/ElementSource.h"
#include "compiler/lower/MatrixTile.h"
#include "compiler/lower/Sinks.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class ContractionSkeleton {
public:
  ContractionSkeleton(KernelWriter &writer, ir::MatmulOp op,
                      SmallVector<Sink> given)
      : writer(writer), op(op), context(op.getContext()),
        sinks(std::move(given)), shape(shapeOf(op.getResult())) {
    unsigned rank = shape.size();
    rows = shape[rank - 2];
    columns = shape[rank - 1];
    depth = shapeOf(op.getLhs()).back();
    batches = product(shape, 0, rank - 2, context);
    tile = chooseTile(writer.target, op);
  }

  void run() {
    int64_t width = blockColumns(), height = blockRows(width);
    AffineExpr rowBlocks = rows.ceilDiv(number(height));
    AffineExpr columnBlocks = columns.ceilDiv(number(width));
    double flops = 2.0 * double(height) * double(width) * deep();
    writer.addPhase(
        batches * rowBlocks * columnBlocks, flops / 40000,
        [&](Emission &emission, Value chunk) {
          Value across = emission.extent(columnBlocks);
          Value down = emission.extent(rowBlocks);
          Value column = emission.mod(chunk, across);
          Value rest = emission.floorDiv(chunk, across);
          Value row = emission.mod(rest, down);
          MatrixTile leaf(
              emission, op, tile, sinks, height,
              batchCoordinates(emission, emission.floorDiv(rest, down)));
          emitBlock(emission, leaf, row, height, column, width);
        });
  }

private:
  AffineExpr number(int64_t value) {
    return getAffineConstantExpr(value, context);
  }
  double deep() const {
    int64_t length = constantOf(depth);
    return double(length < 0 ? 256 : length);
  }

  int64_t blockColumns() const {
    int64_t size = constantOf(columns), panel = tile.columns();
    int64_t most = std::max<int64_t>(panel, 256 / panel * panel);
    return size >= 0
               ? std::clamp<int64_t>(llvm::alignTo(size, panel), panel, most)
               : most;
  }
  int64_t blockRows(int64_t width) const {
    int64_t wanted =
        int64_t((1 << 20) / (double(width) * std::max(1.0, deep())));
    int64_t most = tile.packs ? 16 : 64;
    wanted = std::clamp<int64_t>(wanted, 4 * tile.rows, most * tile.rows);
    return wanted / tile.rows * tile.rows;
  }

  SmallVector<Coord> batchCoordinates(Emission &emission, Value batch) {
    if (shape.size() == 2)
      return {};
    Shape leading(shape.begin(), shape.end() - 2);
    Index flat;
    flat.tail = emission.uniform(batch);
    flat.tailRank = leading.size();
    return emission.coordinates(flat, leading);
  }

  // Rows [row * height, ...) and columns [column * width, ...).
  void emitBlock(Emission &emission, MatrixTile &leaf, Value row,
                 int64_t height, Value column, int64_t width) {
    Value firstRow = emission.mul(row, emission.constant(height));
    Value endRow =
        emission.min(emission.add(firstRow, emission.constant(height)),
                     emission.extent(rows));
    Value firstColumn = emission.mul(column, emission.constant(width));
    Value end = emission.extent(columns);
    Value endColumn =
        emission.min(emission.add(firstColumn, emission.constant(width)), end);
    int64_t panel = tile.columns();
    auto emitPanel = [&](Value j, unsigned vectors, Value valid) {
      leaf.beginPanel(j, vectors, valid);
      leaf.rows(firstRow, endRow);
    };
    int64_t size = constantOf(columns);
    if (size < 0) {
      emission.loop(firstColumn, endColumn, panel, [&](Value j) {
        emitPanel(j, tile.vectors, emission.sub(end, j));
      });
      return;
    }
    int64_t whole = size / panel * panel, rest = size - whole;
    if (whole)
      emission.loop(firstColumn,
                    emission.min(endColumn, emission.constant(whole)), panel,
                    [&](Value j) { emitPanel(j, tile.vectors, {}); });
    if (!rest)
      return;
    unsigned vectors = llvm::divideCeil(rest, tile.lanes);
    Value valid;
    if (rest % tile.lanes != 0)
      valid = emission.constant(rest);
    Value last = emission.constant(whole);
    if (width >= size)
      return emitPanel(last, vectors, valid);
    // A loop of one round or none: the block that holds the last columns.
    Value start = emission.max(firstColumn, last);
    emission.loop(start, endColumn, panel,
                  [&](Value j) { emitPanel(j, vectors, valid); });
  }

  KernelWriter &writer;
  ir::MatmulOp op;
  MLIRContext *context;
  SmallVector<Sink> sinks;
  Shape shape;
  AffineExpr rows, columns, depth, batches;
  TileShape tile;
};

} // namespace

void emitContraction(KernelWriter &writer, Value productValue) {
  auto op = cast<ir::MatmulOp>(productValue.getDefiningOp());
  SmallVector<Sink> sinks;
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs())) {
    auto sink =
        makeSink(output, shapeOf(productValue), writer.outputBuffer(number));
    if (!sink)
      return emitRows(writer);
    sinks.push_back(*sink);
  }
  ContractionSkeleton(writer, op, std::move(sinks)).run();
}

} // namespace sinter::compiler

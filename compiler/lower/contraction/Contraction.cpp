/// The contraction skeleton: a phase that copies the right operand where that
/// pays, and one that computes parts of the result, k ascending in every
/// element, sources before and sinks after.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/contraction/ColumnStatistics.h"
#include "compiler/lower/contraction/MatrixTile.h"
#include "compiler/lower/contraction/PartialSums.h"
#include "compiler/lower/contraction/RowStatistics.h"
#include "compiler/lower/contraction/TileMenu.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/Sinks.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Rows of the right operand that a chunk of its copy takes in, unless that is a
// panel.
constexpr int64_t copiedRows = 16;

// The one that the schedule names, or else the first. Of some sizes alone a
// tuner has no other.
TileShape tileOf(KernelWriter &writer, ir::ContractionOpInterface op) {
  std::vector<NamedTile> tiles = tilesFor(writer.target, op, writer.numerics);
  auto names = llvm::map_to_vector(
      tiles, [](const NamedTile &tile) { return tile.name; });
  if (tiles.size() > 1 && writer.hasAllSizes())
    for (const std::string &name : names)
      writer.offerTile(name);
  return tiles[writer.chooseTile({}, names)].shape;
}

class ContractionSkeleton {
public:
  ContractionSkeleton(KernelWriter &writer, ir::ContractionOpInterface op,
                      SmallVector<Sink> given)
      : writer(writer), op(op), context(op.getContext()),
        sinks(std::move(given)), shape(shapeOf(op.getResult())),
        tile(tileOf(writer, op)) {
    unsigned rank = shape.size();
    rows = shape[rank - 2];
    columns = shape[rank - 1];
    depth = depthOf(op, tile);
    batches = product(shape, 0, rank - 2, context);
    if (tile.keepsSums)
      emitRowsOfPart = rowsOfPart(writer, hasEvenParts() ? 2 : 1);
    if (tile.split)
      splits = tile.split->count;
    if (hasColumnStatistics(writer.kernel))
      statistics.emplace(writer, sinks);
  }

  void run() {
    addWorkspaces();
    addPhases();
  }

  void addWorkspaces() {
    if (tile.split) {
      writer.noteSplit(constantOf(tile.split->length));
      partials = writer.addWorkspace(splits * batches * rows * columns,
                                     op.getSumType());
    }
    if (tile.rightCopy == TileShape::RightCopy::whole)
      wholeRight = writer.addWorkspace(copiedRightElements(op, tile),
                                       copiedType(op, tile));
    // Of some sizes alone nothing is kept.
    keepsRight = writer.hasAllSizes();
  }

  void addPhases() {
    if (tile.rightCopy == TileShape::RightCopy::whole)
      addCopyPhase();
    AffineExpr down = rowParts();
    AffineExpr across = columns.ceilDiv(tile.columnBlock);
    double flops = 2.0 * double(tile.rowBlock) * double(tile.columnBlock) *
                   estimate(tile.split ? tile.split->length : depth);
    double perMicrosecond = tile.inUnit ? 400000 : 40000;
    writer.addPhase(batches * splits * down * across, flops / perMicrosecond,
                    [&](Emission &emission, Value chunk) {
                      emitPart(emission, chunk, down, across);
                    });
    if (tile.split)
      addPartialSums(writer, op, *tile.split, partials, sinks);
    if (statistics)
      addStatistics(down, across);
  }

private:
  double estimate(AffineExpr extent) const {
    int64_t size = constantOf(extent);
    return double(size < 0 ? 256 : size);
  }

  // Lines of windows are cut within each image.
  AffineExpr rowParts() const {
    if (!tile.image)
      return rows.ceilDiv(tile.rowBlock);
    int64_t lines = tile.image->lines;
    return rows.floorDiv(lines * tile.image->positions) *
           int64_t(llvm::divideCeil(lines, tile.imageLines));
  }

  // The rows of part number `number`.
  std::pair<Value, Value> rowsOf(Emission &emission, Value number) {
    if (!tile.image)
      return range(emission, number, tile.rowBlock, emission.extent(rows));
    int64_t lines = tile.image->lines;
    Value parts = emission.constant(llvm::divideCeil(lines, tile.imageLines));
    auto [first, end] = range(emission, emission.mod(number, parts),
                              tile.imageLines, emission.constant(lines));
    Value before = emission.mul(emission.floorDiv(number, parts),
                                emission.constant(lines));
    Value positions = emission.constant(tile.image->positions);
    return {emission.mul(emission.add(before, first), positions),
            emission.mul(emission.add(before, end), positions)};
  }

  static std::pair<Value, Value> range(Emission &emission, Value number,
                                       int64_t size, Value extent) {
    Value first = emission.mul(number, emission.constant(size));
    Value end = emission.add(first, emission.constant(size));
    return {first, emission.min(end, extent)};
  }

  void addCopyPhase() {
    AffineExpr blocks = tile.copiesByPanel
                            ? columns.ceilDiv(tile.columns()) * depthsOfPanel()
                            : depth.ceilDiv(copiedRows);
    double elements = tile.copiesByPanel
                          ? double(tile.columns()) * estimate(depth)
                          : double(copiedRows) * estimate(columns);
    writer.addPhase(
        batches * blocks, elements / 2000,
        [&](Emission &emission, Value chunk) {
          emitCopy(emission, chunk, blocks);
        },
        preparationOfRight());
  }

  // Chunks that copy a panel.
  AffineExpr depthsOfPanel() const {
    if (tile.copiedDepth == 0)
      return getAffineConstantExpr(1, context);
    return depth.ceilDiv(tile.copiedDepth);
  }

  // The copy may be kept when one input alone decides it: a packed parameter.
  std::optional<Preparation> preparationOfRight() {
    if (auto input = onlyInput(op.getRhs()); input && keepsRight)
      return Preparation{*input, wholeRight};
    return std::nullopt;
  }

  void emitCopy(Emission &emission, Value chunk, AffineExpr blocks) {
    Value batch = emission.floorDiv(chunk, emission.extent(blocks));
    Value block = emission.mod(chunk, emission.extent(blocks));
    MatrixAccess access(emission, op, tile,
                        batchCoordinates(emission, shape, batch));
    MatrixCopier copier(access, tile);
    Value to = emission.entry.buffers[wholeRight];
    Value width = emission.constant(tile.columns());
    Value end = emission.extent(columns), last = emission.extent(depth);
    auto copyPanel = [&](Value column, Value valid, const DepthRange &range) {
      Value start = copier.placeOfPanel(batch, column);
      copier.copyRight(column, valid, range, to,
                       emission.add(start, emission.mul(range.begin, width)));
    };
    bool isWhole =
        constantOf(columns) >= 0 && constantOf(columns) % tile.columns() == 0;
    if (tile.copiesByPanel) {
      Value parts = emission.extent(depthsOfPanel());
      Value column = emission.mul(emission.floorDiv(block, parts), width);
      Value valid = isWhole ? Value() : emission.sub(end, column);
      Value begin = emission.constant(0), stop = last;
      if (tile.copiedDepth > 0)
        std::tie(begin, stop) =
            range(emission, emission.mod(block, parts), tile.copiedDepth, last);
      return copyPanel(column, valid, {begin, stop});
    }
    auto [begin, stop] = range(emission, block, copiedRows, last);
    DepthRange some{begin, stop};
    Value whole =
        isWhole ? end : emission.mul(emission.floorDiv(end, width), width);
    emission.loop(emission.constant(0), whole, tile.columns(),
                  [&](Value column) { copyPanel(column, {}, some); });
    if (!isWhole)
      emission.loop(whole, end, tile.columns(), [&](Value column) {
        copyPanel(column, emission.sub(end, column), some);
      });
  }

  // A chunk: a part of the result, the number of its batch, and of its part of
  // k where there is more than one.
  struct Chunk {
    MatrixTile::Part part;
    Value batch, split;
  };

  Chunk chunkOf(Emission &emission, Value number, AffineExpr down,
                AffineExpr across) {
    // Parts that follow each other share columns: what the tiles stream, the
    // right operand, stays the longer in a cache.
    Value rowParts = emission.extent(down);
    Value columnParts = emission.extent(across);
    Value row = emission.mod(number, rowParts);
    Value rest = emission.floorDiv(number, rowParts);
    Value column = emission.mod(rest, columnParts);
    Chunk chunk;
    chunk.batch = emission.floorDiv(rest, columnParts);
    if (tile.split) {
      chunk.split = emission.mod(chunk.batch, emission.extent(splits));
      chunk.batch = emission.floorDiv(chunk.batch, emission.extent(splits));
    }
    MatrixTile::Part &part = chunk.part;
    std::tie(part.firstRow, part.endRow) = rowsOf(emission, row);
    std::tie(part.firstColumn, part.endColumn) =
        range(emission, column, tile.columnBlock, emission.extent(columns));
    return chunk;
  }

  void emitPart(Emission &emission, Value number, AffineExpr down,
                AffineExpr across) {
    auto [part, batch, split] = chunkOf(emission, number, down, across);
    Value copied;
    if (tile.rightCopy == TileShape::RightCopy::whole)
      copied = emission.entry.buffers[wholeRight];
    MatrixTile product(emission, op, tile, sinks,
                       batchCoordinates(emission, shape, batch), copied, batch);
    if (split)
      return computeSplit(emission, product, part, batch, split);
    product.compute(part);
    if (tile.keepsSums)
      finishRows(emission, product, part, batch);
    if (statistics)
      statistics->takeInside(emission, partOfColumns(emission, part, batch));
  }

  // ---- column statistics
  // -----------------------------------------------------

  ColumnStatistics::Part
  partOfColumns(Emission &emission, const MatrixTile::Part &part, Value batch) {
    Value before = emission.mul(batch, emission.extent(rows));
    return {emission.add(before, part.firstRow),
            emission.add(before, part.endRow), part.firstColumn, part.endColumn,
            tile.columnBlock};
  }

  // Whether every part ends where a block of the canonical order does.
  bool endsBlocks() const {
    auto isWhole = [](int64_t count) {
      return count >= 0 && count % canonicalBlock == 0;
    };
    if (tile.image) {
      int64_t positions = tile.image->positions;
      return isWhole(tile.imageLines * positions) &&
             isWhole(tile.image->lines * positions);
    }
    int64_t count = constantOf(rows);
    bool isOnePart = count >= 0 && count <= tile.rowBlock;
    return (isOnePart || isWhole(tile.rowBlock)) &&
           (constantOf(batches) == 1 || isWhole(count));
  }

  void addStatistics(AffineExpr down, AffineExpr across) {
    if (!endsBlocks()) {
      double elements = double(canonicalBlock) * double(tile.columnBlock);
      writer.addPhase(batches * down * across, elements / 4000,
                      [&](Emission &emission, Value number) {
                        auto [part, batch, split] =
                            chunkOf(emission, number, down, across);
                        statistics->takeBorder(
                            emission, partOfColumns(emission, part, batch));
                      });
    }
    statistics->addMergePhase();
  }

  void computeSplit(Emission &emission, MatrixTile &product,
                    MatrixTile::Part part, Value batch, Value split) {
    Value length = emission.extent(tile.split->length);
    Value first = emission.mul(split, length);
    Value end =
        emission.min(emission.add(first, length), emission.extent(depth));
    part.depth = {first, end};
    Value number =
        emission.add(emission.mul(split, emission.extent(batches)), batch);
    Value start = emission.mul(number, emission.extent(rows * columns));
    product.computePartial(part, {emission.entry.buffers[partials], start});
  }

  bool hasEvenParts() const {
    int64_t count = constantOf(rows);
    return count > 0 && count % 2 == 0 && tile.rowBlock % 2 == 0;
  }

  // The sums of the part stand in the frame: what is made of its rows reads
  // them there.
  void finishRows(Emission &emission, const MatrixTile &product,
                  const MatrixTile::Part &part, Value batch) {
    Value result = op.getResult();
    emission.setSource(result, makeKeptProduct(result, product.keptSums()));
    emission.keepReadsInside();
    Value before = emission.mul(batch, emission.extent(rows));
    emitRowsOfPart(emission, emission.add(before, part.firstRow),
                   emission.add(before, part.endRow));
  }

  KernelWriter &writer;
  ir::ContractionOpInterface op;
  MLIRContext *context;
  SmallVector<Sink> sinks;
  Shape shape;
  TileShape tile;
  AffineExpr rows, columns, depth, batches;
  AffineExpr splits = getAffineConstantExpr(1, context);
  unsigned wholeRight = 0; ///< the number of the workspace
  unsigned partials = 0;   ///< of that for sums of parts of k
  bool keepsRight = true;  ///< from one run to the next
  RowsOfPart emitRowsOfPart;
  std::optional<ColumnStatistics> statistics;
};

} // namespace

void emitContraction(KernelWriter &writer, Value productValue) {
  auto op = cast<ir::ContractionOpInterface>(productValue.getDefiningOp());
  SmallVector<Sink> sinks;
  if (hasRowStatistics(writer.kernel))
    return ContractionSkeleton(writer, op, {}).run();
  if (hasColumnStatistics(writer.kernel))
    return ContractionSkeleton(writer, op, sinksOfProduct(productValue, writer))
        .run();
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs())) {
    auto sink =
        makeSink(output, shapeOf(productValue), writer.outputBuffer(number));
    if (!sink)
      return emitBestRows(writer);
    sinks.push_back(*sink);
  }
  auto others = [&] {
    auto skeleton = std::make_shared<ContractionSkeleton>(writer, op, sinks);
    skeleton->addWorkspaces();
    return std::function<void()>([skeleton] { skeleton->addPhases(); });
  };
  if (!emitInBlocks(writer, productValue, sinks, others))
    ContractionSkeleton(writer, op, sinks).run();
}

} // namespace sinter::compiler

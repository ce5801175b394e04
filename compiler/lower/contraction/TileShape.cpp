/// The cut of a contraction: a function of shapes, types, target.
#include "compiler/lower/contraction/TileShape.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/contraction/ColumnStatistics.h"
#include "compiler/lower/contraction/RowStatistics.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/EmitKernel.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {
namespace {

// Of k at once, where panels are copied.
constexpr int64_t mostPanelDepth = 256;
// Of a right operand that each part copies for itself.
constexpr double mostBytesByPart = 8 << 10;
// Rows of a chunk at most; up to here a panel of the right operand is copied
// once by whoever uses it.
constexpr int64_t mostPanelRows = 96;
constexpr int64_t mostWidePanelRows = 288; ///< with the larger cache
// Of memory for a copy of all of the right operand.
constexpr double mostCopiedBytes = 64 << 20;
// Of a chunk of windows over an image, about: its operations, and rows at most.
// Fewer rows than these have no such chunks, nor have lines of fewer positions.
constexpr int64_t imageOperations = 32 << 20;
// Of a chunk that is made shorter for more threads: some microseconds.
constexpr int64_t leastOperations = 400 << 10;
constexpr int64_t imageRows = 448;
constexpr int64_t fewRows = 16;
constexpr int64_t fewPositions = 4;
// Beyond this size one row reads the right operand as fast where it lies.
constexpr double mostKeptForRow = 8 << 20;

class TileChooser {
public:
  TileChooser(const Target &target, ir::ContractionOpInterface op,
              NumericsMode numerics)
      : target(target), op(op), numerics(numerics), leftOperand(op.getLhs()) {
    Shape shape = shapeOf(op.getResult());
    rank = shape.size();
    rows = constantOf(shape[rank - 2]);
    columns = constantOf(shape[rank - 1]);
    using enum ir::ContractionLoop;
    leftRows = op.getLhsAxis(m);
    leftDepth = op.getLhsAxis(k);
    rightDepth = op.getRhsAxis(k);
    rightColumns = op.getRhsAxis(n);
    sums = op.getSumType();
    bytes = std::max(1u, sums.getIntOrFloatBitWidth() / 8);
    depth = constantOf(ir::depthOf(op));
    chooseWords();
    depth = constantOf(depthOf(op, tile));
  }

  TileShape run() {
    Value right = op.getRhs();
    auto kernel = op->getParentOfType<program::KernelOp>();
    tile.keepsSums = kernel && hasRowStatistics(kernel);
    takesColumns = kernel && hasColumnStatistics(kernel);
    tile.rightAlongDepth =
        !runsAlong(right, rightColumns) && runsAlong(right, rightDepth);
    if (target.traits().manyTasks)
      return chooseForThreads();
    // Few rows read each element once. More columns than a vector's would be
    // more streams of memory than a core follows.
    chooseKept();
    tile.turnsRight = tile.rightAlongDepth && rows > 0 && rows <= 8 &&
                      !keepsRight && !tile.inUnit;
    chooseVectors();
    chooseImage();
    if (!tile.image && !tile.keepsSums && !takesColumns)
      tile.split = splitDepth(op, depthOf(op, tile), numerics, PartOf::core);
    chooseRows();
    chooseCopies();
    chooseBlocks();
    if (takesColumns && !tile.image)
      tile.rowBlock = holdingBlocks(tile.rowBlock, tile.rows, 1);
    choosePanelsInside();
    return tile;
  }

private:
  // A tile a chunk, operands read where they lie: the threads of other chunks
  // bring them to the caches.
  TileShape chooseForThreads() {
    constexpr int64_t mostRows = 8;
    int64_t mostSumBytes = std::min<int64_t>(32 << 10, target.frameBytes() / 2);
    chooseLanes();
    tile.turnsRight = false;
    if (tile.inUnit)
      return chooseUnitForThreads();
    tile.vectors = columns > int64_t(tile.lanes) ? 2 : 1;
    tile.rows = rows < 0 ? mostRows : std::clamp<int64_t>(rows, 1, mostRows);
    tile.rowBlock = tile.rows;
    tile.columnBlock = tile.columns();
    if (tile.keepsSums) {
      tile.columnBlock = llvm::alignTo(columns, tile.columns());
      int64_t most = mostSumBytes / (tile.sumsStride() * bytes);
      tile.rows = tile.rowBlock =
          std::clamp<int64_t>(most, 1, int64_t(tile.rows));
    }
    tile.depthBlock = std::max<int64_t>(1, depth);
    if (!tile.keepsSums && !takesColumns)
      tile.split = splitDepth(op, depthOf(op, tile), numerics, PartOf::threads);
    shrinkForThreads();
    turnForThreads();
    return tile;
  }

  // Each thread would read a line of its own, again for each tile's rows.
  void turnForThreads() {
    constexpr int64_t fewRowsOfThreads = 16;
    if (!tile.rightAlongDepth || (rows >= 0 && rows <= fewRowsOfThreads) ||
        depth < int64_t(tile.lanes) || copiedBytes() > mostCopiedBytes)
      return;
    tile.rightCopy = TileShape::RightCopy::whole;
    tile.copiesByPanel = true;
    tile.copiedDepth = tile.lanes;
  }

  // Smaller tiles, where they are too few to keep all threads busy.
  void shrinkForThreads() {
    constexpr int64_t enoughTiles = 2048, fewestRows = 2;
    Shape shape = shapeOf(op.getResult());
    int64_t batches = constantOf(product(shape, 0, rank - 2, op.getContext()));
    int64_t parts = tile.split ? constantOf(tile.split->count) : 1;
    if (rows < 0 || columns < 0 || batches < 0 || parts < 0)
      return;
    auto isShort = [&] {
      return batches * parts * llvm::divideCeil(rows, tile.rows) *
                 llvm::divideCeil(columns, tile.columnBlock) <
             enoughTiles;
    };
    while (isShort() && int64_t(tile.rows) > fewestRows && !takesColumns)
      tile.rows = unsigned(llvm::divideCeil(tile.rows, 2));
    tile.rowBlock = tile.rows;
    if (tile.keepsSums || !isShort())
      return;
    tile.vectors = 1;
    tile.columnBlock = tile.columns();
  }

  // The largest tile that rows come out even in; the right operand is packed by
  // a phase before.
  TileShape chooseUnitForThreads() {
    const MatrixUnit &unit = *target.matrixUnit();
    tile.lanes = std::max(tile.lanes, unit.words);
    tile.rows = 4 * unit.rows;
    while (rows % tile.rows != 0)
      tile.rows -= unit.rows;
    tile.rowBlock = tile.rows;
    tile.columnBlock = tile.columns();
    tile.depthBlock = std::max<int64_t>(1, depth);
    tile.rightCopy = TileShape::RightCopy::whole;
    tile.rightAlongDepth = false;
    tile.rightInSquares = true;
    tile.copiesByPanel = true;
    tile.copiedDepth = unit.words;
    return tile;
  }

  // Whether the left operand is an input that the unit can read where it is.
  bool standsForUnit() {
    const MatrixUnit *unit = target.matrixUnit();
    auto kernel = op->getParentOfType<program::KernelOp>();
    if (!unit || !unit->readsColumns || !kernel || hasRowStatistics(kernel) ||
        !ir::matrixProductOf(op))
      return false;
    Type element = elementOf(op.getResult());
    bool isInput =
        isa<BlockArgument>(op.getLhs()) && elementOf(op.getLhs()) == element;
    Shape left = shapeOf(op.getLhs()), result = shapeOf(op.getResult());
    bool hasBatches =
        llvm::equal(ArrayRef(left).drop_back(2), ArrayRef(result).drop_back(2));
    int64_t step = int64_t(unit->words) * 32 / element.getIntOrFloatBitWidth();
    return element.isBF16() && isInput && hasBatches && rows > 0 &&
           rows % unit->rows == 0 && depth > 0 && depth % step == 0;
  }

  // Integers give the same sums either way; floats do not, so that nothing but
  // types may choose for them: `exact` takes each product by itself.
  void chooseWords() {
    if (!target.traits().sumWords && !standsForUnit())
      return;
    Type element = elementOf(op.getResult());
    if (element.isBF16() && numerics != NumericsMode::exact)
      tile.leftPart = tile.rightPart = element;
    else if (op.getSumType().isInteger(32))
      choosePartsOfIntegers();
    if (!tile.leftPart)
      return;
    const MatrixUnit *unit = target.matrixUnit();
    bool isFloat = element.isBF16();
    tile.inUnit = unit && unit->multiplies(tile.leftPart, tile.rightPart) &&
                  (isFloat || fillsUnit());
    if (!tile.inUnit && isFloat && !target.multipliesWords(element, element))
      return;
    if (!tile.inUnit && !isFloat)
      chooseSigns();
    tile.perWord = 32 / tile.leftPart.getIntOrFloatBitWidth();
    tile.depthStep = tile.inUnit ? unit->words : 1;
  }

  // Bytes of the signs that the target multiplies, else halves.
  void chooseSigns() {
    if (target.multipliesWords(tile.leftPart, tile.rightPart))
      return;
    if (tile.leftPart.isInteger(8) && tile.rightPart.isInteger(8)) {
      Type shifted = otherSign(tile.leftPart);
      tile.shiftsLeft = target.multipliesWords(shifted, tile.rightPart);
      if (tile.shiftsLeft) {
        tile.leftPart = shifted;
        tile.leftZero ^= 0x80;
        return;
      }
    }
    tile.leftPart = tile.rightPart = IntegerType::get(op.getContext(), 16);
  }

  // What is copied is read more than once.
  void choosePartsOfIntegers() {
    IntegerType right = narrowPart(op.getRhs());
    if (!right || (rows >= 0 && rows <= 8))
      return;
    IntegerType left = narrowPart(leftOperand);
    if (auto less = lessNumber(leftOperand))
      left = partOfDifference(*less, right);
    if (!left)
      return;
    tile.leftPart = left;
    tile.rightPart = right;
  }

  // Bytes, where the target multiplies them, else halves.
  IntegerType partOfDifference(const LessNumber &less, IntegerType right) {
    IntegerType part = narrowPart(less.codes);
    bool isUnsigned = part && part.isUnsigned();
    int64_t number = less.number;
    bool isByte =
        isUnsigned ? number == uint8_t(number) : number == int8_t(number);
    if (!part || part.getWidth() != 8 || !isByte)
      return {};
    if (target.matrixUnit() ||
        (!target.multipliesWords(part, right) &&
         !target.multipliesWords(otherSign(part), right)))
      return IntegerType::get(op.getContext(), 16, IntegerType::Signed);
    tile.takesZero = true;
    tile.leftZero = uint8_t(number);
    leftOperand = less.codes;
    return part;
  }

  static IntegerType otherSign(Type part) {
    return IntegerType::get(part.getContext(), 8,
                            part.isUnsignedInteger() ? IntegerType::Signed
                                                     : IntegerType::Unsigned);
  }

  bool fillsUnit() const {
    auto isLong = [](int64_t size, int64_t least) {
      return size < 0 || size >= least;
    };
    return isLong(rows, 12) && isLong(columns, 12) && isLong(depth, 32);
  }

  // What stays the same from run to run is copied once, however few the rows
  // are: then it is read in one stream.
  void chooseKept() {
    double size = copiedBytes();
    bool isLarge = rows > 1 || tile.rightAlongDepth || size <= mostKeptForRow;
    keepsRight = staysTheSame() && isLarge && size <= mostCopiedBytes;
  }

  bool staysTheSame() {
    auto kernel = op->getParentOfType<program::KernelOp>();
    auto input = onlyInput(op.getRhs());
    auto schedule = kernel ? kernel.getScheduleAttr() : program::ScheduleAttr();
    if (!input || !schedule)
      return false;
    DenseI64ArrayAttr kept = schedule.getKeptInputs();
    return kept && llvm::is_contained(kept.asArrayRef(), int64_t(*input)) &&
           copiesRightIfKept(
               op.getResult().getType(),
               cast<RankedTensorType>(kernel.getInputs()[*input].getType()));
  }

  void chooseLanes() {
    tile.lanes = target.lanes();
    if (bytes == 8)
      tile.lanes = std::max(2u, tile.lanes / 2);
    while (columns >= 0 && tile.lanes > 4 && columns <= tile.lanes / 2)
      tile.lanes /= 2;
  }

  void chooseVectors() {
    if (tile.inUnit) {
      tile.lanes = target.matrixUnit()->words;
      tile.vectors = columns >= 0 && columns <= int64_t(tile.lanes) ? 1 : 2;
      return;
    }
    chooseLanes();
    unsigned registers = target.vectorRegisters();
    unsigned most = 2;
    if (rows == 1 && keepsRight)
      most = registers / 2;
    else if (rows > 0 && rows <= 2)
      most = registers / 4;
    else if (rows > 0 && rows <= 4)
      most = registers / 8;
    // Two sums go on side by side, unless columns lie so far apart that the
    // first cache cannot hold a line of each.
    bool collide = depth < 0 || depth * bytes % 2048 == 0;
    if (tile.turnsRight)
      most = rows == 1 && !collide ? 2 : 1;
    tile.vectors = most;
    if (columns < 0)
      return;
    int64_t count = std::max<int64_t>(1, llvm::divideCeil(columns, tile.lanes));
    if (count % 2 == 1 && count % 3 == 0 && registers >= 32 && most == 2)
      most = 3;
    tile.vectors = std::min<int64_t>(count, most);
  }

  // Windows that share what lies under them: a copy of every row would be many
  // copies of the image.
  void chooseImage() {
    if (tile.perWord > 1 || (rows >= 0 && rows <= fewRows) || tile.keepsSums)
      return;
    if (!ir::matrixProductOf(op))
      return;
    auto windows = findImageWindows(op.getLhs());
    if (!windows || windows->positions < fewPositions)
      return;
    int64_t bound = level2Bytes() / 4 / bytes;
    auto elements = [&](int64_t lines) {
      return windows->imageLines(lines) * windows->width;
    };
    if (elements(1) > bound)
      return;
    int64_t perRow = 2 * std::max<int64_t>(1, depth) *
                     (columns < 0 ? 512 : std::clamp<int64_t>(columns, 1, 512));
    int64_t most = std::min(imageRows, imageOperations / perRow);
    int64_t lines =
        std::clamp<int64_t>(most / windows->positions, 1, windows->lines);
    while (elements(lines) > bound)
      --lines;
    tile.image = windows;
    int64_t least = llvm::divideCeil(leastOperations / perRow,
                                     std::max<int64_t>(windows->positions, 1));
    tile.imageLines = shareOf(windows->lines, lines, 1, least);
    if (takesColumns)
      tile.imageLines =
          std::min(holdingBlocks(tile.imageLines, 1, windows->positions),
                   windows->lines);
  }

  // A chunk of about as many rows, a multiple of `unit`, that ends where a
  // block of the canonical order does, so that no block lies in two; `unit` and
  // the result count groups of `rows` rows. Where blocks do not fit, as before.
  static int64_t holdingBlocks(int64_t size, int64_t unit, int64_t rows) {
    int64_t step = canonicalBlock / std::gcd(canonicalBlock, unit * rows);
    int64_t whole = llvm::alignTo(size, unit * step);
    return whole <= 2 * size ? whole : size;
  }

  // An accumulator per row and vector, a vector of the right operand per column
  // of the tile, and one broadcast element of the left operand must fit.
  void chooseRows() {
    if (tile.inUnit) {
      tile.rows = target.matrixUnit()->rows;
      tile.rows *= rows >= 0 && rows <= int64_t(tile.rows) ? 1 : 2;
      return;
    }
    // Tiles lie in lines.
    int64_t rows = tile.image ? tile.image->positions : this->rows;
    unsigned registers = target.vectorRegisters();
    int64_t most = std::clamp<int64_t>(
        (registers - 1 - tile.vectors) / tile.vectors, 1, 14);
    if (rows < 0) {
      tile.rows = std::min<int64_t>(most, 8);
      return;
    }
    if (rows <= most) {
      tile.rows = std::max<int64_t>(rows, 1);
      return;
    }
    // The fewest rows that are computed in vain, then the largest tile; a
    // small one loads the left operand too often.
    double best = 0;
    for (int64_t count = most; count > most / 2; --count) {
      double done = double(llvm::alignTo(rows, count));
      double cost = tile.image ? costOfLine(rows, count)
                               : done * (1 + 0.6 / double(count));
      if (best == 0 || cost < best) {
        best = cost;
        tile.rows = count;
      }
    }
  }

  // In tiles of `count` rows and a last one of the rest, whose sums may be too
  // few to keep the multipliers busy.
  double costOfLine(int64_t rows, int64_t count) const {
    constexpr int64_t sumsAtOnce = 8;
    int64_t rest = rows % count;
    int64_t whole = rows / count;
    double cost = double(whole) * (double(count) + 0.6);
    if (rest > 0)
      cost += 0.6 + double(std::max<int64_t>(rest, sumsAtOnce / tile.vectors));
    return cost;
  }

  void chooseCopies() {
    Value right = op.getRhs();
    bool isReused = rows < 0 || rows > int64_t(tile.rows);
    bool inRows = runsAlong(right, rightColumns);
    tile.copiesByPanel = !inRows;
    bool isLarge = columns > 0 && depth > 0 && columns * depth >= 1 << 17;
    if (!inRows || (isReused && (isComputed(right) || isWidened(right))) ||
        (isLarge && rows > 32) || tile.perWord > 1)
      tile.rightCopy = TileShape::RightCopy::panel;
    // Each part would copy its panels again. All of the operand at once takes
    // as much memory as it does: up to a bound, beyond which parts are larger.
    // Of an image all is copied for few rows too: its weights stay; and where
    // each part has all columns. But what is copied in less time than threads
    // take to meet is no phase of its own.
    bool isSmall = !tile.keepsSums && depth > 0 && depth <= mostPanelDepth &&
                   copiedBytes() <= mostBytesByPart;
    if (!isSmall && (rows > panelRows() || tile.image || tile.keepsSums) &&
        tile.rightCopy == TileShape::RightCopy::panel &&
        copiedBytes() <= mostCopiedBytes)
      tile.rightCopy = TileShape::RightCopy::whole;
    if (keepsRight)
      tile.rightCopy = TileShape::RightCopy::whole;

    if (tile.turnsRight)
      tile.rightCopy = TileShape::RightCopy::none;
    if (tile.image)
      return;
    bool hasPanels = columns < 0 || columns > 2 * tile.columns();
    bool alongDepth = runsAlong(leftOperand, leftDepth);
    tile.leftAlongRows =
        !alongDepth && runsAlong(leftOperand, leftRows) && !tile.inUnit;
    bool isLong = (rows < 0 || rows >= 64) && (columns < 0 || columns >= 64) &&
                  (depth < 0 || depth > 256);
    // Where k is of several axes, each row of a tile would divide it.
    int64_t run = innerRun(leftOperand, leftDepth);
    bool isSplit = run > 0 && (depth < 0 || run < depth);
    tile.copiesLeft = tile.perWord > 1 || isComputed(leftOperand) ||
                      isWidened(leftOperand) ||
                      (hasPanels && (!alongDepth || isLong || isSplit));
  }

  /// Of a copy of all of the right operand; huge where unknown.
  double copiedBytes() {
    Shape shape = shapeOf(op.getRhs());
    int64_t count =
        constantOf(product(shape, 0, shape.size(), op.getContext()));
    return count < 0 ? 1e18 : double(count) * double(bytes);
  }

  // Whether elements are widened to the accumulator's type.
  bool isWidened(Value operand) const {
    return sums != valueType(elementOf(operand));
  }

  void chooseBlocks() {
    // A few rows are bound by reading the right operand where it lies: some of
    // its rows at a time, as far as possible.
    bool streams = rows > 0 && rows <= 16 && !tile.turnsRight &&
                   tile.rightCopy == TileShape::RightCopy::none;
    int64_t most = streams ? 8 : mostPanelDepth;
    // Two panels of the unit stay in the first cache.
    if (tile.inUnit)
      most = 128;
    // A panel that few tiles read need not stay near.
    if (keepsRight && rows <= 16)
      most = 1024;
    if (tile.turnsRight && !tile.copiesLeft)
      most = 1 << 20;
    if (tile.image && tile.rightCopy != TileShape::RightCopy::panel)
      most = level2Bytes() / 2 / (tile.columns() * bytes);
    // The unit's sums pass through memory in any case.
    tile.blocksDepth = depth < 0 || depth > most || tile.inUnit;
    tile.depthBlock = most;
    if (depth >= 0 && depth <= most)
      tile.depthBlock =
          std::max<int64_t>(llvm::alignTo(depth, tile.lanes), tile.lanes);

    if (tile.image)
      return chooseImageBlocks(most);
    chooseRun();
    if (depth > most && !streams && !tile.leftRun)
      tile.depthBlock = blockOf(depth, most, std::max<int64_t>(tile.lanes, 8));
    int64_t cache = level2Bytes();
    bool isPanel = tile.rightCopy == TileShape::RightCopy::panel;
    int64_t mostRows = cache / (isPanel ? 2 : 4) / (tile.depthBlock * bytes);
    int64_t height = std::min(mostRows, isPanel ? panelRows() : mostPanelRows);
    if (tile.inUnit)
      height = std::min<int64_t>(height, 64);
    if (tile.keepsSums)
      return chooseWholeRows(height);
    if (isPanel && rows > height)
      height *= 2;
    tile.rowBlock = isPanel ? blockOf(rows, height, tile.rows)
                            : shareOf(rows, height, tile.rows);
    int64_t width = tile.copiesLeft ? 2048 / bytes : rowsPayPanel() ? 256 : 128;
    // Parts enough for several threads.
    if (isPanel && columns > 0 && rows > mostPanelRows && rows <= panelRows())
      width = std::clamp<int64_t>(columns / 4, 128, width);
    if (streams)
      width = rows <= 2 ? 2048 : 1024;
    tile.columnBlock = shareOfColumns(width, streams);
  }

  // Equal blocks of at most about `most` columns, enough for several threads.
  // What a block costs for itself counts as so many columns: to copy its left
  // operand, or to read short runs of what no copy holds side by side.
  int64_t shareOfColumns(int64_t most, bool streams) {
    int64_t unit = tile.columns(), best = blockOf(columns, most, unit);
    if (columns <= 0 || rows < 0 || depth < 0)
      return best;
    Shape shape = shapeOf(op.getResult());
    int64_t batches = constantOf(product(shape, 0, rank - 2, op.getContext()));
    int64_t others =
        std::max<int64_t>(batches, 1) *
        llvm::divideCeil(std::max<int64_t>(rows, 1), tile.rowBlock);
    int64_t extra = streams ? 64 : tile.copiesLeft ? 10 : 2;
    auto costOf = [&](int64_t block) {
      int64_t blocks = others * llvm::divideCeil(columns, block);
      double cost = 0;
      for (int64_t threads : {1, 2, 4, 8, 16})
        cost += double(llvm::alignTo(blocks, threads) * (block + extra));
      return cost;
    };
    double perColumn =
        2.0 * double(std::min(rows, tile.rowBlock)) * double(depth);
    for (int64_t block = best - unit; block >= unit; block -= unit) {
      if (double(block) * perColumn < double(leastOperations))
        break;
      if (costOf(block) < costOf(best))
        best = block;
    }
    return best;
  }

  // The sums of a chunk stay in the second-level cache, too. Few rows are cut
  // as well: no columns are left to share.
  void chooseWholeRows(int64_t height) {
    tile.columnBlock = llvm::alignTo(columns, tile.columns());
    int64_t most = level2Bytes() / 4 / (tile.columnBlock * bytes);
    most = std::min(height, most);
    if (rows > 0)
      most = std::min<int64_t>(most, llvm::divideCeil(rows, 4));
    tile.rowBlock = shareOf(rows, most, tile.rows);
  }

  // Of the second-level cache that blocks are cut for.
  int64_t level2Bytes() const { return target.machines().usual.level2Bytes; }

  // Rows up to which a panel is copied by whoever uses it: their copy has to
  // leave the second-level cache some room.
  int64_t panelRows() const {
    return target.vectorRegisters() >= 32 ? mostWidePanelRows : mostPanelRows;
  }

  // Whether a tile has rows enough to read a panel from the second-level cache:
  // each step loads its vectors once for all of them.
  bool rowsPayPanel() const { return tile.rows >= 8; }

  void choosePanelsInside() {
    bool copiesPanels = tile.rightCopy == TileShape::RightCopy::panel;
    // What a shift adds is found once for all rows of a panel.
    if (tile.blocksDepth || copiesPanels || depth < 1 || !rowsPayPanel() ||
        tile.leftZero != 0)
      return;
    // A window's rows share most of what they read.
    int64_t left = int64_t(tile.rows) * depth * bytes;
    int64_t right = depth * tile.columnBlock * bytes;
    tile.panelsInside =
        (tile.image || left <= 16 << 10) && right <= level2Bytes() / 2;
  }

  // Whole runs of windows, where one fits.
  void chooseImageBlocks(int64_t mostDepth) {
    const ImageWindows &image = *tile.image;
    if (tile.blocksDepth)
      tile.depthBlock =
          blockOf(depth, mostDepth,
                  image.run <= mostDepth ? image.run : int64_t(tile.lanes));
    tile.rowBlock = tile.imageLines * image.positions;
    int64_t width = (tile.blocksDepth ? 512 : 2048) / bytes;
    tile.columnBlock = blockOf(columns, width, tile.columns());
  }

  void chooseRun() {
    int64_t elements = innerRun(leftOperand, leftDepth);
    int64_t run = elements / tile.perWord; // a word lies in one
    bool isLong = run >= int64_t(tile.lanes) && run < depth;
    if (!tile.copiesLeft || tile.leftAlongRows || tile.inUnit || !isLong ||
        elements % tile.perWord != 0)
      return;
    if (tile.blocksDepth && run > tile.depthBlock)
      return;
    if (tile.blocksDepth)
      tile.depthBlock = tile.depthBlock / run * run;
    tile.leftRun = run;
  }

  // As `blockOf`, for what threads share: a few blocks are as many as two or
  // four threads can divide among them.
  // One block alone is divided if it is larger than twice `least`, unless 0.
  static int64_t shareOf(int64_t size, int64_t most, int64_t unit,
                         int64_t least = 0) {
    int64_t block = blockOf(size, most, unit);
    int64_t blocks = size > 0 ? llvm::divideCeil(size, block) : 1;
    bool isWhole = blocks == 1 && (least == 0 || block <= 2 * least);
    if (isWhole || blocks >= 16)
      return block;
    // The time of all threads, with what each block costs for itself.
    auto costOf = [size](int64_t block) {
      int64_t blocks = llvm::divideCeil(size, block);
      double cost = 0.02 * double(size * blocks);
      for (int64_t threads : {2, 4})
        cost += double(llvm::alignTo(blocks, threads) * block);
      return cost;
    };
    int64_t best = block;
    int64_t shortest =
        blocks == 1 ? std::max(least, block / 4) : llvm::divideCeil(block, 3);
    for (int64_t shorter = block; shorter >= shortest; shorter -= unit)
      if (shorter > 0 && costOf(shorter) < costOf(best))
        best = shorter;
    return best;
  }

  // The size of equal blocks of at most about `most`, in multiples of `unit`.
  static int64_t blockOf(int64_t size, int64_t most, int64_t unit) {
    most = std::max(most / unit * unit, unit);
    if (size <= 0)
      return size == 0 ? unit : most;
    int64_t blocks = llvm::divideCeil(size, most);
    return llvm::alignTo(llvm::divideCeil(size, blocks), unit);
  }

  const Target &target;
  ir::ContractionOpInterface op;
  NumericsMode numerics;
  Value leftOperand; ///< what is copied of it
  TileShape tile;
  unsigned rank = 0;
  Type sums;                    ///< what products are summed in
  unsigned leftRows, leftDepth; ///< axes of the operands
  unsigned rightDepth, rightColumns;
  bool takesColumns = false;    ///< of what the kernel stores
  bool keepsRight = false;      ///< a copy of all of it, from run to run
  int64_t rows, columns, depth; ///< -1 where unknown
  int64_t bytes;                ///< of a sum
};

} // namespace

AffineExpr depthOf(ir::ContractionOpInterface op, const TileShape &tile) {
  return depthOf(op).ceilDiv(int64_t(tile.perWord) * tile.depthStep) *
         int64_t(tile.depthStep);
}

Type copiedType(ir::ContractionOpInterface op, const TileShape &tile) {
  if (tile.perWord > 1)
    return IntegerType::get(op.getContext(), 32);
  return op.getSumType();
}

bool copiesRightIfKept(RankedTensorType product, RankedTensorType input) {
  if (product.getRank() < 2 || !input.hasStaticShape())
    return false;
  constexpr int64_t leastBytes = 64 << 10;
  int64_t rows = constantOf(shapeOf(product).rbegin()[1]);
  int64_t bits = input.getElementType().getIntOrFloatBitWidth();
  return rows > 0 && rows <= mostWidePanelRows &&
         input.getNumElements() * bits / 8 >= leastBytes;
}

TileShape chooseTile(const Target &target, ir::ContractionOpInterface op,
                     NumericsMode numerics) {
  return TileChooser(target, op, numerics).run();
}

} // namespace sinter::compiler

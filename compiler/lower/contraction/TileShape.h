/// TileShape: how a contraction is cut into blocks, panels and tiles.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/lower/contraction/StagedImage.h"
#include "compiler/lower/kernel/DepthSplit.h"
#include "compiler/target/Target.h"
#include "dialects/sinter/Dialect.h"

namespace sinter::compiler {

/// The plan of a contraction. A register tile is `rows` x `vectors`; a panel is
/// the columns of one tile; a block of depth is summed at a time, in ascending
/// order, so that no element's bits depend on any of these numbers but those of
/// a split.
struct TileShape {
  unsigned rows = 1;
  unsigned vectors = 1;
  unsigned lanes = 4;

  /// What of the right operand is copied before it is read: nothing; a panel
  /// in a block of depth, by whoever is about to use it; or all of it, once, by
  /// a phase of its own.
  enum class RightCopy { none, panel, whole };
  RightCopy rightCopy = RightCopy::none;
  /// Lanes of the copy run along k, because memory does.
  bool rightAlongDepth = false;
  /// A chunk of the copy of all of the right operand is a panel, for all of k:
  /// rows of columns that do not lie side by side would read lines of memory
  /// for a few elements each, again and again.
  bool copiesByPanel = false;
  /// The copy holds squares: for every `depthStep` words of k, the columns of a
  /// panel one after the other, the words of each side by side.
  bool rightInSquares = false;
  /// A chunk of a copy by panels is of so many k only, where there are threads
  /// for more chunks; else 0.
  int64_t copiedDepth = 0;
  /// Nothing is copied, but squares are loaded along k and turned in registers.
  bool turnsRight = false;
  /// A block of rows x depth of the left operand is copied. It is read by
  /// elements: k is the inner axis of the copy, or, where lanes of the copy run
  /// along the rows, the rows of a tile are.
  bool copiesLeft = false;
  bool leftAlongRows = false;
  /// Both copies hold words of so many elements, neighbours along k, the first
  /// in the lowest bits; k counts words. 1 where nothing is packed.
  unsigned perWord = 1;
  /// What an element of the operands is in a word: bf16, or an integer.
  mlir::Type leftPart, rightPart;
  /// Bytes of the left copy are held as those of the other sign, 128 more or
  /// less, so that the target can multiply them; what all products are off by
  /// is the same for each row.
  bool shiftsLeft = false;
  /// Bytes of the left copy are those that one number is taken off: it is taken
  /// off the sums.
  bool takesZero = false;
  /// What a byte of the left copy is that stands for 0.
  uint8_t leftZero = 0;
  /// Tiles are multiplied by the target's matrix unit, which takes a multiple
  /// of `depthStep` words: elements past the end of k are zero.
  bool inUnit = false;
  unsigned depthStep = 1;
  /// Where k counts several axes of the left operand: the length of the last,
  /// of which a block of depth holds whole ones. Else 0.
  int64_t leftRun = 0;

  /// Rows are windows over an image, read where lines of it are copied to;
  /// then nothing else is copied of the left operand. A chunk is `imageLines`
  /// lines of windows, and a tile lies in one of them.
  std::optional<ImageWindows> image;
  int64_t imageLines = 1;

  /// A chunk sums a part of k, and a phase of its own the parts.
  std::optional<DepthSplit> split;

  int64_t depthBlock = 256;
  bool blocksDepth = false; ///< else depthBlock holds all of it
  int64_t rowBlock = 1;     ///< rows of a chunk; a multiple of `rows`
  int64_t columnBlock = 1;  ///< columns of a chunk; a multiple of columns()

  /// Chunks are of whole rows, and their sums stay in the frame, where others
  /// read them.
  bool keepsSums = false;

  /// All panels of a chunk for one tile's rows, before the next rows: results
  /// are written along their rows. Else a panel stays near for all tiles.
  bool panelsInside = false;

  int64_t columns() const { return int64_t(vectors) * lanes; }
  /// Elements of the left copy from one row to the next, or of a tile's by its
  /// rows. Not a multiple of what a cache set repeats at.
  int64_t leftStride() const { return depthBlock + 16; }
  /// Elements from one row of sums in the frame to the next. They stand panel
  /// by panel, unless others read them: then row by row, not a multiple of what
  /// a cache set repeats at.
  int64_t sumsStride() const {
    return keepsSums ? columnBlock + 16 : columns();
  }
  /// Elements of all sums of a chunk.
  int64_t sumsElements() const {
    return rowBlock * (keepsSums ? sumsStride() : columnBlock);
  }
};

/// The end of k.
mlir::AffineExpr depthOf(ir::ContractionOpInterface op, const TileShape &tile);

/// What copies of the operands hold: words, or what products are summed in.
mlir::Type copiedType(ir::ContractionOpInterface op, const TileShape &tile);

/// Whether a right operand that an input decides is copied from run to run only
/// where that input is known to stay the same: of few rows, and large.
bool copiesRightIfKept(mlir::RankedTensorType product,
                       mlir::RankedTensorType input);

/// A function of the op's types, shapes, the mode and the target only.
TileShape chooseTile(const Target &target, ir::ContractionOpInterface op,
                     NumericsMode numerics);

} // namespace sinter::compiler

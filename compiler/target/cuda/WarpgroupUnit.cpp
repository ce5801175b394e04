/// WarpgroupUnit: which products, and in what tiles.
#include "compiler/target/cuda/WarpgroupUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/SizeClasses.h"
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Below it a stage is mostly empty, which costs little beside what is read and
// stored; of pieces also time.
constexpr int64_t leastDepth = 16, leastDepthOfPieces = 64;
// Of k, where tiles are too few for all multiprocessors.
constexpr int64_t mostParts = 64, leastDepthOfPart = 512;
// Of a longer k there are no more parts.
constexpr int64_t mostCutDepth = 1 << 18;
// Of pieces a thread has the sums of two stages beside its own.
constexpr int64_t mostColumnsOfPieces = 128;

// A tile with how k would be cut for it.
struct Cut {
  BlockUnit::Tile tile;
  int64_t parts = 0, depth = 0;
  double cycles = 0;
};

int64_t tilesOf(const BlockUnit::Product &product, const Cut &cut) {
  return tilesOf(product, cut.tile.rows, cut.tile.columns, cut.parts);
}

// How often a matrix has each element of what lies in memory.
double repeatsOf(const BlockUnit::Matrix &matrix) {
  double repeats = 1;
  if (matrix.windows.empty())
    return repeats;
  for (const BlockUnit::WindowAxis &axis :
       ArrayRef(matrix.windows).drop_back(matrix.pieces > 1))
    repeats *= std::max(1.0, double(axis.size) / double(axis.stride));
  return repeats;
}

// All tiles that fall to a multiprocessor, in cycles of it, as measured on an
// H200 over shapes from 512 x 512 x 512 to 8192 x 8192 x 8192 and of few rows.
// Where two blocks share it, one multiplies while the other one finishes.
double cyclesOf(const BlockUnit::Product &product, int64_t pieces,
                int64_t depth, const Cut &cut, const MachineModel &machine) {
  const BlockUnit::Tile &tile = cut.tile;
  const auto products = double(machine.matrixOperations);
  // All multiprocessors read pieces at once, most of them from far away.
  const double bytesOfCache = pieces > 1 ? 23 : double(machine.cacheReadBytes);
  const auto bytesOfMemory = double(machine.memoryBytes);
  const auto launch = double(machine.launchCycles);
  // Of a stage, from asking for it to having it.
  constexpr double latency = 2400;
  constexpr double finishedElements = 8;
  const WarpgroupLayout layout(tile, pieces, machine);
  int64_t pairs = pieces * (pieces + 1) / 2;
  int64_t rows = sizeOr(product.rows, manyRows);
  int64_t batches = sizeOr(product.batches, 1);
  int64_t turns =
      llvm::divideCeil(tilesOf(product, cut), machine.multiprocessors);
  int64_t atOnce = std::clamp<int64_t>(turns, 1, layout.blocks);

  double elements = double(tile.rows * tile.columns);
  int64_t copied = std::min<int64_t>(tile.rows, llvm::alignTo(rows, 8));
  double bytes = double(pieces * (copied + tile.columns)) * 2 * layout.depth;
  double stage = std::max({double(pairs) * elements * layout.depth / products,
                           bytes / bytesOfCache,
                           latency / double(layout.stages * atOnce)});
  double stages = double(cut.depth) / double(layout.depth);
  double all =
      double(turns) * stages * stage +
      double(llvm::divideCeil(turns, atOnce)) * elements / finishedElements;
  double numbers = double(batches) * double(depth) *
                   (double(rows) / repeatsOf(product.left) +
                    double(product.columns) / repeatsOf(product.right));
  all = std::max(all, 2 * double(pieces) * numbers / bytesOfMemory);
  if (pieces > 1)
    all += 2 * launch + (4 + 2 * double(pieces)) * numbers / bytesOfMemory;
  if (cut.parts == 1)
    return all;
  double sums = double(batches * rows * product.columns * cut.parts);
  return all + launch + 8 * sums / bytesOfMemory;
}

// Less than a box of columns is stored where there are no more of them.
bool fitsColumns(const BlockUnit::Product &product, int64_t pieces,
                 int64_t columns) {
  if (columns < WarpgroupLayout::boxColumns)
    return pieces == 1 && product.columns <= columns;
  return pieces == 1 || columns <= mostColumnsOfPieces;
}

// Of a product with a k of that length, in as many parts as `least` to `most`,
// the best first.
SmallVector<Cut> cutsOf(const BlockUnit::Product &product, int64_t pieces,
                        int64_t depth, int64_t least, int64_t most,
                        const MachineModel &machine) {
  constexpr std::pair<int64_t, int64_t> sizes[] = {
      {128, 256}, {128, 192}, {128, 128}, {64, 128},
      {64, 64},   {64, 32},   {64, 16}};
  SmallVector<Cut> cuts;
  for (auto [rows, columns] : sizes)
    for (int64_t parts = least; parts <= most; ++parts) {
      Cut cut;
      cut.tile.rows = rows;
      cut.tile.columns = columns;
      cut.parts = parts;
      // Small tiles share a multiprocessor, as soon as there are enough.
      if (rows == WarpgroupLayout::rows &&
          tilesOf(product, cut) > machine.multiprocessors)
        cut.tile.blocks = 2;
      WarpgroupLayout layout(cut.tile, pieces, machine);
      bool fits = fitsColumns(product, pieces, columns);
      if (!fits || layout.stages < layout.stagesAtOnce())
        continue;
      cut.depth = int64_t(llvm::alignTo(
          llvm::divideCeil(uint64_t(depth), parts), layout.depthAtOnce()));
      cut.cycles = cyclesOf(product, pieces, depth, cut, machine);
      cuts.push_back(cut);
    }
  llvm::stable_sort(
      cuts, [](const Cut &a, const Cut &b) { return a.cycles < b.cycles; });
  return cuts;
}

// As many parts are best from that k on.
struct Step {
  int64_t depth, parts;
};

// As many as are best for the power of two below k: a function of k that holds
// for every k, so that one which a launch knows first is cut as a constant one
// is.
SmallVector<Step> stepsOf(const BlockUnit::Product &product, int64_t pieces,
                          const MachineModel &usual) {
  SmallVector<Step> steps{{0, 1}};
  if (!product.cutsDepth || product.rows <= 0 || product.batches <= 0)
    return steps;
  for (int64_t depth = 2 * leastDepthOfPart; depth <= mostCutDepth;
       depth *= 2) {
    int64_t most = std::min(depth / leastDepthOfPart, mostParts);
    int64_t parts =
        cutsOf(product, pieces, depth, 1, most, usual).front().parts;
    if (parts != steps.back().parts)
      steps.push_back({depth, parts});
  }
  return steps;
}

int64_t partsAt(ArrayRef<Step> steps, int64_t depth) {
  while (steps.back().depth > depth)
    steps = steps.drop_back();
  return steps.back().parts;
}

AffineExpr partsAt(ArrayRef<Step> steps, AffineExpr depth) {
  auto values = llvm::map_to_vector(steps, [&](const Step &step) {
    return SizeStep{step.depth,
                    getAffineConstantExpr(step.parts, depth.getContext())};
  });
  return valueAt(depth, values);
}

// Where neighbours of neither operand lie along k, it counts rows of both, and
// may be known no sooner than at a launch. It then chooses nothing.
bool countsRows(const BlockUnit::Product &product) {
  return !product.left.alongDepth && !product.right.alongDepth;
}

// A launch may find the length of rows that batches are summed along, as that
// of sequences: then rows of pieces would not start at multiples of 16 bytes.
bool mayCountLengths(const BlockUnit::Product &product) {
  return product.isBatched &&
         product.left.alongDepth != product.right.alongDepth;
}

bool hasDepth(const BlockUnit::Product &product, int64_t pieces) {
  if (countsRows(product))
    return constantOr(product.depth, 1) > 0;
  return constantOr(product.depth, 0) >=
         (pieces > 1 ? leastDepthOfPieces : leastDepth);
}

// Whether pieces take less time than multiply-adds, of which large products
// have such a share of what a multiprocessor does in a cycle.
bool pays(BlockUnit::Product product, int64_t pieces, int64_t rows,
          int64_t batches, int64_t depth, const MachineModel &usual) {
  constexpr double share = 0.75;
  product.rows = rows;
  product.batches = batches;
  int64_t parts = partsAt(stepsOf(product, pieces, usual), depth);
  double own =
      cutsOf(product, pieces, depth, parts, parts, usual).front().cycles;
  double all = double(rows) * double(batches) * double(depth);
  return own <
         all * double(product.columns) /
             (share * double(usual.operations) * double(usual.multiprocessors));
}

// By classes of the sizes that may be unknown, so that programs that know them
// and others choose alike.
AffineExpr sizesThatPay(const BlockUnit::Product &product, int64_t pieces,
                        const MachineModel &usual) {
  constexpr SizeClasses::Names names = {1, 1 << 17, /*digits=*/1,
                                        /*areAbove=*/false};
  auto classesOf = [&](AffineExpr size) {
    return SizeClasses(size, names, leastOf(size), names.last);
  };
  return classesOf(product.sizes.rows).valueOf([&](int64_t rows) {
    return classesOf(product.sizes.batches).valueOf([&](int64_t batches) {
      return classesOf(product.depth).valueOf([&](int64_t depth) {
        bool isWorth = pays(product, pieces, rows, batches, depth, usual);
        return getAffineConstantExpr(isWorth, product.depth.getContext());
      });
    });
  });
}

class WarpgroupUnit final : public BlockUnit {
public:
  WarpgroupUnit(unsigned pieces, const Machines &machines)
      : pieces(pieces), machines(machines) {}

  unsigned piecesOf(Type element) const override {
    return element.isF32() ? pieces : 1;
  }

  int64_t depthOfPlace(int64_t channels) const override {
    return WarpgroupLayout::depthOfPlace(channels);
  }

  bool takes(const Matrix &operand, Type element) const override {
    return fitsMap(operand, element);
  }

  // Gives the tile the parts that a schedule says. False where it cannot have
  // them: they are whole steps.
  static bool obeySchedule(Tile &tile, const Product &product, int64_t step) {
    int64_t scheduled = product.scheduledPart;
    if (scheduled <= 0 ||
        (tile.parts && constantOr(tile.depth, 0) == scheduled))
      return true;
    if (scheduled % step != 0)
      return false;
    tile.depth = getAffineConstantExpr(scheduled, product.depth.getContext());
    tile.parts = product.depth.ceilDiv(scheduled);
    if (constantOr(tile.parts, 0) == 1)
      tile.parts = {};
    return true;
  }

  SmallVector<Range> rangesFor(const Product &product) const override {
    bool isHalf = product.element.isBF16() || product.element.isF16();
    bool fits = product.isPlain && !product.isOrdered &&
                (pieces == 1 ? isHalf : product.element.isF32()) &&
                (pieces != 2 || product.isApproximate) &&
                hasDepth(product, pieces) && product.columns > 0;
    if (!fits || (pieces > 1 && mayCountLengths(product)) ||
        constantOr(sizesOf(product), 1) == 0)
      return {};
    SmallVector<Step> steps = stepsOf(product, pieces, machines.usual);
    AffineExpr parts = partsAt(steps, product.depth);
    int64_t depth = constantOr(product.depth, manyRows);
    int64_t count = partsAt(steps, depth);
    SmallVector<Tile> tiles;
    SmallVector<Cut> cuts =
        cutsOf(product, pieces, depth, count, count, machines.own);
    for (const Cut &cut : ArrayRef(cuts).take_front(mostTiles)) {
      Tile tile = cut.tile;
      int64_t step = WarpgroupLayout(tile, pieces, machines.own).depthAtOnce();
      tile.depth = product.depth.ceilDiv(parts).ceilDiv(step) * step;
      if (constantOr(parts, 0) != 1)
        tile.parts = parts;
      if (!obeySchedule(tile, product, step))
        continue;
      tile.name = llvm::formatv("warpgroups {0}x{1}", tile.rows, tile.columns);
      if (pieces > 1)
        tile.name += llvm::formatv(" pieces {0}", pieces);
      tiles.push_back(std::move(tile));
    }
    return forAll(std::move(tiles));
  }

  AffineExpr sizesOf(const Product &product) const override {
    if (pieces == 1)
      return BlockUnit::sizesOf(product);
    return sizesThatPay(product, pieces, machines.usual);
  }

  bool stores(const Matrix &result, Type element) const override {
    return fitsMap(result, element);
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile,
            Client &client) const override {
    WarpgroupKernel(builder, loc, entry, product, tile, machines.own, client)
        .run();
  }

private:
  const unsigned pieces;
  const Machines machines;
};

} // namespace

std::unique_ptr<const BlockUnit> makeWarpgroupUnit(const Machines &machines) {
  return std::make_unique<WarpgroupUnit>(1, machines);
}

std::unique_ptr<const BlockUnit>
makeWarpgroupUnitOfPieces(unsigned pieces, const Machines &machines) {
  return std::make_unique<WarpgroupUnit>(pieces, machines);
}

} // namespace sinter::compiler

/// WarpgroupKernel: a kernel whose blocks multiply tiles by warpgroups.
///
/// The ring, the roles and the order of waits are those of the persistent
/// kernels for sm_90 in CUTLASS.
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t boxColumns = WarpgroupLayout::boxColumns;
// The registers of a block of three warpgroups, given to those that sum.
static constexpr unsigned producerRegisters = 40, consumerRegisters = 232;

//===- The kernel ---------------------------------------------------------===//

// The pieces whose products count, the least first, so that little is cut off.
static SmallVector<OperandParts> pairsOf(const WarpgroupLayout &layout) {
  SmallVector<OperandParts> pairs;
  for (int64_t both = layout.pieces - 1; both >= 0; --both)
    for (int64_t left = 0; left <= both; ++left)
      pairs.push_back(
          {left * layout.leftBytes, (both - left) * layout.rightBytes});
  return pairs;
}

WarpgroupKernel::WarpgroupKernel(OpBuilder &builder, Location loc,
                                 const KernelEntry &entry,
                                 const BlockUnit::Product &product,
                                 const BlockUnit::Tile &tile,
                                 const MachineModel &machine,
                                 BlockUnit::Client &client)
    : WarpgroupBlock(builder, loc, entry), product(product),
      element(product.left.pieces > 1 ? builder.getBF16Type()
                                      : product.element),
      layout(tile, product.left.pieces, machine),
      ring{0, layout.stages, layout.stageBytes, layout.fullAt()},
      cutsDepth(bool(tile.parts)),
      warpgroup(ptx, element, tile.columns,
                layout.depth / WarpgroupProduct::depthOfStep,
                SharedOperand{product.left.alongDepth, layout.boxBytes},
                SharedOperand{product.right.alongDepth, layout.boxBytes},
                pairsOf(layout)),
      client(client) {}

// Of few rows or columns only those that there are are copied: what is
// multiplied by the others is not stored.
void WarpgroupKernel::declareMaps() {
  auto describe = [&](const BlockUnit::Matrix &matrix, int64_t at,
                      int64_t bytes, int64_t extent, int64_t existing) {
    if (!matrix.alongDepth)
      extent = int64_t(llvm::alignTo(extent, boxColumns));
    else if (existing > 0)
      extent = std::min(extent, int64_t(llvm::alignTo(existing, 8)));
    int64_t outer = matrix.alongDepth ? extent : layout.depth;
    return Boxes{&matrix, addMap(matrix, element, boxColumns, outer), at, bytes,
                 extent};
  };
  left = describe(product.left, 0, layout.leftBytes,
                  layout.consumers * layout.rows, product.rows);
  right = describe(product.right, layout.rightAt(), layout.rightBytes,
                   layout.columns, product.columns);
  if (product.result)
    resultMap =
        addMap(*product.result, product.element, boxColumns, layout.rows);
}

void WarpgroupKernel::run() {
  declareMaps();
  auto depth = dyn_cast<AffineConstantExpr>(product.depth);
  if (depth && !cutsDepth)
    rounds = ptx.number(int32_t(
        llvm::divideCeil(uint64_t(depth.getValue()), layout.depthAtOnce()) *
        layout.stagesAtOnce()));
  Share share{layout.bytes(), layout.consumers, layout.blocks};
  // Of two warpgroups both have registers enough.
  if (layout.consumers > 1) {
    share.producers = producerRegisters;
    share.others = consumerRegisters;
  }
  WarpgroupBlock::run(share, [&] {
    ptx.prefetch(left.map);
    ptx.prefetch(right.map);
    initRing(ring, layout.consumers);
  });
}

// The last parts of k may have none.
Value WarpgroupKernel::roundsOf(const Place &place) const {
  if (rounds)
    return rounds;
  Value depth = ptx.sub(ptx.toI32(place.endDepth), ptx.toI32(place.depth));
  Value none = ptx.less(depth, ptx.number(1));
  int64_t step = layout.depthAtOnce();
  Value count = ptx.split(ptx.add(depth, int32_t(step - 1)), step).first;
  return ptx.select(none, ptx.number(0),
                    ptx.mul(count, int32_t(layout.stagesAtOnce())));
}

//===- Copying ------------------------------------------------------------===//

// The ring is empty at first: as if a round before had been taken out.
void WarpgroupKernel::produce() {
  forTiles({ptx.number(0), ptx.number(1)}, [&](Value tile, ValueRange carried) {
    Values ended;
    client.inTile(tile, [&](const Place &place) {
      ended = loop(ptx.number(0), roundsOf(place), ptx.number(1), carried,
                   [&](Value k, ValueRange carried) -> Values {
                     Turn turn{carried[0], carried[1]};
                     copyStage(place, k, turn);
                     Turn then = next(ring, turn);
                     return {then.stage, then.parity};
                   });
    });
    return ended;
  });
}

void WarpgroupKernel::copyStage(const Place &place, Value k, const Turn &turn) {
  Value full = fullAt(ring, turn.stage);
  waitEmpty(ring, turn);
  ptx.expectBytes(full, int32_t(layout.pieces * (left.extent + right.extent) *
                                layout.depth * 2));
  Value depth =
      ptx.add(ptx.toI32(place.depth), ptx.mul(k, int32_t(layout.depth)));
  Value stage = stageAt(ring, turn.stage);
  for (const Boxes &boxes : {left, right})
    for (int64_t piece = 0; piece < layout.pieces; ++piece)
      copyBoxes(boxes, place, depth, piece, stage, full);
}

// Along k one box has all rows or columns; else each has 64 of them.
void WarpgroupKernel::copyBoxes(const Boxes &boxes, const Place &place,
                                Value depth, int64_t piece, Value stage,
                                Value full) {
  const BlockUnit::Matrix &matrix = *boxes.matrix;
  Value first =
      ptx.toI32(boxes.matrix == &product.left ? place.row : place.column);
  int64_t step = matrix.alongDepth ? boxes.extent : boxColumns;
  int64_t start = boxes.at + piece * boxes.bytes;
  for (int64_t at = 0; at < boxes.extent; at += step) {
    Value other = at ? ptx.add(first, int32_t(at)) : first;
    Value to = ptx.add(stage, int32_t(start + at * layout.depth * 2));
    if (!matrix.windows.empty()) {
      copyWindows(boxes, matrix.alongDepth ? other : depth,
                  matrix.alongDepth ? depth : other, piece, to, full);
      continue;
    }
    Value k = depth, window; // the number of the place under it
    if (matrix.channels) {
      int32_t size = int32_t(WarpgroupLayout::depthOfPlace(matrix.channels));
      window = ptx.divide(depth, size);
      k = ptx.sub(depth, ptx.mul(window, size));
    }
    Values coordinates =
        matrix.alongDepth ? Values{k, other} : Values{other, k};
    if (window)
      coordinates.push_back(window);
    for (unsigned axis : matrix.batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    if (matrix.pieces > 1)
      coordinates.push_back(ptx.number(int32_t(piece)));
    ptx.copyIn(to, boxes.map, coordinates, full);
  }
}

// What lies under windows from number `position` on: channels from `element`
// on, counted place by place. Behind the last place all is zero, as what lies
// in images that there are not.
void WarpgroupKernel::copyWindows(const Boxes &boxes, Value position,
                                  Value element, int64_t piece, Value to,
                                  Value full) {
  constexpr int32_t noImage = 1 << 30;
  const BlockUnit::Matrix &image = *boxes.matrix;
  auto split = [&](Value &number, int64_t by) {
    Value all = number;
    number = ptx.divide(all, int32_t(by));
    return ptx.sub(all, ptx.mul(number, int32_t(by)));
  };
  int64_t channels = WarpgroupLayout::depthOfPlace(
      cast<AffineConstantExpr>(image.extents.front()).getValue());
  Values coordinates{split(element, channels)}, offsets;
  bool hasPieces = image.pieces > 1;
  for (const BlockUnit::WindowAxis &axis :
       ArrayRef(image.windows).drop_back(hasPieces)) {
    Value at = split(position, axis.positions);
    coordinates.push_back(
        ptx.add(ptx.mul(at, int32_t(axis.stride)), int32_t(axis.low)));
    offsets.push_back(
        ptx.mul(split(element, axis.size), int32_t(axis.dilation)));
  }
  if (hasPieces) {
    coordinates.push_back(ptx.number(0));
    offsets.push_back(ptx.number(int32_t(piece)));
  }
  coordinates.push_back(
      ptx.select(ptx.equals(element, 0), position, ptx.number(noImage)));
  ptx.copyIn(to, boxes.map, coordinates, offsets, full);
}

//===- Summing ------------------------------------------------------------===//

void WarpgroupKernel::consume() {
  forTiles({ptx.number(0), ptx.number(0)},
           [&](Value tile, ValueRange carried) -> Values {
             Value zero = arith::ConstantOp::create(builder, loc,
                                                    builder.getF32FloatAttr(0));
             Values zeros(size_t(sumsOfThread()), zero), all;
             client.inTile(tile, [&](const Place &place) {
               SmallVector<BlockUnit::Fragment> fragments = fragmentsOfThread();
               if (isWhole())
                 client.prepare(place, fragments);
               Turn turn{carried[0], carried[1]};
               bool hasPieces = layout.pieces > 1;
               all = hasPieces ? sumPieces(turn, roundsOf(place), zeros)
                               : sumTile(turn, roundsOf(place), zeros);
               Values sums = llvm::to_vector(llvm::drop_begin(all, 2));
               if (hasPieces)
                 sums = finite(place, fragments, sums);
               for (auto [number, fragment] : llvm::enumerate(fragments))
                 fragment.sums = {sums[2 * number], sums[2 * number + 1]};
               finishTile(place, fragments);
             });
             return {all[0], all[1]};
           });
  if (product.result)
    when(isFirst, [&] { ptx.waitForCopies(0, /*written=*/true); });
}

// A stage is free when what reads it has ended: one round later.
WarpgroupKernel::Values WarpgroupKernel::sumTile(const Turn &turn, Value rounds,
                                                 Values sums) {
  Values carried{turn.stage, turn.parity};
  llvm::append_range(carried, sums);
  Values results =
      loop(ptx.number(0), rounds, ptx.number(1), carried,
           [&](Value k, ValueRange carried) {
             Turn turn{carried[0], carried[1]};
             waitFull(ring, turn);
             Values sums = multiplyStage(turn, k, carried.drop_front(2));
             Value isLater = arith::CmpIOp::create(
                 builder, loc, arith::CmpIPredicate::ne, k, ptx.number(0));
             Value frees =
                 arith::AndIOp::create(builder, loc, isFirst, isLater);
             ptx.arriveWhere(frees, emptyAt(ring, before(ring, turn.stage)));
             Turn then = next(ring, turn);
             Values all{then.stage, then.parity};
             llvm::append_range(all, sums);
             return all;
           });
  Values ended = warpgroup.wait(0, ArrayRef(results).drop_front(2));
  Value frees = arith::AndIOp::create(builder, loc, isFirst,
                                      ptx.less(ptx.number(0), rounds));
  ptx.arriveWhere(frees, emptyAt(ring, before(ring, results[0])));
  llvm::copy(ended, results.begin() + 2);
  return results;
}

WarpgroupKernel::Values
WarpgroupKernel::multiplyStage(const Turn &turn, Value k, ValueRange sums) {
  Value stage = stageAt(ring, turn.stage);
  Values results = warpgroup.multiply(
      {shareOf(stage)}, ptx.add(stage, int32_t(layout.rightAt())), k, sums);
  warpgroup.wait(1);
  return results;
}

Value WarpgroupKernel::shareOf(Value stage) const {
  return ptx.add(stage, ptx.mul(consumer, int32_t(layout.boxBytes)));
}

//===- Finishing ----------------------------------------------------------===//

SmallVector<BlockUnit::Fragment> WarpgroupKernel::fragmentsOfThread() {
  Value lane = ptx.bitAnd(thread, 31);
  auto [upper, lower] = rowsOfThread();
  Value share = ptx.mul(consumer, int32_t(layout.rows));
  Value group = ptx.toIndex(ptx.bitAnd(lane, 3));
  Value rows[] = {ptx.toIndex(ptx.add(share, upper)),
                  ptx.toIndex(ptx.add(share, lower))};
  SmallVector<BlockUnit::Fragment> fragments;
  for (int64_t column = 0; column < layout.columns; column += 8)
    for (Value row : rows)
      fragments.push_back({row, group, column, 2, {}});
  return fragments;
}

void WarpgroupKernel::finishTile(const Place &place,
                                 ArrayRef<BlockUnit::Fragment> fragments) {
  size_t together = fragmentsTogether(fragments.size());
  size_t ofBox = fragmentsOfBox();
  for (size_t first = 0; first < fragments.size(); first += together) {
    SmallVector<Value> stored =
        client.finish(place, fragments.slice(first, together));
    for (size_t at = 0; at < stored.size(); at += ofBox)
      storePart(place, int64_t((first + at) / ofBox),
                ArrayRef(stored).slice(at, ofBox));
  }
}

void WarpgroupKernel::storePart(const Place &place, int64_t box,
                                ValueRange fragments) {
  Values coordinates{
      ptx.add(ptx.toI32(place.column), int32_t(box * boxColumns)),
      ptx.add(ptx.toI32(place.row), ptx.mul(consumer, layout.rows))};
  for (unsigned axis : product.result->batches)
    coordinates.push_back(ptx.toI32(place.batch[axis]));
  storeBox(resultMap, coordinates,
           {layout.boxesAt(), layout.boxesOut,
            int64_t(llvm::divideCeil(layout.columns, boxColumns))},
           box, fragments);
}

// Whether no tile ends behind the result, and all of it is stored by boxes.
bool WarpgroupKernel::isWhole() const {
  return product.result && product.rows > 0 &&
         product.rows % (layout.consumers * layout.rows) == 0 &&
         product.columns % layout.columns == 0;
}

// What is loaded for fragments that are finished together is on its way at the
// same time, as far as registers suffice: each place that is held at the end of
// a row takes some, and, in rows of an odd length, each element. Where nothing
// is loaded, a box is on its way out while the next one is made.
size_t WarpgroupKernel::fragmentsTogether(size_t all) const {
  if (product.columns % 2 != 0)
    return 2;
  return isWhole() && client.readsFragments() ? all : fragmentsOfBox();
}

// Two of each thread for eight columns. A narrow tile has one box, of which
// the map stores no more columns than there are.
size_t WarpgroupKernel::fragmentsOfBox() const {
  return size_t(std::min(layout.columns, boxColumns)) / 4;
}

} // namespace sinter::compiler

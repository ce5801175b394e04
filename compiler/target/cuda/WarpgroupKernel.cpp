/// WarpgroupKernel: a kernel whose blocks multiply tiles by warpgroups.
///
/// The ring, the roles and the order of waits are those of the persistent
/// kernels for sm_90 in CUTLASS.
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "compiler/target/KernelMemory.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/SharedMemory.h"
#include "compiler/target/cuda/Warp.h"
#include "runtime/device/cuda/CudaImage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t boxColumns = WarpgroupLayout::boxColumns;
static constexpr size_t fragmentsOfBox = 2 * boxColumns / 8;
// The registers of a block of three warpgroups, given to those that sum.
static constexpr unsigned producerRegisters = 40, consumerRegisters = 232;

//===- Structure ----------------------------------------------------------===//

WarpgroupKernel::WarpgroupKernel(OpBuilder &builder, Location loc,
                                 const KernelEntry &entry,
                                 const BlockUnit::Product &product,
                                 const BlockUnit::Tile &tile,
                                 BlockUnit::Client &client)
    : builder(builder), loc(loc), ptx(builder, loc), entry(entry),
      product(product), layout(tile),
      depthOfTile(cast<AffineConstantExpr>(tile.depth).getValue()),
      warpgroup(ptx, product, tile.columns), client(client) {}

WarpgroupKernel::Values
WarpgroupKernel::loop(Value begin, Value end, Value step, ValueRange carried,
                      llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.getBody());
  Values results = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, results);
  return Values(op.getResults());
}

void WarpgroupKernel::when(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op.thenYield());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPoint(op.elseYield());
  otherwise();
}

WarpgroupKernel::Turn WarpgroupKernel::next(const Turn &turn) const {
  Value stage = ptx.add(turn.stage, 1);
  Value wraps = ptx.equals(stage, int32_t(layout.stages));
  return {
      ptx.select(wraps, ptx.number(0), stage),
      ptx.select(wraps, ptx.bitXor(turn.parity, ptx.number(1)), turn.parity)};
}

Value WarpgroupKernel::before(Value stage) const {
  return ptx.select(ptx.equals(stage, 0),
                    ptx.number(int32_t(layout.stages - 1)), ptx.add(stage, -1));
}

Value WarpgroupKernel::stageAt(Value stage) const {
  return ptx.add(memory, ptx.mul(stage, int32_t(layout.stageBytes)));
}

Value WarpgroupKernel::barrierAt(int64_t first, Value stage) const {
  return ptx.add(ptx.add(memory, int32_t(first)), ptx.mul(stage, 8));
}

Value WarpgroupKernel::addMap(const BlockUnit::Matrix &matrix, int64_t inner,
                              int64_t outer) {
  auto function = cast<func::FuncOp>(entry.function);
  auto map = mapOf(matrix, product.element, inner, outer);
  lines += runtime::tensorMapLine(function.getName().str(), *map);
  size_t words = sizeof(runtime::CudaArguments) / 8 + entry.dims.size() +
                 entry.buffers.size();
  size_t at =
      8 * runtime::wordsBeforeMaps(words) + runtime::tensorMapBytes * maps++;
  return LLVM::GEPOp::create(builder, loc,
                             LLVM::LLVMPointerType::get(builder.getContext()),
                             builder.getI8Type(), function.getArgument(0),
                             ArrayRef<LLVM::GEPArg>{int32_t(at)});
}

// They follow the arguments that every kernel has. Of few rows or columns only
// those that there are are copied: what is multiplied by the others is not
// stored.
void WarpgroupKernel::declareMaps() {
  auto describe = [&](const BlockUnit::Matrix &matrix, int64_t at,
                      int64_t extent, int64_t existing) {
    if (matrix.alongDepth && existing > 0)
      extent = std::min(extent, int64_t(llvm::alignTo(existing, 8)));
    int64_t outer = matrix.alongDepth ? extent : layout.depth;
    return Boxes{&matrix, addMap(matrix, boxColumns, outer), at, extent};
  };
  left =
      describe(product.left, 0, layout.consumers * layout.rows, product.rows);
  right = describe(product.right, layout.leftBytes, layout.columns,
                   product.columns);
  if (product.result)
    resultMap = addMap(*product.result, boxColumns, layout.rows);

  auto function = cast<func::FuncOp>(entry.function);
  size_t words = sizeof(runtime::CudaArguments) / 8 + entry.dims.size() +
                 entry.buffers.size();
  words = runtime::wordsBeforeMaps(words) + maps * runtime::tensorMapBytes / 8;
  function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(
                          builder.getI64Type(), int64_t(words))));
  function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(runtime::tensorMapAlignment));
  function->setAttr(linesAttr, builder.getStringAttr(lines));
  function->setAttr(blocksAttr, builder.getI64IntegerAttr(layout.blocks));
  function->setAttr(warpsAttr,
                    builder.getI64IntegerAttr(layout.warpgroups() *
                                              layout.threads / Warp::threads));
}

void WarpgroupKernel::begin() {
  declareMaps();
  auto function = cast<func::FuncOp>(entry.function);
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  auto array =
      declareShared(function, layout.bytes(), WarpgroupLayout::swizzledBytes);
  Value start =
      LLVM::AddressOfOp::create(builder, loc, shared, array.getSymName());
  memory = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), start);
  thread = readRegister(builder, loc, "tid.x");
  warp = ptx.uniform(ptx.shiftRight(thread, 5));
  auto toIndex = [&](StringRef name) {
    return ptx.toIndex(readRegister(builder, loc, name));
  };
  firstTile = toIndex("ctaid.x");
  stepTiles = toIndex("nctaid.x");
  Value tiles =
      loadField(builder, loc, function.getArgument(0),
                offsetof(runtime::CudaArguments, chunks), builder.getI64Type());
  endTiles =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), tiles);
  rounds = ptx.number(int32_t(depthOfTile / layout.depth));
  when(ptx.equals(thread, 0), [&] {
    ptx.prefetch(left.map);
    ptx.prefetch(right.map);
    for (int64_t stage = 0; stage < layout.stages; ++stage) {
      Value number = ptx.number(int32_t(stage));
      ptx.initBarrier(barrierAt(layout.fullAt(), number), 1);
      ptx.initBarrier(barrierAt(layout.emptyAt(), number),
                      int32_t(layout.consumers));
    }
    ptx.publishBarriers();
  });
  ptx.syncBlock();
}

void WarpgroupKernel::run() {
  begin();
  // Of two warpgroups both have registers enough.
  bool hasRoles = layout.consumers > 1;
  Value group = ptx.shiftRight(warp, 2);
  when(
      ptx.equals(group, 0),
      [&] {
        if (hasRoles)
          ptx.setRegisters(/*more=*/false, producerRegisters);
        when(ptx.equals(warp, 0),
             [&] { when(ptx.electOne(), [&] { produce(); }); });
      },
      [&] {
        if (hasRoles)
          ptx.setRegisters(/*more=*/true, consumerRegisters);
        consumer = ptx.add(group, -1);
        isFirst = ptx.equals(ptx.bitAnd(thread, layout.threads - 1), 0);
        consume();
        if (product.result)
          when(isFirst, [&] { ptx.waitForCopies(0, /*written=*/true); });
      });
}

//===- Copying ------------------------------------------------------------===//

// The ring is empty at first: as if a round before had been taken out.
void WarpgroupKernel::produce() {
  loop(firstTile, endTiles, stepTiles, {ptx.number(0), ptx.number(1)},
       [&](Value tile, ValueRange carried) {
         Values ended;
         client.inTile(tile, [&](const Place &place) {
           ended = loop(ptx.number(0), rounds, ptx.number(1), carried,
                        [&](Value k, ValueRange carried) -> Values {
                          Turn turn{carried[0], carried[1]};
                          copyStage(place, k, turn);
                          Turn then = next(turn);
                          return {then.stage, then.parity};
                        });
         });
         return ended;
       });
}

void WarpgroupKernel::copyStage(const Place &place, Value k, const Turn &turn) {
  Value full = barrierAt(layout.fullAt(), turn.stage);
  ptx.wait(barrierAt(layout.emptyAt(), turn.stage), turn.parity);
  ptx.expectBytes(full,
                  int32_t((left.extent + right.extent) * layout.depth * 2));
  Value depth =
      ptx.add(ptx.toI32(place.depth), ptx.mul(k, int32_t(layout.depth)));
  Value stage = stageAt(turn.stage);
  copyBoxes(left, place, depth, stage, full);
  copyBoxes(right, place, depth, stage, full);
}

// Along k one box has all rows or columns; else each has 64 of them.
void WarpgroupKernel::copyBoxes(const Boxes &boxes, const Place &place,
                                Value depth, Value stage, Value full) {
  const BlockUnit::Matrix &matrix = *boxes.matrix;
  Value first =
      ptx.toI32(boxes.matrix == &product.left ? place.row : place.column);
  int64_t step = matrix.alongDepth ? boxes.extent : boxColumns;
  for (int64_t at = 0; at < boxes.extent; at += step) {
    Value other = at ? ptx.add(first, int32_t(at)) : first;
    Values coordinates =
        matrix.alongDepth ? Values{depth, other} : Values{other, depth};
    for (unsigned axis : matrix.batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    Value to = ptx.add(stage, int32_t(boxes.at + at * layout.depth * 2));
    ptx.copyIn(to, boxes.map, coordinates, full);
  }
}

//===- Summing ------------------------------------------------------------===//

void WarpgroupKernel::consume() {
  loop(firstTile, endTiles, stepTiles, {ptx.number(0), ptx.number(0)},
       [&](Value tile, ValueRange carried) -> Values {
         Value zero = arith::ConstantOp::create(builder, loc,
                                                builder.getF32FloatAttr(0));
         Values zeros(size_t(sumsOfThread()), zero), all;
         client.inTile(tile, [&](const Place &place) {
           SmallVector<BlockUnit::Fragment> fragments = fragmentsOfThread();
           if (isWhole())
             client.prepare(place, fragments);
           all = sumTile({carried[0], carried[1]}, zeros);
           for (auto [number, fragment] : llvm::enumerate(fragments))
             fragment.sums = {all[2 + 2 * number], all[3 + 2 * number]};
           finishTile(place, fragments);
         });
         return {all[0], all[1]};
       });
}

// A stage is free when what reads it has ended: one round later.
WarpgroupKernel::Values WarpgroupKernel::sumTile(const Turn &turn,
                                                 Values sums) {
  Values carried{turn.stage, turn.parity};
  llvm::append_range(carried, sums);
  Values results = loop(
      ptx.number(0), rounds, ptx.number(1), carried,
      [&](Value k, ValueRange carried) {
        Turn turn{carried[0], carried[1]};
        ptx.wait(barrierAt(layout.fullAt(), turn.stage), turn.parity);
        Values sums = multiplyStage(turn, k, carried.drop_front(2));
        Value isLater = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne, k, ptx.number(0));
        Value frees = arith::AndIOp::create(builder, loc, isFirst, isLater);
        ptx.arriveWhere(frees, barrierAt(layout.emptyAt(), before(turn.stage)));
        Turn then = next(turn);
        Values all{then.stage, then.parity};
        llvm::append_range(all, sums);
        return all;
      });
  Values ended = warpgroup.wait(ArrayRef(results).drop_front(2));
  ptx.arriveWhere(isFirst, barrierAt(layout.emptyAt(), before(results[0])));
  llvm::copy(ended, results.begin() + 2);
  return results;
}

WarpgroupKernel::Values
WarpgroupKernel::multiplyStage(const Turn &turn, Value k, ValueRange sums) {
  Value stage = stageAt(turn.stage);
  Value share = ptx.add(stage, ptx.mul(consumer, int32_t(layout.boxBytes)));
  return warpgroup.multiply(share, ptx.add(stage, int32_t(layout.leftBytes)), k,
                            sums);
}

//===- Finishing ----------------------------------------------------------===//

// Thread 4 g + t of warp w has, of its warpgroup's share, rows 16 w + g and 8
// more, columns 8 j + 2 t and the next (PTX ISA, wgmma's matrix D): first of
// the upper row, then of the lower one.
SmallVector<BlockUnit::Fragment> WarpgroupKernel::fragmentsOfThread() {
  Value lane = ptx.bitAnd(thread, 31);
  Value row = ptx.add(
      ptx.mul(consumer, int32_t(layout.rows)),
      ptx.add(ptx.mul(ptx.bitAnd(warp, 3), 16), ptx.shiftRight(lane, 2)));
  Value group = ptx.toIndex(ptx.bitAnd(lane, 3));
  Value rows[] = {ptx.toIndex(row), ptx.toIndex(ptx.add(row, 8))};
  SmallVector<BlockUnit::Fragment> fragments;
  for (int64_t column = 0; column < layout.columns; column += 8)
    for (Value row : rows)
      fragments.push_back({row, group, column, 2, {}});
  return fragments;
}

void WarpgroupKernel::finishTile(const Place &place,
                                 ArrayRef<BlockUnit::Fragment> fragments) {
  size_t together = fragmentsTogether(fragments.size());
  for (size_t first = 0; first < fragments.size(); first += together) {
    SmallVector<Value> stored =
        client.finish(place, fragments.slice(first, together));
    for (size_t at = 0; at < stored.size(); at += fragmentsOfBox)
      storeBox(place, int64_t((first + at) / fragmentsOfBox),
               ArrayRef(stored).slice(at, fragmentsOfBox));
  }
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
  return isWhole() && client.readsFragments() ? all : fragmentsOfBox;
}

// Fragments are 8 x 8 matrices of stmatrix; a box of 64 x 64 is written as a
// map's copy reads it.
void WarpgroupKernel::storeBox(const Place &place, int64_t box,
                               ValueRange fragments) {
  int64_t slot = box % layout.boxesOut;
  Value lane = ptx.bitAnd(thread, 31), name = ptx.add(consumer, 1);
  Value start = ptx.add(
      ptx.add(memory, int32_t(layout.boxesAt() + slot * layout.boxBytes)),
      ptx.mul(consumer, int32_t(layout.boxesOut * layout.boxBytes)));
  Value row = ptx.add(ptx.mul(ptx.bitAnd(warp, 3), 16), ptx.bitAnd(lane, 15));
  Value line = ptx.add(start, ptx.mul(row, 128));
  Value part =
      ptx.mul(ptx.bitXor(ptx.shiftRight(lane, 4), ptx.bitAnd(lane, 7)), 16);
  when(isFirst, [&] {
    ptx.waitForCopies(unsigned(layout.boxesOut - 1), /*written=*/false);
  });
  ptx.syncThreads(name, layout.threads);
  for (unsigned group = 0; group < 4; ++group) {
    Values words;
    for (Value fragment : fragments.slice(4 * group, 4))
      words.push_back(LLVM::BitcastOp::create(builder, loc,
                                              builder.getI32Type(), fragment));
    Value column = ptx.bitXor(part, ptx.number(int32_t(32 * group)));
    ptx.storeMatrices(ptx.add(line, column), words);
  }
  ptx.publishToCopies();
  ptx.syncThreads(name, layout.threads);
  when(isFirst, [&] {
    Values coordinates{
        ptx.add(ptx.toI32(place.column), int32_t(box * boxColumns)),
        ptx.add(ptx.toI32(place.row), ptx.mul(consumer, layout.rows))};
    for (unsigned axis : product.result->batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    ptx.copyOut(resultMap, coordinates, start);
    ptx.commitCopies();
  });
}

} // namespace sinter::compiler

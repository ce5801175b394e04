/// WarpgroupBlock: maps, roles, rings, and how boxes go out.
#include "compiler/target/cuda/WarpgroupBlock.h"

#include "compiler/target/KernelMemory.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/SharedMemory.h"
#include "compiler/target/cuda/Warp.h"
#include "compiler/target/cuda/WarpgroupLayout.h"
#include "runtime/device/cuda/CudaImage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

//===- Structure ----------------------------------------------------------===//

WarpgroupBlock::Values
WarpgroupBlock::loop(Value begin, Value end, Value step, ValueRange carried,
                     llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.getBody());
  Values results = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, results);
  return Values(op.getResults());
}

void WarpgroupBlock::when(Value condition, llvm::function_ref<void()> then,
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

// Every other round goes back, so that blocks whose tile came late in one get
// an early one in the next: of tiles that take less and less, all blocks have
// about as much.
void WarpgroupBlock::forTiles(
    ValueRange carried, llvm::function_ref<Values(Value, ValueRange)> body) {
  Value one = ptx.number(1), last = ptx.sub(ptx.add(blocks, -1), block);
  auto backOr = [&](Value round) {
    return ptx.select(ptx.equals(ptx.bitAnd(round, 1), 1), last, block);
  };
  Value rounds = arith::DivUIOp::create(builder, loc, tiles, blocks);
  Value rest = arith::RemUIOp::create(builder, loc, tiles, blocks);
  Value hasOneMore = ptx.less(backOr(rounds), rest);
  rounds = ptx.add(rounds, ptx.select(hasOneMore, one, ptx.number(0)));
  loop(ptx.number(0), rounds, one, carried,
       [&](Value round, ValueRange carried) {
         Value first = arith::MulIOp::create(builder, loc, round, blocks);
         return body(ptx.toIndex(ptx.add(first, backOr(round))), carried);
       });
}

//===- The kernel ---------------------------------------------------------===//

Value WarpgroupBlock::addMap(const BlockUnit::Matrix &matrix, Type element,
                             int64_t inner, int64_t outer) {
  auto function = cast<func::FuncOp>(entry.function);
  auto map = mapOf(matrix, element, inner, outer);
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

void WarpgroupBlock::declare(const Share &share) {
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
  function->setAttr(blocksAttr, builder.getI64IntegerAttr(share.blocks));
  function->setAttr(warpsAttr,
                    builder.getI64IntegerAttr((share.consumers + 1) *
                                              Layout::threads / Warp::threads));
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  auto array = declareShared(function, share.bytes, Layout::swizzledBytes);
  Value start =
      LLVM::AddressOfOp::create(builder, loc, shared, array.getSymName());
  memory = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), start);
}

void WarpgroupBlock::run(const Share &share,
                         llvm::function_ref<void()> prepare) {
  declare(share);
  auto function = cast<func::FuncOp>(entry.function);
  thread = readRegister(builder, loc, "tid.x");
  warp = ptx.uniform(ptx.shiftRight(thread, 5));
  block = readRegister(builder, loc, "ctaid.x");
  blocks = readRegister(builder, loc, "nctaid.x");
  tiles = arith::TruncIOp::create(
      builder, loc, builder.getI32Type(),
      loadField(builder, loc, function.getArgument(0),
                offsetof(runtime::CudaArguments, chunks),
                builder.getI64Type()));
  when(ptx.equals(thread, 0), [&] {
    prepare();
    ptx.publishBarriers();
  });
  ptx.waitForKernels();
  ptx.syncBlock();

  Value group = ptx.shiftRight(warp, 2);
  when(
      ptx.equals(group, 0),
      [&] {
        if (share.others)
          ptx.setRegisters(/*more=*/false, share.producers);
        when(ptx.equals(warp, 0),
             [&] { when(ptx.electOne(), [&] { produce(); }); });
      },
      [&] {
        if (share.others)
          ptx.setRegisters(/*more=*/true, share.others);
        consumer = ptx.add(group, -1);
        isFirst = ptx.equals(ptx.bitAnd(thread, Layout::threads - 1), 0);
        consume();
      });
}

//===- Rings --------------------------------------------------------------===//

void WarpgroupBlock::initRing(const Ring &ring, int64_t consumers) {
  for (int64_t stage = 0; stage < ring.stages; ++stage) {
    Value number = ptx.number(int32_t(stage));
    ptx.initBarrier(fullAt(ring, number), 1);
    ptx.initBarrier(emptyAt(ring, number), int32_t(consumers));
  }
}

WarpgroupBlock::Turn WarpgroupBlock::next(const Ring &ring,
                                          const Turn &turn) const {
  Value stage = ptx.add(turn.stage, 1);
  Value wraps = ptx.equals(stage, int32_t(ring.stages));
  return {
      ptx.select(wraps, ptx.number(0), stage),
      ptx.select(wraps, ptx.bitXor(turn.parity, ptx.number(1)), turn.parity)};
}

Value WarpgroupBlock::before(const Ring &ring, Value stage) const {
  return ptx.select(ptx.equals(stage, 0), ptx.number(int32_t(ring.stages - 1)),
                    ptx.add(stage, -1));
}

Value WarpgroupBlock::stageAt(const Ring &ring, Value stage) const {
  Value start = ptx.mul(stage, int32_t(ring.stageBytes));
  return ptx.add(ring.at ? ptx.add(memory, int32_t(ring.at)) : memory, start);
}

Value WarpgroupBlock::fullAt(const Ring &ring, Value stage) const {
  return ptx.add(ptx.add(memory, int32_t(ring.barriers)), ptx.mul(stage, 8));
}

Value WarpgroupBlock::emptyAt(const Ring &ring, Value stage) const {
  return ptx.add(ptx.add(memory, int32_t(ring.barriers + 8 * ring.stages)),
                 ptx.mul(stage, 8));
}

void WarpgroupBlock::waitFull(const Ring &ring, const Turn &turn) const {
  ptx.wait(fullAt(ring, turn.stage), turn.parity);
}

void WarpgroupBlock::waitEmpty(const Ring &ring, const Turn &turn) const {
  ptx.wait(emptyAt(ring, turn.stage), turn.parity);
}

void WarpgroupBlock::release(const Ring &ring, Value stage) const {
  ptx.arriveWhere(isFirst, emptyAt(ring, stage));
}

//===- Threads that multiply ----------------------------------------------===//

std::array<Value, 2> WarpgroupBlock::rowsOfThread() const {
  Value lane = ptx.bitAnd(thread, 31);
  Value row =
      ptx.add(ptx.mul(ptx.bitAnd(warp, 3), 16), ptx.shiftRight(lane, 2));
  return {row, ptx.add(row, 8)};
}

// Boxes that have gone out since the one that had this slot before, in this
// tile or the one before: so many may not have been read yet.
static unsigned boxesSince(int64_t slots, int64_t boxes, int64_t box) {
  if (box >= slots)
    return unsigned(slots - 1);
  int64_t before = box;
  while (before + slots < boxes)
    before += slots;
  return unsigned(std::min(slots, boxes - 1 - before + box));
}

// Fragments are 8 x 8 matrices of stmatrix; a box is written as a map's copy
// reads it.
void WarpgroupBlock::storeBox(Value map, ValueRange coordinates,
                              const Slots &slots, int64_t box,
                              ValueRange fragments) {
  int64_t slot = box % slots.count;
  Value lane = ptx.bitAnd(thread, 31), name = ptx.add(consumer, 1);
  Value start =
      ptx.add(ptx.add(memory, int32_t(slots.at + slot * Layout::boxBytes)),
              ptx.mul(consumer, int32_t(slots.count * Layout::boxBytes)));
  Value row = ptx.add(ptx.mul(ptx.bitAnd(warp, 3), 16), ptx.bitAnd(lane, 15));
  Value line = ptx.add(start, ptx.mul(row, 128));
  Value part =
      ptx.mul(ptx.bitXor(ptx.shiftRight(lane, 4), ptx.bitAnd(lane, 7)), 16);
  unsigned pending = boxesSince(slots.count, slots.boxes, box);
  when(isFirst, [&] { ptx.waitForCopies(pending, /*written=*/false); });
  ptx.syncThreads(name, Layout::threads);
  for (unsigned group = 0; 4 * group < fragments.size(); ++group) {
    Values words;
    for (Value fragment : fragments.slice(4 * group, 4))
      words.push_back(LLVM::BitcastOp::create(builder, loc,
                                              builder.getI32Type(), fragment));
    Value column = ptx.bitXor(part, ptx.number(int32_t(32 * group)));
    ptx.storeMatrices(ptx.add(line, column), words);
  }
  ptx.publishToCopies();
  ptx.syncThreads(name, Layout::threads);
  when(isFirst, [&] {
    ptx.copyOut(map, coordinates, start);
    ptx.commitCopies();
  });
}

} // namespace sinter::compiler

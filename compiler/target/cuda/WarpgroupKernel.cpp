/// WarpgroupKernel: a kernel whose blocks multiply tiles by warpgroups.
///
/// After the measured ways of CUTLASS's persistent kernels for sm_90: the ring,
/// the roles and the order of waits are theirs.
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "compiler/target/KernelMemory.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/Warp.h"
#include "runtime/device/cuda/CudaImage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace sinter::compiler {

// Of a block; what declares more than one block of a multiprocessor's memory
// has to leave 1024 bytes of each to the system (CUDA Programming Guide,
// compute capability 9.0).
static constexpr int64_t mostBytes = 227 * 1024;
static constexpr int64_t mostBytesOfTwo = 113 * 1024;
static constexpr unsigned sharedSpace = 3;
static constexpr int64_t swizzledBytes = 1024; ///< after which they repeat
static constexpr int64_t boxColumns = 64;
// The registers of a block of three warpgroups, given to those that sum.
static constexpr unsigned producerRegisters = 40, consumerRegisters = 232;

WarpgroupLayout::WarpgroupLayout(const BlockUnit::Tile &tile)
    : consumers(tile.rows / rows), columns(tile.columns),
      blocks(consumers == 1 ? 2 : 1), leftBytes(consumers * boxBytes),
      stageBytes(leftBytes + columns * depth * 2) {
  int64_t out = consumers * boxesOut * boxBytes, most = 8;
  int64_t all = (blocks == 1 ? mostBytes : mostBytesOfTwo) - out;
  stages = std::min(most, all / (stageBytes + 16));
}

//===- Maps ---------------------------------------------------------------===//

static std::optional<runtime::LaunchNumber> launchNumber(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return runtime::LaunchNumber{number.getValue(), {}};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return runtime::LaunchNumber{1, {symbol.getPosition()}};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto a = launchNumber(binary.getLHS()), b = launchNumber(binary.getRHS());
  if (!a || !b)
    return std::nullopt;
  a->factor *= b->factor;
  llvm::append_range(a->dims, b->dims);
  return a;
}

std::optional<runtime::TensorMap> mapOf(const BlockUnit::Matrix &matrix,
                                        Type element, int64_t inner,
                                        int64_t outer) {
  runtime::TensorMap map;
  map.buffer = matrix.buffer;
  map.element = element.isBF16() ? DType::bf16 : DType::f16;
  auto offset = launchNumber(matrix.offset);
  if (!offset)
    return std::nullopt;
  map.offset = *offset;
  for (auto [extent, stride] : llvm::zip(matrix.extents, matrix.strides)) {
    auto size = launchNumber(extent), step = launchNumber(stride);
    if (!size || !step)
      return std::nullopt;
    map.extents.push_back(*size);
    map.strides.push_back(*step);
    map.box.push_back(1);
  }
  map.box[0] = uint32_t(inner);
  map.box[1] = uint32_t(outer);
  return map;
}

//===- Structure ----------------------------------------------------------===//

WarpgroupKernel::WarpgroupKernel(OpBuilder &builder, Location loc,
                                 const KernelEntry &entry,
                                 const BlockUnit::Product &product,
                                 const BlockUnit::Tile &tile,
                                 BlockUnit::Locate locate,
                                 BlockUnit::Finish finish)
    : builder(builder), loc(loc), ptx(builder, loc), entry(entry),
      product(product), layout(tile), locate(locate), finish(finish) {}

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

void WarpgroupKernel::declareMemory() {
  auto function = cast<func::FuncOp>(entry.function);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      function->getParentOfType<ModuleOp>().getBody());
  LLVM::GlobalOp::create(builder, loc,
                         LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         runtime::launchedMemoryName(function.getName().str(),
                                                     uint64_t(layout.bytes())),
                         Attribute(), swizzledBytes, sharedSpace);
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

// They follow the arguments that every kernel has.
void WarpgroupKernel::declareMaps() {
  auto describe = [&](const BlockUnit::Matrix &matrix, int64_t at,
                      int64_t extent) {
    int64_t outer = matrix.alongDepth ? extent : layout.depth;
    return Boxes{&matrix, addMap(matrix, boxColumns, outer), at, extent};
  };
  left = describe(product.left, 0, layout.consumers * layout.rows);
  right = describe(product.right, layout.leftBytes, layout.columns);
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
  declareMemory();
  declareMaps();
  auto function = cast<func::FuncOp>(entry.function);
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  Value start = LLVM::AddressOfOp::create(
      builder, loc, shared,
      runtime::launchedMemoryName(function.getName().str(),
                                  uint64_t(layout.bytes())));
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
  rounds = ptx.number(
      int32_t(cast<AffineConstantExpr>(product.depth.ceilDiv(layout.depth))
                  .getValue()));
  when(ptx.equals(thread, 0), [&] {
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
  bool hasRoles = layout.blocks == 1;
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
         Place place = locate(tile);
         return loop(ptx.number(0), rounds, ptx.number(1), carried,
                     [&](Value k, ValueRange carried) -> Values {
                       Turn turn{carried[0], carried[1]};
                       copyStage(place, k, turn);
                       Turn then = next(turn);
                       return {then.stage, then.parity};
                     });
       });
}

void WarpgroupKernel::copyStage(const Place &place, Value k, const Turn &turn) {
  Value full = barrierAt(layout.fullAt(), turn.stage);
  ptx.wait(barrierAt(layout.emptyAt(), turn.stage), turn.parity);
  ptx.expectBytes(full, int32_t(layout.stageBytes));
  Value depth = ptx.mul(k, int32_t(layout.depth));
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
         Place place = locate(tile);
         Value zero = arith::ConstantOp::create(builder, loc,
                                                builder.getF32FloatAttr(0));
         Values all = sumTile({carried[0], carried[1]},
                              Values(size_t(sumsOfThread()), zero));
         finishTile(place, ArrayRef(all).drop_front(2));
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
  Values ended = finishSums(ArrayRef(results).drop_front(2));
  ptx.arriveWhere(isFirst, barrierAt(layout.emptyAt(), before(results[0])));
  llvm::copy(ended, results.begin() + 2);
  return results;
}

// A matrix in shared memory, as wgmma reads it (PTX ISA, matrix descriptor):
// rows of 128 bytes, swizzled, eight of them after eight. Where neighbours do
// not lie along k, 64 of them follow after a box.
Value WarpgroupKernel::descriptor(Value address, bool alongDepth) const {
  constexpr int64_t unit = 16, swizzle128 = int64_t(1) << 62;
  int64_t lead = alongDepth ? 1 : layout.depth * boxColumns * 2 / unit;
  int64_t high = swizzle128 | (swizzledBytes / unit) << 32 | lead << 16;
  Value place = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                       ptx.shiftRight(address, 4));
  Value rest =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(high));
  return arith::OrIOp::create(builder, loc, place, rest);
}

std::string WarpgroupKernel::elementName() const {
  return product.element.isBF16() ? "bf16" : "f16";
}

// All products of a stage; those of the stage before have ended after it. The
// first stage of a tile does not read the sums.
std::string WarpgroupKernel::multiplyText() const {
  constexpr int64_t depthOfStep = 16;
  int64_t count = sumsOfThread();
  std::string sums, element = elementName();
  for (int64_t sum = 0; sum < count; ++sum)
    sums += (sum ? ", $" : "$") + std::to_string(sum);
  auto operand = [&](int64_t number) {
    return "$" + std::to_string(2 * count + number);
  };
  // In units of 16 bytes: k lies along a row, or down the rows.
  auto place = [&](const BlockUnit::Matrix &matrix, int64_t step) {
    int64_t bytes = depthOfStep * 2 * (matrix.alongDepth ? 1 : boxColumns);
    return std::to_string(step * bytes / 16);
  };
  std::string text = "{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, " +
                     operand(2) + ", 0; wgmma.fence.sync.aligned; ";
  for (int64_t step = 0; step < layout.depth / depthOfStep; ++step)
    text += "add.s64 a, " + operand(0) + ", " + place(product.left, step) +
            "; add.s64 b, " + operand(1) + ", " + place(product.right, step) +
            "; wgmma.mma_async.sync.aligned.m64n" +
            std::to_string(layout.columns) + "k16.f32." + element + "." +
            element + " {" + sums + "}, a, b, " + (step ? "1" : "p") +
            ", 1, 1, " + (product.left.alongDepth ? "0" : "1") + ", " +
            (product.right.alongDepth ? "0" : "1") + "; ";
  return text + "wgmma.commit_group.sync.aligned; "
                "wgmma.wait_group.sync.aligned 1; }";
}

// Sums that are read and written.
static std::string constraintsOf(size_t sums) {
  std::string text;
  for (size_t sum = 0; sum < sums; ++sum)
    text += sum ? ",=f" : "=f";
  for (size_t sum = 0; sum < sums; ++sum)
    text += "," + std::to_string(sum);
  return text;
}

WarpgroupKernel::Values
WarpgroupKernel::multiplyStage(const Turn &turn, Value k, ValueRange sums) {
  Value stage = stageAt(turn.stage);
  Value share = ptx.add(stage, ptx.mul(consumer, int32_t(layout.boxBytes)));
  Values operands(sums);
  operands.push_back(descriptor(share, product.left.alongDepth));
  operands.push_back(descriptor(ptx.add(stage, int32_t(layout.leftBytes)),
                                product.right.alongDepth));
  operands.push_back(k);
  return ptx.run(multiplyText(), constraintsOf(sums.size()) + ",l,l,r",
                 operands, sums.getTypes());
}

// The sums pass through the wait, so that nothing reads them before.
WarpgroupKernel::Values WarpgroupKernel::finishSums(ValueRange sums) {
  return ptx.run("wgmma.wait_group.sync.aligned 0;", constraintsOf(sums.size()),
                 sums, sums.getTypes());
}

//===- Finishing ----------------------------------------------------------===//

// Thread 4 g + t of warp w has, of its warpgroup's share, rows 16 w + g and 8
// more, columns 8 j + 2 t and the next (PTX ISA, wgmma's matrix D).
void WarpgroupKernel::finishTile(const Place &place, ValueRange sums) {
  Value lane = ptx.bitAnd(thread, 31);
  Value row = ptx.add(
      ptx.mul(consumer, int32_t(layout.rows)),
      ptx.add(ptx.mul(ptx.bitAnd(warp, 3), 16), ptx.shiftRight(lane, 2)));
  Value pair = ptx.toIndex(ptx.bitAnd(lane, 3));
  Value rows[] = {ptx.toIndex(row), ptx.toIndex(ptx.add(row, 8))};
  SmallVector<BlockUnit::Fragment> fragments;
  for (int64_t column = 0; column < layout.columns; column += 8)
    for (int64_t below : {0, 1}) {
      int64_t first = column / 2 + 2 * below;
      fragments.push_back(
          {rows[below], pair, column, {sums[first], sums[first + 1]}});
    }
  constexpr size_t ofBox = 2 * boxColumns / 8;
  size_t together = fragmentsTogether(fragments.size(), ofBox);
  for (size_t first = 0; first < fragments.size(); first += together) {
    SmallVector<Value> stored =
        finish(place, ArrayRef(fragments).slice(first, together));
    for (size_t at = 0; at < stored.size(); at += ofBox)
      storeBox(place, int64_t((first + at) / ofBox),
               ArrayRef(stored).slice(at, ofBox));
  }
}

// What is loaded for all of them is on its way together, as far as registers
// suffice: each place that is held at the end of a row takes some, and, in rows
// of an odd length, each element.
size_t WarpgroupKernel::fragmentsTogether(size_t all, size_t ofBox) const {
  if (product.columns % 2 != 0)
    return 2;
  bool isWhole = product.result && product.rows > 0 &&
                 product.rows % (layout.consumers * layout.rows) == 0 &&
                 product.columns % layout.columns == 0;
  return isWhole ? all : ofBox;
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

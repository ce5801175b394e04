/// FmaKernel: a kernel whose blocks multiply a tile each by multiply-add.
#include "compiler/target/simt/FmaKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t group = FmaLayout::group;
// Along k two sectors of f32: more threads would write to the same banks.
static constexpr int64_t beside = 16;

//===- Structure ----------------------------------------------------------===//

static const FmaLayout &layoutOf(const BlockUnit::Tile &tile) {
  return fmaLayouts()[tile.layout];
}

FmaKernel::FmaKernel(OpBuilder &builder, Location loc, const KernelEntry &entry,
                     const BlockUnit::Product &product,
                     const BlockUnit::Tile &tile, BlockUnit::Client &client,
                     const FmaDevice &device, bool isFused)
    : PanelKernel(builder, loc, product, tile, client,
                  {layoutOf(tile).rows, layoutOf(tile).columns,
                   layoutOf(tile).depth, layoutOf(tile).threads(), group,
                   /*storesGroups=*/false, beside}),
      entry(entry), layout(layoutOf(tile)), blocks(tile.blocks),
      mostNumbers(device.mostNumbers), threads(device.threads),
      isFused(isFused) {}

int64_t FmaKernel::strideOf(const Panel &panel) const {
  return panel.isLeft ? layout.leftStride() : layout.rightStride();
}

int64_t FmaKernel::startOf(const Panel &panel) const {
  return panel.isLeft ? 0 : layout.depth * layout.leftStride();
}

Value FmaKernel::placeAt(Value place, Value elements) const {
  return threads.placeAt(builder, loc, place, elements);
}

Value FmaKernel::placeAt(Value place, int64_t elements) const {
  return threads.placeAt(builder, loc, place, elements);
}

Value FmaKernel::stageAt(Value round) const {
  Value stage = numbers.bitAnd(numbers.toI32(round), FmaLayout::stages - 1);
  return placeAt(block.start,
                 numbers.mul(stage, int32_t(layout.stageElements())));
}

void FmaKernel::begin() {
  block = threads.beginPanels(builder, loc, entry, layout.threads(),
                              layout.numbers(mostNumbers), blocks);
  thread = block.thread;
  Value lane = numbers.bitAnd(thread, int32_t(FmaLayout::warp) - 1);
  Value warp =
      numbers.shiftRight(thread, int32_t(llvm::Log2_64(FmaLayout::warp)));
  if (layout.slices > 1)
    std::tie(slice, warp) = numbers.split(warp, layout.warpsOfSlice());
  auto [warpDown, warpAcross] = numbers.split(warp, layout.warpsAcross());
  auto [down, across] = numbers.split(lane, layout.across());
  row = numbers.add(numbers.mul(warpDown, int32_t(layout.warpRows())),
                    numbers.mul(down, int32_t(group)));
  column = numbers.add(numbers.mul(warpAcross, int32_t(layout.warpColumns())),
                       numbers.mul(across, int32_t(group)));
}

void FmaKernel::run() {
  begin();
  Value tile = threads.number(builder, loc);
  client.inTile(tile, [&](const Place &place) {
    Values sums = sumTile(place);
    Value first;
    if (slice) {
      sums = addSlices(sums);
      first = numbers.mul(slice, int32_t(layout.finishedRows()));
    }
    finish(place, first, sums);
  });
}

//===- Panels -------------------------------------------------------------===//

void FmaKernel::storePanel(const Panel &panel, ValueRange values, Value stage) {
  auto put = [&](Value value, Value place, int64_t elements) {
    threads.store(builder, loc, block, value, place, elements);
  };
  for (auto [load, given] : llvm::enumerate(values)) {
    // Not before it is stored: until then nothing waits for what is read.
    Value value = numbers.toF32(given);
    Piece piece = pieceOf(panel, int64_t(load));
    int32_t count = int32_t(panel.count), stride = int32_t(strideOf(panel));
    Value at =
        panel.alongDepth
            ? numbers.add(numbers.mul(piece.k, count * stride), piece.line)
            : numbers.add(numbers.mul(piece.k, stride),
                          numbers.mul(piece.line, count));
    Value place = placeAt(placeAt(stage, startOf(panel)), at);
    if (!panel.alongDepth || count == 1) {
      put(value, place, 0);
      continue;
    }
    for (unsigned next = 0; next < panel.count; ++next)
      put(vector::ExtractOp::create(builder, loc, value, int64_t(next)), place,
          int64_t(next) * stride);
  }
}

void FmaKernel::storeStage(ValueRange values, Value round) {
  Value stage = stageAt(round);
  storePanel(left, values.take_front(valuesOf(left)), stage);
  storePanel(right, values.drop_front(valuesOf(left)), stage);
}

//===- Sums ---------------------------------------------------------------===//

FmaKernel::Values FmaKernel::sumsOf(float number) const {
  Value value =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(number));
  return Values(size_t(layout.sums()), value);
}

FmaKernel::Values FmaKernel::noSums() { return sumsOf(0); }

// One wait a round: a stage is written again when the round after the one that
// read it has begun. The last round reads the last stage once more, in vain.
// Sums begin with -0, which changes none: a driver that knows the first sum may
// take the product for it (Mesa does of 0, too), and one that does not may not.
FmaKernel::Values FmaKernel::sumRounds(const Place &place, Value rounds) {
  Value none = index(0), one = index(1);
  storeStage(loadStage(place, none), none);
  threads.wait(builder, loc);
  Values sums = sumsOf(-0.0f);
  Value last = arith::SubIOp::create(builder, loc, rounds, one);
  auto op = scf::ForOp::create(builder, loc, none, rounds, one, sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.getBody());
  Value round = op.getInductionVar();
  Value next = arith::AddIOp::create(builder, loc, round, one);
  Values values =
      loadStage(place, arith::MinUIOp::create(builder, loc, next, last));
  Values added = addStage(round, op.getRegionIterArgs());
  storeStage(values, next);
  threads.wait(builder, loc);
  scf::YieldOp::create(builder, loc, added);
  return Values(op.getResults());
}

// Groups of elements of a row of a panel.
FmaKernel::Values FmaKernel::readLine(Value place, int64_t at, int64_t groups,
                                      int64_t step) {
  Values values;
  for (int64_t number = 0; number < groups; ++number) {
    Value read = threads.load(builder, loc, block, place, at + number * step,
                              unsigned(group));
    for (int64_t next = 0; next < group; ++next)
      values.push_back(vector::ExtractOp::create(builder, loc, read, next));
  }
  return values;
}

Value FmaKernel::addProduct(Value x, Value y, Value sum) const {
  if (isFused)
    return math::FmaOp::create(builder, loc, x, y, sum);
  return arith::AddFOp::create(builder, loc, sum,
                               arith::MulFOp::create(builder, loc, x, y));
}

FmaKernel::Values FmaKernel::addStage(Value round, ValueRange given) {
  Value stage = stageAt(round);
  Value rows = placeAt(stage, row);
  Value columns = placeAt(placeAt(stage, startOf(right)), column);
  if (slice) {
    Value first = numbers.mul(slice, int32_t(FmaLayout::run));
    rows = placeAt(rows, numbers.mul(first, int32_t(strideOf(left))));
    columns = placeAt(columns, numbers.mul(first, int32_t(strideOf(right))));
  }
  Values sums(given);
  for (int64_t own = 0; own < layout.depthOfSlice(); ++own) {
    int64_t k = layout.placeInStage(own);
    Values a = readLine(rows, k * strideOf(left), layout.threadRows / group,
                        layout.down() * group);
    Values b = readLine(columns, k * strideOf(right),
                        layout.threadColumns / group, layout.across() * group);
    for (auto [r, x] : llvm::enumerate(a))
      for (auto [c, y] : llvm::enumerate(b)) {
        Value &sum = sums[r * b.size() + c];
        sum = addProduct(x, y, sum);
      }
  }
  return sums;
}

// The sums of all slices, in order, of the thread's rows that its own slice
// finishes. They are exchanged in the memory of stages which nobody reads any
// more, some groups of neighbours at a time.
FmaKernel::Values FmaKernel::addSlices(ValueRange sums) {
  Values all;
  int64_t count = layout.groupsAtOnce(mostNumbers);
  for (int64_t first = 0; first < layout.finishedGroups(); first += count) {
    if (first > 0)
      threads.wait(builder, loc);
    giveGroups(sums, first, count);
    threads.wait(builder, loc);
    llvm::append_range(all, takeGroups(count));
  }
  return all;
}

// Groups lie by the slice that has the sums, then by the one that finishes
// them; those of neighbouring threads lie side by side.
Value FmaKernel::groupAt(Value number, int64_t next) const {
  int32_t count = int32_t(layout.threadsOfSlice());
  Value own = numbers.bitAnd(thread, count - 1);
  Value at = numbers.add(numbers.mul(number, count), own);
  return placeAt(placeAt(block.start, numbers.mul(at, int32_t(group))),
                 next * count * group);
}

void FmaKernel::giveGroups(ValueRange sums, int64_t first, int64_t count) {
  Value own = numbers.mul(slice, int32_t(layout.slices * count));
  for (int64_t to = 0; to < layout.slices; ++to)
    for (int64_t next = 0; next < count; ++next) {
      int64_t number = to * layout.finishedGroups() + first + next;
      Value values = vector::FromElementsOp::create(
          builder, loc, VectorType::get({group}, builder.getF32Type()),
          sums.slice(size_t(number * group), group));
      threads.store(builder, loc, block, values,
                    groupAt(own, to * count + next), 0);
    }
}

FmaKernel::Values FmaKernel::takeGroups(int64_t count) {
  Values all;
  Value own = numbers.mul(slice, int32_t(count));
  for (int64_t next = 0; next < count; ++next) {
    Values sums;
    for (int64_t from = 0; from < layout.slices; ++from) {
      Value read = threads.load(
          builder, loc, block,
          groupAt(own, from * layout.slices * count + next), 0, group);
      for (int64_t c = 0; c < group; ++c) {
        Value value = vector::ExtractOp::create(builder, loc, read, c);
        if (from == 0)
          sums.push_back(value);
        else
          sums[size_t(c)] =
              arith::AddFOp::create(builder, loc, sums[size_t(c)], value);
      }
    }
    llvm::append_range(all, sums);
  }
  return all;
}

//===- Finishing ----------------------------------------------------------===//

// Sums of rows of the thread, of all or of those from its row `first` on.
void FmaKernel::finish(const Place &place, Value first, ValueRange sums) {
  SmallVector<BlockUnit::Fragment> fragments;
  Value across = numbers.toIndex(
      numbers.shiftRight(column, int32_t(llvm::Log2_64(group))));
  int64_t rows = int64_t(sums.size()) / layout.threadColumns;
  for (int64_t r = 0; r < rows; ++r) {
    Value number = numbers.number(int32_t(r));
    if (first)
      number = numbers.add(first, number);
    auto [groups, inGroup] = numbers.split(number, group);
    Value down = numbers.mul(groups, int32_t(layout.down() * group));
    Value own = numbers.toIndex(numbers.add(row, numbers.add(down, inGroup)));
    for (int64_t c = 0; c < layout.threadColumns; c += group) {
      auto neighbours = sums.drop_front(r * layout.threadColumns + c);
      fragments.push_back({own, across, c * layout.across(), unsigned(group),
                           llvm::to_vector<4>(neighbours.take_front(group))});
    }
  }
  finishAll(place, fragments);
}

} // namespace sinter::compiler

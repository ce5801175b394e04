/// FragmentKernel: a kernel whose workgroups multiply a tile each in fragments.
#include "compiler/target/vulkan/FragmentKernel.h"

#include "compiler/target/vulkan/Workgroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t halves = FragmentLayout::halves;
static constexpr int64_t floats = FragmentLayout::floats;
static constexpr int64_t size = Fragments::size;
// Along k two sectors of halves: of fewer each is asked for by itself.
static constexpr int64_t beside = 32;

ArrayRef<FragmentLayout> fragmentLayouts() {
  static constexpr FragmentLayout layouts[] = {
      {128, 128, 32, 2, 2}, {64, 64, 32, 2, 2}, {32, 32, 32, 2, 2}};
  return layouts;
}

//===- Structure ----------------------------------------------------------===//

static const FragmentLayout &layoutOf(const BlockUnit::Tile &tile) {
  return fragmentLayouts()[tile.layout];
}

FragmentKernel::FragmentKernel(OpBuilder &builder, Location loc,
                               const KernelEntry &entry,
                               const BlockUnit::Product &product,
                               const BlockUnit::Tile &tile,
                               BlockUnit::Client &client,
                               const BlockThreads &threads, bool isEmulated)
    : PanelKernel(builder, loc, product, tile, client,
                  {layoutOf(tile).rows, layoutOf(tile).columns,
                   layoutOf(tile).depth,
                   layoutOf(tile).subgroups() * threads.warpThreads(), halves,
                   /*storesGroups=*/true, beside, /*spreadsLines=*/true}),
      entry(entry), layout(layoutOf(tile)), threads(threads),
      isEmulated(isEmulated) {}

void FragmentKernel::begin() {
  int64_t groups = std::max(placeOf(right) + groupsOf(right),
                            layout.subgroups() * layout.sumGroups());
  Value memory = workgroupMemory(builder, loc, entry.function, {groups, floats},
                                 builder.getI32Type());
  auto linesOf = [&](const Panel &panel) {
    Fragments::Lines lines;
    lines.memory = memory;
    lines.stride = layout.stride(panel.lines, panel.alongDepth);
    lines.areColumns = panel.isLeft != panel.alongDepth;
    return lines;
  };
  leftLines = linesOf(left);
  rightLines = linesOf(right);
  sumLines.memory = memory;
  sumLines.stride = layout.sumStride();
  enterWorkgroup(builder, loc, entry, sizes.threads, threads.warpThreads());
  thread =
      numbers.toI32(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  lane = numbers.toI32(gpu::LaneIdOp::create(builder, loc, IntegerAttr()));
  Value subgroup = numbers.toI32(gpu::SubgroupIdOp::create(
      builder, loc, builder.getIndexType(), IntegerAttr()));
  auto [down, across] = numbers.split(subgroup, layout.across);
  row = numbers.mul(down, int32_t(layout.ownRows()));
  column = numbers.mul(across, int32_t(layout.ownColumns()));
  firstSum = numbers.mul(subgroup, int32_t(layout.sumGroups()));
  fragments = isEmulated ? makeLoopFragments(builder, loc, product.element,
                                             lane, threads.warpThreads())
                         : makeMatrixFragments(builder, loc, product.element);
}

void FragmentKernel::run() {
  begin();
  Value tile = threads.number(builder, loc);
  client.inTile(tile,
                [&](const Place &place) { finish(place, sumTile(place)); });
}

//===- Panels -------------------------------------------------------------===//

// Neighbours of sixteen bits as four words.
Value FragmentKernel::wordsOf(ValueRange parts) const {
  Type i16 = builder.getI16Type();
  Type words = VectorType::get({halves / 2}, builder.getI32Type());
  if (auto type = dyn_cast<VectorType>(parts.front().getType());
      type && type.getNumElements() == halves)
    return vector::BitCastOp::create(
        builder, loc, words,
        arith::BitcastOp::create(builder, loc, type.clone(i16), parts.front()));
  Values all;
  for (Value part : parts) {
    auto type = dyn_cast<VectorType>(part.getType());
    Type bits = type ? Type(type.clone(i16)) : i16;
    Value value = arith::BitcastOp::create(builder, loc, bits, part);
    if (!type) {
      all.push_back(value);
      continue;
    }
    for (int64_t next = 0; next < type.getNumElements(); ++next)
      all.push_back(vector::ExtractOp::create(builder, loc, value, next));
  }
  Value joined = vector::FromElementsOp::create(
      builder, loc, VectorType::get({halves}, i16), all);
  return vector::BitCastOp::create(builder, loc, words, joined);
}

FragmentKernel::Values FragmentKernel::wordsOfStage(ValueRange values) const {
  Values words;
  for (const Panel *panel : {&left, &right})
    for (int64_t load = 0; load < panel->loads; ++load) {
      size_t parts = panel->count / panel->together;
      words.push_back(wordsOf(values.take_front(parts)));
      values = values.drop_front(parts);
    }
  return words;
}

void FragmentKernel::storePanel(const Panel &panel, ValueRange words) {
  const Fragments::Lines &lines = panel.isLeft ? leftLines : rightLines;
  for (int64_t load = 0; load < panel.loads; ++load) {
    Piece piece = pieceOf(panel, load);
    Value line = panel.alongDepth ? piece.line : piece.k;
    Value inLine = panel.alongDepth ? piece.k : piece.line;
    Value group = numbers.add(numbers.mul(line, int32_t(lines.stride)), inLine);
    group = numbers.add(group, int32_t(placeOf(panel)));
    vector::StoreOp::create(builder, loc, words[size_t(load)], lines.memory,
                            ValueRange{numbers.toIndex(group), index(0)});
  }
}

void FragmentKernel::storeStage(ValueRange words) {
  storePanel(left, words.take_front(left.loads));
  storePanel(right, words.drop_front(left.loads));
}

//===- Sums ---------------------------------------------------------------===//

FragmentKernel::Values FragmentKernel::noSums() {
  int64_t count = layout.fragmentsDown() * layout.fragmentsAcross();
  return Values(size_t(count * fragments->count()), fragments->zero());
}

// One wait before the stage is written, and one after. A round writes what the
// round before it has asked for, and asks for what the next one writes.
FragmentKernel::Values FragmentKernel::sumRounds(const Place &place,
                                                 Value rounds) {
  Value none = index(0), one = index(1);
  Values carried = noSums();
  size_t count = carried.size();
  llvm::append_range(carried, wordsOfStage(loadStage(place, none)));
  Value last = arith::SubIOp::create(builder, loc, rounds, one);
  auto op = scf::ForOp::create(builder, loc, none, rounds, one, carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(op.getBody());
    wait();
    storeStage(op.getRegionIterArgs().drop_front(count));
    wait();
    Value next = arith::AddIOp::create(builder, loc, op.getInductionVar(), one);
    Values values =
        loadStage(place, arith::MinUIOp::create(builder, loc, next, last));
    Values results = addStage(op.getRegionIterArgs().take_front(count));
    llvm::append_range(results, wordsOfStage(values));
    scf::YieldOp::create(builder, loc, results);
  }
  wait();
  return Values(op.getResults().take_front(count));
}

// Fragment `number` of the subgroup's lines, from `k` of the stage on.
Fragments::Operand FragmentKernel::loadFragment(const Panel &panel,
                                                int64_t number,
                                                int64_t k) const {
  const Fragments::Lines &lines = panel.isLeft ? leftLines : rightLines;
  Value first = panel.isLeft ? row : column;
  int64_t line = number * size;
  Value group;
  if (panel.alongDepth)
    group = numbers.add(numbers.mul(first, int32_t(lines.stride)),
                        int32_t(line * lines.stride + k / halves));
  else
    group = numbers.add(numbers.divide(first, int32_t(halves)),
                        int32_t(k * lines.stride + line / halves));
  group = numbers.add(group, int32_t(placeOf(panel)));
  return fragments->load({lines, group}, panel.isLeft);
}

FragmentKernel::Values FragmentKernel::addStage(ValueRange given) {
  Values sums(given);
  int64_t down = layout.fragmentsDown(), across = layout.fragmentsAcross();
  size_t count = size_t(fragments->count());
  for (int64_t k = 0; k < layout.depth; k += size) {
    SmallVector<Fragments::Operand> lefts;
    for (int64_t number = 0; number < down; ++number)
      lefts.push_back(loadFragment(left, number, k));
    for (int64_t j = 0; j < across; ++j) {
      Fragments::Operand right = loadFragment(this->right, j, k);
      for (int64_t i = 0; i < down; ++i)
        fragments->add(Fragments::MutableValues(sums).slice(
                           size_t(i * across + j) * count, count),
                       lefts[size_t(i)], right);
    }
  }
  return sums;
}

//===- Finishing ----------------------------------------------------------===//

// For what a subgroup's own threads have written.
void FragmentKernel::waitForSubgroup() const {
  spirv::ControlBarrierOp::create(builder, loc, spirv::Scope::Subgroup,
                                  spirv::Scope::Subgroup,
                                  spirv::MemorySemantics::AcquireRelease |
                                      spirv::MemorySemantics::WorkgroupMemory);
}

void FragmentKernel::finish(const Place &place, ValueRange sums) {
  size_t count = size_t(fragments->count());
  for (int64_t down = 0; down < layout.fragmentsDown(); ++down) {
    if (down > 0)
      waitForSubgroup();
    for (int64_t across = 0; across < layout.fragmentsAcross(); ++across) {
      Value group = numbers.add(firstSum, int32_t(across * size / floats));
      fragments->store(sums.take_front(count), {sumLines, group});
      sums = sums.drop_front(count);
    }
    waitForSubgroup();
    finishRows(place, down);
  }
}

// Rows of fragments that stand in memory, in groups that neighbouring threads
// take. In a loop the code is a quarter as long.
void FragmentKernel::finishRows(const Place &place, int64_t number) {
  constexpr int64_t mostTogether = 2;
  int64_t groups = layout.ownColumns() / floats, all = size * groups;
  int64_t together = std::min<int64_t>(
      mostTogether, llvm::divideCeil(all, threads.warpThreads()));
  Value firstGroup = numbers.toIndex(numbers.divide(column, int32_t(floats)));
  auto loop = scf::ForOp::create(builder, loc, index(0), index(all),
                                 index(together * threads.warpThreads()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value start = numbers.add(lane, numbers.toI32(loop.getInductionVar()));
  SmallVector<BlockUnit::Fragment> found;
  for (int64_t next = 0; next < together; ++next) {
    auto [line, inLine] = numbers.split(
        numbers.add(start, int32_t(next * threads.warpThreads())), groups);
    Value at = numbers.add(numbers.mul(line, int32_t(sumLines.stride)),
                           numbers.add(firstSum, inLine));
    Value words = vector::LoadOp::create(
        builder, loc, VectorType::get({floats}, builder.getI32Type()),
        sumLines.memory, ValueRange{numbers.toIndex(at), index(0)});
    Value read = arith::BitcastOp::create(
        builder, loc, VectorType::get({floats}, builder.getF32Type()), words);
    BlockUnit::Fragment fragment;
    fragment.row = numbers.toIndex(
        numbers.add(numbers.add(row, int32_t(number * size)), line));
    fragment.group = arith::AddIOp::create(builder, loc, firstGroup,
                                           numbers.toIndex(inLine));
    fragment.count = unsigned(floats);
    for (int64_t next = 0; next < floats; ++next)
      fragment.sums.push_back(
          vector::ExtractOp::create(builder, loc, read, next));
    found.push_back(std::move(fragment));
  }
  finishAll(place, found);
}

} // namespace sinter::compiler

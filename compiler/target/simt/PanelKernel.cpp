/// PanelKernel: who brings which pieces of panels, stage by stage.
#include "compiler/target/simt/PanelKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

static int64_t constantOf(AffineExpr expr) {
  auto number = dyn_cast_if_present<AffineConstantExpr>(expr);
  return number ? number.getValue() : -1;
}

// Stages of a tile, where all have the same number.
static int64_t roundsOf(const BlockUnit::Product &product,
                        const BlockUnit::Tile &tile, int64_t stage) {
  int64_t depth = constantOf(product.depth);
  int64_t part = tile.parts ? constantOf(tile.depth) : depth;
  if (depth < 0 || part <= 0 || depth % part != 0)
    return -1;
  return int64_t(llvm::divideCeil(part, stage));
}

static bool endsStage(const BlockUnit::Product &product,
                      const BlockUnit::Tile &tile, int64_t stage) {
  int64_t depth = constantOf(product.depth);
  int64_t part = tile.parts ? constantOf(tile.depth) : depth;
  return depth > 0 && depth % stage == 0 && part > 0 && part % stage == 0;
}

PanelKernel::PanelKernel(OpBuilder &builder, Location loc,
                         const BlockUnit::Product &product,
                         const BlockUnit::Tile &tile, BlockUnit::Client &client,
                         const Sizes &sizes)
    : builder(builder), loc(loc), numbers(builder, loc), product(product),
      client(client), sizes(sizes),
      endsInStage(!endsStage(product, tile, sizes.depth)),
      rounds(roundsOf(product, tile, sizes.depth)), left(panelOf(true)),
      right(panelOf(false)) {}

PanelKernel::Panel PanelKernel::panelOf(bool isLeft) const {
  const BlockUnit::Reading &reading =
      isLeft ? product.readsLeft : product.readsRight;
  int64_t existing = isLeft ? product.rows : product.columns;
  Panel panel;
  panel.isLeft = isLeft;
  panel.alongDepth = reading.alongDepth;
  panel.lines = isLeft ? sizes.rows : sizes.columns;
  panel.together = unsigned(std::gcd(reading.together, sizes.group));
  panel.count = sizes.storesGroups ? unsigned(sizes.group) : panel.together;
  panel.loads = std::max<int64_t>(1, panel.lines * sizes.depth / panel.count /
                                         sizes.threads);
  panel.endsInside = existing < 0 || existing % panel.lines != 0;
  return panel;
}

Value PanelKernel::index(int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

// Eight threads write 16 bytes each at once, which are in different banks where
// `beside` pieces of a line are followed by those of a line as many lines on.
Value PanelKernel::spread(Value line, int64_t beside) const {
  constexpr int64_t atOnce = 8;
  if (!sizes.spreadsLines || beside <= 1 || beside >= atOnce)
    return line;
  auto [eights, inEight] = numbers.split(line, atOnce);
  auto [first, apart] = numbers.split(inEight, atOnce / beside);
  return numbers.add(numbers.mul(eights, int32_t(atOnce)),
                     numbers.add(numbers.mul(apart, int32_t(beside)), first));
}

// Neighbours in memory are read by neighbouring threads. Where a panel has
// fewer pieces than the block has threads, several bring the same one.
PanelKernel::Piece PanelKernel::pieceOf(const Panel &panel,
                                        int64_t load) const {
  int64_t pieces = panel.lines * sizes.depth / panel.count;
  Value number = thread;
  if (pieces < sizes.threads)
    number = numbers.bitAnd(number, int32_t(pieces - 1));
  if (load > 0)
    number = numbers.add(number, int32_t(load * sizes.threads));
  if (!panel.alongDepth) {
    auto [k, line] = numbers.split(number, panel.lines / panel.count);
    return {line, k};
  }
  int64_t beside = std::min(sizes.depth, sizes.beside) / panel.count;
  auto [rest, first] = numbers.split(number, beside);
  auto [block, line] = numbers.split(rest, panel.lines);
  return {spread(line, beside),
          numbers.add(numbers.mul(block, int32_t(beside)), first)};
}

// Behind the last row or column the last one is read, whose products are not
// stored; behind the end of k nothing is: products of 0 and -0 change no sum.
Value PanelKernel::loadPart(const Panel &panel, const Place &place,
                            const Piece &piece, Value first, unsigned part) {
  int64_t parts = panel.count / panel.together;
  auto divided = [&](Value value, bool isCounted) -> Value {
    if (!isCounted || panel.together == 1)
      return value;
    return arith::DivUIOp::create(builder, loc, value, index(panel.together));
  };
  auto sum = [&](Value a, Value b, bool isCounted) -> Value {
    if (isCounted && parts > 1)
      b = numbers.add(numbers.mul(b, int32_t(parts)), int32_t(part));
    Value own = numbers.toIndex(b);
    return arith::AddIOp::create(builder, loc, divided(a, isCounted), own);
  };
  auto clamped = [&](Value value, Value end) -> Value {
    Value last = arith::SubIOp::create(builder, loc, end, index(1));
    return arith::MinUIOp::create(builder, loc, value, last);
  };
  bool alongLines = !panel.alongDepth;
  Value line =
      sum(panel.isLeft ? place.row : place.column, piece.line, alongLines);
  if (panel.endsInside)
    line = clamped(line, divided(panel.isLeft ? place.endRow : place.endColumn,
                                 alongLines));
  Value k = sum(first, piece.k, panel.alongDepth), exists;
  if (endsInStage) {
    Value end = divided(place.endDepth, panel.alongDepth);
    exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, k, end);
    k = clamped(k, end);
  }
  Value value = panel.isLeft ? client.readLeft(place, line, k, panel.together)
                             : client.readRight(place, line, k, panel.together);
  if (!exists)
    return value;
  TypedAttr nothing =
      builder.getFloatAttr(product.element, panel.isLeft ? 0.0 : -0.0);
  if (auto type = dyn_cast<VectorType>(value.getType()))
    nothing = DenseElementsAttr::get(type, nothing);
  return arith::SelectOp::create(
      builder, loc, exists, value,
      arith::ConstantOp::create(builder, loc, nothing));
}

PanelKernel::Values PanelKernel::loadPanel(const Panel &panel,
                                           const Place &place, Value first) {
  Values values;
  for (int64_t load = 0; load < panel.loads; ++load) {
    Piece piece = pieceOf(panel, load);
    for (unsigned part = 0; part < panel.count / panel.together; ++part)
      values.push_back(loadPart(panel, place, piece, first, part));
  }
  return values;
}

PanelKernel::Values PanelKernel::loadStage(const Place &place, Value round) {
  Value first = arith::AddIOp::create(
      builder, loc, place.depth,
      arith::MulIOp::create(builder, loc, round, index(sizes.depth)));
  Values values = loadPanel(left, place, first);
  llvm::append_range(values, loadPanel(right, place, first));
  return values;
}

PanelKernel::Values PanelKernel::sumTile(const Place &place) {
  if (rounds > 0)
    return sumRounds(place, index(rounds));
  Value length =
      arith::SubIOp::create(builder, loc, place.endDepth, place.depth);
  Value count =
      arith::CeilDivUIOp::create(builder, loc, length, index(sizes.depth));
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     count, index(0));
  Values nothing = noSums();
  auto branch = scf::IfOp::create(builder, loc, ValueRange(nothing).getTypes(),
                                  some, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, sumRounds(place, count));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, nothing);
  return Values(branch.getResults());
}

// Some together, so that what they read is on its way at once; one by one where
// each of their elements is by itself.
void PanelKernel::finishAll(const Place &place,
                            ArrayRef<BlockUnit::Fragment> fragments) {
  constexpr size_t mostTogether = 4;
  bool isEven = product.columns % fragments.front().count == 0;
  size_t together = std::min(isEven ? mostTogether : 1, fragments.size());
  for (size_t first = 0; first < fragments.size(); first += together)
    client.finish(place, fragments.slice(first, together));
}

} // namespace sinter::compiler

/// WarpgroupAttention: how memory is shared, and the threads that copy.
#include "compiler/target/cuda/WarpgroupAttention.h"

#include "compiler/target/cuda/WarpgroupLayout.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

static constexpr int64_t lineBytes = AttentionLayout::lineBytes;
static constexpr int64_t boxColumns = Layout::boxColumns;
static constexpr unsigned producerRegisters = 24, consumerRegisters = 240;

//===- Layout -------------------------------------------------------------===//

// As many as registers suffice for: with sums of an output there are scores;
// with those of gradients scores and changes, with those of both gradients of
// steps less of them, where a mask is read, too.
static int64_t stepsFor(const AttentionUnit::Attention &attention) {
  if (!attention.isGradient)
    return 128;
  return attention.isMasked && attention.walksKeys ? 32 : 64;
}

// A tile's boxes take slots in turn, as many times as there are slots.
static int64_t slotsFor(int64_t boxes) { return boxes == 4 ? 2 : boxes; }

AttentionLayout::AttentionLayout(const AttentionUnit::Attention &attention,
                                 const MachineModel &machine)
    : rows(consumers * Layout::rows), steps(stepsFor(attention)),
      boxes(llvm::divideCeil(attention.length, boxColumns)),
      valueBoxes(llvm::divideCeil(attention.valueLength, boxColumns)),
      rowsBytes(boxes * rows * lineBytes),
      scoresBytes(boxes * steps * lineBytes),
      changesBytes(valueBoxes * steps * lineBytes),
      boxesOut(slotsFor((attention.ofWeights ? valueBoxes : 0) +
                        (attention.ofChanges ? boxes : 0))) {
  if (attention.ofChanges)
    rowsBytes += valueBoxes * rows * lineBytes;
  constexpr int64_t most = 4;
  int64_t rest = machine.sharedBytes - rowsBytes -
                 consumers * boxesOut * Layout::boxBytes - 16;
  stages = std::min(most, rest / (scoresBytes + changesBytes + 32));
}

int64_t AttentionLayout::barriersAt() const {
  return boxesAt() + consumers * boxesOut * Layout::boxBytes;
}

//===- The kernel ---------------------------------------------------------===//

WarpgroupAttention::WarpgroupAttention(OpBuilder &builder, Location loc,
                                       const KernelEntry &entry,
                                       const Attention &attention,
                                       const MachineModel &machine,
                                       Client &client)
    : WarpgroupBlock(builder, loc, entry), attention(attention),
      layout(attention, machine), client(client),
      rowsRing{0, 1, layout.rowsBytes, layout.barriersAt()},
      scoresRing{layout.scoresAt(), layout.stages, layout.scoresBytes,
                 layout.barriersAt() + 16},
      changesRing{layout.changesAt(), layout.stages, layout.changesBytes,
                  layout.barriersAt() + 16 + 16 * layout.stages},
      scores(ptx, attention.element, layout.steps,
             layout.boxes * boxColumns / WarpgroupProduct::depthOfStep,
             SharedOperand{true, layout.rows * lineBytes},
             SharedOperand{true, layout.steps * lineBytes}),
      changes(ptx, attention.element, layout.steps,
              layout.valueBoxes * boxColumns / WarpgroupProduct::depthOfStep,
              SharedOperand{true, layout.rows * lineBytes},
              SharedOperand{true, layout.steps * lineBytes}),
      ofWeights(ptx, attention.element, layout.valueBoxes * boxColumns,
                layout.steps / WarpgroupProduct::depthOfStep, std::nullopt,
                SharedOperand{false, layout.steps * lineBytes}),
      ofChanges(ptx, attention.element, layout.boxes * boxColumns,
                layout.steps / WarpgroupProduct::depthOfStep, std::nullopt,
                SharedOperand{false, layout.steps * lineBytes}) {}

WarpgroupAttention::Operand
WarpgroupAttention::declare(const BlockUnit::Matrix &matrix, int64_t boxes,
                            int64_t rows) {
  return {&matrix, addMap(matrix, attention.element, boxColumns, rows), boxes,
          rows};
}

void WarpgroupAttention::run() {
  using Unit = AttentionUnit;
  auto declare = [&](Unit::Operand which, int64_t boxes, int64_t rows) {
    return this->declare(attention.operands[which], boxes, rows);
  };
  rowsOfScores = declare(Unit::rowsOfScores, layout.boxes, layout.rows);
  stepsOfScores = declare(Unit::stepsOfScores, layout.boxes, layout.steps);
  stepsOfChanges =
      declare(Unit::stepsOfChanges, layout.valueBoxes, layout.steps);
  if (attention.ofChanges)
    rowsOfChanges =
        declare(Unit::rowsOfChanges, layout.valueBoxes, layout.rows);
  auto resultMap = [&](const AttentionUnit::Sum &sum) {
    return addMap(sum.matrix, attention.element, boxColumns, Layout::rows);
  };
  if (attention.ofWeights)
    weightsMap = resultMap(*attention.ofWeights);
  if (attention.ofChanges)
    changesMap = resultMap(*attention.ofChanges);
  Share share{layout.bytes(), layout.consumers, 1, producerRegisters,
              consumerRegisters};
  WarpgroupBlock::run(share, [&] {
    for (const Ring *ring : {&rowsRing, &scoresRing, &changesRing})
      initRing(*ring, layout.consumers);
  });
}

// Stages that some row sees.
WarpgroupAttention::Range WarpgroupAttention::stagesOf(const Place &place) {
  Value row = ptx.toI32(place.row), end = ptx.toI32(place.steps);
  Value from = ptx.number(0);
  if (attention.isCausal && attention.walksKeys)
    from = ptx.divide(row, int32_t(layout.steps));
  else if (attention.isCausal)
    end = ptx.smaller(end, ptx.add(row, int32_t(layout.rows)));
  end = ptx.divide(ptx.add(end, int32_t(layout.steps - 1)),
                   int32_t(layout.steps));
  return {from, end};
}

//===- Copying ------------------------------------------------------------===//

void WarpgroupAttention::copy(const Operand &operand, const Place &place,
                              Value row, Value to, Value full) {
  for (int64_t box = 0; box < operand.boxes; ++box) {
    Values coordinates{ptx.number(int32_t(box * boxColumns)), row};
    for (unsigned axis : operand.matrix->batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    ptx.copyIn(ptx.add(to, int32_t(box * operand.rows * lineBytes)),
               operand.map, coordinates, full);
  }
}

// Rings are empty at first: as if a round before had been taken out. An output
// walks from the last stage on, which hides steps.
void WarpgroupAttention::produce() {
  Value zero = ptx.number(0), one = ptx.number(1);
  forTiles({one, zero, one, zero, one}, [&](Value tile, ValueRange carried) {
    Values ended;
    client.inTile(tile, [&](const Place &place) {
      Turn rows{zero, carried[0]};
      waitEmpty(rowsRing, rows);
      Value full = fullAt(rowsRing, zero), row = ptx.toI32(place.row);
      ptx.expectBytes(full, int32_t(rowsRing.stageBytes));
      Value to = stageAt(rowsRing, zero);
      copy(rowsOfScores, place, row, to, full);
      if (attention.ofChanges)
        copy(rowsOfChanges, place, row,
             ptx.add(to, int32_t(layout.boxes * layout.rows * lineBytes)),
             full);
      Range range = stagesOf(place);
      Values turns = loop(
          range.from, range.to, one, carried.drop_front(),
          [&](Value stage, ValueRange carried) -> Values {
            if (!attention.isGradient)
              stage = ptx.sub(ptx.add(range.to, -1), stage);
            Value step = ptx.mul(stage, int32_t(layout.steps));
            auto fill = [&](const Ring &ring, const Turn &turn,
                            const Operand &operand) {
              waitEmpty(ring, turn);
              Value full = fullAt(ring, turn.stage);
              ptx.expectBytes(full, int32_t(ring.stageBytes));
              copy(operand, place, step, stageAt(ring, turn.stage), full);
              return next(ring, turn);
            };
            Turn scores = fill(scoresRing, turn(carried, 0), stepsOfScores);
            Turn changes = fill(changesRing, turn(carried, 2), stepsOfChanges);
            return {scores.stage, scores.parity, changes.stage, changes.parity};
          });
      ended = {ptx.bitXor(carried[0], one)};
      llvm::append_range(ended, turns);
    });
    return ended;
  });
}

//===- The unit -----------------------------------------------------------===//

namespace {

class WarpgroupAttentionUnit final : public AttentionUnit {
public:
  explicit WarpgroupAttentionUnit(const MachineModel &machine)
      : machine(machine) {}

  std::optional<Tile> tileFor(const Attention &attention) const override {
    constexpr int64_t longest = 128;
    auto fits = [&](const Matrix &matrix) {
      return fitsMap(matrix, attention.element);
    };
    auto fitsOperand = [&](Operand which) {
      return fits(attention.operands[which]);
    };
    bool isOurs =
        attention.isPlain && !attention.isPart &&
        (attention.element.isBF16() || attention.element.isF16()) &&
        attention.length <= longest && attention.valueLength <= longest &&
        attention.scale > 0 && std::isfinite(attention.scale) &&
        (attention.isGradient || attention.ofWeights) &&
        fitsOperand(rowsOfScores) && fitsOperand(stepsOfScores) &&
        fitsOperand(stepsOfChanges) &&
        (!attention.ofChanges ||
         (fitsOperand(rowsOfChanges) && fits(attention.ofChanges->matrix))) &&
        (!attention.ofWeights || fits(attention.ofWeights->matrix));
    if (!isOurs)
      return std::nullopt;
    return Tile{AttentionLayout(attention, machine).rows};
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Attention &attention, Client &client) const override {
    WarpgroupAttention(builder, loc, entry, attention, machine, client).run();
  }

private:
  const MachineModel machine;
};

} // namespace

std::unique_ptr<const AttentionUnit>
makeWarpgroupAttentionUnit(const MachineModel &machine) {
  return std::make_unique<WarpgroupAttentionUnit>(machine);
}

} // namespace sinter::compiler

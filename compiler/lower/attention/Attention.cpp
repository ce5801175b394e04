/// The attention skeleton. A chunk owns a block of lanes, queries or keys, and
/// walks the others in steps; scores exist for one block of steps at a time.
///
/// Everything is kept transposed, lanes last: the lanes' operand is packed once
/// as [length][lane], a block of scores is [step][lane], and so is what is
/// summed. Both products then broadcast elements of the steps' operands as they
/// lie in memory, and all that softmax does is done lane by lane.
#include "compiler/lower/attention/AttentionBlock.h"
#include "compiler/lower/attention/AttentionParts.h"

using namespace mlir;

namespace sinter::compiler {

AttentionParts::AttentionParts(program::KernelOp kernel) {
  for (Operation &op : kernel.getBlock()) {
    auto part = dyn_cast<ir::AttentionOpInterface>(&op);
    if (!part)
      continue;
    if (!first)
      first = part;
    auto take = [&](auto &which) {
      if (auto same = dyn_cast<std::remove_reference_t<decltype(which)>>(&op))
        which = same;
    };
    take(output);
    take(logsumexp);
    take(queryGradient);
    take(keyGradient);
    take(valueGradient);
  }
  walksKeys = first.getWalkedOperand() == 1;
  lanesOperand = walksKeys ? first.getKey() : first.getQuery();
  stepsOperand = walksKeys ? first.getQuery() : first.getKey();
  if (!isGradient())
    return;
  // All gradients have the same operands.
  Operation *any = first;
  value = any->getOperand(3);
  grad = any->getOperand(4);
  rowLogsumexps = any->getOperand(5);
  delta = any->getOperand(6);
}

unsigned bufferOfPart(KernelWriter &writer, Value result) {
  for (auto [number, stored] : llvm::enumerate(writer.kernel.getOutputs()))
    if (stored == result)
      return writer.outputBuffer(number);
  llvm_unreachable("the kernel stores every part");
}

namespace {

/// Writes one kernel.
class AttentionSkeleton : AttentionParts {
public:
  AttentionSkeleton(KernelWriter &writer, const AttentionParts &parts)
      : AttentionParts(parts), writer(writer) {}

  void run() {
    Shape shape = shapeOf(lanesOperand);
    unsigned rank = shape.size();
    MLIRContext *context = first->getContext();
    AttentionTile tile =
        chooseAttentionTile(writer.target, elementOf(lanesOperand), frame());
    AffineExpr blocks =
        shape[rank - 2].ceilDiv(getAffineConstantExpr(tile.width(), context));
    AffineExpr batches = product(shape, 0, rank - 2, context);
    int64_t steps = constantOf(shapeOf(stepsOperand)[rank - 2]);
    double products = double(isGradient() ? 4 : 2) * double(tile.width()) *
                      double(steps < 0 ? 256 : steps) *
                      double(std::max<int64_t>(1, constantOf(shape.back())));
    writer.addPhase(batches * blocks, products / 20000,
                    [&](Emission &emission, Value chunk) {
                      Value count = emission.extent(blocks);
                      Value block = emission.mod(chunk, count);
                      emitBlock(emission, tile, batchOf(emission, chunk, count),
                                block);
                    });
  }

private:
  bool needsScores() const { return queryGradient || keyGradient; }

  // What emitForward and emitGradients keep.
  AttentionFrame frame() {
    int64_t length = constantOf(shapeOf(lanesOperand).back());
    AttentionFrame frame;
    frame.panels = {length};
    frame.steps = {length};
    if (!isGradient()) {
      if (output) {
        int64_t ofValue = constantOf(shapeOf(output.getValue()).back());
        frame.panels.push_back(ofValue);
        frame.steps.push_back(ofValue);
      }
      return frame;
    }
    int64_t ofValue = constantOf(shapeOf(value).back());
    frame.steps.push_back(ofValue);
    if (needsScores()) {
      frame.panels.append({ofValue, length});
      frame.scores = 2;
    }
    if (valueGradient)
      frame.panels.push_back(ofValue);
    return frame;
  }

  SmallVector<Coord> batchOf(Emission &emission, Value chunk, Value blocks) {
    Shape shape = shapeOf(lanesOperand);
    Shape leading(shape.begin(), shape.end() - 2);
    if (leading.empty())
      return {};
    Index flat;
    flat.tail = emission.uniform(emission.floorDiv(chunk, blocks));
    flat.tailRank = leading.size();
    return emission.coordinates(flat, leading);
  }

  // The steps that the granules of lanes [begin, begin + width) see.
  std::pair<Value, Value> stepsOf(Emission &emission, Value begin,
                                  int64_t width) {
    Shape shape = shapeOf(stepsOperand);
    Value from = emission.constant(0);
    Value to = emission.extent(shape[shape.size() - 2]);
    if (first.getSpan() != "causal")
      return {from, to};
    Value granule = emission.constant(causalGranule);
    begin = emission.sub(begin, emission.mod(begin, granule));
    if (walksKeys)
      return {emission.min(begin, to), to};
    Value end = emission.add(
        begin, emission.constant(llvm::alignTo(width, causalGranule)));
    return {from, emission.min(end, to)};
  }

  void emitBlock(Emission &emission, const AttentionTile &tile,
                 SmallVector<Coord> batch, Value number) {
    ScoreMask mask{first.getMask(), first.getSpan() == "causal", walksKeys};
    AttentionBlock block(emission, tile, mask, std::move(batch));
    Shape shape = shapeOf(lanesOperand);
    Value begin = emission.mul(number, emission.constant(tile.width()));
    block.begin(begin, shape[shape.size() - 2]);
    Panel lanes = block.pack(lanesOperand, first.getScale().convertToDouble());
    auto [from, to] = stepsOf(emission, begin, tile.width());
    if (isGradient())
      return emitGradients(block, lanes, from, to);
    emitForward(block, lanes, from, to);
  }

  void emitForward(AttentionBlock &block, Panel lanes, Value from, Value to) {
    Panel result;
    if (output)
      result =
          block.sum(constantOf(shapeOf(output.getValue()).back()), from, to);
    OnlineSoftmax softmax = block.beginSoftmax();
    block.forSteps(from, to, [&](Value step, Value count) {
      StepRows keys = block.rowsOf(stepsOperand, step, count, 0);
      Panel scores = block.scores(keys, step, count, lanes, 0);
      block.advance(softmax, scores, step, count);
      if (!output)
        return;
      StepRows values = block.rowsOf(output.getValue(), step, count, 1);
      block.accumulate(result, values, step, count, scores, softmax.rescale);
    });
    block.finishSoftmax(softmax);
    if (logsumexp)
      block.storeLogsumexp(softmax, logsumexp.getResult(),
                           bufferOfPart(writer, logsumexp.getResult()));
    if (output)
      block.store(result, output.getResult(),
                  bufferOfPart(writer, output.getResult()), 1, softmax.sum);
  }

  void emitGradients(AttentionBlock &block, Panel lanes, Value from, Value to) {
    Panel laneValues;
    if (needsScores())
      laneValues = block.pack(walksKeys ? value : grad, 1);
    Value stepValues = walksKeys ? grad : value;
    int64_t length = constantOf(shapeOf(lanesOperand).back());
    Panel ofLanes, ofValue;
    if (needsScores())
      ofLanes = block.sum(length, from, to);
    if (valueGradient)
      ofValue = block.sum(constantOf(shapeOf(value).back()), from, to);
    block.forSteps(from, to, [&](Value step, Value count) {
      StepRows keys = block.rowsOf(stepsOperand, step, count, 0);
      StepRows values = block.rowsOf(stepValues, step, count, 1);
      Panel scores = block.scores(keys, step, count, lanes, 0);
      Panel changes;
      if (needsScores())
        changes = block.scores(values, step, count, laneValues, 1);
      block.differentiate(scores, changes, rowLogsumexps, delta, step, count);
      if (valueGradient)
        block.accumulate(ofValue, values, step, count, scores, {});
      if (needsScores())
        block.accumulate(ofLanes, keys, step, count, changes, {});
    });
    if (queryGradient)
      storeGradient(block, ofLanes, queryGradient, queryGradient.getFactor());
    if (keyGradient)
      storeGradient(block, ofLanes, keyGradient, keyGradient.getFactor());
    if (valueGradient)
      storeGradient(block, ofValue, valueGradient, valueGradient.getFactor());
  }

  void storeGradient(AttentionBlock &block, Panel panel, Operation *op,
                     const APFloat &factor) {
    Value result = op->getResult(0);
    block.store(panel, result, bufferOfPart(writer, result),
                factor.convertToDouble(), {});
  }

  KernelWriter &writer;
};

} // namespace

void emitAttention(KernelWriter &writer) {
  AttentionParts parts(writer.kernel);
  if (constantOf(emitAttentionInBlocks(writer, parts)) != 0)
    AttentionSkeleton(writer, parts).run();
}

} // namespace sinter::compiler

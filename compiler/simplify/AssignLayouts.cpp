/// Chooses where images have their channels inside of a program.
#include "compiler/Passes.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/fuse/FusionGraph.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/LayoutRegion.h"
#include "compiler/simplify/SimplifyOps.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "sinter/generated/Passes.h.inc"

namespace {

/// Rewrites what a region chose.
class LayoutWriter {
public:
  explicit LayoutWriter(func::FuncOp function)
      : builder(function.getContext()) {}

  void write(const LayoutPart &part);
  /// Erases turned ops, and what was turned back for nobody.
  void finish();

private:
  Value turned(Value value, ArrayRef<int64_t> order, Location loc);
  Value transposed(Value value, Type type, ArrayRef<int64_t> order,
                   Location loc);

  OpBuilder builder;
  /// A value as recorded to what is stored, and its order.
  llvm::DenseMap<Value, std::pair<Value, ir::AxisOrder>> stored;
  SmallVector<Operation *> replaced, turnedBack;
};

} // namespace

Value LayoutWriter::transposed(Value value, Type type, ArrayRef<int64_t> order,
                               Location loc) {
  auto op = ir::TransposeOp::create(builder, loc, type, value,
                                    builder.getDenseI64ArrayAttr(order));
  op->setAttr(storedAttr, builder.getUnitAttr());
  return op;
}

Value LayoutWriter::turned(Value value, ArrayRef<int64_t> order, Location loc) {
  if (ir::isRecorded(order))
    return value;
  auto known = stored.find(value);
  if (known != stored.end() && ArrayRef(known->second.second) == order)
    return known->second.first;
  auto type = cast<RankedTensorType>(value.getType());
  return transposed(value, ir::storedType(type, order, numSymbolsOf(type)),
                    order, loc);
}

void LayoutWriter::write(const LayoutPart &part) {
  Operation *op = part.op;
  builder.setInsertionPoint(op);
  SmallVector<Value> operands;
  for (auto [operand, order] :
       llvm::zip(op->getOperands(), part.orders.operands))
    operands.push_back(turned(operand, order, op->getLoc()));
  auto rule = cast<ir::SinterOpInterface>(op).getReorderRule();
  Value made = rule->build(builder, op, operands, part.orders);
  Value back = made;
  if (!ir::isRecorded(part.orders.result)) {
    back = transposed(made, op->getResult(0).getType(),
                      ir::placesOf(part.orders.result), op->getLoc());
    turnedBack.push_back(back.getDefiningOp());
    stored[back] = {made, part.orders.result};
  }
  op->getResult(0).replaceAllUsesWith(back);
  replaced.push_back(op);
}

void LayoutWriter::finish() {
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (Operation *op : turnedBack)
    if (op->use_empty())
      op->erase();
}

//===- Decisions ----------------------------------------------------------===//

namespace {
/// Tensors that are turned between a region and what is around it.
struct Turns {
  unsigned count = 0;
  double bytes = 0;
};
} // namespace

static Turns turnsOf(const LayoutRegion &region) {
  llvm::DenseMap<Operation *, const LayoutPart *> turned;
  for (const LayoutPart &part : region.parts())
    if (part.isTurned)
      turned[part.op] = &part;
  Turns result;
  llvm::DenseSet<Value> seen;
  auto add = [&](Value value) {
    if (!seen.insert(value).second)
      return;
    ++result.count;
    result.bytes += estimatedBytes(value.getType());
  };
  for (auto &[op, part] : turned) {
    for (auto [operand, order] :
         llvm::zip(op->getOperands(), part->orders.operands)) {
      auto maker = turned.find(operand.getDefiningOp());
      if (!ir::isRecorded(order) &&
          (maker == turned.end() || maker->second->orders.result != order))
        add(operand);
    }
    if (ir::isRecorded(part->orders.result))
      continue;
    for (OpOperand &use : op->getResult(0).getUses())
      if (!turned.contains(use.getOwner()))
        add(op->getResult(0));
  }
  return result;
}

// Nothing where channels are last as it is, and nothing could be turned.
static std::optional<FusionDecision> decisionOf(const LayoutRegion &region,
                                                bool exact) {
  unsigned count = 0, turned = 0;
  FusionDecision decision;
  Location loc = region.seed()->getLoc();
  for (const LayoutPart &part : region.parts()) {
    turned += part.isTurned;
    auto image = dyn_cast<ir::ImageOpInterface>(part.op);
    if (!image || image.isChannelsLast())
      continue;
    ++count;
    loc = mergeLocations(loc, part.op->getLoc());
  }
  if (count == 0 && turned == 0)
    return std::nullopt;
  Turns turns = turnsOf(region);
  decision.accepted = turned > 0 && !exact;
  decision.rule = turned > 0 && exact ? "exact" : "layout";
  decision.bytes = int64_t(turns.bytes);
  decision.estUs = float(region.gain() / 1000);
  auto nodes = nodesOf(loc);
  decision.nodes.assign(nodes.begin(), nodes.end());
  std::string name = region.seed()->getName().stripDialect().str();
  std::string what =
      count < 2 ? name : llvm::formatv("{0} and {1} more", name, count - 1);
  if (turned == 0)
    decision.detail = what + ": turning its images would cost more";
  else
    decision.detail = llvm::formatv(
        "{0}, channels last; tensors turned: {1}{2}", what, turns.count,
        exact ? "; sums would be in another order" : "");
  return decision;
}

//===- The pass -----------------------------------------------------------===//

static std::vector<FusionDecision> assignLayouts(func::FuncOp function,
                                                 bool exact) {
  Block &block = function.getBody().front();
  llvm::DenseSet<Operation *> taken;
  std::vector<LayoutRegion> regions;
  for (auto seed : block.getOps<ir::ImageOpInterface>())
    if (!taken.contains(seed))
      regions.emplace_back(seed, taken).choose();
  std::vector<FusionDecision> decisions;
  llvm::DenseMap<Operation *, const LayoutPart *> turned;
  for (const LayoutRegion &region : regions) {
    if (auto decision = decisionOf(region, exact))
      decisions.push_back(std::move(*decision));
    for (const LayoutPart &part : region.parts())
      if (part.isTurned)
        turned[part.op] = &part;
  }
  if (exact)
    return decisions;
  LayoutWriter writer(function);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (const LayoutPart *part = turned.lookup(&op))
      writer.write(*part);
  writer.finish();
  return decisions;
}

namespace {

struct AssignLayoutsPass : impl::AssignLayoutsBase<AssignLayoutsPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto decisions = assignLayouts(mainOf(module), exact);
    if (!decisions.empty())
      addDecisions(module, decisions);
  }
};

} // namespace

} // namespace sinter::compiler

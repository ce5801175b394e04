/// Groups become `program.kernel`s and launches.
#include "compiler/Passes.h"
#include "compiler/analysis/Marks.h"
#include "compiler/fuse/CutKernels.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/fuse/KernelText.h"
#include "compiler/fuse/MergeIndependent.h"
#include "compiler/fuse/RecomputeValues.h"
#include "compiler/fuse/SplitAtLoops.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/lower/contraction/TileShape.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "dialects/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_FORMKERNELS
#include "sinter/generated/Passes.h.inc"

namespace {

using KernelsByName = llvm::StringMap<program::KernelOp>;

/// Writes the kernels of one graph.
class KernelWriter {
public:
  KernelWriter(ModuleOp module, FusionGraph &graph, const FuseOptions &options,
               std::vector<FusionDecision> &decisions, KernelsByName &kernels,
               Operation *before)
      : module(module), graph(graph), options(options), decisions(decisions),
        kernels(kernels), builder(module.getContext()),
        symbols(programSymbols(module)),
        function(module.lookupSymbol<func::FuncOp>("main")), before(before) {}

  LogicalResult run();

private:
  struct Built {
    program::KernelOp kernel;
    AffineMap dims; ///< the kernel's symbols in terms of the program's
    SmallVector<Value> inputs;
    OpSet outputs;
    Location loc;
    std::optional<uint32_t> errorNode;
  };
  Built build(const OpSet &coreOps, const char *kind);
  bool staysTheSame(Value input);
  program::ScheduleAttr scheduleOf(ArrayRef<Value> inputs, const OpSet &body);
  LogicalResult writeGroup(unsigned group);
  void launch(Built &built);
  void splitUnemittable();
  void eraseGrouped();

  ModuleOp module;
  FusionGraph &graph;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  KernelsByName &kernels;
  OpBuilder builder;
  unsigned symbols;
  func::FuncOp function;
  Operation *before; ///< where launches go
  /// Values to read instead of the ops' results.
  IRMapping replaced;
};

} // namespace

// The ops of a body as its outputs reach them, so that a kernel's text does not
// depend on what stood between its ops in the program.
static OpSet canonicalOrder(const FusionGraph &graph, const OpSet &body,
                            const OpSet &outputs) {
  llvm::SmallDenseSet<int> waiting(body.begin(), body.end());
  OpSet order;
  SmallVector<unsigned> stack(llvm::reverse(outputs));
  while (!stack.empty()) {
    unsigned index = stack.back();
    size_t depth = stack.size();
    for (Value operand : llvm::reverse(graph.op(index)->getOperands()))
      if (int source = graph.indexOf(operand); waiting.contains(source))
        stack.push_back(source);
    if (stack.size() > depth)
      continue;
    stack.pop_back();
    if (waiting.erase(index))
      order.push_back(index);
  }
  return order;
}

// A parameter that no result could be the next value of.
bool KernelWriter::staysTheSame(Value input) {
  auto argument = dyn_cast<BlockArgument>(input);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return false;
  auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    port_attrs::kind);
  StringRef parameter = toString(graph::InputKind::parameter);
  return kind && kind.getValue() == parameter &&
         !llvm::is_contained(function.getResultTypes(), input.getType());
}

// Only where it makes another kernel: others are shared with programs that
// change their parameters.
program::ScheduleAttr KernelWriter::scheduleOf(ArrayRef<Value> inputs,
                                               const OpSet &body) {
  auto matters = [&](Value input) {
    return llvm::any_of(body, [&](unsigned index) {
      Operation *op = graph.op(index);
      return kindOf(op) == graph::PatternKind::contraction &&
             copiesRightIfKept(
                 cast<RankedTensorType>(op->getResult(0).getType()),
                 cast<RankedTensorType>(input.getType()));
    });
  };
  SmallVector<int64_t> kept;
  for (auto [number, input] : llvm::enumerate(inputs))
    if (staysTheSame(input) && matters(input))
      kept.push_back(int64_t(number));
  if (kept.empty())
    return {};
  return program::ScheduleAttr::keeping(builder.getDenseI64ArrayAttr(kept));
}

// A kernel outside of the module, named by its canonical text.
KernelWriter::Built KernelWriter::build(const OpSet &coreOps,
                                        const char *kind) {
  OpSet outputs = graph.outputs(coreOps);
  OpSet body = canonicalOrder(graph, graph.body(coreOps), outputs);
  SmallVector<Value> inputs = graph.inputs(body);
  SmallVector<Location> locs;
  std::optional<uint32_t> errorNode;
  for (unsigned index : body) {
    Operation *op = graph.op(index);
    locs.push_back(op->getLoc());
    graph::PatternKind pattern = kindOf(op);
    bool indexed = (pattern == graph::PatternKind::gather ||
                    pattern == graph::PatternKind::scatter) &&
                   !op->hasAttr(checkedAttr);
    if (indexed && !errorNode)
      if (auto nodes = nodesOf(op->getLoc()); !nodes.empty())
        errorNode = nodes.front();
  }
  Location loc = FusedLoc::get(module.getContext(), locs);

  KernelSymbols own(symbols);
  for (Value input : inputs)
    own.collect(input.getType());
  for (unsigned index : body)
    own.collect(graph.op(index));

  builder.clearInsertionPoint();
  auto kernel = program::KernelOp::create(
      builder, loc, builder.getStringAttr("kernel"),
      builder.getStringAttr(kind), builder.getI64IntegerAttr(own.size()),
      scheduleOf(inputs, body), /*workspaces=*/AffineMapAttr(),
      /*prepared=*/DenseI64ArrayAttr());
  Block *block = builder.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, block->addArgument(own.renamed(input.getType()),
                                          input.getLoc()));
  for (unsigned index : body) {
    Operation *clone = builder.clone(*graph.op(index), mapping);
    for (const char *mark :
         {recomputedAttr, orderAttr, afterAttr, storedAttr, turnedAttr})
      clone->removeAttr(mark);
    own.rename(clone);
  }
  SmallVector<Value> yielded;
  for (unsigned index : outputs)
    yielded.push_back(mapping.lookup(graph.op(index)->getResult(0)));
  program::YieldOp::create(builder, loc, yielded);
  kernel.setSymName(kernelName(kernel));
  return {kernel, own.launchDims(), std::move(inputs), std::move(outputs),
          loc,    errorNode};
}

void KernelWriter::launch(Built &built) {
  builder.setInsertionPoint(before);
  SmallVector<Value> operands;
  for (Value input : built.inputs)
    operands.push_back(replaced.lookupOrDefault(input));
  SmallVector<Type> types;
  for (unsigned index : built.outputs)
    types.push_back(graph.op(index)->getResult(0).getType());
  auto launch = program::LaunchOp::create(
      builder, built.loc, types,
      FlatSymbolRefAttr::get(built.kernel.getSymNameAttr()), operands,
      AffineMapAttr::get(built.dims), IntegerAttr(), ArrayAttr(),
      built.errorNode ? builder.getI64IntegerAttr(*built.errorNode)
                      : IntegerAttr());
  for (auto [index, result] : llvm::zip(built.outputs, launch.getResults()))
    replaced.map(graph.op(index)->getResult(0), result);
}

LogicalResult KernelWriter::writeGroup(unsigned group) {
  const OpSet &members = graph.members(group);
  // Every kernel that reads it computes it again.
  if (graph.outputs(members).empty())
    return success();
  Classified shape = classifyGroup(graph, members, options.caps);
  const char *kind = kernel_kinds::map;
  if (auto *kernel = std::get_if<KernelShape>(&shape))
    kind = kernel->kind;
  else if (members.size() == 1)
    return graph.op(members[0])->emitError()
           << "cannot be a kernel: " << std::get<Rejection>(shape).detail;
  Built built = build(members, kind);
  if (auto known = kernels.lookup(built.kernel.getSymName())) {
    built.kernel.erase();
    built.kernel = known;
  } else {
    builder.setInsertionPoint(function);
    builder.insert(built.kernel);
    kernels[built.kernel.getSymName()] = built.kernel;
  }
  launch(built);
  return success();
}

// Asks the emitter before anything is written: a group that it cannot emit
// becomes one kernel per op.
void KernelWriter::splitUnemittable() {
  for (unsigned group = 0; group < graph.numGroups(); ++group) {
    if (graph.members(group).size() < 2)
      continue;
    OpSet members = graph.members(group);
    Classified shape = classifyGroup(graph, members, options.caps);
    std::string why = "not a kernel";
    if (auto *kernel = std::get_if<KernelShape>(&shape)) {
      Built built = build(members, kernel->kind);
      bool fits = canEmit(built.kernel, &why);
      built.kernel.erase();
      if (fits)
        continue;
    }
    SmallVector<Location> locs;
    for (unsigned index : members)
      locs.push_back(graph.op(index)->getLoc());
    auto nodes = nodesOf(FusedLoc::get(module.getContext(), locs));
    decisions.push_back(
        {false, "emitter", 0, 0, {nodes.begin(), nodes.end()}, why});
    graph.split(group);
  }
}

// Renames stay; everything else of the old body is in kernels now.
void KernelWriter::eraseGrouped() {
  for (unsigned index = 0; index < graph.size(); ++index)
    if (graph.isRename(index)) {
      Operation *op = graph.op(index);
      op->moveBefore(before);
      op->setOperand(0, replaced.lookupOrDefault(op->getOperand(0)));
    }
  for (unsigned index = 0; index < graph.size(); ++index) {
    Value result = graph.op(index)->getResult(0);
    result.replaceUsesWithIf(
        replaced.lookupOrDefault(result),
        [&](OpOperand &use) { return !graph.contains(use.getOwner()); });
  }
  for (unsigned index = graph.size(); index-- > 0;)
    if (!graph.isRename(index))
      graph.op(index)->erase();
}

LogicalResult KernelWriter::run() {
  splitUnemittable();
  for (unsigned group : graph.executionOrder())
    if (failed(writeGroup(group)))
      return failure();
  eraseGrouped();
  return success();
}

// Decisions as attributes, so that the module alone is the state of a stage.
static DictionaryAttr toAttr(Builder &builder, const FusionDecision &decision) {
  std::vector<int32_t> nodes(decision.nodes.begin(), decision.nodes.end());
  return builder.getDictionaryAttr({
      builder.getNamedAttr("accepted", builder.getBoolAttr(decision.accepted)),
      builder.getNamedAttr("rule", builder.getStringAttr(decision.rule)),
      builder.getNamedAttr("bytes", builder.getI64IntegerAttr(decision.bytes)),
      builder.getNamedAttr("est_us", builder.getF32FloatAttr(decision.estUs)),
      builder.getNamedAttr("nodes", builder.getDenseI32ArrayAttr(nodes)),
      builder.getNamedAttr("detail", builder.getStringAttr(decision.detail)),
  });
}

std::vector<FusionDecision> decisionsOf(ModuleOp module) {
  std::vector<FusionDecision> result;
  auto list = module->getAttrOfType<ArrayAttr>(decisionsAttr);
  if (!list)
    return result;
  for (auto entry : list.getAsRange<DictionaryAttr>()) {
    auto nodes = entry.getAs<DenseI32ArrayAttr>("nodes").asArrayRef();
    result.push_back(
        {entry.getAs<BoolAttr>("accepted").getValue(),
         entry.getAs<StringAttr>("rule").str(),
         entry.getAs<IntegerAttr>("bytes").getInt(),
         entry.getAs<FloatAttr>("est_us").getValue().convertToFloat(),
         {nodes.begin(), nodes.end()},
         entry.getAs<StringAttr>("detail").str()});
  }
  return result;
}

void addDecisions(ModuleOp module,
                  const std::vector<FusionDecision> &decisions) {
  Builder builder(module.getContext());
  SmallVector<Attribute> attrs;
  if (auto known = module->getAttrOfType<ArrayAttr>(decisionsAttr))
    attrs.append(known.begin(), known.end());
  for (const FusionDecision &decision : decisions)
    attrs.push_back(toAttr(builder, decision));
  module->setAttr(decisionsAttr, builder.getArrayAttr(attrs));
}

// Kernels for what runs together: the ops between loops, and each body.
static LogicalResult fuseBlock(ModuleOp module, Block &block,
                               const FuseOptions &options,
                               KernelsByName &kernels,
                               std::vector<FusionDecision> &decisions) {
  for (Segment &segment : splitAtLoops(block)) {
    FusionGraph graph = cutToCaps(segment.ops, options, decisions);
    std::vector<FusionDecision> found = formKernels(graph, options);
    if (failed(
            KernelWriter(module, graph, options, found, kernels, segment.before)
                .run()))
      return failure();
    llvm::append_range(decisions, found);
  }
  for (auto loop : llvm::to_vector(block.getOps<program::ForOp>()))
    if (failed(fuseBlock(module, loop.getBlock(), options, kernels, decisions)))
      return failure();
  return success();
}

LogicalResult fuse(ModuleOp module, const FuseOptions &options) {
  std::vector<FusionDecision> decisions;
  KernelsByName kernels;
  if (failed(fuseBlock(module, mainOf(module).getBody().front(), options,
                       kernels, decisions)))
    return failure();
  addDecisions(module, decisions);
  return success();
}

namespace {

struct FormKernelsPass : impl::FormKernelsBase<FormKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    FuseOptions stage;
    stage.fusion = onePerOp ? Fusion::none : Fusion::full;
    stage.caps = capsOf(program::targetOf(getOperation()));
    stage.caps.ops = maxOps;
    stage.caps.buffers = maxBuffers;
    stage.caps.copies = maxCopies;
    stage.caps.parallelOps = maxParallelOps;
    stage.caps.work = maxWork;
    if (failed(fuse(getOperation(), stage)))
      signalPassFailure();
  }
};

} // namespace

} // namespace sinter::compiler

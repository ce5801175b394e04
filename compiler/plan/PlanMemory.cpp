/// Buffers, live intervals and may-alias pairs.
#include "compiler/plan/PlanMemory.h"
#include "compiler/Passes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_PLANMEMORY
#include "sinter/generated/Passes.h.inc"

Value behindRenames(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<program::LaunchOp, program::ForOp>(op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

SmallVector<unsigned> elementwiseReaders(program::KernelOp kernel,
                                         unsigned input) {
  SmallVector<unsigned> outputs;
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Value> pending{kernel.getInputs()[input]};
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<program::YieldOp>(user)) {
        outputs.push_back(use.getOperandNumber());
        continue;
      }
      // A reshape leaves every element at its place in memory.
      if (kindOf(user) != graph::PatternKind::pointwise && !isReshape(user))
        return {};
      if (seen.insert(user).second)
        pending.push_back(user->getResult(0));
    }
  llvm::sort(outputs);
  outputs.erase(llvm::unique(outputs), outputs.end());
  return outputs;
}

namespace {

/// A buffer while it is planned.
struct PlannedBuffer {
  std::string name;
  const char *kind = buffer_kinds::temp;
  int64_t index = 0;
  Type type;
  int64_t first = 0;
  int64_t last = 0;
};

/// A loop while it is planned.
struct LoopPlan {
  int64_t step = 0;
  SmallVector<unsigned> carryBuffers; ///< as ForOp's
  SmallVector<unsigned> sliceBuffers;
  /// What the body yields, and where it has to be at the end of a step.
  SmallVector<std::pair<Value, unsigned>> targets;
};

/// Plans one module.
class Planner {
public:
  explicit Planner(ModuleOp module)
      : module(module), builder(module.getContext()),
        function(module.lookupSymbol<func::FuncOp>("main")),
        symbols(programSymbols(module)) {}

  void run();

private:
  void planInputs();
  void planOutputs();
  void planSteps();
  void planBlock(Block &block);
  void planLaunch(program::LaunchOp launch);
  void planLoop(program::ForOp loop);
  void beginLoop(program::ForOp loop, LoopPlan &plan);
  void endLoop(program::ForOp loop, LoopPlan &plan);
  void planWorkspaces(program::LaunchOp launch);
  bool isMadeOnce(program::LaunchOp launch, int64_t preparedInput);
  unsigned addTemp(Type type, int64_t first, int64_t last);
  unsigned addMoving(Type type, const LoopPlan &plan);
  void copy(unsigned from, unsigned to);
  void writeBuffers();
  void writeAliases();
  void read(Value value, int64_t step);
  unsigned add(PlannedBuffer buffer);
  bool sameBytes(unsigned a, unsigned b) const {
    return byteCount(buffers[a].type) == byteCount(buffers[b].type);
  }
  FlatSymbolRefAttr nameOf(unsigned buffer) {
    return FlatSymbolRefAttr::get(builder.getContext(), buffers[buffer].name);
  }

  ModuleOp module;
  OpBuilder builder;
  func::FuncOp function;
  unsigned symbols;
  std::vector<PlannedBuffer> buffers;
  llvm::DenseMap<Value, unsigned> bufferOf;
  struct Copy {
    unsigned from, to;
  };
  SmallVector<Copy> earlyCopies, lateCopies;
  /// A buffer of a launch alone, behind all others.
  struct Workspace {
    AffineExpr bytes;
    int64_t first, last;
  };
  std::vector<Workspace> workspaces;
  int64_t step = 0;
  int64_t temps = 0;
  /// Steps up to this one may leave the program with an error. One of a loop's
  /// body does so at each round: launches that get state stand in no loop.
  int64_t lastReport = -1;
};

} // namespace

static std::string workspaceName(size_t number) {
  return llvm::formatv("w{0}", number);
}

unsigned Planner::add(PlannedBuffer buffer) {
  buffers.push_back(std::move(buffer));
  return buffers.size() - 1;
}

void Planner::planInputs() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    bufferOf[argument] =
        add({llvm::formatv("in{0}", index), buffer_kinds::input, int64_t(index),
             argument.getType()});
}

// An output that is an input, or another output, is copied.
void Planner::planOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = behindRenames(operand.get());
    unsigned index = operand.getOperandNumber();
    unsigned buffer = add({llvm::formatv("out{0}", index), buffer_kinds::output,
                           int64_t(index), value.getType()});
    auto [known, isNew] = bufferOf.try_emplace(value, buffer);
    if (isNew)
      continue;
    bool fromInput = isa<BlockArgument>(value);
    (fromInput ? earlyCopies : lateCopies).push_back({known->second, buffer});
  }
}

void Planner::read(Value value, int64_t at) {
  PlannedBuffer &buffer = buffers[bufferOf.lookup(behindRenames(value))];
  buffer.last = std::max(buffer.last, at);
}

unsigned Planner::addTemp(Type type, int64_t first, int64_t last) {
  unsigned buffer = add({llvm::formatv("t{0}", temps), buffer_kinds::temp,
                         temps, type, first, last});
  ++temps;
  return buffer;
}

unsigned Planner::addMoving(Type type, const LoopPlan &plan) {
  return add({llvm::formatv("m{0}", buffers.size()), buffer_kinds::moving,
              plan.step, type, plan.step, plan.step});
}

void Planner::copy(unsigned from, unsigned to) {
  program::CopyOp::create(builder, function.getLoc(), nameOf(from), nameOf(to),
                          builder.getI64IntegerAttr(step));
  buffers[from].last = std::max(buffers[from].last, step);
  if (buffers[to].kind != buffer_kinds::moving)
    buffers[to].first = step;
  buffers[to].last = std::max(buffers[to].last, step);
  ++step;
}

void Planner::planLaunch(program::LaunchOp launch) {
  if (launch.getErrorNode())
    lastReport = step;
  SmallVector<Attribute> names;
  for (Value input : launch.getInputs()) {
    read(input, step);
    names.push_back(nameOf(bufferOf.lookup(behindRenames(input))));
  }
  for (Value output : launch.getOutputs()) {
    if (!bufferOf.contains(output))
      bufferOf[output] = addTemp(output.getType(), step, step);
    PlannedBuffer &buffer = buffers[bufferOf[output]];
    if (buffer.kind != buffer_kinds::moving)
      buffer.first = step;
    buffer.last = std::max(buffer.last, step);
    names.push_back(nameOf(bufferOf[output]));
  }
  launch.setStep(step++);
  launch.setBuffersAttr(builder.getArrayAttr(names));
}

// A kernel may be given the slices of a tensor only where they begin as
// aligned as a buffer does.
static bool isAligned(program::ForOp loop, Type slice) {
  constexpr int64_t alignment = 64;
  return loop.isSingle() || byteCount(slice).isMultipleOf(alignment);
}

// Buffers that the loop moves, and those of its results.
void Planner::beginLoop(program::ForOp loop, LoopPlan &plan) {
  Block &body = loop.getBlock();
  unsigned carries = loop.getNumCarries();
  for (Value result : loop.getResults()) {
    if (!bufferOf.contains(result))
      bufferOf[result] = addTemp(result.getType(), step, step);
    buffers[bufferOf[result]].first = step;
  }
  for (unsigned i = 0; i < carries; ++i) {
    Type type = body.getArgument(i).getType();
    read(loop.getInits()[i], step);
    unsigned carry = addMoving(type, plan), next = addMoving(type, plan);
    bufferOf[body.getArgument(i)] = carry;
    plan.targets.push_back({loop.getYielded()[i], next});
    // Where the values of two steps take turns, the second has a place, too.
    Type spare = loop.isSingle()
                     ? RankedTensorType::get({0}, builder.getI1Type())
                     : type;
    plan.carryBuffers.append(
        {carry, bufferOf.lookup(behindRenames(loop.getInits()[i])), next,
         bufferOf[loop.getResult(i)], addTemp(spare, step, step)});
  }
  for (auto [i, whole] : llvm::enumerate(loop.getXs())) {
    read(whole, step);
    BlockArgument argument = body.getArgument(carries + i);
    unsigned slice = addMoving(argument.getType(), plan);
    bufferOf[argument] = slice;
    plan.sliceBuffers.append({slice, bufferOf.lookup(behindRenames(whole))});
  }
  for (unsigned i = carries; i < loop.getNumResults(); ++i) {
    Value y = loop.getYielded()[i];
    unsigned slice = addMoving(y.getType(), plan);
    plan.targets.push_back({y, slice});
    plan.sliceBuffers.append({slice, bufferOf[loop.getResult(i)]});
  }
}

// What is not where it has to be is copied there. Everything that the body
// uses and that was there before stays until the loop ends.
void Planner::endLoop(program::ForOp loop, LoopPlan &plan) {
  builder.setInsertionPoint(loop.getBlock().getTerminator());
  for (auto [value, target] : plan.targets) {
    unsigned buffer = bufferOf.lookup(behindRenames(value));
    if (buffer != target)
      copy(buffer, target);
  }
  int64_t last = step - 1;
  if (loop.getCondition())
    lastReport = last;
  auto names = [&](ArrayRef<unsigned> list) {
    return builder.getArrayAttr(llvm::map_to_vector(
        list, [&](unsigned buffer) -> Attribute { return nameOf(buffer); }));
  };
  loop.setCarryBuffersAttr(names(plan.carryBuffers));
  loop.setSliceBuffersAttr(names(plan.sliceBuffers));
  loop.setStepsAttr(builder.getI64IntegerAttr(last - plan.step));
  for (auto list : {&plan.carryBuffers, &plan.sliceBuffers})
    for (unsigned buffer : *list)
      buffers[buffer].last = std::max(buffers[buffer].last, last);
}

void Planner::planLoop(program::ForOp loop) {
  LoopPlan plan;
  plan.step = step;
  unsigned before = buffers.size();
  beginLoop(loop, plan);
  loop.setStep(step++);
  Block &body = loop.getBlock();
  // Kernels write what the body yields where it has to be, if they can.
  llvm::SmallDenseSet<Value> placed;
  for (auto [i, each] : llvm::enumerate(plan.targets)) {
    Value made = behindRenames(each.first);
    bool isOwn = isa_and_nonnull<program::LaunchOp>(made.getDefiningOp()) &&
                 made.getParentBlock() == &body;
    bool fits = i < loop.getNumCarries() || isAligned(loop, made.getType());
    if (isOwn && fits && placed.insert(made).second)
      bufferOf[made] = each.second;
  }
  builder.setInsertionPointToStart(&body);
  for (unsigned i = loop.getNumCarries(); i < body.getNumArguments(); ++i) {
    BlockArgument argument = body.getArgument(i);
    if (isAligned(loop, argument.getType()))
      continue;
    unsigned slice = bufferOf[argument];
    bufferOf[argument] = addTemp(argument.getType(), step, step);
    copy(slice, bufferOf[argument]);
  }
  planBlock(body);
  endLoop(loop, plan);
  for (unsigned buffer = 0; buffer < before; ++buffer)
    if (buffers[buffer].last > plan.step)
      buffers[buffer].last = std::max(buffers[buffer].last, step - 1);
}

void Planner::planBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto launch = dyn_cast<program::LaunchOp>(op))
      planLaunch(launch);
    else if (auto loop = dyn_cast<program::ForOp>(op))
      planLoop(loop);
  }
}

void Planner::planSteps() {
  Block &block = function.getBody().front();
  builder.setInsertionPointToStart(&block);
  for (Copy pair : earlyCopies)
    copy(pair.from, pair.to);
  planBlock(block);
  builder.setInsertionPoint(block.getTerminator());
  for (Copy pair : lateCopies)
    copy(pair.from, pair.to);
  // Outputs live to the end.
  for (PlannedBuffer &buffer : buffers)
    if (buffer.kind == buffer_kinds::output)
      buffer.last = std::max<int64_t>(step - 1, 0);
}

// Whether a workspace holds the same in each step of the loop around its
// launch.
bool Planner::isMadeOnce(program::LaunchOp launch, int64_t preparedInput) {
  auto loop = dyn_cast<program::ForOp>(launch->getParentOp());
  return loop && preparedInput >= 0 &&
         behindRenames(launch.getInputs()[preparedInput]).getParentBlock() !=
             &loop.getBlock();
}

// They live in their step only, but for those that a loop need not make again.
void Planner::planWorkspaces(program::LaunchOp launch) {
  auto kernel = module.lookupSymbol<program::KernelOp>(launch.getCallee());
  if (!kernel.getWorkspaces())
    return;
  SmallVector<Attribute> names(launch.getBuffersAttr().getValue());
  for (auto [bytes, input] :
       llvm::zip(kernel.getWorkspaces()->getResults(), *kernel.getPrepared())) {
    int64_t first = *launch.getStep(), last = first;
    if (isMadeOnce(launch, input)) {
      auto loop = cast<program::ForOp>(launch->getParentOp());
      first = *loop.getStep();
      last = first + int64_t(*loop.getSteps());
    }
    names.push_back(FlatSymbolRefAttr::get(builder.getContext(),
                                           workspaceName(workspaces.size())));
    workspaces.push_back(
        {bytes.replaceSymbols(launch.getDims().getResults()), first, last});
  }
  launch.setBuffersAttr(builder.getArrayAttr(names));
}

void Planner::writeBuffers() {
  function.walk([&](program::LaunchOp launch) { planWorkspaces(launch); });
  builder.setInsertionPoint(function);
  auto write = [&](const Twine &name, const char *kind, int64_t index,
                   AffineExpr bytes, int64_t first, int64_t last) {
    program::BufferOp::create(
        builder, function.getLoc(), builder.getStringAttr(name),
        builder.getStringAttr(kind), builder.getI64IntegerAttr(index),
        AffineMapAttr::get(AffineMap::get(0, symbols, bytes)),
        builder.getI64IntegerAttr(first), builder.getI64IntegerAttr(last));
  };
  for (const PlannedBuffer &buffer : buffers)
    write(buffer.name, buffer.kind, buffer.index, byteCount(buffer.type),
          buffer.first, buffer.last);
  for (auto [number, workspace] : llvm::enumerate(workspaces))
    write(workspaceName(number), buffer_kinds::temp, 0, workspace.bytes,
          workspace.first, workspace.last);
}

// For each output that a launch writes late enough: the inputs it reads at its
// own index only, then those that were last read before.
void Planner::writeAliases() {
  SymbolTable table(module);
  std::vector<int64_t> pairs;
  auto pair = [&](unsigned input, unsigned output) {
    pairs.push_back(buffers[input].index);
    pairs.push_back(buffers[output].index);
  };
  constexpr unsigned maxDeadInputs = 4;
  for (auto launch : function.getOps<program::LaunchOp>()) {
    int64_t at = *launch.getStep();
    if (at <= lastReport)
      continue;
    auto kernel = table.lookup<program::KernelOp>(launch.getCallee());
    llvm::MapVector<unsigned, SmallVector<unsigned>> readers;
    for (auto [number, input] : llvm::enumerate(launch.getInputs())) {
      unsigned buffer = bufferOf.lookup(behindRenames(input));
      if (buffers[buffer].kind == buffer_kinds::input &&
          buffers[buffer].last == at)
        readers[number] = elementwiseReaders(kernel, number);
    }
    for (auto [number, result] : llvm::enumerate(launch.getOutputs())) {
      unsigned output = bufferOf[result];
      if (buffers[output].kind != buffer_kinds::output)
        continue;
      for (auto &[input, outputs] : readers) {
        unsigned from =
            bufferOf.lookup(behindRenames(launch.getInputs()[input]));
        // The same buffer passed twice is not read at one index only.
        unsigned times = llvm::count_if(launch.getInputs(), [&](Value other) {
          return bufferOf.lookup(behindRenames(other)) == from;
        });
        if (times == 1 && llvm::is_contained(outputs, number) &&
            sameBytes(from, output))
          pair(from, output);
      }
      unsigned dead = 0;
      for (unsigned from = 0; from < function.getNumArguments(); ++from)
        if (buffers[from].last < at && dead < maxDeadInputs &&
            sameBytes(from, output)) {
          pair(from, output);
          ++dead;
        }
    }
  }
  module->setAttr(mayAliasAttr, builder.getDenseI64ArrayAttr(pairs));
}

void Planner::run() {
  planInputs();
  planOutputs();
  planSteps();
  writeBuffers();
  writeAliases();
}

void planMemory(ModuleOp module) { Planner(module).run(); }

namespace {

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;
  void runOnOperation() override { planMemory(getOperation()); }
};

} // namespace

} // namespace sinter::compiler

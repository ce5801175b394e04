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
    if (isa<program::LaunchOp>(op))
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
      if (kindOf(user) != graph::PatternKind::pointwise)
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
  void planLaunches();
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
  int64_t step = 0;
  /// Steps up to this one may leave the program with an error.
  int64_t lastReport = -1;
};

} // namespace

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

void Planner::planLaunches() {
  Block &block = function.getBody().front();
  auto copy = [&](Copy pair) {
    program::CopyOp::create(builder, function.getLoc(), nameOf(pair.from),
                            nameOf(pair.to), builder.getI64IntegerAttr(step));
    buffers[pair.from].last = std::max(buffers[pair.from].last, step);
    buffers[pair.to].first = buffers[pair.to].last = step;
    ++step;
  };
  builder.setInsertionPointToStart(&block);
  llvm::for_each(earlyCopies, copy);
  int64_t temps = 0;
  for (auto launch : block.getOps<program::LaunchOp>()) {
    if (launch.getErrorNode())
      lastReport = step;
    SmallVector<Attribute> names;
    for (Value input : launch.getInputs()) {
      read(input, step);
      names.push_back(nameOf(bufferOf.lookup(behindRenames(input))));
    }
    for (Value output : launch.getOutputs()) {
      if (!bufferOf.contains(output)) {
        bufferOf[output] = add({llvm::formatv("t{0}", temps),
                                buffer_kinds::temp, temps, output.getType()});
        ++temps;
      }
      PlannedBuffer &buffer = buffers[bufferOf[output]];
      buffer.first = step;
      buffer.last = std::max(buffer.last, step);
      names.push_back(nameOf(bufferOf[output]));
    }
    launch.setStep(step++);
    launch.setBuffersAttr(builder.getArrayAttr(names));
  }
  builder.setInsertionPoint(block.getTerminator());
  llvm::for_each(lateCopies, copy);
  // Outputs live to the end.
  for (PlannedBuffer &buffer : buffers)
    if (buffer.kind == buffer_kinds::output)
      buffer.last = std::max<int64_t>(step - 1, 0);
}

void Planner::writeBuffers() {
  builder.setInsertionPoint(function);
  for (const PlannedBuffer &buffer : buffers) {
    AffineMap bytes = AffineMap::get(0, symbols, byteCount(buffer.type));
    program::BufferOp::create(
        builder, function.getLoc(), builder.getStringAttr(buffer.name),
        builder.getStringAttr(buffer.kind),
        builder.getI64IntegerAttr(buffer.index), AffineMapAttr::get(bytes),
        builder.getI64IntegerAttr(buffer.first),
        builder.getI64IntegerAttr(buffer.last));
  }
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
  planLaunches();
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

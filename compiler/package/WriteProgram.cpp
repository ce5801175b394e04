/// Fills the file's program section from the planned module.
#include "compiler/package/WriteProgram.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/fuse/KernelText.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/package/ExprTable.h"
#include "compiler/package/KernelNeeds.h"
#include "compiler/package/LaunchTraffic.h"
#include "compiler/plan/PlanMemory.h"
#include "dialects/program/Program.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/ReadExprs.h"
#include "sinter/runtime/Complex.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::compiler {

namespace {

/// Writes one program section.
class ProgramWriter {
public:
  explicit ProgramWriter(const PackageContents &contents)
      : contents(contents), module(contents.module),
        function(module.lookupSymbol<func::FuncOp>("main")) {}

  FailureOr<fb::ProgramT *> run();

private:
  void writePorts();
  void writeGuards();
  LogicalResult writeKernels();
  void writeBuffers();
  void writeSteps(Block &block);
  void writeLoop(program::ForOp loop);
  void writeLaunch(program::LaunchOp launch);
  void writeCopy(program::CopyOp copy);
  void writeAliases();
  void writeDecisions();
  std::unique_ptr<fb::PortT> portOf(Type type, StringAttr name, bool isComplex);

  const PackageContents &contents;
  ModuleOp module;
  func::FuncOp function;
  ExprTable exprs;
  llvm::StringMap<uint32_t> kernels;
  llvm::StringMap<uint32_t> buffers;
  fb::ProgramT program;
};

} // namespace

static std::vector<uint32_t> nodeList(Location location) {
  auto nodes = nodesOf(location);
  return {nodes.begin(), nodes.end()};
}

std::unique_ptr<fb::PortT> ProgramWriter::portOf(Type type, StringAttr name,
                                                 bool isComplex) {
  auto port = std::make_unique<fb::PortT>();
  if (name)
    port->name = name.str();
  Type element = cast<RankedTensorType>(type).getElementType();
  DType dtype = *dtypeOf(element);
  port->dtype = uint8_t(isComplex ? complexOf(dtype) : dtype);
  // The last axis is that of the two parts.
  SmallVector<AffineExpr> dims = dimsOf(type);
  for (AffineExpr dim : ArrayRef(dims).drop_back(isComplex))
    port->dims.push_back(exprs.add(dim));
  return port;
}

static uint8_t kindNumber(StringRef kind) {
  for (auto each : {graph::InputKind::data, graph::InputKind::parameter,
                    graph::InputKind::scalar})
    if (kind == StringRef(toString(each)))
      return uint8_t(each);
  return uint8_t(graph::InputKind::data);
}

void ProgramWriter::writePorts() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    auto attr = [&](const char *name) {
      return function.getArgAttr(index, name);
    };
    auto port = portOf(argument.getType(),
                       dyn_cast_or_null<StringAttr>(attr(port_attrs::name)),
                       bool(attr(port_attrs::complex)));
    port->kind = kindNumber(cast<StringAttr>(attr(port_attrs::kind)));
    port->node = cast<IntegerAttr>(attr(port_attrs::node)).getInt();
    program.inputs.push_back(std::move(port));
  }
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto port = portOf(
        value.getType(),
        function.getResultAttrOfType<StringAttr>(index, port_attrs::name),
        bool(function.getResultAttr(index, port_attrs::complex)));
    port->node =
        cast<IntegerAttr>(function.getResultAttr(index, port_attrs::node))
            .getInt();
    program.outputs.push_back(std::move(port));
  }
}

void ProgramWriter::writeGuards() {
  auto guards = function->getAttrOfType<ArrayAttr>(port_attrs::guards);
  if (!guards)
    return;
  for (auto guard : guards.getAsRange<AffineMapAttr>()) {
    uint32_t lhs = exprs.add(guard.getValue().getResult(0));
    uint32_t rhs = exprs.add(guard.getValue().getResult(1));
    program.guards.push_back(fb::Guard(lhs, rhs));
  }
}

// Behind the code's own expressions, those of what it relies on.
static void writeNeeds(const KernelNeeds &needs, const KernelCode &code,
                       fb::KernelT &entry) {
  ExprTable exprs;
  uint32_t first = entry.exprs.size();
  for (AffineExpr bytes : needs.bufferBytes)
    entry.buffer_bytes.push_back(first + exprs.add(bytes));
  llvm::append_range(entry.buffer_bytes, code.workspaces);
  for (auto [lhs, rhs] : needs.equal) {
    uint32_t one = first + exprs.add(lhs);
    entry.guards.push_back(fb::Guard(one, first + exprs.add(rhs)));
  }
  for (Expr expr : exprs.exprs()) {
    expr.lhs += first;
    expr.rhs += first;
    entry.exprs.push_back(runtime::toFile(expr));
  }
}

LogicalResult ProgramWriter::writeKernels() {
  for (auto kernel : module.getOps<program::KernelOp>()) {
    const KernelCode &code = *contents.codes->lookup(kernel.getSymName());
    auto entry = std::make_unique<fb::KernelT>();
    entry->name = kernel.getSymName().str();
    entry->kind = kernel.getKind().str();
    entry->num_symbols = kernel.getNumSymbols();
    entry->num_inputs = kernel.getInputs().size();
    entry->num_outputs = kernel.getOutputs().size();
    for (const Expr &expr : code.exprs)
      entry->exprs.push_back(runtime::toFile(expr));
    for (const PhaseCode &phase : code.phases) {
      auto each = std::make_unique<fb::PhaseT>();
      each->symbol = phase.symbol;
      each->chunks = phase.chunks;
      each->grain_us = phase.chunkMicroseconds;
      each->prepares = phase.prepares;
      each->workspace = phase.workspace;
      entry->phases.push_back(std::move(each));
    }
    size_t planned =
        kernel.getWorkspaces() ? kernel.getWorkspaces()->getNumResults() : 0;
    if (planned != code.workspaces.size())
      return kernel.emitOpError("has ")
             << code.workspaces.size() << " workspaces, plan knows " << planned;
    FailureOr<KernelNeeds> needs = needsOf(kernel);
    if (failed(needs))
      return failure();
    writeNeeds(*needs, code, *entry);
    entry->text = canonicalText(kernel);
    // What is taken unasked another machine may take another of.
    StringRef tile = scheduledTile(kernel);
    if (!code.tiles.empty() && code.tiles.front() != tile)
      entry->tile = tile.str();
    kernels[entry->name] = program.kernels.size();
    program.kernels.push_back(std::move(entry));
  }
  return success();
}

void ProgramWriter::writeBuffers() {
  for (auto buffer : module.getOps<program::BufferOp>()) {
    auto entry = std::make_unique<fb::BufferT>();
    StringRef kind = buffer.getKind();
    entry->kind = kind == buffer_kinds::input    ? fb::BufferKind::input
                  : kind == buffer_kinds::output ? fb::BufferKind::output
                  : kind == buffer_kinds::moving ? fb::BufferKind::moving
                                                 : fb::BufferKind::temp;
    entry->index = buffer.getIndex();
    entry->bytes = exprs.add(buffer.getBytes().getResult(0));
    entry->first = buffer.getFirst();
    entry->last = buffer.getLast();
    buffers[buffer.getSymName()] = program.buffers.size();
    program.buffers.push_back(std::move(entry));
  }
}

void ProgramWriter::writeLaunch(program::LaunchOp launch) {
  auto step = std::make_unique<fb::LaunchT>();
  StringRef callee = launch.getCallee();
  step->kernel = kernels.lookup(callee);
  ArrayAttr names = *launch.getBuffers();
  for (Attribute name : names)
    step->buffers.push_back(
        buffers.lookup(cast<FlatSymbolRefAttr>(name).getValue()));
  for (AffineExpr dim : launch.getDims().getResults())
    step->dims.push_back(exprs.add(dim));
  auto kernel = module.lookupSymbol<program::KernelOp>(callee);
  LaunchTraffic traffic = trafficOf(kernel, launch);
  step->bytes_read = exprs.add(traffic.bytesRead);
  step->bytes_written = exprs.add(traffic.bytesWritten);
  step->flops = exprs.add(traffic.flops);
  step->nodes = nodeList(launch.getLoc());
  if (std::optional<uint64_t> node = launch.getErrorNode())
    step->error_node = int32_t(*node);
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(std::move(*step));
  program.steps.push_back(std::move(entry));
}

void ProgramWriter::writeCopy(program::CopyOp copy) {
  fb::CopyT step;
  step.from = buffers.lookup(copy.getFrom());
  step.to = buffers.lookup(copy.getTo());
  step.bytes = program.buffers[step.to]->bytes;
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(step);
  program.steps.push_back(std::move(entry));
}

void ProgramWriter::writeLoop(program::ForOp loop) {
  fb::LoopT step;
  step.count = exprs.add(loop.getCount().getResult(0));
  step.steps = *loop.getSteps();
  step.reverse = loop.getReverse();
  step.condition = int32_t(loop.getCondition().value_or(0));
  auto numbers = [&](ArrayAttr names) {
    return llvm::map_to_vector(names, [&](Attribute name) {
      return buffers.lookup(cast<FlatSymbolRefAttr>(name).getValue());
    });
  };
  auto carries = numbers(*loop.getCarryBuffers());
  for (size_t i = 0; i < carries.size(); i += 5)
    step.carries.push_back(fb::LoopCarry(carries[i], carries[i + 1],
                                         carries[i + 2], carries[i + 3],
                                         carries[i + 4]));
  auto slices = numbers(*loop.getSliceBuffers());
  for (size_t i = 0; i < slices.size(); i += 2)
    step.slices.push_back(fb::LoopSlice(slices[i], slices[i + 1]));
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(std::move(step));
  program.steps.push_back(std::move(entry));
  writeSteps(loop.getBlock());
}

void ProgramWriter::writeSteps(Block &block) {
  for (Operation &op : block) {
    if (auto launch = dyn_cast<program::LaunchOp>(op))
      writeLaunch(launch);
    else if (auto copy = dyn_cast<program::CopyOp>(op))
      writeCopy(copy);
    else if (auto loop = dyn_cast<program::ForOp>(op))
      writeLoop(loop);
  }
}

void ProgramWriter::writeAliases() {
  auto pairs = module->getAttrOfType<DenseI64ArrayAttr>(mayAliasAttr);
  for (size_t index = 0; index + 1 < size_t(pairs.size()); index += 2)
    program.aliases.push_back(fb::MayAlias(pairs[index], pairs[index + 1]));
}

void ProgramWriter::writeDecisions() {
  for (FusionDecision &decision : decisionsOf(module)) {
    auto entry = std::make_unique<fb::DecisionT>();
    entry->accepted = decision.accepted;
    entry->rule = std::move(decision.rule);
    entry->bytes = decision.bytes;
    entry->est_us = decision.estUs;
    entry->nodes = std::move(decision.nodes);
    entry->detail = std::move(decision.detail);
    program.decisions.push_back(std::move(entry));
  }
}

FailureOr<fb::ProgramT *> ProgramWriter::run() {
  program.machine = std::string(contents.target->name());
  program.target = program.machine;
  program.target.resize(
      std::min(program.target.find(':'), program.target.size()));
  program.variant = std::string(contents.target->requirements());
  program.numerics = uint8_t(contents.numerics);
  program.num_symbols = programSymbols(module);
  program.num_nodes = contents.numNodes;
  program.compiler = std::string(digest());
  writePorts();
  writeGuards();
  if (failed(writeKernels()))
    return failure();
  writeBuffers();
  writeSteps(function.getBody().front());
  writeAliases();
  writeDecisions();
  for (const Expr &expr : exprs.exprs())
    program.exprs.push_back(runtime::toFile(expr));
  return &program;
}

Result<ModelBytes> writeProgram(PackageContents contents) {
  runtime::ModelWriter writer;
  ProgramWriter programWriter(contents);
  FailureOr<fb::ProgramT *> program = programWriter.run();
  if (failed(program))
    return makeError(ErrorKind::internal, "");
  writer.addProgram(**program, std::move(contents.image));
  writer.setGraph(std::move(contents.graphText));
  if (contents.debug)
    writer.setSites(std::move(contents.sites));
  return writer.finish();
}

} // namespace sinter::compiler

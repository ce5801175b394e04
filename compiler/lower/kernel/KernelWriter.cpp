/// KernelWriter: one kernel becoming phases of one module.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/OpsBehind.h"
#include "compiler/target/LoweringPasses.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Random.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::compiler {

KernelWriter::KernelWriter(program::KernelOp kernel, const Target &target,
                           NumericsMode numerics, ModuleOp module,
                           bool announces)
    : kernel(kernel), target(target), numerics(numerics), module(module),
      sizes(getAffineConstantExpr(1, module.getContext())),
      announces(announces) {
  code.numSymbols = kernel.getNumSymbols();
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
}

// As it is read again from text, whose sums are of one form.
static AffineMapAttr asText(AffineMap map) {
  if (isOne(map.getResult(0)))
    return AffineMapAttr::get(map);
  std::string text;
  llvm::raw_string_ostream(text) << AffineMapAttr::get(map);
  return cast<AffineMapAttr>(parseAttribute(text, map.getContext()));
}

size_t KernelWriter::chooseTile(AffineExpr holds, ArrayRef<std::string> names) {
  AffineExpr those = holds ? sizes * holds : sizes;
  AffineMapAttr when = asText(AffineMap::get(0, code.numSymbols, those));
  program::VariantAttr own;
  if (program::ScheduleAttr schedule = kernel.getScheduleAttr())
    for (program::VariantAttr variant : schedule.getEachVariant())
      if (variant.getWhen() == when)
        own = variant;
  StringRef tile = own ? own.getTile() : scheduledTile(kernel);
  const std::string *named = llvm::find(names, tile);
  // A tile for all sizes may be one that some have.
  if (own && named == names.end()) {
    kernel.emitOpError("has no tile '")
        << tile << "' when " << when << "; it is one of "
        << llvm::join(names, ", ");
    hasFailed = true;
  }
  size_t number = named == names.end() ? 0 : named - names.begin();
  chosen.push_back(
      program::VariantAttr::get(kernel.getContext(), when, names[number]));
  return number;
}

unsigned KernelWriter::numInputs() { return kernel.getInputs().size(); }

unsigned KernelWriter::outputBuffer(unsigned output) {
  return numInputs() + output;
}

unsigned KernelWriter::addWorkspace(AffineExpr elements, Type element) {
  unsigned number =
      numInputs() + kernel.getOutputs().size() + allWorkspaces.size();
  int64_t bytes = (memoryType(element).getIntOrFloatBitWidth() + 7) / 8;
  elements = elements * sizes;
  code.workspaces.push_back(exprOf(elements * bytes));
  allWorkspaces.push_back({elements, element});
  return number;
}

void KernelWriter::addPhase(AffineExpr chunks, double chunkMicroseconds,
                            const EmitChunk &emitChunk,
                            std::optional<Preparation> preparation) {
  PhaseCode phase;
  phase.chunkMicroseconds = float(chunkMicroseconds);
  if (preparation) {
    phase.prepares = int32_t(preparation->input);
    phase.workspace =
        preparation->workspace - numInputs() - kernel.getOutputs().size();
  }
  addFunction(std::move(phase), chunks, [&](Emission &emission) {
    emission.loop(emission.entry.firstChunk, emission.entry.lastChunk, 1,
                  [&](Value chunk) { emitChunk(emission, chunk); });
  });
}

void KernelWriter::addBlockPhase(AffineExpr chunks,
                                 llvm::function_ref<void(Emission &)> emitAll) {
  addFunction(PhaseCode(), chunks, emitAll);
}

std::string KernelWriter::nextSymbol() {
  std::string symbol = kernel.getSymName().str();
  if (!code.phases.empty())
    symbol += "_phase" + std::to_string(code.phases.size());
  return symbol;
}

// How many threads it has is said beside its code.
void KernelWriter::addGivenPhase(StringRef source) {
  PhaseCode phase;
  phase.symbol = nextSymbol();
  phase.chunks = append({ExprOp::constant, 0, 0, 1});
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), phase.symbol,
                           builder.getFunctionType({}, {}));
  function.setPrivate();
  function->setAttr(givenAttr, builder.getStringAttr(source));
  code.phases.push_back(std::move(phase));
}

void KernelWriter::addFunction(PhaseCode phase, AffineExpr chunks,
                               llvm::function_ref<void(Emission &)> emit) {
  MLIRContext *context = module.getContext();
  phase.symbol = nextSymbol();
  phase.chunks = exprOf(chunks * sizes);
  if (announces)
    return code.phases.push_back(std::move(phase));

  SmallVector<Type> elements;
  for (Value input : kernel.getInputs())
    elements.push_back(memoryType(elementOf(input)));
  for (Value output : kernel.getOutputs())
    elements.push_back(memoryType(elementOf(output)));
  for (const Workspace &workspace : allWorkspaces)
    elements.push_back(memoryType(workspace.element));

  OpBuilder builder(context);
  KernelEntry entry = target.beginKernel(builder, module, phase.symbol,
                                         elements, code.numSymbols);
  Emission emission(builder, target, std::move(entry), kernel.getBlock());
  emit(emission);
  hasFailed |= emission.failed();
  code.phases.push_back(std::move(phase));
}

KernelCode KernelWriter::takeCode() { return std::move(code); }

uint32_t KernelWriter::append(Expr expr) {
  for (uint32_t index = 0; index < code.exprs.size(); ++index)
    if (code.exprs[index] == expr)
      return index;
  code.exprs.push_back(expr);
  return code.exprs.size() - 1;
}

static ExprOp opOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return ExprOp::add;
  case AffineExprKind::Mul:
    return ExprOp::mul;
  case AffineExprKind::Mod:
    return ExprOp::mod;
  case AffineExprKind::CeilDiv:
    return ExprOp::ceilDiv;
  default:
    return ExprOp::floorDiv;
  }
}

// Expressions share parts. Each part is looked at once: there may be far more
// ways to it than parts.
uint32_t KernelWriter::exprOf(AffineExpr affine) {
  llvm::DenseMap<AffineExpr, uint32_t> known;
  auto find = [&](auto &&self, AffineExpr affine) -> uint32_t {
    if (auto number = dyn_cast<AffineConstantExpr>(affine))
      return append({ExprOp::constant, 0, 0, number.getValue()});
    if (auto symbol = dyn_cast<AffineSymbolExpr>(affine))
      return append({ExprOp::symbol, 0, 0, int64_t(symbol.getPosition())});
    if (auto found = known.find(affine); found != known.end())
      return found->second;
    auto binary = cast<AffineBinaryOpExpr>(affine);
    Expr expr;
    expr.lhs = self(self, binary.getLHS());
    expr.rhs = self(self, binary.getRHS());
    expr.op = opOf(affine.getKind());
    return known[affine] = append(expr);
  };
  return find(find, affine);
}

} // namespace sinter::compiler

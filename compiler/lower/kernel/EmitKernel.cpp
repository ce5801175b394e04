/// One kernel in, code out: chooses the skeleton and hands over to the target.
#include "compiler/lower/kernel/EmitKernel.h"

#include "compiler/lower/element/Index.h"
#include "compiler/lower/kernel/Schedule.h"
#include "dialects/sinter/Dialect.h"
#include "runtime/program/Numerics.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::compiler {

// The one op of a pattern kind, or null.
static Operation *findOp(program::KernelOp kernel, graph::PatternKind kind) {
  for (Operation &op : kernel.getBlock())
    if (auto described = dyn_cast<ir::SinterOpInterface>(&op))
      if (described.getPatternKind() == kind)
        return &op;
  return nullptr;
}

static Operation *givenOp(program::KernelOp kernel) {
  return findOp(kernel, graph::PatternKind::opaque);
}

static void emitBody(KernelWriter &writer, const Way &way) {
  using program::Skeleton;
  program::KernelOp kernel = writer.kernel;
  auto root = [&](graph::PatternKind kind) { return findOp(kernel, kind); };
  switch (way.skeleton) {
  case Skeleton::scatter:
    return emitScatter(writer, root(graph::PatternKind::scatter)->getResult(0));
  case Skeleton::prefix:
    return emitPrefix(writer, root(graph::PatternKind::prefix)->getResult(0));
  case Skeleton::sort:
    return emitSort(writer, root(graph::PatternKind::sort));
  case Skeleton::attention:
    return emitAttention(writer);
  case Skeleton::contraction:
    return emitContraction(writer,
                           root(graph::PatternKind::contraction)->getResult(0));
  case Skeleton::opaque:
    return writer.addGivenPhase(
        cast<ir::OpaqueOpInterface>(givenOp(kernel)).getSource());
  default:
    return emitRowsBy(writer, way);
  }
}

// What the tuner may compare.
static void offerWays(KernelWriter &writer, ArrayRef<Way> ways) {
  if (ways.size() == 1)
    return;
  for (const Way &way : ways)
    writer.offerTile(nameOf(way));
}

// Sizes that indices have to reach into: those known are checked, the others
// noted for launches.
static LogicalResult noteSizes(const KernelWriter &writer, ModuleOp module) {
  int64_t most = writer.target.mostElements();
  if (most == std::numeric_limits<int64_t>::max())
    return success();
  program::KernelOp kernel = writer.kernel;
  MLIRContext *context = kernel.getContext();
  llvm::SetVector<AffineExpr> sizes;
  for (Operation &op : kernel.getBlock())
    for (Value value : op.getOperands()) {
      Shape shape = shapeOf(value);
      sizes.insert(product(shape, 0, shape.size(), context));
    }
  for (const Workspace &workspace : writer.workspaces())
    sizes.insert(workspace.elements);
  SmallVector<AffineExpr> unknown;
  for (AffineExpr size : sizes) {
    if (constantOf(size) > most) {
      if (writer.target.hasWideIndices())
        return success();
      return kernel.emitOpError("has ")
             << constantOf(size) << " elements of a tensor, indices reach "
             << most;
    }
    if (constantOf(size) < 0)
      unknown.push_back(size);
  }
  module->setAttr(sizesAttr, AffineMapAttr::get(AffineMap::get(
                                 0, kernel.getNumSymbols(), unknown, context)));
  return success();
}

FailureOr<NumericsMode> numericsNamed(ModuleOp module, StringRef pass,
                                      StringRef name) {
  auto mode = runtime::parseNumerics(pass.str() + ": numerics", name);
  if (mode)
    return NumericsMode(*mode);
  module.emitError(mode.error().message);
  return failure();
}

StringRef scheduledTile(program::KernelOp kernel) {
  program::ScheduleAttr schedule = kernel.getScheduleAttr();
  return schedule ? schedule.getTile() : StringRef();
}

int64_t scheduledSplit(program::KernelOp kernel) {
  auto schedule = kernel ? kernel.getScheduleAttr() : program::ScheduleAttr();
  return schedule ? schedule.getSplit() : 0;
}

static LogicalResult refuseTile(program::KernelOp kernel, StringRef tile,
                                const KernelCode &code) {
  InFlightDiagnostic error = kernel.emitOpError("has no tile '") << tile << "'";
  if (!code.tiles.empty())
    error << "; it is one of " << llvm::join(code.tiles, ", ");
  return error;
}

// A schedule is obeyed, or refused. Of what is no product `tiles` are the ways.
static LogicalResult checkTile(program::KernelOp kernel,
                               ArrayRef<program::VariantAttr> variants,
                               const KernelCode &code) {
  StringRef tile = scheduledTile(kernel);
  auto isTaken = [&](program::VariantAttr variant) {
    return variant.getTile() == tile;
  };
  if (tile.empty() || llvm::any_of(variants, isTaken))
    return success();
  if (!llvm::is_contained(code.tiles, tile))
    return refuseTile(kernel, tile, code);
  if (variants.empty())
    return kernel.emitOpError("has a tile '")
           << tile << "', which is for skeleton, owner and staging to say";
  return success();
}

// Each is for the sizes of one that there is.
static LogicalResult checkVariants(program::KernelOp kernel,
                                   ArrayRef<program::VariantAttr> variants) {
  for (program::VariantAttr each : kernel.getScheduleAttr().getEachVariant()) {
    auto isFor = [&](program::VariantAttr variant) {
      return variant.getWhen() == each.getWhen();
    };
    if (llvm::any_of(variants, isFor))
      continue;
    InFlightDiagnostic error = kernel.emitOpError("cannot have a variant when ")
                               << each.getWhen();
    if (variants.empty())
      return error << "; only a product has some";
    error << "; it is one of ";
    llvm::interleaveComma(variants, error, [&](program::VariantAttr variant) {
      error << variant.getWhen();
    });
    return error;
  }
  return success();
}

static LogicalResult checkSplit(program::KernelOp kernel,
                                const KernelCode &code) {
  int64_t split = scheduledSplit(kernel);
  if (split == 0 || split == code.split)
    return success();
  InFlightDiagnostic error = kernel.emitOpError("cannot have a schedule of ")
                             << "split = " << split;
  return code.split ? error << "; it would be " << code.split
                    : error << "; nothing of it is cut into parts";
}

static LogicalResult addPhases(KernelWriter &writer) {
  program::KernelOp kernel = writer.kernel;
  SmallVector<Way> ways = candidates(writer);
  FailureOr<Way> way = chosenWay(kernel, ways);
  if (failed(way))
    return failure();
  offerWays(writer, ways);
  emitBody(writer, *way);
  return failure(writer.failed());
}

AffineMap workspacesOf(const KernelCode &code, MLIRContext *context) {
  SmallVector<AffineExpr> exprs, bytes;
  for (const Expr &expr : code.exprs)
    exprs.push_back(ir::affineOf(
        context, expr, [&](uint32_t operand) { return exprs[operand]; }));
  for (uint32_t index : code.workspaces)
    bytes.push_back(exprs[index]);
  return AffineMap::get(0, code.numSymbols, bytes, context);
}

// What plan gave it is what the code takes.
static LogicalResult checkWorkspaces(program::KernelOp kernel,
                                     const KernelCode &code) {
  AffineMapAttr planned = kernel.getWorkspacesAttr();
  AffineMap needed = workspacesOf(code, kernel.getContext());
  if (!planned || planned.getValue() == needed)
    return success();
  return kernel.emitOpError("needs workspaces of ")
         << AffineMapAttr::get(needed) << ", not of " << planned;
}

static LogicalResult checkChoices(program::KernelOp kernel,
                                  ArrayRef<program::VariantAttr> variants,
                                  const KernelCode &code) {
  if (failed(checkSplit(kernel, code)) || failed(checkWorkspaces(kernel, code)))
    return failure();
  if (!kernel.getScheduleAttr())
    return success();
  return failure(failed(checkTile(kernel, variants, code)) ||
                 failed(checkVariants(kernel, variants)));
}

FailureOr<AnnouncedKernel> announceKernel(program::KernelOp kernel,
                                          const Target &target,
                                          NumericsMode numerics) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  KernelWriter writer(kernel, target, numerics, *module, /*announces=*/true);
  if (failed(addPhases(writer)))
    return failure();
  AnnouncedKernel announced{writer.takeCode(),
                            llvm::to_vector(writer.variants())};
  if (failed(checkChoices(kernel, announced.variants, announced.code)))
    return failure();
  return announced;
}

static OwningOpRef<ModuleOp> makeModule(MLIRContext *context,
                                        NumericsMode numerics) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  if (numerics == NumericsMode::exact)
    (*module)->setAttr(alikeAttr, UnitAttr::get(context));
  if (numerics == NumericsMode::fast)
    (*module)->setAttr(approximatesAttr, UnitAttr::get(context));
  return module;
}

static LogicalResult emitFunctions(KernelWriter &writer, ModuleOp module) {
  program::KernelOp kernel = writer.kernel;
  for (Operation &op : kernel.getBlock())
    if (failed(writer.target.check(&op)))
      return failure();
  return failure(failed(addPhases(writer)) ||
                 failed(noteSizes(writer, module)));
}

FailureOr<EmittedLoops> emitLoops(program::KernelOp kernel,
                                  const Target &target, NumericsMode numerics) {
  std::string why;
  if (!canEmit(kernel, &why))
    return kernel.emitOpError("cannot be emitted: ") << why;
  EmittedLoops emitted;
  emitted.module = makeModule(kernel.getContext(), numerics);
  KernelWriter writer(kernel, target, numerics, *emitted.module);
  if (failed(givenOp(kernel) ? addPhases(writer)
                             : emitFunctions(writer, *emitted.module)))
    return failure();
  emitted.code = writer.takeCode();
  if (failed(checkChoices(kernel, writer.variants(), emitted.code)))
    return failure();
  return emitted;
}

// The target's passes, then its code.
static FailureOr<TargetCode> lowerLoops(ModuleOp module, const Target &target,
                                        bool verify, bool keepText) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(verify);
  target.buildLowering(passes);
  if (failed(passes.run(module)))
    return failure();
  return target.translate(module, keepText);
}

FailureOr<KernelCode> emitKernel(program::KernelOp kernel, const Target &target,
                                 const EmitOptions &options) {
  FailureOr<EmittedLoops> emitted = emitLoops(kernel, target, options.numerics);
  if (failed(emitted))
    return failure();
  ModuleOp module = *emitted->module;
  KernelCode &code = emitted->code;
  Operation *given = givenOp(kernel);
  if (options.verify && failed(mlir::verify(module)))
    return failure();
  bool keepText = options.keepText || options.lowerOnly;
  if (keepText && given)
    code.loweredText = cast<ir::OpaqueOpInterface>(given).getSource().str();
  else if (keepText)
    llvm::raw_string_ostream(code.loweredText) << module;
  if (options.lowerOnly)
    return std::move(code);
  auto made = given ? compileGiven(kernel, given, code.phases.front().symbol,
                                   target, keepText)
                    : lowerLoops(module, target, options.verify, keepText);
  if (failed(made))
    return failure();
  code.object = std::move(made->object);
  code.llvmText = std::move(made->llvmText);
  code.asmText = std::move(made->asmText);
  return std::move(code);
}

} // namespace sinter::compiler

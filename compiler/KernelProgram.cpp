/// One kernel by itself: which tiles it has, and a program that launches it.
#include "compiler/Compiler.h"
#include "compiler/Diagnostics.h"
#include "compiler/Passes.h"
#include "compiler/Pipeline.h"
#include "compiler/fuse/KernelText.h"
#include "compiler/fuse/ScheduleTiles.h"
#include "compiler/guard/Guarded.h"
#include "compiler/import/CheckNesting.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

/// A module that holds a kernel under the name that fusion gave it.
class KernelSession {
public:
  explicit KernelSession(const Options &given)
      : options(pipelineOptions(given)),
        context(compilerDialects(), MLIRContext::Threading::DISABLED),
        diagnostics(&context) {
    context.loadAllAvailableDialects();
  }

  Status load(std::string_view text);
  void addMain();
  Status run(Stage first, Stage until);

  PipelineOptions options;
  MLIRContext context;
  DiagnosticCollector diagnostics;
  Compilation state;
  program::KernelOp kernel;
};

} // namespace

Status KernelSession::load(std::string_view text) {
  SINTER_TRY(checkNesting(text));
  state.module = parseSourceString<ModuleOp>(std::string(text), &context);
  if (!state.module)
    return diagnostics.takeError(ErrorKind::invalid_argument, "import");
  auto kernels = state.module->getOps<program::KernelOp>();
  if (!llvm::hasSingleElement(kernels))
    return makeError(ErrorKind::invalid_argument,
                     "kernel: the text is not that of one kernel");
  kernel = *kernels.begin();
  kernel.setSymName(kernelName(kernel));
  PassManager passes(&context);
  passes.addPass(createSetTarget({.name = options.target.name}));
  if (failed(passes.run(*state.module)))
    return diagnostics.takeError(ErrorKind::invalid_argument, "kernel");
  return scheduleTiles(*state.module, options.schedule.tiles);
}

// The function that fusion would leave behind.
void KernelSession::addMain() {
  OpBuilder builder = OpBuilder::atBlockEnd(state.module->getBody());
  unsigned symbols = kernel.getNumSymbols();
  SmallVector<Type> types;
  SmallVector<AffineExpr> dims;
  for (unsigned symbol = 0; symbol < symbols; ++symbol) {
    dims.push_back(getAffineSymbolExpr(symbol, &context));
    types.push_back(
        tensorType(elementType(&context, DType::u8), dims.back(), symbols));
  }
  for (BlockArgument input : kernel.getInputs())
    types.push_back(input.getType());
  SmallVector<Location> locations;
  SmallVector<DictionaryAttr> attrs;
  for (unsigned number = 0; number < types.size(); ++number) {
    locations.push_back(nodeLocation(&context, number));
    attrs.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(port_attrs::kind, builder.getStringAttr(toString(
                                                    graph::InputKind::data))),
         builder.getNamedAttr(port_attrs::node,
                              builder.getI64IntegerAttr(number))}));
  }
  SmallVector<Type> results(kernel.getOutputs().getTypes());
  Location loc = nodeLocation(&context, types.size());
  auto function = func::FuncOp::create(builder, loc, "main",
                                       builder.getFunctionType(types, results));
  function.setAllArgAttrs(attrs);
  for (unsigned number = 0; number < results.size(); ++number)
    function.setResultAttr(number, port_attrs::node,
                           builder.getI64IntegerAttr(types.size()));
  function->setAttr(port_attrs::numSymbols, builder.getI64IntegerAttr(symbols));
  Block *body = builder.createBlock(&function.getBody(), {}, types, locations);
  auto launch = program::LaunchOp::create(
      builder, loc, results, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      ValueRange(body->getArguments()).drop_front(symbols),
      AffineMapAttr::get(AffineMap::get(0, symbols, dims, &context)),
      IntegerAttr(), ArrayAttr(), IntegerAttr());
  func::ReturnOp::create(builder, loc, launch.getResults());
  state.numNodes = types.size() + 1;
}

Status KernelSession::run(Stage first, Stage until) {
  Status done = runPipeline(state, options, until, first);
  if (done || !done.error().message.empty())
    return done;
  return diagnostics.takeError(done.error().kind, "compile");
}

Result<std::vector<std::string>> kernelTiles(std::string_view text,
                                             const Options &options) noexcept {
  return guarded([&]() -> Result<std::vector<std::string>> {
    KernelSession session(options);
    SINTER_TRY(session.load(text));
    // The one that was taken may be another card's.
    if (program::ScheduleAttr schedule = session.kernel.getScheduleAttr())
      session.kernel.setScheduleAttr(schedule.withTile(""));
    SINTER_TRY(session.run(Stage::lower, Stage::lower));
    return session.state.codes.lookup(session.kernel.getSymName())->tiles;
  });
}

Result<ModelBytes> compileKernel(std::string_view text,
                                 const Options &options) noexcept {
  return guarded([&]() -> Result<ModelBytes> {
    KernelSession session(options);
    SINTER_TRY(session.load(text));
    session.addMain();
    SINTER_TRY(session.run(Stage::plan, Stage::package));
    return std::move(session.state.bytes);
  });
}

} // namespace sinter::compiler

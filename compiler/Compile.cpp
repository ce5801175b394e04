/// The compiler's entry points.
#include "compiler/Compiler.h"
#include "compiler/Diagnostics.h"
#include "compiler/InspectStage.h"
#include "compiler/Pipeline.h"
#include "compiler/fuse/ScheduleTiles.h"
#include "compiler/guard/Guarded.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/MakeDynamic.h"
#include "compiler/target/Target.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/Sites.h"
#include "sinter/generated/SourceDigest.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "runtime/support/WorkTimes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

namespace {

/// Leaves the passes out that come after the thread was told to stop.
void unlessCancelled(llvm::function_ref<void()> run,
                     const tracing::Action &action) {
  if (!isCancelled() || !isa<PassExecutionAction>(action))
    run();
}

/// One compilation: the context, what the stages made, and where diagnostics
/// go. The order of the members is that of their destruction reversed.
class Session {
public:
  explicit Session(const Options &options,
                   const std::vector<SiteId> *sites = nullptr)
      : options(pipelineOptions(options)),
        context(compilerDialects(), MLIRContext::Threading::DISABLED),
        diagnostics(&context, sites) {
    context.loadAllAvailableDialects();
    if (currentCancelFlag())
      context.registerActionHandler(unlessCancelled);
  }

  Status load(const graph::Graph &graph);
  Status load(std::string_view text);
  Status loadFormed();
  Status run(Stage until);

  PipelineOptions options;
  MLIRContext context;
  DiagnosticCollector diagnostics;
  Compilation state;
  Stage first = Stage::import; ///< those before it are in the text
};

} // namespace

Status Session::load(const graph::Graph &graph) {
  state.module = importGraph(graph, &context);
  if (!state.module)
    return diagnostics.takeError(ErrorKind::unsupported, "import");
  if (options.package.debug)
    for (SiteId site : graph.sites)
      options.package.sites.push_back(siteString(site));
  return {};
}

Status Session::load(std::string_view text) {
  state.module = importText(text, &context);
  if (state.module && isFormed(*state.module))
    return loadFormed();
  if (!state.module ||
      failed(makeDynamic(*state.module, options.import.dynamic)))
    return diagnostics.takeError(ErrorKind::invalid_argument, "import");
  return {};
}

// What was printed after `fuse`, and may have been edited since.
Status Session::loadFormed() {
  first = Stage::plan;
  state.numNodes = numNodes(*state.module);
  if (!options.import.dynamic.empty())
    return makeError(ErrorKind::invalid_argument,
                     "the text has kernels, whose axes are what they are");
  StringRef own = program::targetOf(*state.module).getName();
  if (own != options.target.name)
    return makeError(ErrorKind::invalid_argument,
                     "the text has kernels for target " + own.str() +
                         ", not for " + options.target.name);
  return scheduleTiles(*state.module, options.schedule.tiles);
}

// A stage's own error, or what its diagnostics said.
Status Session::run(Stage until) {
  Status done = runPipeline(state, options, until, first);
  if (done || !done.error().message.empty())
    return done;
  return diagnostics.takeError(done.error().kind, "compile");
}

template <typename Source>
static Result<ModelBytes> compileSource(Session &session,
                                        const Source &source) {
  WorkTimer timer(Work::passes);
  SINTER_TRY(session.load(source));
  SINTER_TRY(session.run(Stage::package));
  return std::move(session.state.bytes);
}

Result<ModelBytes> compile(const graph::Graph &graph,
                           const Options &options) noexcept {
  return guarded([&] {
    Session session(options, &graph.sites);
    return compileSource(session, graph);
  });
}

Result<ModelBytes> compileText(std::string_view mlir,
                               const Options &options) noexcept {
  return guarded([&] {
    Session session(options);
    return compileSource(session, mlir);
  });
}

Result<std::string> exportGraph(const graph::Graph &graph) noexcept {
  return guarded([&]() -> Result<std::string> {
    Session session({}, &graph.sites);
    SINTER_TRY(session.load(graph));
    return exportText(*session.state.module);
  });
}

Result<graph::Graph> readGraph(std::string_view mlir) noexcept {
  return guarded([&]() -> Result<graph::Graph> {
    Session session({});
    SINTER_TRY(session.load(mlir));
    FailureOr<graph::Graph> graph = toGraph(*session.state.module);
    if (failed(graph))
      return session.diagnostics.takeError(ErrorKind::unsupported, "import");
    return std::move(*graph);
  });
}

template <typename Source>
static Result<std::string> inspectSource(Session &session, const Source &source,
                                         std::string_view stage) {
  SINTER_TRY_ASSIGN(InspectForm form, parseInspectForm(stage));
  SINTER_TRY(checkForm(form, session.options.target.name));
  SINTER_TRY(session.load(source));
  session.options.lower.keepText = form.needsTexts;
  session.options.lower.lowerOnly = form.lowerOnly;
  SINTER_TRY(session.run(form.until));
  return inspectText(session.state, form);
}

Result<std::string> inspect(const graph::Graph &graph, std::string_view stage,
                            const Options &options) noexcept {
  return guarded([&] {
    Session session(options, &graph.sites);
    return inspectSource(session, graph, stage);
  });
}

Result<std::string> inspectText(std::string_view mlir, std::string_view stage,
                                const Options &options) noexcept {
  return guarded([&] {
    Session session(options);
    return inspectSource(session, mlir, stage);
  });
}

Result<std::string> machineText(std::string_view name) noexcept {
  return guarded([&]() -> Result<std::string> {
    SINTER_TRY_ASSIGN(auto target, makeTarget(name));
    const MachineModel &machine = target->machines().own;
    std::string text;
    for (const MachineField &field : machineFields())
      if (machine.*field.value > 0)
        text += llvm::formatv("{0,-17} {1,7}  {2}\n", field.name,
                              machine.*field.value, field.meaning)
                    .str();
    return text;
  });
}

std::string_view digest() { return sourceDigest; }

} // namespace sinter::compiler

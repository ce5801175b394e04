/// The stages, in order. Read from `runPipeline` at the end.
#include "compiler/Pipeline.h"
#include "compiler/Passes.h"
#include "compiler/StageTrace.h"
#include "compiler/fuse/ScheduleTiles.h"
#include "compiler/import/ImportGraph.h"
#include "runtime/program/Numerics.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/WorkTimes.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr std::string_view stageNames[] = {
    "import", "simplify", "fuse", "plan", "lower", "target", "package"};

std::string_view toString(Stage stage) { return stageNames[unsigned(stage)]; }

std::optional<Stage> parseStage(std::string_view name) {
  for (unsigned stage = 0; stage < std::size(stageNames); ++stage)
    if (stageNames[stage] == name)
      return Stage(stage);
  return std::nullopt;
}

static std::string nameOf(NumericsMode mode) {
  return std::string(runtime::numericsName(uint8_t(mode)));
}

PipelineOptions pipelineOptions(const Options &options) {
  PipelineOptions stages;
  stages.import.dynamic = options.dynamic;
  stages.simplify.numerics = options.numerics;
  stages.fuse.fusion = options.fusion;
  stages.fuse.numerics = options.numerics;
  stages.fuse.memoryLimit = options.memoryLimit;
  stages.schedule.tiles = options.tiles;
  stages.lower.numerics = options.numerics;
  stages.target.name = options.target;
  stages.package.debug = options.debug;
#ifndef NDEBUG
  stages.verify = true;
#endif
  return stages;
}

void buildStage(Stage stage, OpPassManager &passes,
                const PipelineOptions &options) {
  switch (stage) {
  case Stage::import:
    passes.addPass(createSetTarget({.name = options.target.name}));
    passes.addPass(createSplitComplex());
    passes.addPass(createExpandComposites({.keepImages = true}));
    passes.addPass(createSettleBroadcasts());
    break;
  case Stage::simplify: {
    bool exact = options.simplify.numerics == NumericsMode::exact;
    if (!exact) {
      passes.addPass(createDropPaddingTaps());
      passes.addPass(createUnmergeRows());
    }
    passes.addPass(createAssignLayouts({.exact = exact}));
    passes.addPass(createExpandComposites());
    passes.addPass(createSettleBroadcasts());
    if (!exact) {
      passes.addPass(createContractMultiplyAdd());
      passes.addPass(createMarkSharedDivisors(
          {.numbers = options.simplify.numerics == NumericsMode::fast}));
    }
    passes.addPass(createSimplifyOps({.exact = exact}));
    if (!exact)
      passes.addPass(createProductsOfBytes());
    if (options.fuse.fusion != Fusion::none)
      passes.addPass(createNarrowPositions());
    passes.addPass(createMergeDuplicates());
    passes.addPass(createRemoveDeadOps());
    if (options.fuse.fusion != Fusion::none) {
      passes.addPass(createRaiseAttention({.exact = exact}));
      passes.addPass(createUnmergeBatches({.exact = exact}));
    }
    passes.addPass(createSettleBroadcasts()); // of those that are new
    passes.addPass(createOrderValues());
    passes.addPass(createProveIndices());
    if (options.fuse.fusion != Fusion::none) {
      passes.addPass(createCheckEarly());
      passes.addPass(createMergeDuplicates());
      passes.addPass(createRemoveDeadOps());
    }
    break;
  }
  case Stage::fuse:
    passes.addPass(createFormLoops());
    if (options.fuse.memoryLimit > 0)
      passes.addPass(createRecomputeValues(
          {.memoryLimit = options.fuse.memoryLimit,
           .onePerOp = options.fuse.fusion == Fusion::none}));
    passes.addPass(
        createFormKernels({.onePerOp = options.fuse.fusion == Fusion::none,
                           .maxOps = options.fuse.caps.ops,
                           .maxBuffers = options.fuse.caps.buffers,
                           .maxCopies = options.fuse.caps.copies,
                           .maxParallelOps = options.fuse.caps.parallelOps,
                           .maxWork = options.fuse.caps.work}));
    passes.addPass(createShareKernels());
    passes.addPass(
        createChooseSchedules({.numerics = nameOf(options.fuse.numerics)}));
    break;
  case Stage::plan:
    passes.addPass(createOrderLaunches());
    passes.addPass(
        createPlanWorkspaces({.numerics = nameOf(options.lower.numerics)}));
    passes.addPass(createPlanMemory());
    break;
  case Stage::lower:
  case Stage::target:
  case Stage::package:
    break;
  }
}

// import, simplify, fuse, plan: passes over the module.
static Result<void> runPasses(Compilation &state, Stage stage,
                              const PipelineOptions &options) {
  PassManager passes(state.module->getContext(), "builtin.module");
  passes.enableVerifier(options.verify);
  buildStage(stage, passes, options);
  bool isDone = succeeded(passes.run(*state.module));
  SINTER_TRY(checkCancelled()); // its passes were left out
  if (!isDone)
    return makeError(ErrorKind::compile, "");
  return {};
}

// Each kernel to the loops of its skeleton and on to an object, in parallel.
static Result<void> lowerKernels(Compilation &state,
                                 const PipelineOptions &options) {
  EmitOptions emit = options.lower;
  emit.verify = options.verify;
  SINTER_TRY_ASSIGN(state.codes,
                    compileKernels(*state.module, *state.target, emit));
  return {};
}

// The objects to one image.
static Result<void> linkProgram(Compilation &state) {
  std::vector<std::string> objects;
  for (auto kernel : state.module->getOps<program::KernelOp>())
    objects.push_back(state.codes.lookup(kernel.getSymName())->object);
  if (objects.empty())
    return {};
  SINTER_TRY_ASSIGN(state.image, state.target->link(objects));
  return {};
}

static Result<void> packageProgram(Compilation &state,
                                   const PipelineOptions &options) {
  PackageContents contents;
  contents.module = *state.module;
  contents.target = state.target.get();
  contents.numerics = options.lower.numerics;
  contents.codes = &state.codes;
  contents.image = std::move(state.image);
  contents.graphText = state.graphText;
  contents.numNodes = state.numNodes;
  contents.debug = options.package.debug;
  contents.sites = options.package.sites;
  SINTER_TRY_ASSIGN(state.bytes, writeProgram(std::move(contents)));
  return {};
}

static Result<void> runStage(Compilation &state, Stage stage,
                             const PipelineOptions &options) {
  switch (stage) {
  case Stage::import:
    // What the graph says, before composites are written out.
    state.graphText = exportText(*state.module);
    state.numNodes = numNodes(*state.module);
    numberResults(*state.module);
    return runPasses(state, stage, options);
  case Stage::fuse:
    SINTER_TRY(runPasses(state, stage, options));
    return scheduleTiles(*state.module, options.schedule.tiles);
  case Stage::simplify:
  case Stage::plan:
    return runPasses(state, stage, options);
  case Stage::lower:
    return lowerKernels(state, options);
  case Stage::target:
    return linkProgram(state);
  case Stage::package:
    return packageProgram(state, options);
  }
  llvm_unreachable("all stages run");
}

Result<void> runPipeline(Compilation &state, const PipelineOptions &options,
                         Stage until, Stage first) {
  SINTER_TRY_ASSIGN(state.target, makeTarget(options.target.name));
  StageTrace trace(*state.module);
  for (Stage stage : {Stage::import, Stage::simplify, Stage::fuse, Stage::plan,
                      Stage::lower, Stage::target, Stage::package}) {
    if (stage < first) {
      if (stage == until)
        return {};
      continue;
    }
    SINTER_TRY(checkCancelled());
    WorkTimer timer(stage < Stage::lower ? Work::passes : Work::code);
    trace.begin(stage);
    Result<void> done = runStage(state, stage, options);
    trace.end(stage);
    if (!done || stage == until)
      return done;
  }
  return {};
}

} // namespace sinter::compiler

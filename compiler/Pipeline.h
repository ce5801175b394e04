/// The pipeline: seven stages from a graph to the bytes of a model file.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/KernelCompiler.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/package/WriteProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// Options of each stage; one struct each.
struct ImportOptions {
  std::vector<std::string> dynamic; ///< see MakeDynamic.h
};
struct SimplifyOptions {
  NumericsMode numerics = NumericsMode::standard;
};
struct PlanOptions {};
struct TargetOptions {
  std::string name = "cpu";
};
struct PackageOptions {
  bool debug = false;
  std::vector<std::string> sites; ///< one `file:line` per node
};
/// What schedules say beside what fusion made of them.
struct ScheduleOptions {
  std::vector<TileChoice> tiles;
};
struct PipelineOptions {
  ImportOptions import;
  SimplifyOptions simplify;
  FuseOptions fuse;
  ScheduleOptions schedule;
  PlanOptions plan;
  EmitOptions lower;
  TargetOptions target;
  PackageOptions package;
  bool verify = false; ///< run the verifier after every pass
};

/// The options of all stages that a user's options stand for.
PipelineOptions pipelineOptions(const Options &options);

/// Name of a stage, and the stage of a name.
std::string_view toString(Stage stage);
std::optional<Stage> parseStage(std::string_view name);

/// The passes of the stages that work on the module as a whole: import,
/// simplify, fuse and plan add passes, the others none.
void buildStage(Stage stage, mlir::OpPassManager &passes,
                const PipelineOptions &options);

/// The state of one compilation: what the stages so far have made.
struct Compilation {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string graphText;
  uint32_t numNodes = 0;
  std::shared_ptr<const Target> target;
  KernelCodes codes;
  std::vector<std::byte> image;
  ModelBytes bytes;
};

/// Runs the stages from `first` up to and including `until` on a module that is
/// as the stage before leaves it. Diagnostics of the context are the caller's
/// to collect.
Result<void> runPipeline(Compilation &state, const PipelineOptions &options,
                         Stage until = Stage::package,
                         Stage first = Stage::import);

} // namespace sinter::compiler

/// The hook through which runtime and tools reach this library.
#include "compiler/Compiler.h"
#include "compiler/Disassemble.h"
#include "compiler/OptMain.h"
#include "runtime/program/CompilerHook.h"

namespace sinter::compiler {

static Options toOptions(const runtime::CompileRequest &request) {
  Options options;
  options.target = request.target;
  options.numerics = NumericsMode(request.numerics);
  options.fusion = Fusion(request.fusion);
  options.memoryLimit = request.memoryLimit;
  options.debug = request.debug;
  options.dynamic = request.dynamic;
  for (const runtime::TileChoice &choice : request.tiles)
    options.tiles.push_back({choice.kernel, choice.tile});
  return options;
}

static Result<ModelBytes> hookCompile(const graph::Graph &graph,
                                      const runtime::CompileRequest &request) {
  return compile(graph, toOptions(request));
}

static Result<ModelBytes>
hookCompileText(std::string_view mlir, const runtime::CompileRequest &request) {
  return compileText(mlir, toOptions(request));
}

static Result<std::string> hookExport(const graph::Graph &graph) {
  return exportGraph(graph);
}

static Result<graph::Graph> hookReadGraph(std::string_view mlir) {
  return readGraph(mlir);
}

static Result<std::string> hookInspect(const graph::Graph &graph,
                                       std::string_view stage,
                                       const runtime::CompileRequest &request) {
  return inspect(graph, stage, toOptions(request));
}

static Result<std::string>
hookInspectText(std::string_view mlir, std::string_view stage,
                const runtime::CompileRequest &request) {
  return inspectText(mlir, stage, toOptions(request));
}

static Result<std::vector<std::string>>
hookKernelTiles(std::string_view kernel,
                const runtime::CompileRequest &request) {
  return kernelTiles(kernel, toOptions(request));
}

static Result<ModelBytes>
hookCompileKernel(std::string_view kernel,
                  const runtime::CompileRequest &request) {
  return compileKernel(kernel, toOptions(request));
}

static Result<std::string> hookMachineText(std::string_view target) {
  return machineText(target);
}

} // namespace sinter::compiler

extern "C" __attribute__((visibility("default")))
const sinter::runtime::CompilerHook *
sinter_compiler_hook() {
  using namespace sinter::compiler;
  static const sinter::runtime::CompilerHook hook = {
      hookCompile,     hookCompileText,   hookExport,
      hookReadGraph,   hookInspect,       hookInspectText,
      digest,          optMain,           disassemble,
      hookKernelTiles, hookCompileKernel, hookMachineText,
  };
  return &hook;
}

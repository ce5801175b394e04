/// The opt tool over this compiler's passes.
#include "compiler/OptMain.h"
#include "compiler/Passes.h"
#include "compiler/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter::compiler {

// The passes of the stages up to one, as --pass-pipeline takes them.
static FailureOr<std::string> pipelineUntil(StringRef name) {
  std::optional<Stage> until = parseStage(std::string_view(name));
  if (!until || *until > Stage::plan) {
    llvm::errs() << "error: opt: --until is one of import, simplify, fuse, "
                    "plan; `sinter inspect --stage` shows later forms\n";
    return failure();
  }
  OpPassManager passes("builtin.module");
  passes.addPass(createNumberNodes());
  for (unsigned stage = 0; stage <= unsigned(*until); ++stage)
    buildStage(Stage(stage), passes, PipelineOptions());
  std::string text;
  llvm::raw_string_ostream stream(text);
  passes.printAsTextualPipeline(stream);
  return text;
}

int optMain(int argc, char **argv) {
  registerSinterPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  DialectRegistry dialects;
  compilerDialects().appendTo(dialects);
  std::vector<std::string> arguments;
  for (int index = 0; index < argc; ++index) {
    StringRef argument = argv[index];
    bool isApart = argument == "--until" && index + 1 < argc;
    if (isApart)
      argument = argv[++index];
    if (isApart || argument.consume_front("--until=")) {
      FailureOr<std::string> pipeline = pipelineUntil(argument);
      if (failed(pipeline))
        return 2;
      arguments.push_back("--pass-pipeline=" + *pipeline);
    } else if (argument.consume_front("--pipeline=")) {
      arguments.push_back(
          ("--pass-pipeline=builtin.module(" + argument + ")").str());
    } else {
      arguments.push_back(argument.str());
    }
  }
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  LogicalResult done = MlirOptMain(int(arguments.size()), pointers.data(),
                                   "sinter opt", dialects);
  return failed(done) ? 1 : 0;
}

} // namespace sinter::compiler

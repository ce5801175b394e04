/// Dumps and times of stages.
#include "compiler/StageTrace.h"
#include "compiler/Pipeline.h"
#include "compiler/import/ImportGraph.h"
#include "runtime/support/Flags.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter::compiler {

StageTrace::StageTrace(ModuleOp module)
    : module(module), dumped(flags().dump), timed(flags().time) {}

void StageTrace::begin(Stage) {
  if (!dumped.empty())
    before = exportText(module);
  start = std::chrono::steady_clock::now();
}

void StageTrace::end(Stage stage) {
  std::string_view name = toString(stage);
  if (timed) {
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::formatv("sinter: {0}: {1:f2} ms\n", StringRef(name),
                                  elapsed.count());
  }
  SmallVector<StringRef> names;
  StringRef(dumped).split(names, ',');
  if (!llvm::is_contained(names, StringRef(name)))
    return;
  std::string after = exportText(module);
  if (after != before)
    llvm::errs() << "// ---- " << StringRef(name) << "\n" << after;
}

} // namespace sinter::compiler

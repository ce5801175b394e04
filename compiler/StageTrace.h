/// SINTER_DUMP and SINTER_TIME: what a stage changed, and how long it took.
#pragma once

#include "compiler/Compiler.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>
#include <string>

namespace sinter::compiler {

/// Follows one compilation. Costs nothing unless a variable is set.
class StageTrace {
public:
  explicit StageTrace(mlir::ModuleOp module);

  void begin(Stage stage);
  /// Prints the IR to the standard error when SINTER_DUMP names the stage and
  /// the stage changed it, and the time when SINTER_TIME is set.
  void end(Stage stage);

private:
  mlir::ModuleOp module;
  std::string dumped; ///< the list of SINTER_DUMP
  bool timed = false;
  std::string before;
  std::chrono::steady_clock::time_point start;
};

} // namespace sinter::compiler

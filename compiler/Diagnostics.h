/// Collects what MLIR reports into one ErrorInfo.
#pragma once

#include "sinter/runtime/Error.h"
#include "sinter/runtime/Graph.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace sinter::compiler {

/// While it lives, diagnostics of the context end here. The first error is
/// kept: its message as `OP: WHAT`, and the site of its node.
class DiagnosticCollector {
public:
  /// `sites` may be null; it is that of the graph being compiled.
  explicit DiagnosticCollector(mlir::MLIRContext *context,
                               const std::vector<SiteId> *sites = nullptr);

  /// The first error, or one that only says which stage failed.
  ErrorInfo takeError(ErrorKind kind, std::string_view stage);

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);

  const std::vector<SiteId> *sites;
  ErrorInfo first;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace sinter::compiler

/// Diagnostics become errors.
#include "compiler/Diagnostics.h"
#include "compiler/import/Locations.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

DiagnosticCollector::DiagnosticCollector(MLIRContext *context,
                                         const std::vector<SiteId> *sites)
    : sites(sites), handler(context, [this](Diagnostic &diagnostic) {
        return handle(diagnostic);
      }) {}

// `'sinter.add' op WHAT` becomes `add: WHAT`.
static void splitOp(ErrorInfo &error) {
  StringRef text = error.message;
  if (!text.consume_front("'sinter."))
    return;
  auto [op, rest] = text.split('\'');
  rest = rest.ltrim();
  rest.consume_front("op ");
  error.op = op.str();
  // A shape rule's message names the op already.
  bool named = rest.starts_with((op + ":").str());
  error.message = named ? rest.str() : (op + ": " + rest).str();
}

static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(LocationAttr(part));
    if (!file || file.getLine() == 0 || file.getFilename() == "node" ||
        !place.empty())
      return WalkResult::advance();
    place = llvm::formatv(" (line {0}:{1})", file.getLine(), file.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
      !first.message.empty())
    return success();
  first.message = diagnostic.str();
  splitOp(first);
  first.message += placeOf(diagnostic.getLocation());
  auto nodes = nodesOf(diagnostic.getLocation());
  if (sites && !nodes.empty() && nodes.front() < sites->size())
    first.site = (*sites)[nodes.front()];
  return success();
}

ErrorInfo DiagnosticCollector::takeError(ErrorKind kind,
                                         std::string_view stage) {
  if (first.message.empty())
    first.message = "the stage " + std::string(stage) + " failed";
  first.kind = kind;
  return std::move(first);
}

} // namespace sinter::compiler

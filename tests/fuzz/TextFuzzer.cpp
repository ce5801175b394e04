/// Graphs as text: what is read is written, read again and the same.
#include "runtime/program/CompilerHook.h"
#include "tests/fuzz/Fuzzer.h"

#include <string>

using namespace sinter;
using sinter::fuzz::require;

SINTER_FUZZER(Text) {
  static const runtime::CompilerHook *const hook = *runtime::compilerHook();
  std::string_view text(reinterpret_cast<const char *>(data), size);
  auto graph = hook->readGraph(text);
  if (!graph) {
    const std::string &message = graph.error().message;
    // A crash of the compiler is an error, too, of a text that is never right.
    bool isCrash = message.find("stopped with signal") != message.npos;
    return require(!message.empty() && !isCrash);
  }
  auto written = hook->exportGraph(*graph);
  require(written.ok());
  auto again = hook->readGraph(*written);
  require(again && again->values.size() == graph->values.size());
}

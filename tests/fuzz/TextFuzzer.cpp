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
  if (!graph)
    return require(!graph.error().message.empty());
  auto written = hook->exportGraph(*graph);
  require(written.ok());
  auto again = hook->readGraph(*written);
  require(again && again->values.size() == graph->values.size());
}

/// sinter-tblgen: generates from the ops' records.
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/Main.h"

#include <deque>

using namespace llvm;
using namespace sinter::tblgen;

namespace {

struct Output {
  const char *flag;
  bool (*emit)(const Records &, raw_ostream &);
  const char *description;
};

const Output outputs[] = {
    {"op-ids", emitOpIds, "op codes"},
    {"op-table", emitOpTable, "rows of the op table"},
    {"precisions", emitPrecisions, "in how many bits ops compute"},
    {"choices", emitChoices, "enum classes of choice attributes"},
    {"graph-builder-decls", emitGraphBuilderDecls, "graph builders, declared"},
    {"graph-builder-defs", emitGraphBuilderDefs, "graph builders"},
    {"decompositions", emitDecompositions, "composites in other ops"},
    {"gradients", emitGradients, "gradient rules"},
    {"scalar-bodies", emitScalarBodies, "pointwise ops on elements"},
    {"frontend-decls", emitFrontendDecls, "the user's functions, declared"},
    {"frontend-defs", emitFrontendDefs, "the user's functions"},
    {"method-decls", emitMethodDecls, "methods of Tensor, declared"},
    {"method-defs", emitMethodDefs, "methods of Tensor"},
    {"property-table", emitPropertyTable, "what property tests draw"},
    {"examples", emitExamples, "every op's example as a function"},
    {"docs", emitDocs, "the reference of ops"},
};

const Output *chosen = nullptr;

cl::opt<std::string> family("family",
                            cl::desc("only the ops of this file, for what is "
                                     "declared: the stem of its name"));

bool run(raw_ostream &os, const RecordKeeper &keeper) {
  Records records(keeper, family);
  return !records.load() || !chosen->emit(records, os);
}

} // namespace

int main(int argc, char **argv) {
  std::deque<cl::opt<bool>> flags;
  for (const Output &output : outputs)
    flags.emplace_back(StringRef(output.flag), cl::desc(output.description));
  cl::ParseCommandLineOptions(argc, argv, "generates from ops' records\n");
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i])
      chosen = &outputs[i];
  if (!chosen) {
    errs() << "error: say what to generate, e.g. --docs\n";
    return 2;
  }
  return TableGenMain(argv[0], run);
}

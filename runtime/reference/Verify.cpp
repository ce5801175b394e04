/// Runs the reference beside a program and writes what differs to a file.
#include "runtime/reference/Verify.h"

#include "runtime/graph/Key.h"
#include "runtime/reference/Compare.h"
#include "runtime/reference/Repro.h"
#include "runtime/support/Sites.h"

#include <fmt/format.h>

namespace sinter::reference {

/// The first output that differs, by its position.
static size_t firstDifferent(std::span<const HostTensor> outputs,
                             const Expectation &expected) {
  size_t i = 0;
  auto isRight = [&](size_t number) {
    return differenceOf(outputs.subspan(number, 1), expected.of(number))
        .empty();
  };
  while (i < outputs.size() && isRight(i))
    ++i;
  return i;
}

/// The name of the repro that was written, or why there is none.
static std::string keep(const Repro &repro) {
  std::string path =
      "sinter-verify-" + runtime::toHex(graph::keyOf(repro.graph)) + ".mlir";
  Status written = writeRepro(path, repro);
  if (!written)
    return "no repro, " + written.error().message;
  return "see " + path + ", which `sinter run` replays";
}

Status verify(const graph::Graph &graph, std::span<const HostTensor> inputs,
              std::span<const HostTensor> outputs,
              const runtime::CompileRequest &request) {
  auto expected = expect(graph, inputs, accuracyOf(request));
  if (!expected)
    return {};
  std::string difference = differenceOf(outputs, *expected);
  if (difference.empty())
    return {};
  size_t output = firstDifferent(outputs, *expected);
  uint32_t number = output < graph.outputs.size() ? graph.outputs[output] : 0;
  std::string op(graph.values[number].op == graph::leafOp
                     ? "leaf"
                     : graph::info(graph.values[number].op).name);
  SiteId site = number < graph.sites.size() ? graph.sites[number] : 0;
  std::string kept = keep({graph,
                           {inputs.begin(), inputs.end()},
                           request,
                           difference,
                           siteString(site),
                           {}});
  ErrorInfo error =
      makeError(ErrorKind::internal,
                fmt::format("{}: differs from the reference: {}; {}", op,
                            difference, kept),
                op);
  error.site = site;
  return error;
}

} // namespace sinter::reference

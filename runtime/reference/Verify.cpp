/// Runs the reference beside a program and writes what differs to a file.
#include "runtime/reference/Verify.h"

#include "runtime/graph/Key.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/reference/Compare.h"
#include "runtime/reference/HostValue.h"

#include <fmt/format.h>
#include <fstream>

namespace sinter::reference {

/// `f32[2,3] = 1 2 3 4 5 6`, at most so many elements that a person reads.
static std::string textOf(const HostTensor &tensor) {
  constexpr int64_t most = 4096;
  HostValue value = decode(tensor);
  std::string text =
      fmt::format("{}[{}] =", name(tensor.dtype), fmt::join(tensor.dims, ","));
  for (int64_t i = 0, count = value.elements(); i < count && i < most; ++i)
    text += value.isReal() ? fmt::format(" {:.9g}", value.reals[i])
                           : fmt::format(" {}", value.ints[i]);
  return value.elements() > most ? text + " ..." : text;
}

/// Writes graph and inputs; returns the file's name, or why there is none.
static std::string writeRepro(const graph::Graph &graph,
                              std::span<const HostTensor> inputs,
                              const std::string &difference) {
  std::string path =
      "sinter-verify-" + runtime::toHex(graph::keyOf(graph)) + ".mlir";
  std::ofstream file(path);
  file << "// " << difference << "\n";
  for (size_t i = 0; i < inputs.size(); ++i)
    file << "// input " << i << ": " << textOf(inputs[i]) << "\n";
  if (auto hook = runtime::compilerHook())
    if (auto text = (*hook)->exportGraph(graph))
      file << *text;
  file.close();
  return file ? path : "no file (" + path + " cannot be written)";
}

/// The first output that differs, by its position.
static size_t firstDifferent(std::span<const HostTensor> outputs,
                             const Expectation &expected) {
  size_t i = 0;
  while (i < outputs.size() &&
         differenceOf(outputs.subspan(i, 1),
                      {{expected.values[i]}, {expected.tolerances[i]}})
             .empty())
    ++i;
  return i;
}

Status verify(const graph::Graph &graph, std::span<const HostTensor> inputs,
              std::span<const HostTensor> outputs) {
  auto expected = expect(graph, inputs);
  if (!expected)
    return {};
  std::string difference = differenceOf(outputs, *expected);
  if (difference.empty())
    return {};
  size_t output = firstDifferent(outputs, *expected);
  uint32_t number = output < graph.outputs.size() ? graph.outputs[output] : 0;
  std::string op(graph.values[number].op == graph::OpId::leaf
                     ? "leaf"
                     : graph::info(graph.values[number].op).name);
  ErrorInfo error =
      makeError(ErrorKind::internal,
                fmt::format("{}: differs from the reference: {}; see {}", op,
                            difference, writeRepro(graph, inputs, difference)),
                op);
  if (number < graph.sites.size())
    error.site = graph.sites[number];
  return error;
}

} // namespace sinter::reference

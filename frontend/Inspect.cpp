/// Shows what recorded tensors compile to; runs nothing.
#include <sinter/Inspect.h>

#include "frontend/Flush.h"
#include "frontend/Programs.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/device/Device.h"
#include "runtime/files/ReplaceFile.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::raise;
using detail::unwrap;
using graph::NodeRef;

namespace {
struct Recorded {
  graph::Slice slice;
  DeviceId device;
};
} // namespace

/// The graph below the tensors, as a flush of them would compile it.
static Recorded sliceOf(std::span<const Tensor> tensors, std::string_view what,
                        const SourceLine &where) {
  std::vector<NodeRef> outputs;
  for (const Tensor &tensor : tensors) {
    if (!tensor.defined())
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("{}: a tensor is empty", what)),
            where);
    outputs.push_back(tensor.node());
  }
  if (outputs.empty())
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: no tensors", what)),
          where);
  detail::HistoryLock lock(outputs[0]);
  DeviceId device = outputs[0]->device();
  return {unwrap(graph::slice(outputs), where), device};
}

std::string inspect(std::span<const Tensor> tensors, std::string_view stage,
                    std::source_location where) try {
  Recorded recorded = sliceOf(tensors, "inspect", where);
  const runtime::CompilerHook *hook = unwrap(runtime::compilerHook(), where);
  runtime::CompileRequest request =
      unwrap(detail::compileRequest(recorded.device), where);
  request = unwrap(
      runtime::tuned(detail::tunableOf(recorded.slice.graph, request)), where);
  return unwrap(hook->inspect(recorded.slice.graph, stage, request), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void export_graph(std::span<const Tensor> outputs, const std::string &path,
                  std::source_location where) try {
  Recorded recorded = sliceOf(outputs, "export_graph", where);
  const runtime::CompilerHook *hook = unwrap(runtime::compilerHook(), where);
  std::string text = unwrap(hook->exportGraph(recorded.slice.graph), where);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  unwrap(runtime::replaceFile(path, {&bytes, 1}), where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// The program that a flush of the slice would run; for the null device, the
/// one that a cpu would.
static std::shared_ptr<const runtime::Program>
compiled(const Recorded &recorded, const SourceLine &where) {
  runtime::CompileRequest request =
      unwrap(detail::compileRequest(recorded.device), where);
  std::vector<std::byte> bytes = unwrap(
      runtime::compileTuned(detail::tunableOf(recorded.slice.graph, request)),
      where);
  DeviceId id = recorded.device;
  if (id.kind == DeviceKind::null)
    id = DeviceId();
  runtime::Device *device = unwrap(runtime::getDevice(id), where);
  return unwrap(runtime::Program::load(bytes, *device), where);
}

void expect_fused(const Tensor &a, const Tensor &b,
                  std::source_location where) try {
  Recorded recorded = sliceOf({&b, 1}, "expect_fused", where);
  const std::vector<NodeRef> &nodes = recorded.slice.nodes;
  auto position = std::find(nodes.begin(), nodes.end(), a.node());
  auto reject = [&](const char *what) {
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("expect_fused: {}: {} x {}", what,
                                graph::typeString(*a.node()),
                                graph::typeString(*b.node()))),
          where);
  };
  if (position == nodes.end() || a.node()->isReady())
    reject("the second tensor does not compute the first");
  auto first = static_cast<uint32_t>(position - nodes.begin());
  uint32_t second = recorded.slice.graph.outputs[0];
  for (const runtime::LaunchInfo &launch :
       compiled(recorded, where)->launches()) {
    auto computes = [&](uint32_t number) {
      return std::find(launch.nodes.begin(), launch.nodes.end(), number) !=
             launch.nodes.end();
    };
    if (computes(first) && computes(second))
      return;
  }
  reject("not in one launch");
} catch (...) {
  detail::raiseExhausted(where);
}

void max_kernels(std::span<const Tensor> tensors, size_t most,
                 std::source_location where) try {
  Recorded recorded = sliceOf(tensors, "max_kernels", where);
  size_t count = compiled(recorded, where)->launches().size();
  if (count > most)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("max_kernels: {} launches, at most {} expected",
                                count, most)),
          where);
} catch (...) {
  detail::raiseExhausted(where);
}

std::string explain(std::span<const Tensor> tensors,
                    std::source_location where) try {
  Recorded recorded = sliceOf(tensors, "explain", where);
  auto program = compiled(recorded, where);
  std::string text;
  for (const runtime::LaunchInfo &launch : program->launches())
    text += fmt::format("launch {} ({}, {} ops)\n", launch.kernel, launch.kind,
                        launch.nodes.size());
  for (const runtime::Decision &decision : program->decisions()) {
    text += fmt::format("{} {}: {} bytes, {:.1f} us",
                        decision.accepted ? "fused" : "not fused",
                        decision.rule, decision.bytes, decision.estUs);
    for (uint32_t number : decision.nodes)
      if (number < recorded.slice.nodes.size())
        text += fmt::format("; {}",
                            siteString(recorded.slice.nodes[number]->site()));
    text += decision.detail.empty() ? "\n" : "; " + decision.detail + "\n";
  }
  return text;
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Memory -------------------------------------------------------------===//

PeakMemory inspect_memory(std::span<const Tensor> tensors,
                          std::source_location where) try {
  Recorded recorded = sliceOf(tensors, "inspect_memory", where);
  auto program = compiled(recorded, where);
  std::vector<runtime::Binding> bindings;
  for (const NodeRef &input : recorded.slice.inputs) {
    runtime::Binding &binding = bindings.emplace_back();
    for (Dim dim : input->dims())
      binding.dims.push_back(dim.value);
  }
  runtime::PeakMemory peak =
      unwrap(runtime::peakMemory(*program, bindings), where);
  PeakMemory result{
      peak.bytes(), peak.inputBytes, peak.outputBytes, peak.arenaBytes, {}};
  for (const runtime::PeakMemory::Use &use : peak.live) {
    PeakMemory::Use own{use.bytes, std::string(use.role), {}, {}};
    if (use.node < recorded.slice.nodes.size()) {
      const graph::Node &node = *recorded.slice.nodes[use.node];
      own.what = fmt::format(
          "{} {}", node.isLeaf() ? "leaf" : graph::info(node.op()).name,
          graph::typeString(node));
      own.site = siteString(node.site());
    }
    result.live.push_back(std::move(own));
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

std::string to_string(const PeakMemory &peak) try {
  std::string text = fmt::format(
      "peak {} bytes: {} of inputs, {} of outputs, {} of temporaries\n",
      peak.bytes, peak.input_bytes, peak.output_bytes, peak.temporary_bytes);
  for (const PeakMemory::Use &use : peak.live)
    text += fmt::format("  {} bytes, {}: {}{}{}\n", use.bytes, use.role,
                        use.what, use.site.empty() ? "" : " at ", use.site);
  return text;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter

/// Compiles what was recorded once, and runs the program.
#include "tools/benchmarks/native/Replays.h"

#include "frontend/Programs.h"
#include "frontend/Raise.h"
#include "runtime/graph/Slice.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"
#include "runtime/reference/HostValue.h"

#include <source_location>

namespace rt = sinter::runtime;
using namespace bench;
using sinter::graph::NodeRef;

namespace {

template <typename T> T valueOf(sinter::Result<T> result) {
  return sinter::detail::unwrap(std::move(result),
                                std::source_location::current());
}

std::vector<rt::Binding> bindingsOf(const sinter::graph::Slice &slice) {
  std::vector<rt::Binding> bindings;
  for (const NodeRef &node : slice.inputs) {
    rt::Binding binding;
    binding.buffer = node->value();
    if (!binding.buffer)
      throw Unsupported("an input of the program has no memory");
    for (sinter::Dim dim : node->dims())
      binding.dims.push_back(dim.value);
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

class Replays : public Work {
public:
  Replays(const Calls::Record &record, size_t copies)
      : device(*valueOf(rt::getDevice(sinter::default_device()))) {
    for (size_t i = 0; i < copies; ++i) {
      std::vector<NodeRef> nodes;
      for (const sinter::Tensor &result : record())
        nodes.push_back(result.node());
      sinter::graph::Slice slice = valueOf(sinter::graph::slice(nodes));
      if (!program)
        program = compiled(slice.graph);
      inputs.push_back(bindingsOf(slice));
    }
  }

  void run() override {
    auto outputs = valueOf(rt::run(*program, inputs[next++ % inputs.size()]));
    if (!hasRun)
      first = outputs[0];
    hasRun = true;
  }
  void wait() override { valueOf(device.synchronize()); }
  std::vector<double> sample(size_t count) override {
    rt::Output output = std::exchange(first, {});
    sinter::reference::HostTensor host{
        program->outputs()[0].dtype, output.dims, {}};
    host.data.resize(output.buffer->bytes());
    valueOf(device.copyOut(host.data, *output.buffer, 0));
    return sampleOf<double>(sinter::reference::decode(host).reals, count);
  }

private:
  std::shared_ptr<const rt::Program>
  compiled(const sinter::graph::Graph &graph) const {
    auto request = valueOf(sinter::detail::compileRequest(device.id()));
    auto file = valueOf(valueOf(rt::compilerHook())->compile(graph, request));
    return valueOf(rt::Program::load(file, device));
  }

  rt::Device &device;
  std::shared_ptr<const rt::Program> program;
  std::vector<std::vector<rt::Binding>> inputs; ///< of each recording
  size_t next = 0;
  rt::Output first; ///< the first result, until somebody looked at it
  bool hasRun = false;
};

} // namespace

std::unique_ptr<Work> bench::replaysOf(const Calls::Record &record,
                                       size_t copies) {
  return std::make_unique<Replays>(record, copies);
}

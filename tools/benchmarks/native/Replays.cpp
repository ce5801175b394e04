/// Compiles what was recorded once, and runs the program.
#include "tools/benchmarks/native/Replays.h"

#include "runtime/graph/Slice.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"

#include <bit>
#include <cstdint>

namespace rt = sinter::runtime;
using namespace bench;
using sinter::DType;
using sinter::graph::NodeRef;

namespace {

template <typename T> T valueOf(sinter::Result<T> result) {
  if (!result)
    throw sinter::Error(result.takeError());
  return *std::move(result);
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
      first = outputs[0].buffer;
    hasRun = true;
  }
  void wait() override {
    if (sinter::Status done = device.synchronize(); !done)
      throw sinter::Error(done.takeError());
  }
  std::vector<double> sample(size_t count) override {
    rt::BufferRef buffer = std::exchange(first, {});
    switch (program->outputs()[0].dtype) {
    case DType::f32:
      return sampleOf<float>(read<float>(*buffer), count);
    case DType::bf16: {
      std::vector<float> values;
      for (uint16_t bits : read<uint16_t>(*buffer))
        values.push_back(std::bit_cast<float>(uint32_t(bits) << 16));
      return sampleOf<float>(values, count);
    }
    default:
      return {};
    }
  }

private:
  std::shared_ptr<const rt::Program>
  compiled(const sinter::graph::Graph &graph) const {
    rt::CompileRequest request;
    request.target = device.target();
    auto file = valueOf(valueOf(rt::compilerHook())->compile(graph, request));
    return valueOf(rt::Program::load(file, device));
  }
  template <typename T> std::vector<T> read(const rt::Buffer &buffer) const {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    sinter::Status done =
        device.copyOut(std::as_writable_bytes(std::span(values)), buffer, 0);
    if (!done)
      throw sinter::Error(done.takeError());
    return values;
  }

  rt::Device &device;
  std::shared_ptr<const rt::Program> program;
  std::vector<std::vector<rt::Binding>> inputs; ///< of each recording
  size_t next = 0;
  rt::BufferRef first; ///< the first result, until somebody looked at it
  bool hasRun = false;
};

} // namespace

std::unique_ptr<Work> bench::replaysOf(const Calls::Record &record,
                                       size_t copies) {
  return std::make_unique<Replays>(record, copies);
}

/// Writes loops: carries are states of a Scan, slices its inputs.
#include "frontend/export/onnx/LoopWriter.h"

#include "frontend/export/onnx/OpCall.h"

#include <algorithm>

namespace sinter::onnx {

class LoopWriter {
public:
  LoopWriter(GraphWriter &writer, const graph::Loop &loop)
      : writer(writer), loop(loop) {}

  void write() {
    if (loop.condition != 0)
      refuse("a loop whose rounds the model decides, or a branch");
    if (loop.parent != graph::Loops::none)
      refuse("a loop in a loop");
    nameOutside();
    for (uint32_t value : loop.body)
      if (opOf(value) == "scan_slice")
        slices.push_back(value);
    for (const graph::Loop::Carry &carry : loop.carries)
      operands.push_back(writer.nameOf(valueAt(carry.carry).operands[1]));
    for (uint32_t slice : slices)
      operands.push_back(writer.nameOf(valueAt(slice).operands[1]));
    if (slices.empty())
      operands.push_back(placesOf());
    WireWriter body = writeBody();
    writeNode(std::move(body));
  }

private:
  [[noreturn]] void refuse(const char *what) const {
    OpCall(writer, loop.index)
        .unsupported(std::string("export_onnx: ") + what + " is not written");
  }
  const graph::Value &valueAt(uint32_t number) const {
    return writer.graph.values[number];
  }
  std::string_view opOf(uint32_t number) const {
    const graph::Value &value = valueAt(number);
    return value.op == graph::leafOp ? "" : graph::info(value.op).name;
  }
  bool isInside(uint32_t value) const {
    return std::ranges::binary_search(loop.body, value) || value == loop.index;
  }

  /// What the body reads is written before it, and not in it.
  void nameOutside() {
    for (uint32_t value : loop.body)
      for (uint32_t operand : valueAt(value).operands)
        if (!isInside(operand))
          writer.nameOf(operand);
    for (const graph::Loop::Carry &carry : loop.carries)
      if (!isInside(carry.next))
        writer.nameOf(carry.next);
    for (uint32_t stack : loop.stacks)
      if (!isInside(valueAt(stack).operands[1]))
        writer.nameOf(valueAt(stack).operands[1]);
  }

  /// A Scan has slices of something.
  std::string placesOf() {
    OpCall call(writer, loop.index);
    std::vector<int64_t> scalar;
    std::string length =
        call.make("Reshape", {call.dimName(valueAt(loop.index).dims[0]),
                              call.integers(scalar)});
    return call.make("Range",
                     {call.number(DType::i64, Number(int64_t(0))), length,
                      call.number(DType::i64, Number(int64_t(1)))});
  }

  WrittenPort portOf(std::string name, uint32_t value) const {
    WrittenPort port{std::move(name), valueAt(value).dtype, {}};
    for (uint32_t expr : valueAt(value).dims)
      port.dims.push_back({{}, writer.sizeOf(expr).value_or(-1)});
    return port;
  }

  void enter(uint32_t value) {
    std::string name = writer.file.uniqueName("step");
    writer.bind(value, name);
    from.push_back(portOf(name, value));
  }
  void leave(uint32_t value) {
    std::string name = writer.file.uniqueName("next");
    std::string given = writer.nameOf(value);
    writer.file.node("Identity", {&given, 1}, {&name, 1}, {});
    to.push_back(portOf(name, value));
  }

  /// Sizes that are computed in the body are not there behind it.
  WireWriter writeBody() {
    auto writtenBefore = writer.written;
    writer.file.beginGraph();
    for (const graph::Loop::Carry &carry : loop.carries)
      enter(carry.carry);
    for (uint32_t slice : slices)
      enter(slice);
    if (slices.empty())
      from.push_back({writer.file.uniqueName("step"), DType::i64, {}});
    for (uint32_t value : loop.body)
      if (writer.names[value].empty() && !writer.isPutOff(valueAt(value)))
        writer.write(value);
    for (const graph::Loop::Carry &carry : loop.carries)
      leave(carry.next);
    for (uint32_t stack : loop.stacks)
      leave(valueAt(stack).operands[1]);
    writer.written = std::move(writtenBefore);
    return writer.file.endGraph(from, to);
  }

  /// The name of a value that comes out.
  std::string out(uint32_t value) {
    auto wanted = writer.wanted.find(value);
    std::string name = wanted == writer.wanted.end()
                           ? writer.file.uniqueName("v")
                           : wanted->second;
    writer.bind(value, name);
    return name;
  }

  void writeNode(WireWriter body) {
    std::vector<std::string> results;
    for (const graph::Loop::Carry &carry : loop.carries) {
      std::string name;
      for (uint32_t i = loop.end; i < writer.graph.values.size(); ++i)
        if (opOf(i) == "scan_last" && valueAt(i).operands[0] == loop.end &&
            valueAt(i).operands[1] == carry.carry && name.empty())
          name = out(i);
      results.push_back(name.empty() ? writer.file.uniqueName("v") : name);
    }
    for (uint32_t stack : loop.stacks)
      results.push_back(out(stack));
    size_t numInputs = std::max<size_t>(slices.size(), 1);
    int64_t direction = loop.reverse;
    writer.file.node(
        "Scan", operands, results,
        {{"body", std::move(body)},
         {"num_scan_inputs", int64_t(numInputs)},
         {"scan_input_directions", std::vector<int64_t>(numInputs, direction)},
         {"scan_output_directions",
          std::vector<int64_t>(loop.stacks.size(), direction)}});
  }

  GraphWriter &writer;
  const graph::Loop &loop;
  std::vector<uint32_t> slices;
  std::vector<std::string> operands;
  std::vector<WrittenPort> from, to;
};

void writeLoop(GraphWriter &writer, const graph::Loop &loop) {
  LoopWriter(writer, loop).write();
}

} // namespace sinter::onnx

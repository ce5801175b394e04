/// Programs as text.
#include "tools/sinter/ProgramText.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <iterator>

namespace sinter::cli {

using namespace runtime;

namespace {

/// Operands are shared: of many parts only the first ones are written.
class ExprPrinter {
public:
  explicit ExprPrinter(std::span<const Expr> exprs) : exprs(exprs) {}

  std::string print(uint32_t index) {
    const Expr &expr = exprs[index];
    switch (expr.op) {
    case ExprOp::constant:
      return std::to_string(expr.value);
    case ExprOp::symbol:
      return fmt::format("s{}", expr.value);
    case ExprOp::add:
      return printBinary(expr, "+");
    case ExprOp::mul:
      return printBinary(expr, "*");
    case ExprOp::floorDiv:
      return printBinary(expr, "floordiv");
    case ExprOp::ceilDiv:
      return printBinary(expr, "ceildiv");
    case ExprOp::mod:
      return printBinary(expr, "mod");
    }
    return "?";
  }

private:
  std::string printBinary(const Expr &expr, const char *symbol) {
    if (left == 0)
      return "...";
    --left;
    std::string lhs = print(expr.lhs);
    return fmt::format("({} {} {})", lhs, symbol, print(expr.rhs));
  }

  std::span<const Expr> exprs;
  unsigned left = 64;
};

} // namespace

std::string exprText(std::span<const Expr> exprs, uint32_t index) {
  return ExprPrinter(exprs).print(index);
}

namespace {

/// Prints one program.
class Printer {
public:
  Printer(const ProgramData &program, size_t limit)
      : program(program), limit(limit) {}
  Result<std::string> print(bool memory);

private:
  void printPorts(const char *what, const std::vector<Port> &ports);
  void printKernels();
  void printSteps();
  void printLoop(const LoopData &loop);
  void printBuffers();
  std::string bufferName(uint32_t index) const {
    return cli::bufferName(program, index);
  }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args &&...args) {
    if (text.size() > limit)
      return;
    fmt::format_to(std::back_inserter(text), format,
                   std::forward<Args>(args)...);
    text += '\n';
  }

  const ProgramData &program;
  const size_t limit;
  std::string text;
};

} // namespace

void Printer::printPorts(const char *what, const std::vector<Port> &ports) {
  for (size_t index = 0; index < ports.size(); ++index)
    line("{}: {}", portName(what, ports[index], index),
         portType(ports[index], program.exprs));
}

void Printer::printKernels() {
  for (const KernelData &kernel : program.kernels) {
    line("\nkernel {} ({} phases)", kernel.name, kernel.phases.size());
    if (!kernel.tile.empty())
      line("tile {}={}", kernel.name, kernel.tile);
    for (const PhaseData &phase : kernel.phases)
      line("phase {}: {} chunks", phase.symbol,
           exprText(kernel.exprs, phase.chunks));
    line("{}", kernel.text);
  }
}

std::string bufferName(const ProgramData &program, uint32_t index) {
  static constexpr const char *prefixes[] = {"in", "out", "t", "c", "m"};
  const PlanBuffer &buffer = program.buffers[index];
  return fmt::format("{}{}", prefixes[unsigned(buffer.kind)],
                     buffer.kind == BufferKind::temp ||
                             buffer.kind == BufferKind::moving
                         ? index
                         : buffer.index);
}

void Printer::printLoop(const LoopData &loop) {
  line("step {}: loop {} times{}, steps {} to {}", loop.step,
       exprText(program.exprs, loop.count), loop.reverse ? " in reverse" : "",
       loop.first(), loop.last());
  if (loop.isConditional())
    line("  while {}{}", loop.condition < 0 ? "not " : "",
         bufferName(loop.flag().carry));
  for (const LoopData::Carry &each : loop.carries)
    line("  {} becomes {}: {} at first, then {} and {} in turn",
         bufferName(each.carry), bufferName(each.next), bufferName(each.init),
         bufferName(each.spare), bufferName(each.result));
  for (const LoopData::Slice &each : loop.slices)
    line("  {} is a slice of {}", bufferName(each.slice),
         bufferName(each.whole));
}

void Printer::printSteps() {
  text += '\n';
  for (size_t number = 0; number < program.steps.size(); ++number) {
    const StepData &step = program.steps[number];
    std::string buffers;
    for (uint32_t buffer : step.buffers)
      buffers += (buffers.empty() ? "" : ", ") + bufferName(buffer);
    if (step.isLoop())
      printLoop(program.loops[step.loop]);
    else if (step.isCopy)
      line("step {}: copy ({})", number, buffers);
    else
      line("step {}: launch {} ({})", number,
           printableName(program.kernels[step.kernel].name), buffers);
  }
  for (const AliasData &alias : program.aliases)
    line("out{} may take the memory of in{}", alias.output, alias.input);
}

void Printer::printBuffers() {
  text += '\n';
  for (uint32_t index = 0; index < program.buffers.size(); ++index) {
    const PlanBuffer &buffer = program.buffers[index];
    if (buffer.kind == BufferKind::temp)
      line("buffer {}: {} bytes, steps {} to {}", bufferName(index),
           exprText(program.exprs, buffer.bytes), buffer.first, buffer.last);
  }
}

Result<std::string> Printer::print(bool memory) {
  line("program for {}, needs {}", program.target,
       program.variant.empty() ? "nothing" : program.variant);
  if (!program.machine.empty())
    line("compiled for {}", program.machine);
  line("compiler {}", program.compiler);
  printPorts("input", program.inputs);
  printPorts("output", program.outputs);
  printKernels();
  printSteps();
  if (memory)
    printBuffers();
  if (text.size() > limit)
    return makeError(ErrorKind::unsupported,
                     fmt::format("inspect: the program's text has more than {} "
                                 "bytes",
                                 limit));
  return std::move(text);
}

Result<std::string> programText(const ProgramData &program, bool memory,
                                size_t limit) {
  return Printer(program, limit).print(memory);
}

std::string
memoryText(const PeakMemory &peak, std::span<const Port> inputs,
           std::span<const Port> outputs,
           const std::function<std::string_view(uint32_t node)> &siteOf) {
  std::string text = fmt::format(
      "peak {} bytes: {} of inputs, {} of outputs, {} of temporaries\n",
      peak.bytes(), peak.inputBytes, peak.outputBytes, peak.arenaBytes);
  if (!peak.live.empty())
    text += fmt::format("in memory at step {}:\n", peak.step);
  for (const PeakMemory::Use &use : peak.live) {
    text += fmt::format("  {} bytes, ", use.bytes);
    if (use.role == "input")
      text += portName("input", inputs[use.index], use.index);
    else if (use.role == "output")
      text += portName("output", outputs[use.index], use.index);
    else
      text += fmt::format("temporary t{}", use.index);
    std::string_view site = siteOf(use.node);
    if (!site.empty())
      text += fmt::format(" at {}", site);
    else if (use.node != RunFailure::noNode)
      text += fmt::format(" of node {}", use.node);
    text += '\n';
  }
  return text;
}

} // namespace sinter::cli

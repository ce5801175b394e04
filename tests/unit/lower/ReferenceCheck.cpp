/// Compares a kernel with the plain loops of runtime/reference.
#include "tests/unit/lower/ReferenceCheck.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/Primitives.h"
#include "runtime/reference/Reference.h"
#include "tests/unit/lower/KernelRunner.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace mlir;

namespace sinter::compiler {
namespace {

using reference::HostTensor;
using reference::HostValue;

HostValue draw(RankedTensorType type, const CheckOptions &options,
               std::mt19937 &engine) {
  DType dtype = *ir::dtypeOf(type.getElementType());
  HostValue value(dtype, std::vector<int64_t>(type.getShape().begin(),
                                              type.getShape().end()));
  std::uniform_real_distribution<double> reals(options.low, options.high);
  std::uniform_int_distribution<int64_t> ints(options.lowest, options.highest);
  for (int64_t i = 0; i < value.elements(); ++i) {
    if (isFloat(dtype))
      value.set(i, reals(engine));
    else
      value.set(i, ints(engine));
  }
  return value;
}

std::string compare(const HostValue &expected, const HostValue &actual,
                    double tolerance) {
  double unit = expected.dtype == DType::f16    ? 2e-3
                : expected.dtype == DType::bf16 ? 2e-2
                                                : 0;
  double allowed = std::max(tolerance, unit);
  for (int64_t i = 0; i < expected.elements(); ++i) {
    if (!expected.isReal()) {
      if (expected.ints[i] != actual.ints[i])
        return "element " + std::to_string(i) + ": " +
               std::to_string(actual.ints[i]) + " instead of " +
               std::to_string(expected.ints[i]);
      continue;
    }
    double want = expected.reals[i], got = actual.reals[i];
    bool same =
        want == got || (std::isnan(want) && std::isnan(got)) ||
        (std::isfinite(want) &&
         std::abs(want - got) <= allowed * std::max(1.0, std::abs(want)));
    if (!same)
      return "element " + std::to_string(i) + ": " + std::to_string(got) +
             " instead of " + std::to_string(want);
  }
  return {};
}

// An op that the reference computes by its decomposition.
Result<HostValue> evaluateComposite(const reference::Call &call) {
  std::vector<graph::NodeRef> leaves;
  std::vector<HostTensor> tensors;
  for (const HostValue *operand : call.operands) {
    std::vector<Dim> dims(operand->dims.begin(), operand->dims.end());
    leaves.push_back(
        graph::NodeFactory::lazyLeaf(operand->dtype, dims, DeviceId(), false));
    tensors.push_back(reference::encode(*operand));
  }
  SINTER_TRY_ASSIGN(graph::NodeRef node,
                    graph::buildOp(call.op, leaves, call.attrs, DeviceId()));
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice({&node, 1}));
  std::vector<HostTensor> inputs;
  for (const graph::NodeRef &input : slice.inputs)
    inputs.push_back(tensors[std::find(leaves.begin(), leaves.end(), input) -
                             leaves.begin()]);
  SINTER_TRY_ASSIGN(auto outputs, reference::evaluate(slice.graph, inputs));
  return reference::decode(outputs[0]);
}

// The values of the kernel's body, one reference call per op.
Result<std::vector<HostValue>> evaluateBody(program::KernelOp kernel,
                                            std::vector<HostValue> inputs) {
  llvm::DenseMap<Value, const HostValue *> known;
  std::map<void *, HostValue> storage;
  for (auto [argument, value] : llvm::zip(kernel.getInputs(), inputs))
    known[argument] = &value;
  for (Operation &op : kernel.getBlock()) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (!described)
      continue;
    std::vector<const HostValue *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known[operand]);
    auto words = ir::encodeAttrs(&op);
    RankedTensorType type = described.getTensorType();
    reference::Call call;
    call.op = described.getOpId();
    call.operands = operands;
    call.attrs = std::span(words->data(), words->size());
    call.dtype = *ir::dtypeOf(type.getElementType());
    call.dims.assign(type.getShape().begin(), type.getShape().end());
    const auto *row = reference::findPrimitive(call.op);
    auto result = row ? row->function(call) : evaluateComposite(call);
    if (!result)
      return result.takeError();
    known[op.getResult(0)] = &(storage[&op] = std::move(*result));
  }
  std::vector<HostValue> outputs;
  for (Value output : kernel.getOutputs())
    outputs.push_back(*known[output]);
  return outputs;
}

} // namespace

std::string checkKernel(const std::string &text, const CheckOptions &options) {
  KernelRunner runner(text, options.target);
  if (!runner.error.empty())
    return runner.error;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SinterDialect>();
  context.loadDialect<program::ProgramDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto kernel = *module->getOps<program::KernelOp>().begin();
  std::mt19937 engine(options.seed);
  std::vector<HostValue> inputs;
  std::vector<HostTensor> tensors;
  for (Value input : kernel.getInputs()) {
    inputs.push_back(
        draw(cast<RankedTensorType>(input.getType()), options, engine));
    tensors.push_back(reference::encode(inputs.back()));
  }
  auto expected = evaluateBody(kernel, inputs);
  if (!expected)
    return "reference: " + expected.error().message;
  constexpr size_t guard = 64;
  size_t numInputs = tensors.size();
  for (const HostValue &value : *expected) {
    tensors.push_back(reference::encode(value));
    std::memset(tensors.back().data.data(), 0x5a, tensors.back().data.size());
  }
  std::vector<void *> buffers;
  for (HostTensor &tensor : tensors) {
    tensor.data.resize(tensor.data.size() + guard, std::byte(0x5a));
    buffers.push_back(tensor.data.data());
  }
  runner.run(buffers, {}, options.chunksPerCall);
  for (size_t number = 0; number < expected->size(); ++number) {
    HostTensor &tensor = tensors[numInputs + number];
    for (size_t i = 0; i < guard; ++i)
      if (tensor.data[tensor.data.size() - 1 - i] != std::byte(0x5a))
        return "output " + std::to_string(number) + ": written past its end";
    tensor.data.resize(tensor.data.size() - guard);
    std::string difference = compare(
        (*expected)[number], reference::decode(tensor), options.tolerance);
    if (!difference.empty())
      return "output " + std::to_string(number) + ", " + difference;
  }
  return {};
}

} // namespace sinter::compiler

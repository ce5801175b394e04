/// Small tensors and one-op graphs for tests of the reference.
#pragma once

#include "runtime/graph/Slice.h"
#include "runtime/reference/HostValue.h"
#include "tests/unit/graph/GraphLeaves.h"

namespace sinter::reference {

inline HostTensor reals(DType dtype, std::vector<double> values) {
  HostValue value(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    value.set(static_cast<int64_t>(i), values[i]);
  return encode(value);
}

inline HostTensor ints(DType dtype, std::vector<int64_t> values) {
  HostValue value(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    value.set(static_cast<int64_t>(i), values[i]);
  return encode(value);
}

/// A leaf that fits a tensor.
inline graph::NodeRef leafOf(const HostTensor &tensor) {
  std::vector<Dim> dims(tensor.dims.begin(), tensor.dims.end());
  return graph::testLeaf(dims, tensor.dtype);
}

/// What evaluates the graphs: runtime/reference (ByReference.cpp), or compiled
/// programs (tests/property/ByCompiler.cpp) from the same rows.
Result<std::vector<HostTensor>>
evaluateGraph(const graph::Graph &graph, std::span<const HostTensor> inputs);

/// The tensors of `leaves` as the inputs of a slice stand.
inline std::vector<HostTensor>
inputsOf(const graph::Slice &slice, const std::vector<graph::NodeRef> &leaves,
         const std::vector<HostTensor> &tensors) {
  std::vector<HostTensor> inputs;
  for (const graph::NodeRef &input : slice.inputs)
    for (size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i] == input)
        inputs.push_back(tensors[i]);
  return inputs;
}

/// Evaluates `node` with `leaves` bound to `tensors`.
inline Result<HostValue> evaluateNode(const graph::NodeRef &node,
                                      const std::vector<graph::NodeRef> &leaves,
                                      const std::vector<HostTensor> &tensors) {
  SINTER_TRY_ASSIGN(graph::Slice made, graph::slice({&node, 1}));
  SINTER_TRY_ASSIGN(std::vector<HostTensor> outputs,
                    evaluateGraph(made.graph, inputsOf(made, leaves, tensors)));
  return decode(outputs[0]);
}

/// `op` of the tensors; `record` takes one leaf per tensor.
template <typename Record, typename... Tensors>
HostValue apply(Record record, const Tensors &...tensors) {
  std::vector<HostTensor> all{tensors...};
  std::vector<graph::NodeRef> leaves;
  for (const HostTensor &tensor : all)
    leaves.push_back(leafOf(tensor));
  Result<HostValue> result = [&]<size_t... I>(std::index_sequence<I...>) {
    return evaluateNode(graph::ok(record(leaves[I]...)), leaves, all);
  }(std::index_sequence_for<Tensors...>());
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return *result;
}

} // namespace sinter::reference

/// Call: one node of a model, as the rule of its operator sees it.
#pragma once

#include "frontend/import/onnx/Operators.h"
#include "frontend/import/onnx/Value.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::onnx {

class ModelRecorder;
class TensorStore;

/// Operands, attributes and results of one node. What a rule cannot do with
/// them is an Error that the recorder completes with the node's name.
class Call {
public:
  Call(ModelRecorder &recorder, const Operator &row, const NodeRecord &node,
       int64_t opset, std::vector<Value> inputs);

  const NodeRecord &node() const { return record; }
  int64_t opset() const { return version; }
  /// The device that constants are made on.
  DeviceId device() const;
  ModelRecorder &recorder() const { return owner; }

  //===- Operands ---------------------------------------------------------===//
  size_t numInputs() const { return inputs.size(); }
  bool has(size_t input) const {
    return input < inputs.size() && !inputs[input].isNothing();
  }
  /// An operand that must be there.
  const Value &value(size_t input) const;
  /// The same as a tensor.
  Tensor tensor(size_t input) const;
  std::vector<Tensor> tensors() const;
  /// The elements of an operand that decide what is recorded: read now, which
  /// evaluates it, where the host does not know them. `what` names it in the
  /// error.
  KnownRef known(size_t input, const char *what) const;
  /// The same of a value that may be none of the operands.
  KnownRef elementsOf(const Value &operand, const std::string &what) const;
  Dims dims(size_t input, const char *what) const;
  std::vector<int64_t> integers(size_t input, const char *what) const;
  std::vector<double> reals(size_t input, const char *what) const;
  int64_t integer(size_t input, const char *what) const;
  double real(size_t input, const char *what) const;
  /// Called before an operand's elements are read, which evaluates it. Throws
  /// where nothing can be evaluated: while a function is recorded as a whole.
  /// `what` is the operand.
  void mustEvaluate(size_t input, const char *what) const;
  /// Before an operand decides how many elements a result has: the same, but
  /// where such sizes stay open (frontend/CountedRows.h).
  void mustCount(size_t input, const char *what) const;

  //===- Attributes -------------------------------------------------------===//
  bool given(std::string_view name) const { return find(name) != nullptr; }
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const { return integer(name) != 0; }
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  /// Empty when it is not given.
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  /// Null when it is not given.
  const TensorRecord *tensorAttribute(std::string_view name) const;
  const GraphRecord *graph(std::string_view name) const;
  /// The dtype of an attribute that holds the code of an element type.
  DType dtypeAttribute(std::string_view name) const;
  /// An axis as a number of [0, rank).
  int64_t axis(std::string_view name, int64_t rank) const;
  int64_t axisOf(int64_t axis, int64_t rank) const;
  std::vector<int64_t> axesOf(std::vector<int64_t> axes, int64_t rank) const;

  //===- Results ----------------------------------------------------------===//
  size_t numOutputs() const { return record.outputs.size(); }
  bool wants(size_t output) const {
    return output < record.outputs.size() && !record.outputs[output].empty();
  }
  void give(size_t output, Value value);
  void give(Value value) { give(0, std::move(value)); }
  std::vector<Value> &results() { return outputs; }

  /// What the model may ask for, but Sinter does not do.
  [[noreturn]] void unsupported(const std::string &what) const;
  /// What no model may ask for.
  [[noreturn]] void invalid(const std::string &what) const;
  /// Throws where an operand has another dtype than the first.
  void sameDTypes() const;

private:
  const AttributeRecord *find(std::string_view name) const;
  AttributeSpec spec(std::string_view name) const;
  void checkAttributes() const;

  ModelRecorder &owner;
  const Operator &row;
  const NodeRecord &record;
  int64_t version;
  std::vector<Value> inputs, outputs;
};

} // namespace sinter::onnx

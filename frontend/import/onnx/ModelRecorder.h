/// ModelRecorder: records the nodes of a model, one after the other.
#pragma once

#include "frontend/import/onnx/Call.h"
#include "frontend/import/onnx/Records.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "frontend/import/onnx/Value.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::onnx {

/// Values by name, with those of the graph that a graph stands in.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}
  void set(const std::string &name, Value value) {
    own.insert_or_assign(name, std::move(value));
  }
  /// Null when there is none.
  const Value *find(const std::string &name) const;

private:
  std::unordered_map<std::string, Value> own;
  const Scope *outer;
};

/// The attributes of the function whose nodes are recorded.
struct FunctionCall {
  const FunctionRecord *function = nullptr;
  std::vector<AttributeRecord> attributes;
};

/// One recording of a model, or of parts of it.
class ModelRecorder {
public:
  /// All must outlive the recorder. `file` names the model in errors.
  ModelRecorder(const ModelRecord &model, const std::string &file,
                ExternalFiles &externals, DeviceId device);
  /// The dims of all inputs are numbers: a node that needs others fails.
  void expectNumbers() { hasNumbers = true; }

  /// The nodes of `graph` in `scope`, which has its inputs and initializers.
  void record(const GraphRecord &graph, Scope &scope);
  /// A graph in an attribute of the node that is recorded now, with these
  /// inputs: its outputs.
  std::vector<Value> call(const GraphRecord &graph, std::vector<Value> inputs);

  /// The elements of a stored tensor as a value without parameters.
  /// The same value for the same record, however often it is asked for.
  Value stored(const TensorRecord &tensor);
  /// The value of a name where the node that is recorded stands; null when
  /// there is none.
  const Value *find(const std::string &name) const {
    return current->find(name);
  }
  /// The value of `name`, such that gradients with respect to it are known
  /// where a node of the graph asks for them.
  Value differentiable(const std::string &name, Value value) const;
  DeviceId device() const { return place; }
  const ModelRecord &model() const { return source; }
  /// Called before an element is read, which evaluates it: evaluates what the
  /// node that is recorded, and those behind it, need of what was recorded.
  /// Each later read would compute that again.
  void evaluateNeeded() const;

private:
  /// Where the recording stands in a graph, and in those around it.
  struct Standing {
    std::span<const NodeRecord> left; ///< the node that is recorded comes first
    const Scope &scope;
    const Standing *outer;
  };
  void recordNodes(const std::vector<NodeRecord> &nodes, const Opsets &opsets,
                   Scope &scope);
  void recordNode(const NodeRecord &node, const Opsets &opsets, Scope &scope);
  /// Throws where there are too many.
  void countNode();
  Value made(const TensorRecord &tensor);
  void dispatch(const NodeRecord &node, const Opsets &opsets, Scope &scope);
  std::vector<Value> callFunction(const FunctionRecord &function,
                                  const NodeRecord &node,
                                  std::vector<Value> inputs);
  const FunctionRecord *findFunction(const NodeRecord &node) const;
  /// The node with the attributes that it takes from the function around it.
  NodeRecord resolved(const NodeRecord &node) const;
  [[noreturn]] void fail(const NodeRecord &node, const Opsets &opsets,
                         ErrorInfo error) const;

  const ModelRecord &source;
  const std::string &file;
  ExternalFiles &externals;
  DeviceId place;
  const Opsets *opsets = nullptr; ///< of the node that is recorded
  const Scope *current = nullptr; ///< where it stands
  const Standing *standing = nullptr;
  const FunctionCall *function = nullptr;
  unsigned depth = 0;
  bool hasNumbers = false;
  size_t recordedNodes = 0;
  std::set<std::string> differentiated; ///< what nodes `Gradient` name
  std::unordered_map<const TensorRecord *, Value> storedValues;
};

} // namespace sinter::onnx
